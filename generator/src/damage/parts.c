/* A VM of JDK 22 or later writes the records before the objects to FILE and, at the same time, objects to FILE.p0, FILE.p1, ...
 * Then it appends these to FILE, one after the other, and removes each. Killed before the end, it leaves several files, each of
 * them a stretch of the complete dump. */
#include "damage/plan.h"

#include <stdlib.h>

enum { BUFFER = 1 << 20 /* the VM writes as much at once */ };

struct borders {
    struct items items;
    struct item_watch watch;
    struct damage *damage;
    size_t next; /* the file whose beginning is sought */
};

static void find_border(struct item_watch *watch, const struct item *item)
{
    struct borders *b = (struct borders *)((char *)watch - offsetof(struct borders, watch));
    struct damage *d = b->damage;

    while (b->next < d->file_count && !item->in_heap && item->tag == TAG_HEAP_DUMP_SEGMENT &&
           item->at >= d->files[b->next].from)
        d->files[b->next++].from = item->at;
}

/* Each part begins with a segment. */
static bool find_borders(struct damage *d, struct source *source)
{
    static const bool never = false;
    const struct survey *s = &d->survey;
    struct borders b = {.watch = {.item = find_border}, .damage = d, .next = 1};
    uint64_t objects = s->segments_end - s->first_segment, parts = d->file_count - 1;

    for (size_t i = 1; i < d->file_count; i++)
        d->files[i].from = s->first_segment + objects / parts * (i - 1);
    items_init(&b.items, NULL, &b.watch, source->id_size);
    source->detail = DETAIL_BYTES;
    if (!source->run(source, &b.items.stage, &never))
        return false;
    for (; b.next < d->file_count; b.next++)
        d->files[b.next].from = s->segments_end;
    for (size_t i = 1; i < d->file_count; i++)
        d->files[i].to = i + 1 < d->file_count ? d->files[i + 1].from : s->segments_end;
    return true;
}

/* The buffers that reached the disk; of less than one, a part. */
static uint64_t on_disk(uint64_t key, uint64_t n, uint64_t bytes)
{
    uint64_t some = below(draw(key, n), bytes + 1);

    if (bytes >= BUFFER)
        return bytes - bytes % BUFFER;
    return some > PAGE_SIZE_OF_FILES ? some - some % PAGE_SIZE_OF_FILES : some;
}

/* Killed after this share of the objects was written. */
static void kill_while_writing(struct damage *d, uint64_t key, uint64_t share)
{
    d->files[0].to = on_disk(key, 1, d->survey.first_segment);
    for (size_t i = 1; i < d->file_count; i++) {
        struct damage_file *f = &d->files[i];
        uint64_t bytes = share_of(share, f->to - f->from + 1), late = below(draw(key, 1 + i), 1 + bytes / 8);

        bytes -= late; /* threads are not equally fast */
        f->to = f->from + (bytes > PAGE_SIZE_OF_FILES ? bytes - bytes % PAGE_SIZE_OF_FILES : bytes);
    }
}

/* Killed after this share of the objects was joined to FILE. */
static void kill_while_joining(struct damage *d, uint64_t share)
{
    size_t kept = 1;

    d->files[0].to = d->survey.first_segment + share_of(share, d->survey.segments_end - d->survey.first_segment + 1);
    for (size_t i = 1; i < d->file_count; i++)
        if (d->files[i].to > d->files[0].to || i + 1 == d->file_count)
            d->files[kept++] = d->files[i];
    d->file_count = kept;
}

bool damage_plan_files(struct damage *d, const struct damage_spec *spec, struct source *source, const char **failure)
{
    enum { PARTS_MOST = 1000, HALF = UINT32_MAX / 2 };
    uint64_t parts = spec->number ? spec->number : 2, key = mix_of(d->seed, 1, 0);
    uint64_t moment = spec->has_at ? spec->at : below(draw(key, 0), UINT32_MAX);

    if (d->survey.heap_dumps || !d->survey.segments)
        return damage_refuse(failure, "--damage parts: the dump has no HEAP_DUMP_SEGMENTs, or others besides");
    if (parts > d->survey.segments || parts > PARTS_MOST)
        return damage_refuse(failure, "--damage parts:%llu: the dump has %llu segments, and %d parts are the most",
                             (unsigned long long)parts, (unsigned long long)d->survey.segments, PARTS_MOST);
    d->files = calloc(1 + (size_t)parts, sizeof *d->files);
    d->outs = calloc(1 + (size_t)parts, sizeof *d->outs);
    if (!d->files || !d->outs)
        return false;
    d->file_count = 1 + (size_t)parts;
    for (unsigned i = 0; i <= parts; i++)
        d->files[i].number = i;
    if (!find_borders(d, source))
        return false;
    if (moment <= HALF)
        kill_while_writing(d, key, 2 * moment < UINT32_MAX ? 2 * moment : UINT32_MAX);
    else
        kill_while_joining(d, 2 * (moment - HALF) < UINT32_MAX ? 2 * (moment - HALF) : UINT32_MAX);
    for (size_t i = 0; i < d->file_count; i++)
        if (!damage_note_place(d, spec->kind, d->files[i].from, d->files[i].to - d->files[i].from,
                               d->files[i].to - d->files[i].from))
            return false;
    return true;
}

/* ---- Bytes ---- */

/* The part of the bytes from d->at on that a file has. */
static bool put_in_file(const struct damage *d, size_t index, const uint8_t *p, size_t size)
{
    const struct damage_file *f = &d->files[index];
    uint64_t from = f->from > d->at ? f->from : d->at, to = f->to < d->at + size ? f->to : d->at + size;

    return from >= to || bytes_put(d->outs[index], p + (from - d->at), (size_t)(to - from));
}

/* FILE comes first, the others in their order, and only the first of these may begin before FILE ends. */
static void note_gaps(struct damage *d, uint64_t to)
{
    uint64_t at = d->at;

    for (size_t i = 0; i < d->file_count; i++) {
        const struct damage_file *f = &d->files[i];

        if (f->from == f->to || f->to <= at)
            continue;
        if (f->from >= to)
            break;
        if (f->from > at)
            harm_touch(d->harm, at, f->from, false);
        at = f->to;
    }
    if (at < to)
        harm_touch(d->harm, at, to, false);
}

static bool put_divided(struct bytes *bytes, const void *data, size_t size)
{
    struct damage *d = (struct damage *)((char *)bytes - offsetof(struct damage, bytes));

    for (size_t i = 0; i < d->file_count; i++)
        if (!put_in_file(d, i, data, size))
            return false;
    note_gaps(d, d->at + size);
    d->at += size;
    harm_pass(d->harm, d->at);
    return true;
}

static bool finish_divided(struct bytes *bytes)
{
    struct damage *d = (struct damage *)((char *)bytes - offsetof(struct damage, bytes));

    for (size_t i = d->file_count; i-- > 0;)
        if (!bytes_finish(d->outs[i]))
            return false;
    return true;
}

void damage_divide_bytes(struct damage *d, struct bytes *next)
{
    d->bytes = (struct bytes){.put = put_divided, .finish = finish_divided};
    d->outs[0] = next;
}
