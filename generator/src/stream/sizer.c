/* See sizer.h. */
#include "stream/sizer.h"

#include <stdlib.h>

#include "stream/encode.h"

static void note_long(struct sizer *s)
{
    if (s->long_count == s->long_capacity) {
        size_t capacity = s->long_capacity ? 2 * s->long_capacity : 64;
        struct long_record *longs = realloc(s->longs, capacity * sizeof *longs);

        if (!longs) {
            s->no_memory = true;
            return;
        }
        s->longs = longs;
        s->long_capacity = capacity;
    }
    s->longs[s->long_count++] = (struct long_record){s->opened - 1, s->in_record};
}

static void check_length(struct sizer *s, uint64_t length, bool stated, uint8_t tag)
{
    if (length > UINT32_MAX && !stated && !s->too_long) {
        s->too_long = true;
        s->too_long_tag = tag;
    }
}

static void take(struct stage *stage, struct event *e)
{
    struct sizer *s = (struct sizer *)stage;
    uint64_t size = fixed_part_size(e, stage->id_size);

    switch (e->kind) {
    case EVENT_HEADER:
        break;
    case EVENT_RECORD:
        size += e->body_size;
        check_length(s, size - RECORD_HEADER_SIZE, e->length_stated, e->tag);
        break;
    case EVENT_OPEN:
        s->opened++;
        s->in_record = 0;
        s->open_stated = e->length_stated || e->length_wraps;
        s->open_tag = e->tag;
        s->bytes += size;
        return;
    case EVENT_SUBRECORD:
    case EVENT_BATCH:
        size += e->body_size;
        check_length(s, s->in_record + size, s->open_stated, s->open_tag);
        break;
    case EVENT_RAW:
        size = e->body_size;
        break;
    case EVENT_PART: /* counted with its event */
    case EVENT_END:
        return;
    case EVENT_CLOSE:
        if (s->in_record > RECORD_MOST_BUFFERED)
            note_long(s);
        return;
    }
    s->bytes += size;
    s->in_record += size;
}

void sizer_init(struct sizer *s)
{
    *s = (struct sizer){.stage = {.take = take}};
}

void sizer_free(struct sizer *s)
{
    free(s->longs);
    s->longs = NULL;
}
