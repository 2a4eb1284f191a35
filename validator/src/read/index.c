/* Objects by ID: a word of 8 bytes for each object of a heap dump, with its offset in 44 bits and the low 20 bits of its ID, in the
 * order of the IDs. The other bits of the ID are those of a bucket: where IDs are addresses, a bucket is 1 MiB of the heap. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "read/reader.h"

enum { LOW_BITS = 20, OFFSET_BITS = 44 };
#define LOW_MASK (((uint64_t)1 << LOW_BITS) - 1)
#define OFFSET_MASK (((uint64_t)1 << OFFSET_BITS) - 1)

void index_clear(struct shared_dump *d)
{
    struct object_index *index = &d->index;

    memory_put(&d->memory, index->words, index->count * sizeof *index->words);
    memory_put(&d->memory, index->buckets, index->bucket_count * sizeof *index->buckets);
    memory_put(&d->memory, index->ranges, index->range_capacity * sizeof *index->ranges);
    *index = (struct object_index){0};
}

static bool is_object(const struct hprof_item *item, uint64_t heap_dump)
{
    return item->kind == HPROF_ITEM_SUBRECORD && item->heap_dump == heap_dump &&
           (item->tag == SUB_INSTANCE_DUMP || item->tag == SUB_CLASS_DUMP || item->tag == SUB_OBJECT_ARRAY_DUMP ||
            item->tag == SUB_PRIMITIVE_ARRAY_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_NODATA);
}

/* Calls `each` for each object of the heap dump. A negative status, or 1. */
static int walk(struct hprof_reader *r, uint64_t heap_dump, bool (*each)(struct hprof_reader *r, void *context), void *context)
{
    int result;

    r->next = (struct reading){.at = HEADER_SIZE};
    r->item.kind = 0;
    while ((result = read_next(r)) == 1)
        if (is_object(&r->item, heap_dump) && !each(r, context))
            break;
    return result < 0 ? result : reader_check(r) ? reader_check(r) : 1;
}

/* ---- Counting ---- */

struct counting {
    struct keymap high; /* high bits of an ID to the number of objects */
    uint64_t objects, limit;
};

/* The heap dump record, or part of one, that contains the last item. */
static bool note_range(struct hprof_reader *r)
{
    struct object_index *index = &r->dump->index;
    const struct hprof_item *item = &r->item;
    struct heap_range *last = index->range_count ? &index->ranges[index->range_count - 1] : NULL;
    void *ranges = index->ranges;

    if (last && last->record == item->record && last->to == item->record_end)
        return true;
    if (!memory_grow(&r->dump->memory, &ranges, &index->range_capacity, index->range_count + 1, sizeof *index->ranges))
        return false;
    index->ranges = ranges;
    index->ranges[index->range_count++] =
        (struct heap_range){item->record, item->offset, item->record_end, item->begun, item->series};
    return true;
}

static uint64_t size_of_index(const struct counting *counting)
{
    return counting->objects * sizeof(uint64_t) + counting->high.count * sizeof(struct bucket);
}

static bool count_object(struct hprof_reader *r, void *context)
{
    struct counting *counting = context;
    uint64_t count = 0;

    counting->objects++;
    keymap_get(&counting->high, r->item.id >> LOW_BITS, &count);
    return keymap_put(&counting->high, r->item.id >> LOW_BITS, count + 1) && note_range(r) &&
           (!counting->limit || size_of_index(counting) <= counting->limit);
}

/* ---- Filling ---- */

static void add_bucket(void *context, uint64_t high, uint64_t count)
{
    struct object_index *index = context;

    index->buckets[index->bucket_count++] = (struct bucket){high, count};
}

static bool is_lower(const void *a, const void *b)
{
    const struct bucket *x = a, *y = b;

    return x->high < y->high;
}

static struct bucket *find_bucket(const struct object_index *index, uint64_t high)
{
    size_t n = count_up_to(index->buckets, index->bucket_count, sizeof *index->buckets, offsetof(struct bucket, high), high);

    return n && index->buckets[n - 1].high == high ? &index->buckets[n - 1] : NULL;
}

static bool add_object(struct hprof_reader *r, void *context)
{
    struct object_index *index = &r->dump->index;
    struct bucket *bucket = find_bucket(index, r->item.id >> LOW_BITS);

    (void)context;
    /* `first` moves to the end of the bucket, which is the start of the next one. */
    if (bucket && bucket->first < index->count)
        index->words[bucket->first++] = (r->item.id & LOW_MASK) << OFFSET_BITS | (r->item.offset & OFFSET_MASK);
    return true;
}

/* From numbers of objects to the index of the first. */
static void begin_buckets(struct object_index *index)
{
    uint64_t first = 0;

    for (size_t i = 0; i < index->bucket_count; i++) {
        uint64_t count = index->buckets[i].first;

        index->buckets[i].first = first;
        first += count;
    }
}

/* Each `first` is the end of its bucket now. */
static void end_buckets(struct object_index *index)
{
    uint64_t first = 0;

    for (size_t i = 0; i < index->bucket_count; i++) {
        uint64_t end = index->buckets[i].first;

        sort_numbers(index->words + first, (size_t)(end - first));
        index->buckets[i].first = first;
        first = end;
    }
}

static int fill(struct hprof_reader *r, uint64_t heap_dump, const struct counting *counting)
{
    struct shared_dump *d = r->dump;
    struct object_index *index = &d->index;
    int result;

    index->count = (size_t)counting->objects;
    index->words = memory_get(&d->memory, index->count * sizeof *index->words);
    index->buckets = memory_get(&d->memory, counting->high.count * sizeof *index->buckets);
    if (!index->words || !index->buckets) {
        index->count = index->words ? index->count : 0;
        index->bucket_count = index->buckets ? counting->high.count : 0;
        return reader_check(r);
    }
    keymap_each(&counting->high, add_bucket, index);
    sort_in_place(index->buckets, index->bucket_count, sizeof *index->buckets, is_lower);
    begin_buckets(index);
    result = walk(r, heap_dump, add_object, NULL);
    end_buckets(index);
    index->heap_dump = heap_dump;
    return result;
}

/* The reader can still be used. */
static int fail_for_limit(struct hprof_reader *r, uint64_t limit)
{
    snprintf(r->failure, sizeof r->failure, "the index of the objects needs more than the %llu bytes that are allowed",
             (unsigned long long)limit);
    return -HPROF_LIMIT;
}

int hprof_index(struct hprof_reader *r, uint64_t heap_dump, uint64_t max_memory)
{
    struct counting counting = {.limit = max_memory};
    struct reading before;
    struct shared_dump *d;
    int result;

    if (reader_ready(r))
        return reader_ready(r);
    if (!r->in.source.seekable)
        return reader_fail(r, HPROF_USAGE, "this source can be read only once");
    d = r->dump;
    before = r->next;
    index_clear(d);
    keymap_init(&counting.high, &d->memory, &d->key, sizeof(uint64_t), sizeof(uint64_t));
    result = walk(r, heap_dump, count_object, &counting);
    if (result == 1 && counting.limit && size_of_index(&counting) > counting.limit)
        result = fail_for_limit(r, counting.limit);
    else if (result == 1)
        result = counting.objects ? fill(r, heap_dump, &counting) : 0;
    keymap_clear(&counting.high);
    if (result != 1)
        index_clear(d);
    drop_joined(r);
    r->item.kind = 0;
    r->next = before;
    return result;
}

/* ---- Finding ---- */

/* The offset of the first object with an ID; 0 if there is none. */
static uint64_t find_offset(const struct object_index *index, uint64_t id)
{
    const struct bucket *bucket = find_bucket(index, id >> LOW_BITS);
    uint64_t low, high, wanted = (id & LOW_MASK) << OFFSET_BITS;

    if (!bucket)
        return 0;
    low = bucket->first;
    high = bucket + 1 < index->buckets + index->bucket_count ? bucket[1].first : index->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (index->words[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && index->words[low] >> OFFSET_BITS == (id & LOW_MASK) ? index->words[low] & OFFSET_MASK : 0;
}

static const struct heap_range *find_range(const struct object_index *index, uint64_t offset)
{
    size_t low = 0, high = index->range_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (index->ranges[middle].from <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &index->ranges[low - 1] : NULL;
}

int hprof_find(struct hprof_reader *r, uint64_t id, struct hprof_item *item)
{
    const struct object_index *index;
    const struct heap_range *range;
    struct reading where;
    uint64_t offset;

    if (reader_ready(r))
        return reader_ready(r);
    index = &r->dump->index;
    if (!index->words)
        return reader_fail(r, HPROF_USAGE, "hprof_index() was not called before");
    offset = find_offset(index, id);
    range = offset ? find_range(index, offset) : NULL;
    if (!range)
        return 0;
    where = (struct reading){.at = offset,
                             .heap_record = range->record,
                             .heap_end = range->to,
                             .heap_dump = index->heap_dump,
                             .begun = range->begun,
                             .series = range->series};
    if (!read_subrecord_at(r, &where))
        return reader_check(r);
    return reader_give(r, item, &r->item, sizeof r->item);
}
