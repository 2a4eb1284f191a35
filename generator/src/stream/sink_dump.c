/* See sink_dump.h. Bytes are collected in one buffer. A heap dump record of up to RECORD_MOST_BUFFERED bytes stays there until
 * it ends and its length is filled in. The sizer has measured longer ones. */
#include "stream/sink_dump.h"

#include <stdlib.h>

#include "stream/encode.h"

enum {
    FLUSH_FROM = 256 << 10, /* bytes that are passed on at once: they are still in the cache */
    ROOM = RECORD_MOST_BUFFERED + FLUSH_FROM + RECORD_HEADER_SIZE + FIELDS_MOST
};

struct sink_dump {
    struct stage stage;
    struct bytes *out;
    const struct long_record *longs, *longs_end; /* those still to come */
    struct written *written;
    bool *stop;

    uint8_t *buffer;
    size_t fill;
    uint64_t flushed; /* bytes passed on: the offset of buffer[0] */

    uint64_t opened;
    bool held;             /* an open heap dump record has no length yet, so that nothing of it may be passed on */
    size_t length_at;      /* where in the buffer the length belongs */
    uint64_t measured_end; /* of the present record, if it is one of `longs` and states its true length; else 0 */

    uint64_t end; /* the dump is cut off here; KEEP_ALL for nowhere */
    enum sink_end failure;
};

static uint64_t here(const struct sink_dump *s)
{
    return s->flushed + s->fill;
}

static void give_up(struct sink_dump *s, enum sink_end why)
{
    s->failure = why;
    *s->stop = true;
}

/* Passes on the content of the buffer, up to the end of the dump. */
static void flush(struct sink_dump *s)
{
    uint64_t left = s->end > s->flushed ? s->end - s->flushed : 0;
    size_t size = s->fill < left ? s->fill : (size_t)left;

    if (!s->failure && size && !bytes_put(s->out, s->buffer, size))
        give_up(s, SINK_OUT_FAILED);
    s->written->bytes += size;
    s->flushed += s->fill;
    s->fill = 0;
    if (s->flushed >= s->end)
        *s->stop = true;
}

static void make_room(struct sink_dump *s, size_t size)
{
    if (!s->held && (s->fill >= FLUSH_FROM || s->fill + size > ROOM))
        flush(s);
}

static void put_bytes(struct sink_dump *s, const uint8_t *data, uint64_t size)
{
    while (size) {
        size_t n;

        make_room(s, size < FLUSH_FROM ? (size_t)size : FLUSH_FROM);
        n = size < ROOM - s->fill ? (size_t)size : ROOM - s->fill;
        if (!n) { /* a sizer with the same events would have listed this record */
            give_up(s, SINK_NOT_AS_MEASURED);
            return;
        }
        memcpy(s->buffer + s->fill, data, n);
        s->fill += n;
        data += n;
        size -= n;
    }
}

/* The fixed part, and the body if the event has it. */
static void put_event(struct sink_dump *s, const struct event *e, uint32_t length)
{
    make_room(s, FIELDS_MOST + (e->body_size < FLUSH_FROM ? (size_t)e->body_size : 0));
    if (s->fill > ROOM - FIELDS_MOST) { /* likewise */
        give_up(s, SINK_NOT_AS_MEASURED);
        return;
    }
    s->fill = (size_t)(put_fixed_part(s->buffer + s->fill, e, length, s->stage.id_size) - s->buffer);
    if (!e->body)
        return;
    if (e->body_size <= ROOM - s->fill) {
        memcpy(s->buffer + s->fill, e->body, e->body_size);
        s->fill += e->body_size;
    } else {
        put_bytes(s, e->body, e->body_size);
    }
}

static void put_open(struct sink_dump *s, const struct event *e)
{
    uint32_t length = e->length;
    uint64_t measured = 0;

    make_room(s, RECORD_HEADER_SIZE + RECORD_MOST_BUFFERED);
    if (s->longs < s->longs_end && s->longs->number == s->opened) {
        if (!e->length_stated) {
            measured = s->longs->length;
            length = (uint32_t)measured;
        }
        s->longs++;
    } else if (!e->length_stated) {
        s->held = true;
        s->length_at = s->fill + RECORD_LENGTH_AT;
    }
    s->opened++;
    put_event(s, e, length);
    s->measured_end = measured ? here(s) + measured : 0;
}

static void close_record(struct sink_dump *s)
{
    if (s->held)
        put_u4(s->buffer + s->length_at, (uint32_t)(s->fill - s->length_at - 4));
    if (s->measured_end && s->measured_end != here(s) && s->end == KEEP_ALL)
        give_up(s, SINK_NOT_AS_MEASURED);
    s->held = false;
    s->measured_end = 0;
}

static void take(struct stage *stage, struct event *e)
{
    struct sink_dump *s = (struct sink_dump *)stage;
    uint64_t start = here(s);

    if (s->failure)
        return;
    switch (e->kind) {
    case EVENT_HEADER:
    case EVENT_SUBRECORD:
        put_event(s, e, 0);
        break;
    case EVENT_RECORD:
        put_event(s, e, e->length_stated ? e->length : (uint32_t)(fields_size(e->layout, stage->id_size) + e->body_size));
        break;
    case EVENT_BATCH:
    case EVENT_RAW:
    case EVENT_PART:
        put_bytes(s, e->body, e->body_size);
        break;
    case EVENT_OPEN:
        put_open(s, e);
        break;
    case EVENT_CLOSE:
    case EVENT_END:
        close_record(s);
        break;
    }
    if (e->rule != NO_RULE && !written_add_fault(s->written, e->rule, e->variant, start + e->rule_at))
        give_up(s, SINK_NO_MEMORY);
    if (e->keep != KEEP_ALL && s->end == KEEP_ALL)
        s->end = start + e->keep;
}

struct sink_dump *sink_dump_new(struct bytes *out, const struct long_record *longs, size_t long_count, struct written *written,
                                bool *stop)
{
    struct sink_dump *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct sink_dump){.stage = {.take = take},
                            .out = out,
                            .longs = longs,
                            .longs_end = longs ? longs + long_count : NULL,
                            .written = written,
                            .stop = stop,
                            .buffer = malloc(ROOM),
                            .end = KEEP_ALL};
    if (!s->buffer) {
        free(s);
        return NULL;
    }
    return s;
}

struct stage *sink_dump_stage(struct sink_dump *s)
{
    return &s->stage;
}

enum sink_end sink_dump_finish(struct sink_dump *s)
{
    if (!s->failure)
        close_record(s);
    flush(s);
    if (!s->failure && !bytes_finish(s->out))
        s->failure = SINK_OUT_FAILED;
    return s->failure;
}

void sink_dump_free(struct sink_dump *s)
{
    if (s)
        free(s->buffer);
    free(s);
}
