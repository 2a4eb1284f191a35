/* See gunzip_stream.h: the data of a member (RFC 1951). After each call, the whole bytes that ISA-L took but did not use are given
 * back to the input, so that the result depends on the bytes alone, not on the size of blocks. ISA-L is laxer than zlib in one
 * point: a block may declare a code with unused words. If such a block inflates to something wrong, the checksum shows it.
 *
 * ISA-L was chosen by measurement, on a HotSpot -gz=1 dump of 0.65 GB (2.05 GB inflated), with one thread: 0.54 GB/s; zlib 0.24;
 * libdeflate 0.60, but it cannot stream a member. ISA-L allocates nothing: its state is a struct of ours. */
#include <isa-l/crc.h>

#include "input/gunzip_stream.h"

/* Gives back whole bytes in the bit buffer, and the bytes of an incomplete block header that ISA-L set aside. */
static void take_back_unused(struct inflate_state *state)
{
    int32_t unused = state->read_in_length / 8;

    if (state->block_state == ISAL_BLOCK_HDR) {
        unused += state->tmp_in_size;
        state->tmp_in_size = 0;
        state->block_state = ISAL_BLOCK_NEW_HDR;
    }
    state->next_in -= unused;
    state->avail_in += (uint32_t)unused;
    state->read_in_length %= 8;
    state->read_in &= (UINT64_C(1) << state->read_in_length) - 1;
}

/* One call of ISA-L for `size` bytes. Returns 0, or the kind of fault; `state` then says what it used and wrote. */
static int inflate_bytes(struct gunzip *g, uint32_t size, uint8_t *to, uint32_t room)
{
    int result;

    g->state.next_in = (uint8_t *)g->at; /* not written to */
    g->state.avail_in = size;
    g->state.next_out = to;
    g->state.avail_out = room;
    result = isal_inflate(&g->state);
    if (result < 0)
        return result;
    take_back_unused(&g->state);
    return 0;
}

/* To that of save_state(). */
static void restore_state(struct gunzip *g)
{
    if (g->was_new)
        isal_inflate_init(&g->state);
    else
        gunzip_copy_state(&g->state, g->before);
}

static const char *name_of_fault(int result)
{
    switch (result) {
    case ISAL_INVALID_BLOCK:
        return "a block with an invalid header";
    case ISAL_INVALID_SYMBOL:
        return "an invalid code";
    case ISAL_INVALID_LOOKBACK:
        return "a copy of bytes before the first one";
    default:
        return "data that cannot be inflated";
    }
}

/* The last call failed with `size` bytes, without saying where. The bad byte is the last one of the shortest piece that fails,
 * found by bisection: some twenty calls, once a file. Afterwards `state` is that of the failed call with exactly this piece,
 * because with more bytes ISA-L may count a copy that it refuses as output. */
static void find_bad_byte(struct gunzip *g, uint32_t size, uint8_t *to, uint32_t room)
{
    uint32_t good = 0, bad = size;

    while (good < bad) {
        uint32_t middle = good + (bad - good) / 2;

        restore_state(g);
        if (inflate_bytes(g, middle, to, room) < 0)
            bad = middle;
        else
            good = middle + 1;
    }
    restore_state(g);
    g->bad_because = name_of_fault(inflate_bytes(g, bad, to, room));
    /* With no byte at all, the fault is in the unused bits of the preceding byte. */
    g->bad_offset = g->now.offset + bad - 1;
}

static void note_output(struct gunzip *g, const uint8_t *made, size_t size)
{
    for (size_t i = 0; g->now.output + i < sizeof g->output_start && i < size; i++)
        g->output_start[g->now.output + i] = made[i];
    g->now.size += (uint32_t)size;
    g->now.output += size;
}

static void account(struct gunzip *g, const uint8_t *made, size_t size)
{
    g->now.crc = crc32_gzip_refl(g->now.crc, made, size);
    note_output(g, made, size);
}

static uint32_t at_most_u32(size_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

bool gunzip_grow_saved_state(struct gunzip *g, size_t size)
{
    void *larger;

    if (size <= g->before_size)
        return true;
    larger = memory_get(g->memory, size);
    if (!larger)
        return false;
    memory_put(g->memory, g->before, g->before_size);
    g->before_size = size;
    g->before = larger;
    return true;
}

/* For find_bad_byte(). */
static bool save_state(struct gunzip *g)
{
    g->was_new = g->now.offset == g->now.data_offset;
    if (g->was_new)
        return true;
    if (gunzip_state_size(&g->state) > g->before_size &&
        !gunzip_grow_saved_state(g, g->before_size ? sizeof g->state : gunzip_state_size(&g->state)))
        return false;
    gunzip_copy_state(g->before, &g->state);
    return true;
}

/* The bytes that ISA-L has inflated beyond the room that it had. */
static size_t held_output(const struct gunzip *g)
{
    return (size_t)(g->state.tmp_out_valid - g->state.tmp_out_processed);
}

/* Whether a call, before which the state is saved, can be left out. At the end of a call ISA-L drops what it has handed out beyond
 * the history, so when the next call begins, there may not be more than that. */
static bool may_skip_call(const struct gunzip *g, size_t room)
{
    return held_output(g) > room && (size_t)g->state.tmp_out_processed + room < ISAL_DEF_HIST_SIZE;
}

static size_t take_held_output(struct gunzip *g, uint8_t *to, size_t room)
{
    struct inflate_state *state = &g->state;
    size_t held = held_output(g), n = held < room ? held : room;

    memcpy(to, state->tmp_out_buffer + state->tmp_out_processed, n);
    state->tmp_out_processed += (int32_t)n;
    account(g, to, n);
    return n;
}

/* Whether the data ends in the first of the zeros that end the file, after `size` bytes that are no end without it. */
static bool ends_in_zero(struct gunzip *g, uint32_t size, uint8_t *to, uint32_t room)
{
    if (!save_state(g))
        return false;
    if (inflate_bytes(g, size + 1, to, room) < 0 || g->state.block_state != ISAL_BLOCK_FINISH || g->state.avail_out < room) {
        restore_state(g);
        return false;
    }
    gunzip_pass(g, size + 1 - g->state.avail_in);
    g->now.part = TRAILER;
    return true;
}

/* Zeros that end the file are not inflated: they would make bytes that nobody wrote. */
size_t gunzip_read_data(struct gunzip *g, uint8_t *to, size_t room_there)
{
    uint32_t room = at_most_u32(room_there), size, used, made;
    size_t written;

    if (may_skip_call(g, room_there))
        return take_held_output(g, to, room_there);
    if (g->at == g->end)
        gunzip_fetch(g); /* even if nothing comes, ISA-L may still hold output */
    written = gunzip_written(g);
    size = at_most_u32(written);
    if (!save_state(g)) {
        g->now.part = NOTHING;
        return 0;
    }
    if (inflate_bytes(g, size, to, room) < 0) {
        find_bad_byte(g, size, to, room);
        g->now.part = BROKEN_DATA;
    }
    used = size - g->state.avail_in;
    made = room - g->state.avail_out;
    account(g, to, made);
    if (g->now.part == BROKEN_DATA)
        return made;
    gunzip_pass(g, used);
    if (g->state.block_state == ISAL_BLOCK_FINISH)
        g->now.part = TRAILER;
    else if (used == 0 && made == 0 && !(g->at + written < g->end ? ends_in_zero(g, size, to, room) : gunzip_fetch(g)))
        gunzip_truncated(g, "data");
    return made;
}

size_t gunzip_read_data_before_fault(struct gunzip *g, uint8_t *to, size_t room)
{
    size_t made = take_held_output(g, to, room);

    if (!made)
        gunzip_fault(g, GZIP_DATA, g->bad_offset, "deflate data", "%s", g->bad_because);
    return made;
}

/* ---- Its data, if a thread has inflated it ---------------------------------------------------------------------- */

/* Goes to a later offset of the file. */
static void pass_to(struct gunzip *g, uint64_t offset)
{
    uint64_t left = offset - g->now.offset;

    if (left > (uint64_t)(g->end - g->at))
        gunzip_go_to(g, offset);
    else
        gunzip_pass(g, (size_t)left);
}

size_t gunzip_read_inflated_data(struct gunzip *g, uint8_t *to, size_t room)
{
    const struct member *m = g->member;
    size_t done = (size_t)(g->now.output - g->now.member_output), rest = m->size - done, n = rest < room ? rest : room;

    memcpy(to, m->bytes + done, n);
    note_output(g, to, n);
    if (n == rest) {
        g->now.crc = m->crc;
        g->now.part = TRAILER;
        pass_to(g, m->end);
    }
    return n;
}
