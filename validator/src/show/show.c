/* See show.h. One walk over the records, by their lengths, finds the offset and the names of classes. A second walk goes item by
 * item around the offset. A third finds the class dumps of the instances among those items. */
#include "show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/versioned.h"
#include "format/subrecord.h"

enum {
    SHOW_BLOCK = 1 << 15, /* bytes read at once: most of the dump is skipped */
    AROUND_MAX = 1000,
    CLASS_DUMP_MAX = 1 << 22
};

static const uint64_t class_search_limit = UINT64_C(256) << 20; /* bytes of the heap dump */

struct cursor show_bytes(struct show *s, uint64_t offset, size_t n)
{
    size_t there;

    if (!input_seek(&s->in, offset))
        return (struct cursor){NULL, NULL};
    there = input_need(&s->in, n);
    return (struct cursor){s->in.at, s->in.at + (there < n ? there : n)};
}

/* ---- Walking ---- */

static void unreadable(struct item *item, uint64_t size, const char *why)
{
    item->kind = ITEM_UNREADABLE;
    item->size = size;
    snprintf(item->why, sizeof item->why, "%s", why);
}

/* Measures the sub-record here, with as many bytes as that takes. */
static void measure_item(struct show *s, struct item *item)
{
    uint64_t left = s->heap_end - item->offset;

    for (size_t want = 64;; want *= 4) {
        size_t there = input_need(&s->in, want < left ? want : (size_t)left);
        struct measure m;
        enum measured result = measure_subrecord(s->in.at, there < left ? there : (size_t)left, s->id_size, s->version, &m);

        if (result == MEASURED && m.size <= left) {
            item->kind = ITEM_SUBRECORD;
            item->size = m.size;
            return;
        }
        if (result == MEASURE_MORE && there < left && there >= want && want < CLASS_DUMP_MAX)
            continue;
        if (result == MEASURE_TAG) {
            char why[sizeof item->why];

            snprintf(why, sizeof why, "no sub-record has the tag 0x%02x", s->in.at[0]);
            unreadable(item, left, why);
        } else {
            unreadable(item, left,
                       result == MEASURE_TYPE ? "a value of undefined type, whose size is unknown"
                       : there < left && result == MEASURE_MORE
                           ? "the dump ends within a sub-record"
                           : "the sub-record is longer than the rest of its heap dump record");
        }
        return;
    }
}

/* The record or sub-record that begins here. False at the end of the dump. */
static bool read_item(struct show *s, struct item *item)
{
    size_t there;

    item->offset = s->in.offset;
    item->why[0] = '\0';
    if (!item->offset) {
        *item = (struct item){.kind = ITEM_HEADER, .size = HEADER_SIZE};
        return true;
    }
    if (s->heap_end && item->offset >= s->heap_end)
        s->heap = s->heap_end = 0;
    item->heap = s->heap;
    there = input_need(&s->in, RECORD_HEADER_SIZE);
    if (!there)
        return false;
    if (s->heap_end) {
        measure_item(s, item);
        return true;
    }
    if (there < RECORD_HEADER_SIZE) {
        unreadable(item, there, "the dump ends within the header of a record");
        return true;
    }
    item->length = get_u4(s->in.at + RECORD_LENGTH_AT);
    item->size = RECORD_HEADER_SIZE + item->length;
    item->kind = s->in.at[0] == TAG_HEAP_DUMP || s->in.at[0] == TAG_HEAP_DUMP_SEGMENT ? ITEM_HEAP : ITEM_RECORD;
    return true;
}

/* The offset of the next item. */
static uint64_t end_of(const struct item *item)
{
    return item->offset + (item->kind == ITEM_HEAP ? RECORD_HEADER_SIZE : item->size);
}

/* Moves past an item. False if the dump ends within it. */
static bool skip_item(struct show *s, const struct item *item)
{
    if (item->kind == ITEM_HEAP) {
        s->heap = item->offset;
        s->heap_end = item->offset + item->size;
    }
    return input_seek(&s->in, end_of(item)) && s->in.offset == end_of(item);
}

/* Adds the name that the record here defines. */
static void add_names(struct show *s, const struct item *item)
{
    size_t want = item->size < NAMES_RECORD_BYTES ? (size_t)item->size : NAMES_RECORD_BYTES, there = input_need(&s->in, want);

    names_add_record(&s->names, (struct cursor){s->in.at, s->in.at + (there < want ? there : want)});
}

/* ---- The walk of records ---- */

/* The result of the walk over the records. */
struct found {
    uint64_t *recent; /* a ring with the offsets of the records up to the wanted offset */
    size_t capacity, count;
    bool is_found;       /* a record contains the wanted offset */
    uint64_t heap_start; /* of the heap dump that contains it, or of the last one before it, or of the first one after it */
    uint64_t size;       /* of the dump, as far as lengths lead */
};

static void walk_records(struct show *s, struct found *f)
{
    uint64_t target = s->asked.offset, after = 0;
    bool heap_is_open = false;
    struct item item;

    while (!s->memory.exhausted && read_item(s, &item)) {
        bool is_heap = item.kind == ITEM_HEAP;
        uint8_t tag = *s->in.at;

        if (item.kind == ITEM_RECORD)
            add_names(s, &item);
        if (is_heap && (!heap_is_open || tag == TAG_HEAP_DUMP) && (!f->is_found || !f->heap_start))
            f->heap_start = item.offset;
        if (!f->is_found) {
            f->recent[f->count++ % f->capacity] = item.offset;
        } else if (s->in.compressed && ++after > s->asked.around) {
            return; /* going on would inflate the rest of the dump */
        }
        heap_is_open = tag == TAG_HEAP_DUMP_SEGMENT || (heap_is_open && tag != TAG_HEAP_DUMP_END);
        f->size = item.offset + item.size;
        if (target < f->size)
            f->is_found = true;
        if (item.kind == ITEM_UNREADABLE || input_skip(&s->in, item.size) < item.size)
            return;
    }
}

/* ---- The classes of instances ---- */

struct pending {
    uint64_t *ids; /* classes that are not found yet: of instances, or superclasses of classes that are found */
    size_t count;
};

/* Replaces each class by the first class of its superclass chain that is not found yet. */
static void follow_superclasses(struct show *s, struct pending *p)
{
    enum { DEPTH_MAX = 1 << 16 };

    for (size_t i = 0; i < p->count;) {
        uint64_t copy;
        unsigned steps = 0;

        while (p->ids[i] && steps++ < DEPTH_MAX && keymap_get(&s->classes, p->ids[i], &copy))
            p->ids[i] = get_id((const uint8_t *)(uintptr_t)copy + 1 + OFFSET_OF(CLASS_DUMP, super_id, s->id_size), s->id_size);
        if (p->ids[i] && steps <= DEPTH_MAX)
            i++;
        else
            p->ids[i] = p->ids[--p->count];
    }
}

static bool is_pending(const struct pending *p, uint64_t id)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->ids[i] == id)
            return true;
    return false;
}

static void keep_class(struct show *s, struct pending *p, const struct item *item)
{
    size_t there = input_need(&s->in, (size_t)item->size);
    uint64_t id;
    uint8_t *copy;

    if (there < item->size)
        return;
    id = get_id(s->in.at + 1, s->id_size);
    if (keymap_get(&s->classes, id, NULL))
        return;
    copy = arena_get(&s->copies, (size_t)item->size);
    if (!copy)
        return;
    memcpy(copy, s->in.at, (size_t)item->size);
    if (keymap_put(&s->classes, id, (uintptr_t)copy) && is_pending(p, id))
        follow_superclasses(s, p);
}

/* Collects the class dumps, from the start of the heap dump on: most producers write all classes before the first instance. */
static void find_classes(struct show *s, uint64_t heap_start, struct pending *p)
{
    struct item item;

    s->heap = s->heap_end = 0;
    if (!p->count || !input_seek(&s->in, heap_start))
        return;
    while (p->count && !s->memory.exhausted && s->in.offset - heap_start < class_search_limit && read_item(s, &item)) {
        if (item.kind == ITEM_SUBRECORD && *s->in.at == SUB_CLASS_DUMP)
            keep_class(s, p, &item);
        if (!skip_item(s, &item))
            return;
    }
}

/* ---- The items around the offset ---- */

static bool has_offset(const struct item *item, uint64_t offset)
{
    return offset >= item->offset && offset < end_of(item);
}

/* Collects the items to be shown: the one that contains the offset, and `around` items before and after it. */
static size_t collect(struct show *s, struct item *items)
{
    size_t around = (size_t)s->asked.around, count = 0, last = SIZE_MAX;
    struct item item;

    while (count <= last && !s->memory.exhausted && read_item(s, &item)) {
        bool is_asked_for = has_offset(&item, s->asked.offset);

        if (last == SIZE_MAX && count > around)
            memmove(items, items + 1, --count * sizeof *items);
        items[count++] = item;
        if (is_asked_for)
            last = count - 1 + around;
        if (!skip_item(s, &item)) {
            if (item.kind != ITEM_UNREADABLE)
                snprintf(items[count - 1].why, sizeof item.why, "the dump ends within a %srecord", item.heap ? "sub-" : "");
            break;
        }
    }
    return count;
}

/* Adds the classes of the instances among the items. */
static void need_classes(struct show *s, const struct item *items, size_t count, struct pending *p)
{
    for (size_t i = 0; i < count; i++) {
        struct cursor c = show_bytes(s, items[i].offset, 1 + SIZE_OF(INSTANCE_DUMP, s->id_size));
        struct INSTANCE_DUMP r;

        if (items[i].kind == ITEM_SUBRECORD && cursor_take(&c, 1) && c.at[-1] == SUB_INSTANCE_DUMP &&
            read_INSTANCE_DUMP(&c, s->id_size, &r) && !is_pending(p, r.class_id))
            p->ids[p->count++] = r.class_id;
    }
}

/* Shows the items, and opens and closes heap dump records between them as in a complete text. */
static void show_items(struct show *s, const struct item *items, size_t count)
{
    uint64_t open = 0;

    for (size_t i = 0; i < count && !s->memory.exhausted && !s->stopped; i++) {
        if (open && items[i].heap != open) {
            show_heap_end(s);
            open = 0;
        }
        if (items[i].heap && !open) {
            struct item heap = {.kind = ITEM_HEAP, .offset = items[i].heap};
            struct cursor c = show_bytes(s, heap.offset, RECORD_HEADER_SIZE);

            heap.length = cursor_left(&c) == RECORD_HEADER_SIZE ? get_u4(c.at + RECORD_LENGTH_AT) : 0;
            show_item(s, &heap);
        } else if (items[i].kind == ITEM_HEAP && i + 1 < count && items[i + 1].heap == items[i].offset) {
            show_item(s, &items[i]);
            open = items[i].offset;
            continue;
        }
        open = items[i].heap;
        show_item(s, &items[i]);
        if (items[i].kind == ITEM_HEAP)
            show_heap_end(s);
    }
    if (open)
        show_heap_end(s);
}

/* ---- The whole ---- */

static const char no_memory[] = "memory ran out";

static enum hprof_status fail(struct show *s, enum hprof_status status, const char *sentence)
{
    snprintf(s->failure, sizeof s->failure, "%s", sentence);
    return status;
}

static enum hprof_status fail_beyond_end(struct show *s)
{
    char sentence[HPROF_FAILURE_SIZE];

    if (s->in.compressed)
        return fail(
            s, HPROF_USAGE,
            "the offset is beyond the end of the dump, whose bytes are counted after decompression; offsets of the rules "
            "GZ are of the compressed file");
    snprintf(sentence, sizeof sentence, "the offset is beyond the end of the dump, which has %" PRIu64 " bytes",
             input_file_size(&s->in));
    return fail(s, HPROF_USAGE, sentence);
}

static void ignore_fault(void *context, const struct gzip_finding *finding)
{
    (void)context; /* --show shows what can be inflated; the validator reports faults */
    (void)finding;
}

static bool read_dump_header(struct show *s)
{
    static const char magic[] = "JAVA PROFILE 1.0.";
    const uint8_t *p;

    if (input_need(&s->in, HEADER_SIZE) < HEADER_SIZE)
        return false;
    p = s->in.at;
    s->id_size = get_u4(p + HEADER_STRING_SIZE);
    if (memcmp(p, magic, sizeof magic - 1) != 0 || p[sizeof magic - 1] < '1' || p[sizeof magic - 1] > '3' || p[sizeof magic] ||
        (s->id_size != 4 && s->id_size != 8))
        return false;
    s->version = (enum version)(p[sizeof magic - 1] - '0');
    return true;
}

static enum hprof_status show_around(struct show *s, struct found *f, struct item *items, struct pending *p)
{
    uint64_t offset = s->asked.offset;
    struct cursor c;
    size_t count;

    walk_records(s, f);
    if (!s->in.error) {
        c = show_bytes(s, offset, 1);
        if (!f->is_found || !cursor_left(&c))
            return fail_beyond_end(s);
    }
    s->heap = s->heap_end = 0;
    input_seek(&s->in, f->recent[f->count > f->capacity ? f->count % f->capacity : 0]);
    count = collect(s, items);
    need_classes(s, items, count, p);
    if (f->heap_start)
        find_classes(s, f->heap_start, p);
    show_items(s, items, count);
    for (size_t i = 0; i < count; i++)
        if (items[i].why[0] && has_offset(&items[i], offset))
            return fail(s, HPROF_INVALID, items[i].why);
    return HPROF_VALID;
}

static enum hprof_status show_dump(struct show *s)
{
    struct found f = {.capacity = (size_t)s->asked.around + 1};
    size_t most = 2 * (size_t)s->asked.around + 1;
    struct item *items;
    struct pending p = {0};
    enum hprof_status status = HPROF_LIMIT;

    f.recent = memory_get_zeroed(&s->memory, f.capacity * sizeof *f.recent);
    items = memory_get(&s->memory, most * sizeof *items);
    p.ids = memory_get(&s->memory, most * sizeof *p.ids);
    if (f.recent && items && p.ids)
        status = show_around(s, &f, items, &p);
    memory_put(&s->memory, f.recent, f.capacity * sizeof *f.recent);
    memory_put(&s->memory, items, most * sizeof *items);
    memory_put(&s->memory, p.ids, most * sizeof *p.ids);
    return status;
}

/* What follows a header that is not valid cannot be read. */
static enum hprof_status show_bad_header(struct show *s)
{
    struct item header = {.kind = ITEM_UNREADABLE, .size = input_need(&s->in, HEADER_SIZE), .why = "not a valid header"};

    if (header.size > HEADER_SIZE)
        header.size = HEADER_SIZE;
    if (!header.size)
        return fail(s, HPROF_INVALID, "not a heap dump: the file is empty");
    if (s->asked.offset >= header.size)
        return fail(s, HPROF_INVALID, "not a heap dump: the file does not begin with a valid header");
    show_item(s, &header);
    return fail(s, HPROF_INVALID, header.why);
}

static enum hprof_status show_input(struct show *s, bool is_open)
{
    enum hprof_status status = HPROF_VALID;
    char reason[100];

    if (is_open && !input_can_reread(&s->in))
        return fail(s, HPROF_USAGE, "only a regular file can be shown, because it is read from arbitrary offsets");
    if (is_open && !read_dump_header(s)) {
        if (!s->in.error)
            return show_bad_header(s);
    } else if (is_open) {
        names_init(&s->names, &s->memory, &s->key, s->id_size);
        keymap_init(&s->classes, &s->memory, &s->key, s->id_size, sizeof(uint64_t));
        arena_init(&s->copies, &s->memory);
        status = show_dump(s);
        names_clear(&s->names);
        keymap_clear(&s->classes);
        arena_clear(&s->copies);
    }
    if (s->in.error) {
        input_reason(&s->in, reason, sizeof reason);
        return fail(s, HPROF_IO, reason);
    }
    if (s->stopped)
        return fail(s, HPROF_STOPPED, "stopped by the caller");
    return s->memory.exhausted ? fail(s, HPROF_LIMIT, no_memory) : status;
}

static enum hprof_status end_with(struct hprof_show_result *result, enum hprof_status status, const char *reason)
{
    struct hprof_show_result own = {0};

    snprintf(own.failure, sizeof own.failure, "%s", reason);
    give_versioned(result, &own, sizeof own);
    return status;
}

static enum hprof_status show_source(struct input_source source, const char *unusable, const struct hprof_show *asked,
                                     struct hprof_show_result *result)
{
    struct hprof_show options;
    const char *reason = asked ? take_versioned(&options, sizeof options, asked) : "it is not said what to show";
    struct memory own;
    struct show *s;
    enum hprof_status status;
    bool is_open;

    if (!reason)
        reason = unusable;
    if (reason)
        return end_with(result, HPROF_USAGE, reason);
    memory_init(&own, options.allocator, 0);
    s = memory_get_zeroed(&own, sizeof *s);
    if (!s)
        return end_with(result, HPROF_LIMIT, no_memory);
    s->asked = options;
    s->key = hash_key_draw();
    memory_init(&s->memory, options.allocator, 0);
    if (s->asked.around > AROUND_MAX)
        s->asked.around = AROUND_MAX;
    is_open = input_open(&s->in, source, SHOW_BLOCK, &usual_sizes, &s->memory, ignore_fault, s);
    status = show_input(s, is_open);
    input_close(&s->in);
    end_with(result, status, s->failure); /* "" if nothing failed */
    memory_put(&own, s, sizeof *s);
    return status;
}

enum hprof_status hprof_show_fd(int fd, const struct hprof_show *show, struct hprof_show_result *result)
{
    return show_source(source_of_fd(fd), NULL, show, result);
}

enum hprof_status hprof_show_source(const struct hprof_source *source, const struct hprof_show *show,
                                    struct hprof_show_result *result)
{
    struct input_source callbacks;
    const char *reason = source_of_callbacks(source, &callbacks);

    return show_source(callbacks, reason, show, result);
}
