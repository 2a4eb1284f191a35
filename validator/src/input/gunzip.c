/* See gunzip.h: the parts of members, one after the other. Headers and trailers are read field by field; ISA-L inflates the data
 * between them (gunzip_data.c). */
#include <inttypes.h>
#include <stdio.h>

#include "input/gunzip_stream.h"
#include "input/gzip_header.h"

enum {
    PIECE_BLOCKS = 2, /* blocks in a piece of the file in which a thread looks for members */
    PIECES_LEAST = 4  /* a file of fewer pieces is inflated by one thread */
};

/* ---- Its trailer: RFC 1952, 2.3 --------------------------------------------------------------------------------- */

/* Whether zeros end the file within a trailer that is wrong, and what was written of it before them is right. */
static bool is_cut_trailer(const struct gunzip *g, uint64_t at, uint32_t crc, uint32_t size)
{
    const uint64_t written = g->zeros_from > at ? g->zeros_from - at : 0, found = (uint64_t)size << 32 | crc,
                   right = (uint64_t)g->now.size << 32 | g->now.crc;

    return found != right && written < TRAILER_SIZE && ((found ^ right) & ((UINT64_C(1) << written * 8) - 1)) == 0;
}

static void read_trailer(struct gunzip *g)
{
    uint64_t at = g->now.offset;
    uint32_t crc, size;
    char expected[32];

    if (g->end - g->at < TRAILER_SIZE)
        gunzip_fetch(g);
    if (g->end - g->at < TRAILER_SIZE) {
        gunzip_pass(g, (size_t)(g->end - g->at));
        gunzip_truncated(g, "trailer");
        return;
    }
    crc = get_u32_little(g->at);
    size = get_u32_little(g->at + 4);
    gunzip_pass(g, TRAILER_SIZE);
    if (is_cut_trailer(g, at, crc, size)) {
        gunzip_truncated(g, "trailer");
        return;
    }
    if (crc != g->now.crc) {
        snprintf(expected, sizeof expected, "CRC32 0x%08" PRIx32, g->now.crc);
        gunzip_fault(g, GZIP_CHECKSUM, at, expected, "CRC32 0x%08" PRIx32, crc);
        g->pending.keeps_size = size == g->now.size;
    } else if (size != g->now.size) {
        snprintf(expected, sizeof expected, "ISIZE %" PRIu32, g->now.size);
        gunzip_fault(g, GZIP_SIZE, at + 4, expected, "ISIZE %" PRIu32, size);
    }
    g->now.end_is_doubtful = crc != g->now.crc || size != g->now.size;
    g->now.part = HEADER;
    if (!g->now.end_is_doubtful)
        return;
    g->suspect_offset = g->now.member_offset;
    g->suspect_output = g->now.member_output;
    if (g->may_resume && crc != g->now.crc && size != g->now.size) {
        g->now.part = NOTHING;
        g->ended_by_fault = g->ended_after_suspect = true;
    }
}

/* ---- All members ------------------------------------------------------------------------------------------------ */

bool gunzip_ended(const struct gunzip *g)
{
    return g->now.part == NOTHING && g->pending.fault == GZIP_VALID;
}

struct gzip_listening gunzip_listen(struct gunzip *g, struct gzip_listening listening)
{
    struct gzip_listening before = g->listening;

    g->listening = listening;
    return before;
}

bool gunzip_prepare_thread(struct gunzip *g)
{
    return gunzip_grow_saved_state(g, sizeof g->state) && gunzip_grow_buffer(g);
}

void gunzip_inflate_ahead(struct gunzip *g, unsigned threads)
{
    size_t piece = PIECE_BLOCKS * g->block;

    if (threads && g->source->seekable && g->source->size > g->now.offset &&
        g->source->size - g->now.offset >= PIECES_LEAST * piece)
        g->members = members_start(g->memory, g->source, g->now.offset, piece, threads);
}

void gunzip_end_inflating_ahead(struct gunzip *g)
{
    members_stop(g->members);
    g->members = NULL;
    if (g->now.part == INFLATED_DATA) { /* its bytes are gone, so the member begins again */
        g->now.part = HEADER;
        g->now.member--;
        g->now.output = g->now.member_output;
        gunzip_go_to(g, g->now.member_offset);
    }
}

void gunzip_report_again(struct gunzip *g, uint64_t member)
{
    g->reported = member - 1;
}

size_t gunzip_read(struct gunzip *g, uint8_t *to, size_t room)
{
    size_t done = 0;
    bool is_reported = false;

    gunzip_take_snapshot(g);
    while (done < room) {
        if (g->pending.fault != GZIP_VALID && (done || is_reported))
            return done;
        if (g->pending.fault != GZIP_VALID) {
            gunzip_report_pending(g);
            is_reported = true;
        }
        switch (g->now.part) {
        case HEADER:
            gunzip_read_header(g);
            break;
        case DATA:
            done += gunzip_read_data(g, to + done, room - done);
            break;
        case BROKEN_DATA:
            done += gunzip_read_data_before_fault(g, to + done, room - done);
            break;
        case INFLATED_DATA:
            done += gunzip_read_inflated_data(g, to + done, room - done);
            break;
        case TRAILER:
            read_trailer(g);
            break;
        case NOTHING:
            return done;
        }
        if (gunzip_is_nested(g)) {
            if (g->now.part != NOTHING)
                gunzip_fault(g, GZIP_NESTED, 0, "a dump, compressed once", "1f 8b: gzip within gzip");
            if (g->pending.fault != GZIP_VALID)
                gunzip_report_pending(g);
            return 0;
        }
    }
    return done;
}

struct gunzip *gunzip_open(struct input_source *source, const uint8_t *start, size_t size, size_t block,
                           const struct sizes *sizes, struct memory *memory, gzip_listener *on_fault, void *context)
{
    struct gunzip *g = memory_get_zeroed(memory, sizeof *g);

    if (!g)
        return NULL;
    g->memory = memory;
    g->source = source;
    g->block = block;
    g->snapshot_distance = sizes->snapshot;
    g->zeros_from = source->seekable ? source_without_zeros(source) : UINT64_MAX;
    g->capacity = (block < sizes->first_buffer ? block : sizes->first_buffer) + UNUSED_MOST;
    if (g->capacity < size)
        g->capacity = size;
    g->buffer = memory_get(memory, g->capacity);
    g->listening = (struct gzip_listening){on_fault, context};
    if (!g->buffer) {
        gunzip_close(g, memory);
        return NULL;
    }
    memcpy(g->buffer, start, size);
    g->at = g->buffer;
    g->end = g->buffer + size;
    return g;
}

void gunzip_close(struct gunzip *g, struct memory *memory)
{
    if (!g)
        return;
    for (struct gunzip_snapshot *s = g->last, *before; s; s = before) {
        before = s->before;
        memory_put(memory, s, s->size);
    }
    memory_put(memory, g->before, g->before_size);
    memory_put(memory, g->buffer, g->capacity);
    memory_put(memory, g, sizeof *g);
}
