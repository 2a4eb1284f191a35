/* The hint of the summary, where bytes of a dump were lost or never written: at the borders of what it may say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "forms.h"
#include "hprof/hprof.h"
#include "hprof/testing.h"

#define EARLY_END "the disk was full, the VM was killed, or a copy was cut short"
#define TRUNCATED "the dump was truncated (" EARLY_END ")"

enum { SECTOR = 512, NEAR = 16, VERSION_AT = 17 /* last digit */, HEADER = 9, INSTANCE = 25, CLASS = 0x1000, FIRST = 0x10000 };

static const char ZEROS[] = "zeros are where records should be";

static void check_so(const struct bytes *dump, const char *profile, const struct hprof_testing *testing, char hint[512])
{
    struct hprof_options options;
    struct hprof_summary summary;

    hprof_options_init(&options);
    options.profile = hprof_profile_find(profile);
    options.testing = testing;
    hprof_summary_init(&summary);
    (void)hprof_validate_memory(dump->at, dump->size, false, &options, &summary);
    snprintf(hint, 512, "%s", summary.hint ? summary.hint : "");
}

static void check(const struct bytes *dump, char hint[512])
{
    check_so(dump, "auto", NULL, hint);
}

static bool begins_with(const char *text, const char *words)
{
    return !strncmp(text, words, strlen(words));
}

/* Whether a sector begins shortly before. */
static bool is_near(size_t offset)
{
    return offset % SECTOR < NEAR;
}

static size_t zeros_after(const struct bytes *b, size_t from)
{
    size_t end = from;

    while (!b->at[end])
        end++;
    return end - from;
}

static size_t zeros_before(const struct bytes *b, size_t end)
{
    size_t from = end;

    while (!b->at[from - 1])
        from--;
    return end - from;
}

/* What precedes a heap dump, in `pad` bytes more. */
static void put_definitions(struct bytes *b, size_t pad)
{
    char text[2 * SECTOR] = "";

    memset(text, 'x', pad);
    put_header(b);
    put_string(b, 1, "A");
    put_string(b, 2, text);
    put_class(b, 1, CLASS, 1);
    put_class(b, 2, CLASS + 8, 1);
}

static void put_instances(struct bytes *b, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_instance(b, FIRST + 8 * (first + i), CLASS, 0);
}

/* Of bytes. `n` of the elements are there. */
static void put_bytes(struct bytes *b, uint64_t id, uint32_t elements, const char *there, size_t n)
{
    put_primitive_array(b, id, 8, elements);
    append(b, there, n);
}

static void remove_bytes(struct bytes *b, size_t from, size_t n)
{
    memmove(b->at + from, b->at + from + n, b->size - from - n);
    b->size -= n;
}

/* A class with fields whose names are not defined. */
static void put_fields(struct bytes *b, unsigned fields)
{
    put_class_dump(b, CLASS + 8, 0, fields);
    put_at(b->at + b->size - 2, 2, fields);
    for (unsigned i = 0; i < fields; i++) {
        put(b, 8, 0x900 + i);
        put(b, 1, 8);
    }
}

static size_t open_heap(struct bytes *b)
{
    size_t record = open_record(b, 0x1c);

    put(b, 1, 0x05);
    put(b, 8, CLASS);
    put_class_dump(b, CLASS, 0, 0);
    return record;
}

/* The same, after the definitions. */
static size_t begin_heap(struct bytes *b)
{
    put_definitions(b, 0);
    return open_heap(b);
}

static void end_heap(struct bytes *b, size_t record)
{
    close_record(b, record);
    record = open_record(b, 0x1c);
    put_instances(b, 1000, 200);
    close_record(b, record);
    close_record(b, open_record(b, 0x2c));
}

static struct bytes dump_of(unsigned instances)
{
    struct bytes b = {0};
    size_t record;

    record = begin_heap(&b);
    put_instances(&b, 2000, instances);
    end_heap(&b, record);
    return b;
}

/* Zeros in place of instances, from the beginning of one on. Where the rest of the last one is zeros too, all of them may be the
 * last elements of an array, unless they begin or end near a border of sectors. */
static void zeros_are_named_if_they_fill_a_sector(void **state)
{
    (void)state;
    for (unsigned pad = 0; pad < SECTOR; pad += 37)
        for (unsigned zeros = 1; zeros < 3 * SECTOR; zeros += zeros < SECTOR - 40 || zeros > SECTOR + 40 ? 7 : 1) {
            struct bytes b = {0};
            char hint[512];
            size_t record, from, next, row;

            put_definitions(&b, pad);
            record = open_heap(&b);
            put_instances(&b, 0, 100);
            from = b.size;
            put_instances(&b, 100, 200);
            end_heap(&b, record);
            memset(b.at + from, 0, zeros);
            next = from + (zeros + INSTANCE - 1) / INSTANCE * INSTANCE;
            check(&b, hint);
            row = zeros_after(&b, from);
            assert_int_equal(begins_with(hint, ZEROS),
                             row + zeros_before(&b, from) >= SECTOR && (is_near(from) || is_near(next) || row < next - from));
            free(b.at);
        }
}

/* The count of an array is too small, and its last elements are zeros. */
static void zeros_between_sub_records_may_be_of_an_array(void **state)
{
    const struct hprof_testing testing = {.block = 64, .first_buffer = 256, .tail_room = 256};

    (void)state;
    for (unsigned draw = 0; draw < 2 * SECTOR; draw++) {
        static const char none[2 * SECTOR];
        struct bytes b = {0};
        char hint[512], in_blocks[512];
        size_t record, from;
        bool near, has_last = draw & 1; /* a byte that is not 0 */

        put_definitions(&b, draw / 2);
        record = open_heap(&b);
        put_instances(&b, 0, 100);
        put_bytes(&b, 0x20000, 8, none, 8);
        from = b.size;
        append(&b, none, SECTOR + 100);
        near = is_near(from) || is_near(b.size);
        b.at[b.size - 1] = has_last ? 0xee : 0;
        put_instances(&b, 100, 200);
        end_heap(&b, record);
        check(&b, hint);
        assert_int_equal(begins_with(hint, ZEROS), near || has_last);
        check_so(&b, "auto", &testing, in_blocks);
        assert_string_equal(in_blocks, hint);
        free(b.at);
    }
}

/* Zeros begin within the header of an array, whose type is then none. They are named if a sector may have begun there. */
static void zeros_may_begin_within_a_header(void **state)
{
    enum { TYPE_AT = 17, ELEMENTS = 1500 };
    static const char none[SECTOR + 100];
    char elements[ELEMENTS];

    (void)state;
    memset(elements, 'x', sizeof elements);
    for (unsigned pad = 0; pad < SECTOR; pad++) {
        struct bytes b = {0};
        char hint[512];
        size_t record, array;

        put_definitions(&b, pad);
        record = open_heap(&b);
        put_instances(&b, 0, 100);
        array = b.size;
        put_bytes(&b, 0x20000, ELEMENTS, elements, ELEMENTS);
        memcpy(b.at + array + 1 + pad % TYPE_AT, none, sizeof none);
        put_instances(&b, 100, 200);
        end_heap(&b, record);
        check(&b, hint);
        assert_int_equal(begins_with(hint, ZEROS), (array + TYPE_AT) / SECTOR > array / SECTOR);
        free(b.at);
    }
}

/* All static fields of a class are zeros, of which the type of the first is none. */
static void zeros_may_be_static_fields(void **state)
{
    enum { FIELDS = 80, FIELD = 9, TYPE_AT = 8 };
    static const char none[FIELDS * FIELD];

    (void)state;
    for (unsigned pad = 0; pad < SECTOR; pad++) {
        struct bytes b = {0};
        char hint[512];
        size_t record, type;

        put_definitions(&b, pad);
        record = open_heap(&b);
        put_class_dump(&b, CLASS + 8, CLASS, 0);
        put_at(b.at + b.size - 4, 2, FIELDS);
        type = b.size - 2 + TYPE_AT;
        append(&b, none, sizeof none);
        put_instances(&b, 0, 200);
        end_heap(&b, record);
        check(&b, hint);
        assert_int_equal(begins_with(hint, ZEROS), is_near(type) || is_near(type + sizeof none - TYPE_AT + 2));
        free(b.at);
    }
}

/* Between records, after bytes that are none. */
static void zeros_among_records_are_named_if_they_fill_a_sector(void **state)
{
    static const char none[2 * SECTOR];

    (void)state;
    for (unsigned junk = 0; junk < 100; junk += 33)
        for (unsigned zeros = SECTOR - 20; zeros < SECTOR + 20; zeros++) {
            struct bytes b = {0};
            char hint[512];
            size_t record;

            put_definitions(&b, SECTOR);
            for (unsigned i = 0; i < junk; i++)
                put(&b, 1, 0xee);
            append(&b, none, zeros);
            for (unsigned i = 0; i < 20; i++)
                put_string(&b, 0x100 + i, "name");
            record = open_record(&b, 0x01);
            append(&b, none, sizeof none); /* the ID, and text */
            close_record(&b, record);
            end_heap(&b, open_heap(&b));
            check(&b, hint);
            assert_int_equal(begins_with(hint, ZEROS), zeros >= SECTOR);
            free(b.at);
        }
}

static const char *size_in_words(char to[32], size_t bytes)
{
    size_t number = bytes < 1024 ? bytes : (bytes + 512) / 1024;

    snprintf(to, 32, "%zu %s", number, bytes >= 1024 ? "KB" : bytes == 1 ? "byte" : "bytes");
    return number == 1 ? "is" : "are";
}

/* Bytes of a heap dump record are lost, from within an instance on. */
static void lost_bytes_are_counted(void **state)
{
    (void)state;
    for (unsigned lost = 1; lost < 3000; lost += lost < 60 ? 1 : 41)
        for (unsigned within = 1; within < INSTANCE; within += 5) {
            struct bytes b = {0};
            char hint[512], size[32], expected[512];
            const char *verb;
            size_t record, from;

            if (lost % INSTANCE == 0 || lost % INSTANCE == HEADER) /* the stated end is then one of a later instance */
                continue;
            record = begin_heap(&b);
            put_instances(&b, 0, 100);
            from = b.size + within;
            put_instances(&b, 100, 400);
            end_heap(&b, record);
            remove_bytes(&b, from, lost);
            check(&b, hint);
            verb = size_in_words(size, lost);
            snprintf(expected, sizeof expected,
                     "about %s %s missing in the heap dump record at 0x%zx: a part in the middle was lost", size, verb,
                     record - HEADER);
            assert_string_equal(hint, expected);
            free(b.at);
        }
}

/* A dump is cut, and zeros follow to its end. */
static void zeros_at_the_end_are_named_if_they_may_be_a_record(void **state)
{
    (void)state;
    for (unsigned zeros = 1; zeros < 2 * HEADER; zeros++) {
        struct bytes b = {0};
        char hint[512];
        size_t record, from;

        record = begin_heap(&b);
        put_instances(&b, 0, 100);
        from = b.size;
        put_instances(&b, 100, 100);
        close_record(&b, record);
        b.size = from;
        append(&b, (const char[2 * HEADER]){0}, zeros);
        check(&b, hint);
        assert_int_equal(begins_with(hint, ZEROS), zeros >= HEADER);
        free(b.at);
    }
}

/* A heap dump record that lacks bytes is the last one; or another one follows, which is whole; or a third one, too, which is cut
 * or lacks more bytes. */
static void the_first_part_that_is_missing_is_named(void **state)
{
    (void)state;
    for (unsigned draw = 0; draw < 4; draw++) {
        struct bytes b = {0};
        char hint[512];

        put_definitions(&b, 0);
        for (unsigned i = 0; i < (draw < 2 ? 1 + draw : 3); i++) {
            size_t record = i ? open_record(&b, 0x1c) : open_heap(&b);

            put_instances(&b, 400 * i, 400);
            close_record(&b, record);
            if (i == 0 || (i == 2 && draw == 3))
                remove_bytes(&b, record + 1000, i ? 17 : 7);
        }
        if (draw == 2)
            b.size -= 1000;
        else if (draw == 3)
            end_heap(&b, open_record(&b, 0x1c));
        check(&b, hint);
        assert_int_equal(begins_with(hint, "about 7 bytes are missing"), draw != 2);
        free(b.at);
    }
}

/* The sub-records end before the record does, and another record follows them. */
static void a_length_that_is_too_large_is_no_loss(void **state)
{
    (void)state;
    for (unsigned more = 1; more < 100; more++) {
        struct bytes b = {0};
        char hint[512];
        size_t record;

        record = begin_heap(&b);
        put_instances(&b, 0, 100);
        close_record(&b, record);
        put_at(b.at + record - 4, 4, b.size - record + more);
        end_heap(&b, open_record(&b, 0x1c));
        check(&b, hint);
        assert_null(strstr(hint, "missing in the heap dump record"));
        free(b.at);
    }
}

/* A HEAP_DUMP is whole, and bytes follow that are no record; or a string before it is damaged, too. */
static void what_follows_the_last_heap_dump_is_no_record(void **state)
{
    (void)state;
    for (unsigned draw = 0; draw < 2; draw++) {
        struct bytes b = {0};
        char hint[512];
        size_t record;

        put_definitions(&b, 0);
        record = b.size;
        put_string(&b, 3, "name");
        if (draw)
            memset(b.at + record, 0xee, b.size - record);
        record = open_heap(&b);
        b.at[record - HEADER] = 0x0c;
        put_instances(&b, 0, 100);
        close_record(&b, record);
        for (unsigned i = 0; i < 40; i++)
            put(&b, 1, 0xee);
        check(&b, hint);
        assert_int_equal(begins_with(hint, "no whole record follows the last heap dump"), !draw);
        free(b.at);
    }
}

static void the_size_of_ids_may_be_wrong(void **state)
{
    struct bytes b = {0};
    char hint[512];

    (void)state;
    put_definitions(&b, 0);
    for (unsigned i = 0; i < 100; i++)
        put_string(&b, 0x7fa8c0000000 + 8 * i, "name");
    end_heap(&b, open_heap(&b));
    put_at(b.at + VERSION_AT + 2, 4, 4);
    check(&b, hint);
    assert_string_equal(hint, "the header is damaged: it says that IDs have 4 bytes, and in the records they have 8");
    free(b.at);
}

/* Its checksum or its size is wrong, or a byte of its data. */
static void a_gzip_member_may_be_damaged(void **state)
{
    struct bytes dump = dump_of(1000);

    (void)state;
    for (unsigned draw = 0; draw < 3; draw++) {
        struct bytes b = compress_gzip(&dump);
        char hint[512];

        b.at[draw < 2 ? b.size - 1 - 4 * draw : b.size / 2] ^= 0x40;
        check(&b, hint);
        assert_true(begins_with(hint, "the compressed data is damaged"));
        free(b.at);
    }
    free(dump.at);
}

/* After a heap dump record that lost bytes comes one that is never there. */
static void a_record_of_another_kind_is_no_end(void **state)
{
    static const unsigned tags[] = {0x01, 0x02, 0x07, 0x0c, 0x1c, 0x2c};

    (void)state;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        struct bytes b = {0};
        char hint[512];
        size_t record, from;

        record = begin_heap(&b);
        put_instances(&b, 0, 100);
        from = b.size;
        put_instances(&b, 100, 400);
        close_record(&b, record);
        remove_bytes(&b, from, 7);
        if (tags[i] == 0x01)
            put_string(&b, 0x100, "late");
        else if (tags[i] == 0x02)
            put_class(&b, 3, CLASS + 16, 1);
        else if (tags[i] == 0x07)
            put_heap_summary(&b);
        else if (tags[i] == 0x0c || tags[i] == 0x1c)
            close_record(&b, open_record(&b, tags[i]));
        close_record(&b, open_record(&b, 0x2c));
        check(&b, hint);
        assert_int_equal(begins_with(hint, "about 7 bytes are missing"), i >= 3);
        free(b.at);
    }
}

/* The header of a heap dump record is overwritten, and more around it: where the record before it ended is not known. */
static void what_is_overwritten_is_no_length(void **state)
{
    (void)state;
    for (unsigned before = 1; before < 3 * INSTANCE; before++)
        for (unsigned after = 1; after < 3 * INSTANCE; after += 7) {
            struct bytes b = {0};
            char hint[512];
            size_t record, end;

            record = begin_heap(&b);
            put_instances(&b, 0, 100);
            close_record(&b, record);
            end = b.size;
            record = open_record(&b, 0x1c);
            put_instances(&b, 100, 400);
            end_heap(&b, record);
            memset(b.at + end - before, 0xee, before + HEADER + after);
            check(&b, hint);
            assert_true(begins_with(hint, "bytes within the dump are wrong"));
            free(b.at);
        }
}

/* Bytes that are nothing are between two sub-records. */
static void inserted_bytes_are_counted(void **state)
{
    (void)state;
    for (unsigned more = 1; more < 3000; more += more < 60 ? 1 : 41) {
        struct bytes b = {0};
        char hint[512], size[32], expected[512];
        size_t record;

        record = begin_heap(&b);
        put_instances(&b, 0, 100);
        put_instances(&b, 100, 400);
        close_record(&b, record);
        b.size -= (size_t)400 * INSTANCE;
        for (unsigned i = 0; i < more; i++)
            put(&b, 1, 0xee);
        put_instances(&b, 100, 400);
        close_record(&b, open_record(&b, 0x2c));
        check(&b, hint);
        size_in_words(size, more);
        snprintf(expected, sizeof expected,
                 "the heap dump record at 0x%zx has about %s too many: bytes were inserted, or the next header was lost",
                 record - HEADER, size);
        assert_string_equal(hint, expected);
        free(b.at);
    }
}

/* A part is lost with the header of the next record. Its size shows whether what is left of that one is a
 * record, or bytes that are too many. */
static void a_record_goes_on(void **state)
{
    enum { LEAST_RECORD = 512, LOST = 60 * INSTANCE - 3 };
    unsigned told = 0, all = 0;

    (void)state;
    for (unsigned rest = LOST + 1; rest < LOST + 2 * LEAST_RECORD; rest++) {
        struct bytes b = {0};
        char hint[512], size[32], expected[512];
        size_t record, from, until;

        record = begin_heap(&b);
        put_instances(&b, 0, 100);
        from = b.size + 3;
        put_instances(&b, 100, 60);
        end_heap(&b, record);
        until = b.size - HEADER - rest;
        remove_bytes(&b, from, until - from);
        check(&b, hint);
        size_in_words(size, rest - LOST);
        snprintf(
            expected, sizeof expected,
            rest - LOST < LEAST_RECORD
                ? "the heap dump record at 0x%zx has about %s too many: bytes were inserted, or the next header was lost"
                : "the heap dump record at 0x%zx ends %s before another begins: a part in the middle was lost, with the header "
                  "of the next one",
            record - HEADER, size);
        if (begins_with(hint, "the heap dump record at ")) {
            assert_string_equal(hint, expected);
            told++;
        }
        all++;
        free(b.at);
    }
    assert_true(told > all / 2); /* in the others, more is wrong by chance */
}

/* From within an instance or between two, some bytes are written again after themselves. Whole instances that follow again lead
 * on: then the length alone is wrong. */
static void bytes_that_are_there_twice(void **state)
{
    enum { LEAST_ALIKE = 64, FROM = 3000 };
    struct bytes dump = dump_of(8000);

    (void)state;
    for (size_t size = 20; size < 140000; size += size < 200 ? 1 : size / 7 + 1)
        for (size_t from = FROM; from < FROM + INSTANCE; from += 3) {
            struct bytes b = {0};
            char hint[512], words[32], expected[512];
            const char *verb;
            size_t at = from + size;

            if (size % INSTANCE == 0)
                continue;
            append(&b, dump.at, from + size);
            append(&b, dump.at + from, dump.size - from);
            while (b.at[at - 1] == b.at[at - 1 - size])
                at--;
            check(&b, hint);
            verb = size_in_words(words, size);
            snprintf(expected, sizeof expected, "the %s before 0x%zx %s there twice, one after the other", words, at, verb);
            assert_int_equal(!strcmp(hint, expected), size >= LEAST_ALIKE);
            free(b.at);
        }
    free(dump.at);
}

/* A download broke off at each byte of the heap dump, and was made again after what was there. */
static void a_dump_that_begins_anew(void **state)
{
    struct bytes dump = dump_of(100);
    size_t heap = HEADER;

    (void)state;
    while (memcmp(dump.at + heap - HEADER, "\x1c\0\0\0\0", 5))
        heap++;
    for (size_t cut = heap; cut < dump.size; cut++) {
        struct bytes b = {0};
        char hint[512], words[32], anew[512], twice[512];
        const char *verb;

        append(&b, dump.at, cut);
        append(&b, dump.at, dump.size);
        check(&b, hint);
        snprintf(anew, sizeof anew,
                 "the dump begins anew at 0x%zx: a download broke off, and was made again after what was there", cut);
        verb = size_in_words(words, cut);
        snprintf(twice, sizeof twice, "the %s before 0x%zx %s there twice, one after the other", words, cut, verb);
        if (strcmp(hint, twice)) /* within the header of a record this is seen first */
            assert_string_equal(hint, anew);
        free(b.at);
    }
    free(dump.at);
}

/* A file was cut within an array, and another dump follows, whose first records the array takes. */
static void another_dump_begins_within_an_array(void **state)
{
    enum { LENGTH = 700, STRINGS = 100, AFTER = 300 };
    static const char filler[LENGTH] = {1};

    (void)state;
    for (size_t there = 0; there < LENGTH - SECTOR / 4; there++) {
        struct bytes b = {0};
        size_t record = begin_heap(&b), other;
        char hint[512], expected[512];

        put_instances(&b, 2000, 20);
        put_bytes(&b, 0x30000, LENGTH, filler, there);
        put_at(b.at + record - 4, 4, b.size - record + LENGTH - there + AFTER);
        other = b.size;
        put_header(&b);
        for (unsigned i = 0; i < STRINGS; i++)
            put_string(&b, 100 + i, "of another dump");
        put_class(&b, 1, CLASS + 0x100, 100);
        record = open_record(&b, 0x1c);
        put_class_dump(&b, CLASS + 0x100, 0, 0);
        for (unsigned i = 0; i < 20; i++)
            put_instance(&b, 0x50000 + 8 * i, CLASS + 0x100, 0);
        end_heap(&b, record);
        check(&b, hint);
        snprintf(expected, sizeof expected, "another dump begins at 0x%zx: two files were joined; check each by itself", other);
        assert_string_equal(hint, expected);
        free(b.at);
    }
}

/* The second time, the download broke off, too: before what was there the first time, or some sub-records after it, so that these
 * lead on. */
static void a_dump_that_begins_anew_twice(void **state)
{
    struct bytes dump = dump_of(100);
    const size_t first = dump.size / 2;

    (void)state;
    for (size_t second = first / 2; second < dump.size - HEADER; second += 7) {
        struct bytes b = {0};
        char hint[512], expected[64];

        if (second >= first && second < first + 3 * INSTANCE)
            continue;
        append(&b, dump.at, first);
        append(&b, dump.at, second);
        append(&b, dump.at, dump.size);
        check(&b, hint);
        snprintf(expected, sizeof expected, "the dump begins anew at 0x%zx: ", first);
        assert_true(begins_with(hint, expected));
        free(b.at);
    }
    free(dump.at);
}

enum piece { WHOLE, IN_HEADER, BETWEEN_DEFINITIONS, IN_DEFINITION, BETWEEN_OBJECTS, IN_OBJECT, NO_END, IN_END, PIECES };

/* A piece of the dump ends here; all cuts before this offset, from the last piece on, are within it. */
static void end_piece(uint8_t *where, const struct bytes *b, size_t *from, enum piece within, enum piece at)
{
    memset(where + *from, (int)within, b->size - *from);
    where[b->size] = (uint8_t)at;
    *from = b->size + 1;
}

/* A dump is cut at each byte; more bytes follow its end. */
static void a_cut_is_told_by_where_it_is(void **state)
{
    static const char *const hints[PIECES] = {
        [WHOLE] = "",
        [IN_HEADER] = "the disk was full, or the VM was killed at once",
        [BETWEEN_DEFINITIONS] = "the VM was killed, or the disk was full, before the heap dump was written",
        [IN_DEFINITION] = TRUNCATED " before its objects: they may be in parts, FILE.p0 and so on",
        [BETWEEN_OBJECTS] = TRUNCATED ", a part in the middle was lost, or a length is wrong",
        [IN_OBJECT] = EARLY_END,
        [NO_END] = "a missing HEAP_DUMP_END: the dump was interrupted, or the merge of its parts was not finished",
        [IN_END] = TRUNCATED ", or other bytes were appended",
    };
    struct bytes b = {0};
    uint8_t where[2048];
    size_t record, from = 0, end;
    char hint[512];

    (void)state;
    put_header(&b);
    end_piece(where, &b, &from, IN_HEADER, BETWEEN_DEFINITIONS);
    put_string(&b, 1, "A");
    end_piece(where, &b, &from, IN_DEFINITION, BETWEEN_DEFINITIONS);
    put_class(&b, 1, CLASS, 1);
    end_piece(where, &b, &from, IN_DEFINITION, BETWEEN_DEFINITIONS);
    record = open_record(&b, 0x1c);
    end_piece(where, &b, &from, IN_DEFINITION, BETWEEN_OBJECTS);
    put(&b, 1, 0x05);
    put(&b, 8, CLASS);
    end_piece(where, &b, &from, IN_OBJECT, BETWEEN_OBJECTS);
    put_class_dump(&b, CLASS, 0, 0);
    end_piece(where, &b, &from, IN_OBJECT, BETWEEN_OBJECTS);
    for (unsigned i = 0; i < 20; i++) {
        put_instances(&b, i, 1);
        end_piece(where, &b, &from, IN_OBJECT, BETWEEN_OBJECTS);
    }
    put_bytes(&b, 0x30000, 30, "abcdefghijabcdefghijabcdefghij", 30);
    end_piece(where, &b, &from, IN_OBJECT, NO_END);
    close_record(&b, record);
    close_record(&b, open_record(&b, 0x2c));
    end_piece(where, &b, &from, IN_END, WHOLE);
    end = b.size;
    for (b.size = 0; b.size <= end; b.size++) {
        check(&b, hint);
        assert_string_equal(hint, hints[where[b.size]]);
    }
    for (b.size = end; b.size < end + 40;) {
        put(&b, 1, 0xee);
        check(&b, hint);
        assert_string_equal(
            hint, "bytes follow the end of the dump: something was appended to it, or it was written over a longer file");
    }
    free(b.at);
}

/* A heap in which nothing is reachable; a sample of a few objects needs no roots. */
static void objects_without_roots(void **state)
{
    (void)state;
    for (unsigned objects = 1; objects < 40; objects++)
        for (unsigned draw = 0; draw < 6; draw++) {
            const bool is_android = draw & 1, roots = draw / 2;
            struct bytes b = {0};
            char hint[512];
            size_t record;

            put_definitions(&b, 0);
            b.at[VERSION_AT] += is_android;
            record = open_record(&b, 0x1c);
            if (is_android) { /* the name of the heap */
                put(&b, 1, 0xfe);
                put(&b, 4, 0);
                put(&b, 8, 1);
            }
            if (roots) {
                put(&b, 1, draw / 2 == 1 ? 0x05 : 0xff);
                put(&b, 8, CLASS);
            }
            put_class_dump(&b, CLASS, 0, 0);
            if (is_android) {
                put_primitive_array(&b, 0x20000, 8, 100);
                b.at[b.size - 18] = 0xc3; /* without elements */
            }
            for (unsigned i = 0; i < objects; i++)
                if (i % 3 == 0)
                    put_bytes(&b, FIRST + 8 * i, 2, "ab", 2);
                else if (i % 3 == 1)
                    put_instances(&b, i, 1);
                else
                    put_object_array(&b, FIRST + 8 * i, CLASS, 0);
            close_record(&b, record);
            close_record(&b, open_record(&b, 0x2c));
            check(&b, hint);
            assert_int_equal(begins_with(hint, "no GC root is in the heap dump"), objects >= 16 && !roots);
            free(b.at);
        }
}

static void objects_that_are_missing(void **state)
{
    (void)state;
    for (unsigned missing = 1; missing < 40; missing++) {
        struct bytes b = {0};
        char hint[512], strictly[512];
        size_t record;

        record = begin_heap(&b);
        put_object_array(&b, FIRST, CLASS, missing);
        for (unsigned i = 0; i < missing; i++)
            put(&b, 8, 0x50000 + 8 * i);
        end_heap(&b, record);
        check(&b, hint);
        assert_int_equal(begins_with(hint, "a whole segment or part of the heap dump was lost"), missing >= 16);
        check_so(&b, "strict", NULL, strictly);
        assert_string_equal(strictly, "");
        free(b.at);
    }
}

static void strings_that_are_missing(void **state)
{
    (void)state;
    for (unsigned missing = 1; missing < 20; missing++) {
        struct bytes b = {0};
        char hint[512];
        size_t record;

        record = begin_heap(&b);
        put_fields(&b, missing);
        end_heap(&b, record);
        check(&b, hint);
        assert_true(begins_with(hint, missing < 4 ? "strings are missing that names refer to: their records"
                                                  : "strings are missing that names refer to: bytes among"));
        free(b.at);
    }
}

/* A program that takes the dump for text replaces each byte from 128 on. One may be a name. */
static void bytes_that_are_no_utf_8_were_replaced(void **state)
{
    (void)state;
    for (unsigned high = 0; high < 6; high++) {
        struct bytes b = {0}, c = {0};
        char hint[512];
        size_t record;

        put_definitions(&b, 0);
        put_at(b.at + 23, 8, 0x017f00000000);
        record = open_heap(&b);
        put_bytes(&b, FIRST, high, "\x80\x81\xfe\xff\xc0\xdf", high);
        put_instances(&b, 1, 2);
        close_record(&b, record);
        b.at[record - 1] &= 0x7f; /* so the dump is malformed, however many are replaced */
        close_record(&b, open_record(&b, 0x2c));
        for (size_t i = 0; i < b.size; i++)
            if (b.at[i] < 0x80)
                append(&c, b.at + i, 1);
            else
                append(&c, "\xef\xbf\xbd", 3);
        check(&c, hint);
        assert_int_equal(begins_with(hint, "transferred as text: bytes that are not UTF-8 were replaced"), high >= 2);
        free(b.at);
        free(c.at);
    }
}

/* Only what is whole in the sample counts. */
static void a_sample_shows_what_was_replaced(void **state)
{
    struct bytes b = {0};

    (void)state;
    put_definitions(&b, 0);
    put_at(b.at + 23, 8, 0x017f00000000);
    for (unsigned i = 0; i < 4; i++)
        put_string(&b, 0x100 + i, "\xc2\xbd \xef\xbf\xbe \xef\xbf\xbd and \xef\xbf\xbd");
    put(&b, 1, 0xee);
    for (size_t n = 16; n <= b.size; n++) {
        const struct hprof_testing testing = {.text_sample = (uint32_t)n};
        unsigned replaced = 0;
        char hint[512];

        for (size_t i = 0; i + 3 <= n; i++)
            replaced += !memcmp(b.at + i, "\xef\xbf\xbd", 3);
        check_so(&b, "auto", &testing, hint);
        assert_int_equal(begins_with(hint, "transferred as text: bytes that are not UTF-8 were replaced"), replaced >= 2);
    }
    free(b.at);
}

/* One byte, as a transfer leaves it. */
static size_t put_transferred(struct bytes *b, unsigned how, uint8_t byte)
{
    const uint8_t two[] = {(uint8_t)(0xc0 | byte >> 6), (uint8_t)(0x80 | (byte & 0x3f))};

    if (how == 0 && byte == '\n')
        append(b, "\r", 1);
    if (how == 1 && byte >= 0x80)
        append(b, two, 2);
    else
        put(b, 1, byte < 0x80 ? byte : how == 2 ? byte & 0x7f : how == 3 ? '?' : byte);
    return b->size;
}

static void a_transfer_as_text_is_named(void **state)
{
    static const char *const hints[] = {"each LF became CR LF", "each byte from 128 on became a character of Latin-1",
                                        "the highest bit of each byte was cleared", "each byte from 128 on became '?'"};

    (void)state;
    for (unsigned how = 0; how < sizeof hints / sizeof *hints; how++) {
        struct bytes b = {0}, c = {0};
        char hint[512];
        size_t record;

        put_definitions(&b, '\n');
        record = open_heap(&b);
        for (unsigned i = 0; i < 500; i++)
            put_instance(&b, 0x7fa8c0000000 + 8 * i, CLASS, 0);
        end_heap(&b, record);
        for (size_t i = 0; i < b.size; i++)
            put_transferred(&c, how, b.at[i]);
        check(&c, hint);
        assert_true(begins_with(hint, "transferred as text: "));
        assert_non_null(strstr(hint, hints[how]));
        free(b.at);
        free(c.at);
    }
}

/* A caller keeps the summary longer than the check lasts. One that was compiled before there was room for the text has no hint. */
static void a_hint_with_numbers_lies_in_the_callers_summary(void **state)
{
    static const char expected[] = "about 7 bytes are missing";
    struct hprof_options options;
    struct hprof_summary summary, older;
    struct hprof_feeder *feeder;
    struct bytes b = {0};
    size_t record;

    (void)state;
    record = begin_heap(&b);
    put_instances(&b, 0, 100);
    end_heap(&b, record);
    remove_bytes(&b, record + 500, 7);
    hprof_options_init(&options);

    hprof_summary_init(&summary);
    (void)hprof_validate_memory(b.at, b.size, false, &options, &summary);
    assert_ptr_equal(summary.hint, summary.hint_text);
    assert_memory_equal(summary.hint, expected, strlen(expected));

    hprof_summary_init(&older);
    older.struct_size = offsetof(struct hprof_summary, hint_text);
    (void)hprof_validate_memory(b.at, b.size, false, &options, &older);
    assert_null(older.hint);
    assert_int_equal(older.errors, summary.errors);

    feeder = hprof_feeder_open(&options);
    hprof_summary_init(&summary);
    (void)hprof_feed(feeder, b.at, b.size);
    (void)hprof_finish(feeder, &summary);
    assert_ptr_equal(summary.hint, summary.hint_text);
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_named_if_they_fill_a_sector),
        cmocka_unit_test(zeros_between_sub_records_may_be_of_an_array),
        cmocka_unit_test(zeros_may_begin_within_a_header),
        cmocka_unit_test(zeros_may_be_static_fields),
        cmocka_unit_test(zeros_among_records_are_named_if_they_fill_a_sector),
        cmocka_unit_test(zeros_at_the_end_are_named_if_they_may_be_a_record),
        cmocka_unit_test(the_first_part_that_is_missing_is_named),
        cmocka_unit_test(a_length_that_is_too_large_is_no_loss),
        cmocka_unit_test(what_follows_the_last_heap_dump_is_no_record),
        cmocka_unit_test(the_size_of_ids_may_be_wrong),
        cmocka_unit_test(a_gzip_member_may_be_damaged),
        cmocka_unit_test(a_record_of_another_kind_is_no_end),
        cmocka_unit_test(what_is_overwritten_is_no_length),
        cmocka_unit_test(lost_bytes_are_counted),
        cmocka_unit_test(inserted_bytes_are_counted),
        cmocka_unit_test(a_record_goes_on),
        cmocka_unit_test(bytes_that_are_there_twice),
        cmocka_unit_test(a_dump_that_begins_anew),
        cmocka_unit_test(a_dump_that_begins_anew_twice),
        cmocka_unit_test(another_dump_begins_within_an_array),
        cmocka_unit_test(a_cut_is_told_by_where_it_is),
        cmocka_unit_test(objects_without_roots),
        cmocka_unit_test(objects_that_are_missing),
        cmocka_unit_test(strings_that_are_missing),
        cmocka_unit_test(bytes_that_are_no_utf_8_were_replaced),
        cmocka_unit_test(a_sample_shows_what_was_replaced),
        cmocka_unit_test(a_transfer_as_text_is_named),
        cmocka_unit_test(a_hint_with_numbers_lies_in_the_callers_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
