/* hprof/read.h on all files of the corpus: items cover the dump, are those that the check counts, and are the same however the
 * bytes come; reading again from any of them gives the same; each object is found by its ID; memory may run out anywhere. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "caller.h"
#include "corpus.h"
#include "dice.h"
#include "dump.h"
#include "each_allocation.h"
#include "forms.h"
#include "hprof/read.h"
#include "hprof/testing.h"

static struct hprof_reader *open_bytes(const struct bytes *b, const struct hprof_read_options *options,
                                       enum hprof_status *status)
{
    struct hprof_reader *reader = NULL;

    *status = hprof_open_memory(b->at, b->size, options, &reader);
    return reader;
}

static struct hprof_reader *open_valid(const struct bytes *b)
{
    enum hprof_status status;
    struct hprof_reader *reader = open_bytes(b, NULL, &status);

    if (status == HPROF_VALID)
        return reader;
    assert_int_equal(status, HPROF_INVALID);
    assert_non_null(strstr(hprof_failure(reader), "header"));
    hprof_close(reader);
    return NULL;
}

static struct hprof_item new_item(void)
{
    struct hprof_item item;

    hprof_item_init(&item);
    return item;
}

static bool is_heap_record(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_RECORD && (item->tag == 0x0c || item->tag == 0x1c);
}

static uint64_t end_of(const struct hprof_item *item)
{
    return item->offset + (is_heap_record(item) ? 9 : item->size);
}

static bool is_object(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_SUBRECORD && ((item->tag >= 0x20 && item->tag <= 0x23) || item->tag == 0xc3);
}

/* A number that depends on all bytes of the body. */
static uint64_t sum_of_body(struct hprof_reader *reader, const struct hprof_item *item)
{
    uint64_t sum = 14695981039346656037U;
    const uint8_t *bytes;
    int64_t n = 1;

    for (uint64_t at = 0; n > 0 && at < item->body; at += (uint64_t)n) {
        n = hprof_body(reader, at, 100, &bytes);
        for (int64_t i = 0; i < n; i++)
            sum = (sum ^ bytes[i]) * 1099511628211U;
    }
    return n > 0 ? sum : 0;
}

/* ---- What is read ---- */

struct seen {
    struct hprof_item items[4096];
    uint64_t sums[4096];
    size_t count;
};

/* Of a pipe, the end of the dump within an item is noticed after the item. */
static bool may_lack_its_end(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_DAMAGE && strstr(item->damage, "within the last item");
}

/* Reads all items; what comes after the first ones is not kept. */
static void read_all(struct hprof_reader *reader, struct seen *seen)
{
    struct hprof_item item = new_item(), last = item;
    uint64_t at = 31;
    int result;

    seen->count = 0;
    while ((result = hprof_next(reader, &item)) == 1) {
        if (item.offset == at + (last.size - 9) && is_heap_record(&last))
            at = item.offset; /* a record of 1.0.1 that is no segment */
        if (item.offset != at && !may_lack_its_end(&item))
            fail_msg("an item at 0x%llx, after one that ends at 0x%llx", (unsigned long long)item.offset,
                     (unsigned long long)at);
        at = end_of(&item);
        last = item;
        if (seen->count == sizeof seen->items / sizeof *seen->items)
            continue;
        seen->items[seen->count] = item;
        seen->sums[seen->count++] = sum_of_body(reader, &item);
    }
    assert_int_equal(result, 0);
    assert_int_equal(hprof_next(reader, &item), 0);
}

static int note_summary(void *context, const struct hprof_summary *summary)
{
    *(struct hprof_summary *)context = *summary;
    return 0;
}

static void items_are_those_that_the_check_counts(void **state)
{
    struct seen *seen = malloc(sizeof *seen);
    size_t exact = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);
        uint64_t subrecords[256] = {0};
        struct hprof_summary summary;
        struct hprof_options options;

        if (!reader)
            continue;
        hprof_options_init(&options);
        options.on_summary = note_summary;
        options.context = &summary;
        hprof_validate_memory(corpus[i].bytes.at, corpus[i].bytes.size, false, &options, NULL);
        read_all(reader, seen);
        hprof_close(reader);
        if (summary.compressed || seen->count == sizeof seen->items / sizeof *seen->items)
            continue;
        for (size_t n = 0; n < seen->count; n++)
            subrecords[seen->items[n].tag] += seen->items[n].kind == HPROF_ITEM_SUBRECORD;
        for (unsigned tag = 0; tag < 256; tag++)
            if (subrecords[tag] != summary.subrecord_counts[tag])
                fail_msg("%s: %llu sub-records 0x%02x, %llu by the check", corpus[i].name, (unsigned long long)subrecords[tag],
                         tag, (unsigned long long)summary.subrecord_counts[tag]);
        if (seen->count)
            assert_int_equal(end_of(&seen->items[seen->count - 1]), corpus[i].bytes.size);
        exact++;
    }
    assert_true(exact > corpus_size / 2);
    free(seen);
}

struct checked {
    struct hprof_summary summary;
    size_t findings;
    uint64_t offsets; /* a number that depends on all of them */
};

static int note_checked(void *context, const struct hprof_summary *summary)
{
    ((struct checked *)context)->summary = *summary;
    return 0;
}

static int note_finding(void *context, const struct hprof_finding *finding)
{
    struct checked *checked = context;

    checked->findings++;
    checked->offsets = checked->offsets * 31 + finding->offset + finding->rule;
    return 0;
}

static int stop_at_summary(void *context, const struct hprof_summary *summary)
{
    (void)context;
    (void)summary;
    return 1;
}

static struct hprof_options checking(struct checked *checked)
{
    struct hprof_options options;

    hprof_options_init(&options);
    options.profile = hprof_profile_find("auto");
    options.on_summary = note_checked;
    options.on_finding = note_finding;
    options.context = checked;
    return options;
}

static void opening_hands_on_what_the_check_finds(void **state)
{
    size_t with_findings = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct checked alone = {.findings = 0}, opened = {.findings = 0};
        struct hprof_options options = checking(&alone), of_reader = checking(&opened);
        struct hprof_read_options read;
        enum hprof_status status;

        hprof_validate_memory(corpus[i].bytes.at, corpus[i].bytes.size, false, &options, NULL);
        hprof_read_options_init(&read);
        read.check = &of_reader;
        hprof_close(open_bytes(&corpus[i].bytes, &read, &status));
        if (status == HPROF_INVALID)
            continue; /* no header */
        assert_int_equal(status, HPROF_VALID);
        assert_memory_equal(&alone.summary, &opened.summary, sizeof alone.summary);
        assert_int_equal(alone.findings, opened.findings);
        assert_int_equal(alone.offsets, opened.offsets);
        with_findings += alone.findings > 0;
        of_reader.on_summary = stop_at_summary;
        hprof_close(open_bytes(&corpus[i].bytes, &read, &status));
        assert_int_equal(status, HPROF_STOPPED);
    }
    assert_true(with_findings > corpus_size / 4);
}

/* The bytes of a TRACE say how many frames it has, and which. */
static void traces_have_their_frames(void **state)
{
    size_t traces = 0, frames = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);
        struct hprof_item item = new_item();
        struct hprof_header header;
        uint64_t id, expected;
        const uint8_t *bytes;

        if (!reader)
            continue;
        hprof_header_init(&header);
        assert_int_equal(hprof_read_header(reader, &header), 1);
        while (hprof_next(reader, &item) == 1) {
            if (item.kind != HPROF_ITEM_RECORD || item.tag != 0x05) {
                assert_int_equal(item.frames, 0);
                assert_int_equal(hprof_trace_frame(reader, 0, &id), 0);
                continue;
            }
            for (uint32_t n = 0; n < item.frames && hprof_trace_frame(reader, n, &id) == 1; n++, frames++) {
                expected = 0;
                assert_int_equal(hprof_body(reader, 12 + (uint64_t)n * header.id_size, header.id_size, &bytes), header.id_size);
                for (uint32_t byte = 0; byte < header.id_size; byte++)
                    expected = expected << 8 | bytes[byte];
                assert_true(id == expected);
            }
            assert_int_equal(hprof_trace_frame(reader, item.frames, &id), 0);
            traces++;
        }
        hprof_close(reader);
    }
    assert_true(traces > 10 && frames > 10);
}

/* Of all items that are in one piece. */
static void the_bytes_of_an_item_are_those_of_the_dump(void **state)
{
    size_t compared = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *b = &corpus[i].bytes;
        struct hprof_reader *reader = open_valid(b);
        struct hprof_item item = new_item();
        struct hprof_header header;
        const uint8_t *bytes;
        int64_t n;

        hprof_header_init(&header);
        if (!reader || hprof_read_header(reader, &header) != 1 || header.compressed) {
            hprof_close(reader);
            continue;
        }
        while (hprof_next(reader, &item) == 1) {
            const uint64_t size = item.head + item.body;

            if (item.kind == HPROF_ITEM_DAMAGE) {
                assert_int_equal(hprof_bytes(reader, 0, 10, &bytes), 0);
            } else if (size == item.size) {
                for (uint64_t at = 0; at < size && (n = hprof_bytes(reader, at, 100, &bytes)) > 0; at += (uint64_t)n)
                    assert_memory_equal(bytes, b->at + item.offset + at, (size_t)n);
                assert_int_equal(hprof_bytes(reader, size, 10, &bytes), 0);
                compared++;
            }
        }
        hprof_close(reader);
    }
    assert_true(compared > 1000);
}

static void expect_same_field(const struct hprof_field *a, const struct hprof_field *b)
{
    assert_true(a->class_id == b->class_id && a->name_id == b->name_id && a->offset == b->offset);
    assert_true(a->type == b->type && a->is_static == b->is_static);
}

/* Fields in their order, backwards, and each after the fields of another class are the same. */
static void fields_are_found_in_any_order(void **state)
{
    enum { MOST = 64 };
    static struct hprof_field in_order[MOST];
    struct hprof_field field;
    size_t compared = 0;

    (void)state;
    hprof_field_init(&field);
    for (size_t i = 0; i < corpus_size; i++) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);
        struct hprof_item item = new_item();
        struct hprof_class class;

        hprof_class_init(&class);
        while (reader && hprof_next(reader, &item) == 1)
            ;
        for (uint32_t number = 0; reader && hprof_class_at(reader, number, &class) == 1; number++) {
            for (unsigned is_static = 0; is_static < 2; is_static++) {
                size_t count = 0;

                for (; count < MOST; count++) {
                    hprof_field_init(&in_order[count]);
                    if (hprof_field_at(reader, class.id, is_static, count, &in_order[count]) != 1)
                        break;
                }
                for (size_t n = count; n-- > 0;) {
                    assert_int_equal(hprof_field_at(reader, class.id, is_static, n, &field), 1);
                    expect_same_field(&field, &in_order[n]);
                    hprof_field_at(reader, class.super_id, is_static, 0, &field);
                    hprof_field_at(reader, class.id, !is_static, 0, &field);
                    assert_int_equal(hprof_field_at(reader, class.id, is_static, n, &field), 1);
                    expect_same_field(&field, &in_order[n]);
                    compared++;
                }
                if (count < MOST)
                    assert_int_equal(hprof_field_at(reader, class.id, is_static, count, &field), 0);
            }
        }
        hprof_close(reader);
    }
    assert_true(compared > 1000);
}

/* ---- Counted objects ---- */

enum { CLASSES_MOST = 512 };

struct tally {
    struct hprof_class_count classes[CLASSES_MOST];
    size_t count;
    uint64_t objects, low, high;
    struct hprof_item first, last;
};

/* Adds an object to those of its class. */
static void add_object(struct tally *t, const struct hprof_item *item)
{
    struct hprof_class_count *class = t->classes, *end = t->classes + t->count;

    while (class < end &&
           (class->class_id != item->class_id || class->tag != item->tag || class->element_type != item->element_type))
        class ++;
    if (class == end) {
        assert_true(t->count++ < CLASSES_MOST);
        *class = (struct hprof_class_count){
            .class_id = item->class_id, .head = (uint8_t)item->head, .tag = item->tag, .element_type = item->element_type};
    }
    class->number++;
    class->size += item->size;
    t->low = item->id < t->low ? item->id : t->low;
    t->high = item->id > t->high ? item->id : t->high;
    if (!t->objects++)
        t->first = *item;
    t->last = *item;
}

static int compare_counts(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct hprof_class_count));
}

static void expect_counted(struct tally *t, const struct hprof_counted *counted, uint64_t within)
{
    static struct hprof_class_count classes[CLASSES_MOST];
    const uint64_t end = t->last.offset + t->last.size, multiple = (counted->offset / within + 1) * within;

    assert_int_equal(counted->objects, t->objects);
    assert_int_equal(counted->class_count, t->count);
    memcpy(classes, counted->classes, t->count * sizeof *classes);
    qsort(classes, t->count, sizeof *classes, compare_counts);
    qsort(t->classes, t->count, sizeof *t->classes, compare_counts);
    assert_memory_equal(classes, t->classes, t->count * sizeof *classes);
    assert_true(counted->low_id == t->low && counted->high_id == t->high);
    assert_true(t->last.offset < multiple);
    assert_int_equal(counted->beyond, end > multiple ? end - multiple : 0);
    if (counted->beyond)
        assert_int_equal(counted->last_tag, t->last.tag);
}

/* A byte of the last item, from its start. */
static void expect_tag(struct hprof_reader *reader, uint64_t from, uint8_t tag)
{
    const uint8_t *bytes;

    assert_int_equal(hprof_bytes(reader, from, 1, &bytes), 1);
    assert_int_equal(*bytes, tag);
    assert_int_equal(hprof_body(reader, from, 1, &bytes), 1);
    assert_int_equal(*bytes, tag);
}

/* The bytes of the last item, which are counted objects, are those of the objects that were read one by one. */
static void expect_objects(struct hprof_reader *reader, const struct hprof_item *run, const struct hprof_item *objects,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct hprof_item object = *run;
        const uint8_t *bytes;
        int64_t there = hprof_bytes(reader, objects[i].offset - run->offset, (size_t)objects[i].head, &bytes);

        assert_int_equal(there, objects[i].head);
        assert_int_equal(hprof_counted_object(reader, bytes, (size_t)there - 1, &object), 0);
        assert_memory_equal(&object, run, sizeof object);
        assert_int_equal(hprof_counted_object(reader, bytes, (size_t)there, &object), 1);
        object.offset = objects[i].offset;
        assert_memory_equal(&object, &objects[i], sizeof object);
    }
}

/* Reads the dump once more, and expects the same items as before; some of them are counted. Returns how many are. */
static uint64_t expect_some_counted(struct hprof_reader *reader, const struct seen *seen, uint64_t within)
{
    struct hprof_item item = new_item();
    struct hprof_counted counted;
    const uint8_t *after;
    uint64_t objects = 0;
    size_t i = 0;
    int result;

    hprof_counted_init(&counted);
    assert_int_equal(hprof_seek(reader, NULL), 1);
    while ((result = hprof_next_counted(reader, &item, &counted)) == 1 && i < seen->count) {
        static struct tally tally;

        assert_int_equal(item.offset, seen->items[i].offset);
        if (item.kind != HPROF_ITEM_OBJECTS) {
            assert_memory_equal(&item, &seen->items[i++], sizeof item);
            continue;
        }
        tally = (struct tally){.low = UINT64_MAX};
        assert_true(item.heap_dump == seen->items[i].heap_dump && item.record == seen->items[i].record &&
                    item.record_end == seen->items[i].record_end && item.offset == counted.offset && item.size == counted.size);
        const size_t first = i;

        for (; i < seen->count && seen->items[i].offset < item.offset + item.size; i++)
            add_object(&tally, &seen->items[i]);
        expect_objects(reader, &item, &seen->items[first], i - first);
        assert_true(i == seen->count || end_of(&tally.last) == item.offset + item.size);
        if (i < seen->count)
            expect_counted(&tally, &counted, within);
        if (tally.objects) {
            expect_tag(reader, tally.first.offset - item.offset, tally.first.tag);
            expect_tag(reader, tally.last.offset - item.offset, tally.last.tag);
        }
        assert_int_equal(hprof_bytes(reader, item.size, 1, &after), 0);
        objects += tally.objects;
    }
    assert_true(result >= 0 && i == seen->count);
    return objects;
}

/* Whichever threads the check has, and wherever it divides the dump. */
static void counted_objects_are_those_that_are_read(void **state)
{
    struct seen *seen = malloc(sizeof *seen);
    uint64_t counted = 0, all = 0;

    (void)state;
    shake_dice();
    for (size_t i = 0; i < corpus_size; i++) {
        struct hprof_testing testing = {.counted = 1, .threads_from = 1, .job = 64 + below(1000), .block = 2 + below(1000)};
        const uint64_t within = (uint64_t)1 << below(16);
        struct hprof_read_options options;
        struct hprof_options check;
        struct hprof_reader *reader;
        enum hprof_status status;

        hprof_options_init(&check);
        check.testing = &testing;
        hprof_read_options_init(&options);
        options.check = &check;
        options.threads = 1 + below(3);
        options.count_within = within;
        reader = open_bytes(&corpus[i].bytes, &options, &status);
        if (status == HPROF_VALID) {
            read_all(reader, seen);
            counted += expect_some_counted(reader, seen, within);
            for (size_t n = 0; n < seen->count; n++)
                all += is_object(&seen->items[n]) && seen->items[n].tag != 0x20 && seen->items[n].tag != 0xc3;
        }
        hprof_close(reader);
    }
    assert_true(counted > 100 && counted > all - all / 8);
    free(seen);
}

/* ---- However the bytes come ---- */

static int64_t read_some(void *context, void *to, size_t size)
{
    ssize_t n = read(*(int *)context, to, size > 100 ? 100 : size);

    return n < 0 ? -errno : n;
}

static int64_t read_some_at(void *context, uint64_t offset, void *to, size_t size)
{
    ssize_t n = pread(*(int *)context, to, size > 100 ? 100 : size, (off_t)offset);

    return n < 0 ? -errno : n;
}

static void expect_same_items(const char *name, const struct seen *a, const struct seen *b)
{
    if (a->count != b->count)
        fail_msg("%s: %zu items and %zu", name, a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        if (memcmp(&a->items[i], &b->items[i], sizeof a->items[i]) != 0 || a->sums[i] != b->sums[i])
            fail_msg("%s: items at 0x%llx differ", name, (unsigned long long)a->items[i].offset);
}

static void files_and_callbacks_give_the_same_items(void **state)
{
    struct seen *memory = malloc(sizeof *memory), *other = malloc(sizeof *other);

    (void)state;
    for (size_t i = 0; i < corpus_size; i += 2) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);
        struct bytes gzip = compress_gzip(&corpus[i].bytes);
        struct hprof_source source;
        int fd = file_of(&corpus[i].bytes);

        if (reader) {
            read_all(reader, memory);
            hprof_close(reader);
            assert_int_equal(hprof_open_fd(fd, NULL, &reader), HPROF_VALID);
            read_all(reader, other);
            hprof_close(reader);
            expect_same_items(corpus[i].name, memory, other);
            hprof_source_init(&source);
            source.read_at = read_some_at;
            source.size = corpus[i].bytes.size;
            source.context = &fd;
            assert_int_equal(hprof_open_source(&source, NULL, &reader), HPROF_VALID);
            read_all(reader, other);
            hprof_close(reader);
            expect_same_items(corpus[i].name, memory, other);
            if (corpus[i].bytes.at[0] == 'J') {
                reader = open_valid(&gzip);
                read_all(reader, other);
                hprof_close(reader);
                expect_same_items(corpus[i].name, memory, other);
            }
        }
        close(fd);
        free(gzip.at);
    }
    free(memory);
    free(other);
}

/* On a pipe, damage ends the reading. */
static void a_pipe_gives_the_same_items_of_a_valid_dump(void **state)
{
    struct seen *memory = malloc(sizeof *memory), *pipe = malloc(sizeof *pipe);

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);
        struct hprof_source source;
        int fd = file_of(&corpus[i].bytes);

        hprof_source_init(&source);
        source.read = read_some;
        source.context = &fd;
        if (reader) {
            read_all(reader, memory);
            hprof_close(reader);
            assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
            assert_int_equal(hprof_open_source(&source, NULL, &reader), HPROF_VALID);
            assert_int_equal(hprof_seek(reader, NULL), -HPROF_USAGE);
            assert_int_equal(hprof_index(reader, 1, 0), -HPROF_USAGE);
            read_all(reader, pipe);
            hprof_close(reader);
            if (strstr(corpus[i].name, "corpus/valid/"))
                expect_same_items(corpus[i].name, memory, pipe);
        }
        close(fd);
    }
    free(memory);
    free(pipe);
}

/* ---- From any item on ---- */

static void reading_again_gives_the_same(void **state)
{
    struct seen *seen = malloc(sizeof *seen);
    struct hprof_item item = new_item();

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);

        if (!reader)
            continue;
        read_all(reader, seen);
        for (size_t from = 0; from < seen->count; from += 1 + seen->count / 10) {
            assert_int_equal(hprof_seek(reader, &seen->items[from]), 1);
            for (size_t n = from; n < from + 3 && n < seen->count; n++) {
                assert_int_equal(hprof_next(reader, &item), 1);
                if (memcmp(&item, &seen->items[n], sizeof item) != 0 || sum_of_body(reader, &item) != seen->sums[n])
                    fail_msg("%s: another item at 0x%llx", corpus[i].name, (unsigned long long)seen->items[n].offset);
            }
        }
        hprof_close(reader);
    }
    free(seen);
}

static void every_object_is_found(void **state)
{
    struct seen *seen = malloc(sizeof *seen);
    struct hprof_item item = new_item();
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);

        if (!reader)
            continue;
        read_all(reader, seen);
        assert_int_equal(hprof_find(reader, 1, &item), -HPROF_USAGE);
        for (uint64_t dump = 1; hprof_index(reader, dump, 0) == 1; dump++) {
            for (size_t n = 0; n < seen->count; n++) {
                if (!is_object(&seen->items[n]) || seen->items[n].heap_dump != dump)
                    continue;
                assert_int_equal(hprof_find(reader, seen->items[n].id, &item), 1);
                assert_int_equal(item.id, seen->items[n].id);
                assert_true(item.offset <= seen->items[n].offset && is_object(&item));
                if (item.offset == seen->items[n].offset)
                    assert_int_equal(sum_of_body(reader, &item), seen->sums[n]);
                found++;
            }
            assert_int_equal(hprof_find(reader, 0xdeadbeefdeadbeef, &item), 0);
        }
        hprof_close(reader);
    }
    assert_true(found > corpus_size);
    free(seen);
}

static void an_index_keeps_to_its_limit(void **state)
{
    struct bytes b = {0};
    struct hprof_item item = new_item();
    struct hprof_reader *reader;
    size_t record;

    (void)state;
    put_header(&b);
    record = open_record(&b, 0x1c);
    for (uint64_t i = 0; i < 1000; i++) {
        put(&b, 1, 0x05); /* between the objects: a root */
        put(&b, 8, 0x10000 + 16 * i);
        put_instance(&b, 0x10000 + 16 * (999 - i), 0x100, 0);
    }
    close_record(&b, record);
    reader = open_valid(&b);
    assert_int_equal(hprof_index(reader, 1, 7999), -HPROF_LIMIT);
    assert_non_null(strstr(hprof_failure(reader), "7999 bytes"));
    assert_int_equal(hprof_index(reader, 1, 9000), 1);
    assert_int_equal(hprof_find(reader, 0x10000, &item), 1);
    assert_int_equal(hprof_find(reader, 0x10008, &item), 0);
    assert_int_equal(hprof_index(reader, 2, 0), 0);
    hprof_close(reader);
    free(b.at);
}

/* ---- Clones ---- */

struct worker {
    struct hprof_reader *reader;
    struct seen *seen;
    pthread_t thread;
};

static void *work(void *context)
{
    struct worker *worker = context;

    read_all(worker->reader, worker->seen);
    return NULL;
}

static void clones_read_the_same_at_the_same_time(void **state)
{
    enum { THREADS = 4 };

    (void)state;
    for (size_t i = 0; i < corpus_size; i += 10) {
        struct hprof_reader *reader = open_valid(&corpus[i].bytes);
        struct worker workers[THREADS];

        if (!reader)
            continue;
        for (unsigned n = 0; n < THREADS; n++) {
            workers[n].seen = malloc(sizeof *workers[n].seen);
            workers[n].reader = reader;
            if (n)
                assert_int_equal(hprof_clone(reader, &workers[n].reader), HPROF_VALID);
        }
        for (unsigned n = 0; n < THREADS; n++)
            assert_int_equal(pthread_create(&workers[n].thread, NULL, work, &workers[n]), 0);
        for (unsigned n = 0; n < THREADS; n++)
            pthread_join(workers[n].thread, NULL);
        for (unsigned n = 0; n < THREADS; n++) {
            expect_same_items(corpus[i].name, workers[0].seen, workers[n].seen);
            hprof_close(workers[n].reader);
        }
        for (unsigned n = 0; n < THREADS; n++)
            free(workers[n].seen);
    }
}

/* ---- Names and fields ---- */

static void what_is_not_seen_yet_is_not_known(void **state)
{
    struct bytes b = {0};
    struct hprof_item item = new_item();
    struct hprof_class class;
    struct hprof_field field;
    struct hprof_reader *reader;
    const char *text;
    size_t size, record;

    (void)state;
    hprof_class_init(&class);
    hprof_field_init(&field);
    put_header(&b);
    put_string(&b, 1, "java/lang/Object");
    put_class(&b, 1, 0x100, 1);
    record = open_record(&b, 0x1c);
    put_class_dump(&b, 0x100, 0, 0);
    close_record(&b, record);
    reader = open_valid(&b);

    assert_int_equal(hprof_string(reader, 1, &text, &size), 0);
    assert_int_equal(hprof_class(reader, 0x100, &class), 0);
    assert_int_equal(hprof_class_number(reader, 0x100), UINT32_MAX);
    assert_int_equal(hprof_next(reader, &item), 1); /* UTF8 */
    assert_int_equal(hprof_string(reader, 1, &text, &size), 1);
    assert_true(size == 16 && memcmp(text, "java/lang/Object", 16) == 0);
    assert_int_equal(hprof_next(reader, &item), 1); /* LOAD_CLASS */
    assert_true(item.class_serial == 1 && item.id == 0x100 && item.name_id == 1);
    assert_int_equal(hprof_class(reader, 0x100, &class), 1);
    assert_string_equal(class.name, "java.lang.Object");
    assert_false(class.is_dumped);
    assert_int_equal(hprof_field_at(reader, 0x100, false, 0, &field), 0);
    assert_int_equal(hprof_next(reader, &item), 1); /* HEAP_DUMP_SEGMENT */
    assert_int_equal(hprof_next(reader, &item), 1); /* CLASS_DUMP */
    assert_true(item.heap_dump == 1 && item.record_end == b.size);
    assert_int_equal(hprof_class(reader, 0x100, &class), 1);
    assert_true(class.is_dumped);
    assert_int_equal(hprof_class_number(reader, 0x100), 0);
    assert_int_equal(hprof_class_at(reader, 0, &class), 1);
    assert_int_equal(class.id, 0x100);
    assert_int_equal(hprof_next(reader, &item), 0);
    hprof_close(reader);
    free(b.at);
}

static void wrong_use_is_refused(void **state)
{
    struct hprof_reader *reader = open_valid(&corpus[0].bytes);
    struct hprof_read_options options = {0};
    struct hprof_item item = {0};
    const uint8_t *bytes;

    (void)state;
    assert_int_equal(hprof_next(reader, &item), -HPROF_USAGE);
    assert_non_null(strstr(hprof_failure(reader), "_init"));
    assert_int_equal(hprof_body(reader, 0, 1, &bytes), 0); /* of no item */
    assert_int_equal(hprof_counted_object(reader, (const uint8_t *)"", 1, &item), -HPROF_USAGE);
    item = new_item();
    assert_int_equal(hprof_counted_object(reader, (const uint8_t *)"", 1, &item), -HPROF_USAGE); /* no tag of an object */
    assert_int_equal(hprof_counted_object(reader, NULL, 0, &item), 0);
    assert_int_equal(hprof_counted_object(NULL, NULL, 0, &item), -HPROF_USAGE);
    assert_int_equal(hprof_next(NULL, NULL), -HPROF_USAGE);
    hprof_close(reader);
    assert_int_equal(hprof_open_memory("", 0, &options, &reader), HPROF_USAGE);
    assert_null(reader);
    hprof_read_options_init(&options);
    options.count_within = 96;
    assert_int_equal(hprof_open_memory("", 0, &options, &reader), HPROF_USAGE);
    assert_int_equal(hprof_open_memory(NULL, 1, NULL, &reader), HPROF_USAGE);
    assert_int_equal(hprof_open_source(NULL, NULL, &reader), HPROF_USAGE);
    assert_int_equal(hprof_open_fd(-1, NULL, &reader), HPROF_IO);
    hprof_close(reader);
    hprof_close(NULL);
}

/* ---- Memory ---- */

static void read_or_limit(struct caller *caller, void *context)
{
    struct hprof_allocator allocator = caller_allocator(caller);
    struct hprof_read_options options;
    const struct hprof_testing testing = {.counted = 1};
    struct hprof_item item = new_item();
    struct hprof_counted counted;
    enum hprof_status status;
    struct hprof_reader *reader;
    struct hprof_options check;
    int result;

    hprof_options_init(&check);
    check.testing = &testing;
    hprof_counted_init(&counted);
    hprof_read_options_init(&options);
    options.check = &check;
    options.count_within = 64;
    options.allocator = &allocator;
    reader = open_bytes(context, &options, &status);
    if (status == HPROF_VALID) {
        result = hprof_index(reader, 1, 0);
        while (result >= 0 && (result = hprof_next_counted(reader, &item, &counted)) == 1)
            ;
        assert_true(result == 0 || result == -HPROF_LIMIT);
        status = (enum hprof_status) - result;
    }
    if (status == HPROF_LIMIT)
        assert_true(caller->refused);
    else
        assert_int_not_equal(status, HPROF_IO);
    assert_true(!reader || status == HPROF_VALID || *hprof_failure(reader));
    hprof_close(reader);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i += 10)
        fail_each_allocation_of(read_or_limit, &corpus[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_those_that_the_check_counts),
        cmocka_unit_test(opening_hands_on_what_the_check_finds),
        cmocka_unit_test(counted_objects_are_those_that_are_read),
        cmocka_unit_test(traces_have_their_frames),
        cmocka_unit_test(the_bytes_of_an_item_are_those_of_the_dump),
        cmocka_unit_test(fields_are_found_in_any_order),
        cmocka_unit_test(files_and_callbacks_give_the_same_items),
        cmocka_unit_test(a_pipe_gives_the_same_items_of_a_valid_dump),
        cmocka_unit_test(reading_again_gives_the_same),
        cmocka_unit_test(every_object_is_found),
        cmocka_unit_test(an_index_keeps_to_its_limit),
        cmocka_unit_test(clones_read_the_same_at_the_same_time),
        cmocka_unit_test(what_is_not_seen_yet_is_not_known),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, load_corpus, NULL);
}
