/* See repair.h. Which threads the copy names, and in what way: some have lost their ROOT_THREAD_OBJECT. */
#include "format/subrecord.h"
#include "format/tags.h"
#include "repair/repair.h"

enum {
    HAS_OBJECT = 1, /* a ROOT_THREAD_OBJECT */
    HAS_ROOT = 2,
    HAS_ROOTS = 4, /* more than one */
    HAS_TRACE = 8,
    HAS_STARTED = 16 /* a START_THREAD, which only the HPROF agent writes, also of threads that have ended */
};

void threads_clear(struct repair *r)
{
    keymap_clear(&r->threads);
}

void threads_begin_pass(struct repair *r)
{
    keymap_clear(&r->threads);
    keymap_init(&r->threads, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
}

static void add(struct repair *r, uint32_t serial, uint64_t bit)
{
    uint64_t bits = 0;

    if (!serial)
        return;
    keymap_get(&r->threads, serial, &bits);
    if (bits & bit && bit == HAS_ROOT)
        bit = HAS_ROOTS;
    if (!(bits & bit))
        keymap_put(&r->threads, serial, bits | bit);
}

void threads_note_record(struct repair *r)
{
    const uint8_t tag = *r->in.at;
    const size_t at = RECORD_HEADER_SIZE + (tag == TAG_TRACE ? OFFSET_OF(TRACE, thread_serial, r->id_size) : 0);

    if ((tag == TAG_TRACE || tag == TAG_START_THREAD) && input_need(&r->in, at + 4) >= at + 4)
        add(r, get_u4(r->in.at + at), tag == TAG_TRACE ? HAS_TRACE : HAS_STARTED);
}

void threads_note_root(struct repair *r)
{
    const uint8_t tag = *r->in.at;
    const size_t at = 1U + r->id_size; /* of the serial, in all of these */

    if ((is_root_of_thread(tag) || tag == SUB_ROOT_THREAD_OBJECT) && input_need(&r->in, at + 4) >= at + 4)
        add(r, get_u4(r->in.at + at), tag == SUB_ROOT_THREAD_OBJECT ? HAS_OBJECT : HAS_ROOT);
}

/* One root may be other bytes, beside damage, or name another thread than it did. */
static bool is_believed(uint64_t bits)
{
    return bits & (HAS_OBJECT | HAS_ROOTS | HAS_TRACE | HAS_STARTED);
}

static void find_lost(void *context, uint64_t serial, uint64_t bits)
{
    (void)serial;
    *(bool *)context |= bits & HAS_ROOT && !(bits & HAS_OBJECT) && is_believed(bits);
}

bool threads_are_missing(const struct repair *r)
{
    bool found = false;

    keymap_each(&r->threads, find_lost, &found);
    return found;
}

static void count_lost(void *context, uint64_t serial, uint64_t bits)
{
    (void)serial;
    *(uint64_t *)context += !(bits & HAS_OBJECT) && (bits & HAS_ROOTS || (bits & HAS_TRACE && !(bits & HAS_STARTED)));
}

uint64_t threads_count_lost(const struct repair *r)
{
    uint64_t lost = 0;

    if (r->heap_dump)
        keymap_each(&r->threads, count_lost, &lost);
    return lost;
}

bool thread_is_doubtful(struct repair *r, uint64_t offset)
{
    uint8_t serial[4];
    uint64_t bits = 0;

    if (!copy_read(r, offset, serial, sizeof serial))
        return false;
    keymap_get(&r->threads, get_u4(serial), &bits);
    return !is_believed(bits);
}
