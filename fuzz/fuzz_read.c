/* hprof/read.h on any bytes: items follow each other without a gap and end; from memory, a file and callbacks they are the same;
 * hprof_seek() gives an item again; each object is found by its ID; sub-records are as many as the check counts, if nothing is
 * damaged. If an allocation fails, the status is HPROF_LIMIT or nothing changes. Nothing is leaked. */
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "dice.h"
#include "gzip.h"
#include "hash.h"
#include "hprof/read.h"
#include "memory_file.h"
#include "target.h"

enum { HEADER = 31, RECORD_HEADER = 9, BODY_SEEN = 4096 };

struct seen {
    uint64_t hash, count, subrecords;
    bool damaged;
    int result; /* of the last call */
};

static bool is_heap_record(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_RECORD && (item->tag == 0x0c || item->tag == 0x1c);
}

static uint64_t hash_of(struct hprof_reader *reader, const struct hprof_item *item)
{
    struct hprof_item plain = *item;
    const uint8_t *bytes;
    uint64_t hash = 0;
    int64_t n = hprof_body(reader, item->body > BODY_SEEN ? item->body - BODY_SEEN : 0, BODY_SEEN, &bytes);

    plain.damage = NULL;
    add_to_hash(&hash, &plain, sizeof plain);
    if (n > 0)
        add_to_hash(&hash, bytes, (size_t)n);
    return hash;
}

static void expect_next(const struct hprof_item *last, const struct hprof_item *item)
{
    uint64_t end = last->kind ? last->offset + last->size : HEADER;
    bool follows = item->offset == end || (is_heap_record(last) && item->offset == last->offset + RECORD_HEADER);

    if (!follows && !(item->kind == HPROF_ITEM_DAMAGE && item->offset == last->offset)) /* the end within the last item */
        fail_target("an item at 0x%llx, after one at 0x%llx of %llu bytes", (unsigned long long)item->offset,
                    (unsigned long long)last->offset, (unsigned long long)last->size);
    if ((item->kind == HPROF_ITEM_DAMAGE) != (item->damage != NULL))
        fail_target("an item of kind %d %s what is damaged", item->kind, item->damage ? "with" : "without");
}

/* Reads all items; keeps the one with the number `wanted`. */
static struct seen read_all(struct hprof_reader *reader, uint64_t wanted, struct hprof_item *kept)
{
    struct seen seen = {0};
    struct hprof_item item, last = {0};

    hprof_item_init(&item);
    while ((seen.result = hprof_next(reader, &item)) == 1) {
        uint64_t hash = hash_of(reader, &item);

        expect_next(&last, &item);
        if (seen.count++ == wanted)
            *kept = item;
        seen.subrecords += item.kind == HPROF_ITEM_SUBRECORD;
        seen.damaged |= item.kind == HPROF_ITEM_DAMAGE;
        add_to_hash(&seen.hash, &hash, sizeof hash);
        last = item;
    }
    return seen;
}

static void expect_same(const struct seen *a, const struct seen *b, const char *how)
{
    if (a->result != b->result || a->count != b->count || a->hash != b->hash)
        fail_target("%s: result %d after %llu items, %d after %llu before, or others", how, b->result,
                    (unsigned long long)b->count, a->result, (unsigned long long)a->count);
}

static void expect_again(struct hprof_reader *reader, const struct hprof_item *kept)
{
    struct hprof_item item, found;
    uint64_t hash;

    hprof_item_init(&item);
    hprof_item_init(&found);
    if (hprof_seek(reader, kept) != 1 || hprof_next(reader, &item) != 1)
        fail_target("the item at 0x%llx is not read again", (unsigned long long)kept->offset);
    hash = hash_of(reader, &item);
    if (hprof_seek(reader, kept) != 1 || hprof_next(reader, &item) != 1 || item.offset != kept->offset ||
        item.size != kept->size || item.tag != kept->tag || hash_of(reader, &item) != hash)
        fail_target("the item at 0x%llx is another one now", (unsigned long long)kept->offset);
    if (kept->kind != HPROF_ITEM_SUBRECORD || kept->tag < 0x20 || kept->tag > 0x23)
        return;
    if (hprof_index(reader, kept->heap_dump, 0) != 1 || hprof_find(reader, kept->id, &found) != 1 || found.id != kept->id ||
        found.offset > kept->offset)
        fail_target("the object 0x%llx is not found", (unsigned long long)kept->id);
}

static void expect_counts(const uint8_t *data, size_t size, const struct seen *seen)
{
    struct hprof_options options;
    struct hprof_summary summary;
    uint64_t subrecords = 0;

    hprof_options_init(&options);
    hprof_summary_init(&summary);
    hprof_validate_memory(data, size, false, &options, &summary);
    for (unsigned tag = 0; tag < 256; tag++)
        subrecords += summary.subrecord_counts[tag];
    /* The reader gets lost objects back, of which the check says only that they are missing. */
    if (!seen->damaged && (seen->subrecords < subrecords || (seen->subrecords > subrecords && !summary.missing_objects)))
        fail_target("%llu sub-records, %llu by the check", (unsigned long long)seen->subrecords,
                    (unsigned long long)subrecords);
}

static int64_t read_some_at(void *context, uint64_t offset, void *to, size_t size)
{
    ssize_t n = pread(*(int *)context, to, size > 1000 ? 1000 : size, (off_t)offset);

    return n < 0 ? -5 : n;
}

static void read_with_less_memory(const uint8_t *data, size_t size, struct dice *dice, const struct seen *expected)
{
    struct allocator memory = {.left = below(dice, 60), .for_good = one_in(dice, 2)};
    struct hprof_allocator allocator = allocator_for(&memory);
    struct hprof_read_options options;
    struct hprof_reader *reader;
    struct hprof_item kept;
    struct seen seen;

    hprof_read_options_init(&options);
    options.allocator = &allocator;
    if (hprof_open_memory(data, size, &options, &reader) == HPROF_VALID) {
        seen = read_all(reader, UINT64_MAX, &kept);
        if (seen.result != -HPROF_LIMIT)
            expect_same(expected, &seen, "with less memory");
    } else if (!memory.failed) {
        fail_target("a dump is not opened, though no allocation failed");
    }
    hprof_close(reader);
    expect_no_leak(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dice dice = {drawn_bits(data, size) + (uint64_t)size};
    struct hprof_source source;
    struct hprof_reader *reader;
    struct hprof_item kept = {0};
    struct seen memory, other;
    int fd = -1;

    data = copy_to_guard_page(data, size);
    if (hprof_open_memory(data, size, NULL, &reader) != HPROF_VALID) {
        hprof_close(reader);
        return 0;
    }
    memory = read_all(reader, below(&dice, 200), &kept);
    if (memory.result != 0)
        fail_target("reading ends with %d: %s", memory.result, hprof_failure(reader));
    if (kept.kind)
        expect_again(reader, &kept);
    hprof_close(reader);
    if (!is_gzip(data, size))
        expect_counts(data, size, &memory);
    fill_memory_file(&fd, data, size);
    hprof_source_init(&source);
    source.read_at = read_some_at;
    source.size = size;
    source.context = &fd;
    if (hprof_open_source(&source, NULL, &reader) != HPROF_VALID)
        fail_target("the dump cannot be opened by callbacks: %s", hprof_failure(reader));
    other = read_all(reader, UINT64_MAX, &kept);
    expect_same(&memory, &other, "callbacks");
    hprof_close(reader);
    close(fd);
    read_with_less_memory(data, size, &dice, &memory);
    return 0;
}
