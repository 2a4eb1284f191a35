/* Which framing rule is reported depends on what follows the fault: an empty segment before each kind of record, a
 * sub-record across segments, a wrong length of any record of the plain dumps of corpus/valid. Runs in the top directory. */
#include <glob.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump.h"
#include "hprof/hprof.h"

static int note_totals(void *context, const struct hprof_summary *summary)
{
    memcpy(context, summary->totals, hprof_rule_count() * sizeof(uint64_t));
    return 0;
}

/* The findings of a framing rule in a dump that breaks no other rule of the family REC. */
static uint64_t count_findings(const struct bytes *b, const char *rule)
{
    uint64_t *totals = calloc(hprof_rule_count(), sizeof *totals), n;
    struct hprof_options options;

    hprof_options_init(&options);
    options.on_summary = note_totals;
    options.context = totals;
    hprof_validate_memory(b->at, b->size, false, &options, NULL);
    n = totals[hprof_rule_find(rule)];
    for (size_t i = 0; i < hprof_rule_count(); i++)
        if (totals[i] && i != hprof_rule_find(rule) && strcmp(hprof_rule_at(i)->family, "REC") == 0)
            fail_msg("%s, not %s", hprof_rule_at(i)->id, rule);
    free(totals);
    return n;
}

/* The bodies of all records with 8-byte IDs: zeros, so that all counts are 0. */
static const struct {
    unsigned tag;
    size_t body;
    bool exact; /* no shorter, no longer */
} records[] = {
    {0x01, 8, false}, {0x02, 24, true}, {0x03, 4, true}, {0x04, 40, true}, {0x05, 12, false}, {0x06, 34, false},
    {0x07, 24, true}, {0x0a, 40, true}, {0x0b, 4, true}, {0x0d, 8, false}, {0x0e, 6, true},
};
enum { RECORDS = sizeof records / sizeof *records };

static void put_record(struct bytes *b, unsigned tag, size_t body)
{
    size_t record = open_record(b, tag);

    for (size_t i = 0; i < body; i++)
        put(b, 1, 0);
    close_record(b, record);
}

static void an_empty_segment_before_valid_records_is_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDS; i++) {
        struct bytes b = {0};

        put_header(&b);
        close_record(&b, open_record(&b, 0x1c));
        put_record(&b, records[i].tag, records[i].body);
        put_record(&b, records[i].tag, records[i].body);
        close_record(&b, open_record(&b, 0x2c));
        assert_int_equal(count_findings(&b, "REC-010"), 1);
        free(b.at);
    }
}

/* Plain reading fails, but the empty segment explains that only if a sub-record could follow it. */
static void an_empty_segment_before_a_wrong_length_is_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDS; i++) {
        struct bytes b = {0};

        if (!records[i].exact)
            continue;
        put_header(&b);
        close_record(&b, open_record(&b, 0x1c));
        put_record(&b, records[i].tag, records[i].body + 1);
        put_record(&b, 0x01, 8);
        close_record(&b, open_record(&b, 0x2c));
        assert_int_equal(count_findings(&b, "REC-010"), 1);
        free(b.at);
    }
}

static void an_empty_segment_before_sub_records_was_not_filled_in(void **state)
{
    struct bytes b = {0};

    (void)state;
    put_header(&b);
    close_record(&b, open_record(&b, 0x1c));
    put_class_dump(&b, 0x100, 0, 0);
    put_instance(&b, 0x200, 0x100, 0);
    assert_int_equal(count_findings(&b, "REC-011"), 1);
    free(b.at);
}

/* An array of 3000 bytes, split into segments at these offsets after its head. */
static struct bytes cut_array(size_t first, size_t second)
{
    struct bytes b = {0};
    size_t record;

    put_header(&b);
    put_string(&b, 1, "java/lang/Object");
    put_class(&b, 1, 0x100, 1);
    record = open_record(&b, 0x1c);
    put_class_dump(&b, 0x100, 0, 0);
    put_primitive_array(&b, 0x200, 8, 3000);
    for (size_t i = 0; i < 3000; i++) {
        if (i == first || i == second) {
            close_record(&b, record);
            record = open_record(&b, 0x1c);
        }
        put(&b, 1, 0x77);
    }
    put_instance(&b, 0x300, 0x100, 0);
    put_instance(&b, 0x308, 0x100, 0);
    close_record(&b, record);
    close_record(&b, open_record(&b, 0x2c));
    return b;
}

static void a_sub_record_in_two_segments_crosses(void **state)
{
    (void)state;
    for (size_t at = 0; at < 3000; at += 299) {
        struct bytes b = cut_array(at, SIZE_MAX);

        assert_int_equal(count_findings(&b, "REC-014"), 1);
        free(b.at);
    }
}

/* ---- Two cuts in one sub-record ---- */

/* No byte of an ID, a count or a type is a tag, so that no part of the sub-record looks like another one. */
static const uint64_t OBJECT = 0x7777777777777758, POINT = 0x7777777777777760, CUT_ID = 0x7777777777777768;
enum { MEMBERS = 9 };

static void put_instance_to_cut(struct bytes *b)
{
    put_instance(b, CUT_ID, POINT, 4 * MEMBERS);
    for (size_t i = 0; i < 4 * MEMBERS; i++)
        put(b, 1, 0x77);
}

static void put_array_to_cut(struct bytes *b)
{
    put_primitive_array(b, CUT_ID, 10, 0x10);
    for (size_t i = 0; i < 0x40; i++)
        put(b, 1, 0x77);
}

static void put_class_to_cut(struct bytes *b)
{
    put_class_dump(b, POINT, OBJECT, 4 * MEMBERS);
    b->size -= 4;
    put(b, 2, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        put(b, 8, CUT_ID + i);
        put(b, 1, 10);
        put(b, 4, 0x77777777);
    }
    put(b, 2, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        put(b, 8, CUT_ID + MEMBERS + i);
        put(b, 1, 10);
    }
}

/* The sub-record is at *at. */
static struct bytes cut_twice(const struct bytes *sub, size_t first, size_t second, uint64_t *at)
{
    struct bytes b = {0};
    size_t record;

    put_header(&b);
    put_string(&b, 1, "java/lang/Object");
    put_string(&b, 2, "Point");
    for (size_t i = 0; i < 2 * MEMBERS; i++)
        put_string(&b, CUT_ID + i, (char[]){(char)('a' + i), '\0'});
    put_class(&b, 1, OBJECT, 1);
    put_class(&b, 2, POINT, 2);
    record = open_record(&b, 0x1c);
    put_class_dump(&b, OBJECT, 0, 0);
    if (sub->at[0] != 0x20)
        put_class_to_cut(&b);
    *at = b.size;
    for (size_t i = 0; i < sub->size; i++) {
        if (i == first || i == second) {
            close_record(&b, record);
            record = open_record(&b, 0x1c);
        }
        put(&b, 1, sub->at[i]);
    }
    put_instance(&b, 0x7777777777777770, OBJECT, 0);
    put_instance(&b, 0x7777777777777778, OBJECT, 0);
    close_record(&b, record);
    close_record(&b, open_record(&b, 0x2c));
    return b;
}

struct crossing {
    uint64_t at, skipped, subrecords, findings;
    size_t first, second;
};

static int note_crossing(void *context, const struct hprof_summary *summary)
{
    struct crossing *c = context;

    c->skipped = summary->skipped;
    for (size_t tag = 0; tag < 256; tag++)
        c->subrecords += summary->subrecord_counts[tag];
    return 0;
}

static int expect_crossing(void *context, const struct hprof_finding *f)
{
    struct crossing *c = context;
    const char *detail = strstr(f->found, "; ");

    c->findings++;
    if (f->rule != hprof_rule_find("REC-014") || f->offset != c->at || !detail || strtoull(detail + 2, NULL, 10) != c->first)
        fail_msg("split at %zu and %zu: %s at %" PRIu64 ", not %" PRIu64 ": %s", c->first, c->second,
                 hprof_rule_at(f->rule)->id, f->offset, c->at, f->found);
    return 0;
}

static void a_sub_record_in_three_segments_crosses_once(void **state)
{
    static void (*const put_cut[])(struct bytes *) = {put_instance_to_cut, put_array_to_cut, put_class_to_cut};

    (void)state;
    for (size_t kind = 0; kind < sizeof put_cut / sizeof *put_cut; kind++) {
        struct bytes sub = {0};
        struct hprof_options options;
        struct crossing c;
        size_t step;

        put_cut[kind](&sub);
        hprof_options_init(&options);
        options.on_summary = note_crossing;
        options.on_finding = expect_crossing;
        options.context = &c;
        /* All pairs of offsets; for a long sub-record, some pairs, with each offset in some of them. */
        step = 1 + sub.size / 90;
        for (size_t second = 2; second < sub.size; second++)
            for (size_t first = 1 + second % step; first < second; first += step) {
                struct bytes b;

                c = (struct crossing){.first = first, .second = second};
                b = cut_twice(&sub, first, second, &c.at);
                hprof_validate_memory(b.at, b.size, false, &options, NULL);
                assert_int_equal(c.findings, 1);
                assert_int_equal(c.skipped, 0);
                assert_int_equal(c.subrecords, put_cut[kind] == put_class_to_cut ? 4 : 5);
                free(b.at);
            }
        free(sub.at);
    }
}

/* ---- A wrong length is one fault of the framing ---- */

static uint64_t faults_of_framing(const struct bytes *b)
{
    uint64_t *totals = calloc(hprof_rule_count(), sizeof *totals), n = 0;
    struct hprof_options options;

    hprof_options_init(&options);
    options.on_summary = note_totals;
    options.context = totals;
    hprof_validate_memory(b->at, b->size, false, &options, NULL);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        n += hprof_rule_at(i)->framing ? totals[i] : 0;
    free(totals);
    return n;
}

static void put_length(struct bytes *b, size_t at, uint32_t length)
{
    for (size_t i = 0; i < 4; i++)
        b->at[at + i] = (uint8_t)(length >> (24 - 8 * i));
}

struct duplicate {
    uint64_t related_offset;
    bool any, wrong_length;
};

static int note_duplicate(void *context, const struct hprof_finding *f)
{
    struct duplicate *d = context;

    d->wrong_length |=
        f->rule == hprof_rule_find("CLS-001") || f->rule == hprof_rule_find("STR-001") || f->rule == hprof_rule_find("REC-002");
    if (f->rule == hprof_rule_find("STR-003")) {
        d->any = true;
        d->related_offset = f->related_offset;
    }
    return 0;
}

/* The second look uses the corrected length of a record, too, on its way to what follows. */
static void offsets_after_a_wrong_length_are_reported(void **state)
{
    static const uint32_t wrong[] = {1, 23, 25, 34, 57, 90};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bytes b = {0};
        struct duplicate d = {0};
        struct hprof_options options;
        size_t defined;

        put_header(&b);
        put_string(&b, 1, "java/lang/Object");
        put_class(&b, 1, 0x100, 1);
        put_length(&b, b.size - 24 - 4, wrong[i]);
        defined = b.size + 9;
        put_string(&b, 2, "a");
        put_string(&b, 3, "b");
        put_string(&b, 4, "c");
        put_string(&b, 2, "a");
        close_record(&b, open_record(&b, 0x2c));
        hprof_options_init(&options);
        options.on_finding = note_duplicate;
        options.context = &d;
        hprof_validate_memory(b.at, b.size, false, &options, NULL);
        if (!d.wrong_length || !d.any || d.related_offset != defined)
            fail_msg("length %" PRIu32 ": %d %d %" PRIu64, wrong[i], d.wrong_length, d.any, d.related_offset);
        free(b.at);
    }
}

/* Changed lengths, and those that gave several framing findings. */
struct length_changes {
    uint64_t all, several;
};

/* Nothing gives the right length of a string. */
static void change_each_length(struct length_changes *count, struct bytes *b)
{
    static const uint32_t changes[] = {1, 2, 8, 9, 16, 33, 0x100, 0x10000, 0x80000000};
    uint32_t length;

    for (size_t at = 31 + 5; at + 4 <= b->size; at += 9 + (size_t)length) {
        bool is_string = b->at[at - 5] == 0x01;

        length = (uint32_t)b->at[at] << 24 | (uint32_t)b->at[at + 1] << 16 | (uint32_t)b->at[at + 2] << 8 | b->at[at + 3];
        for (size_t i = 0; !is_string && i < 2 * sizeof changes / sizeof *changes; i++) {
            put_length(b, at, i % 2 ? length - changes[i / 2] : length + changes[i / 2]);
            count->several += faults_of_framing(b) > 1;
            count->all++;
        }
        put_length(b, at, length);
    }
}

/* One in a thousand may give more, where a wrong length happens to lead to bytes that look like a record. */
static void a_wrong_length_is_one_fault(void **state)
{
    struct length_changes count = {0};
    glob_t found;

    (void)state;
    assert_int_equal(glob("corpus/valid/*.hprof", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        static uint8_t bytes[20000];
        struct bytes b = {.at = bytes};
        FILE *file = fopen(found.gl_pathv[i], "rb");

        assert_non_null(file);
        b.size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        if (b.size < sizeof bytes && bytes[0] == 'J')
            change_each_length(&count, &b);
    }
    globfree(&found);
    print_message("%" PRIu64 " of %" PRIu64 " wrong lengths gave more than one finding\n", count.several, count.all);
    assert_true(count.all > 5000 && count.several * 1000 <= count.all);
}

struct reported {
    uint64_t errors, offset;
};

static int note_errors(void *context, const struct hprof_summary *summary)
{
    ((struct reported *)context)->errors = summary->errors;
    return 0;
}

static int note_offset(void *context, const struct hprof_finding *f)
{
    ((struct reported *)context)->offset = f->offset;
    return 0;
}

/* Longer than the bytes that recovery looks at. */
static void a_wrong_length_of_a_long_trace_is_one_error_there(void **state)
{
    enum { FRAMES = 20000 };
    static const int64_t changes[] = {-60000, -2000, -30, -1, 1, 30, 2000, 100000};
    struct bytes b = {0};
    struct hprof_options options;
    struct reported reported;
    size_t length, record;

    (void)state;
    put_header(&b);
    put_string(&b, 1, "java/lang/Object");
    put_class(&b, 1, 0x100, 1);
    record = open_record(&b, 0x04);
    for (uint64_t at = 0; at < 4; at++)
        put(&b, 8, at ? 1 : 0x77);
    put(&b, 8, UINT64_C(0x1ffffffff));
    close_record(&b, record);
    length = b.size + 5;
    record = open_record(&b, 0x05);
    put(&b, 8, UINT64_C(1) << 32);
    put(&b, 4, FRAMES);
    for (size_t i = 0; i < FRAMES; i++)
        put(&b, 8, 0x77);
    close_record(&b, record);
    for (uint64_t id = 3; id < 5000; id++)
        put_string(&b, 0xff00000000 + id, "a string");
    put_heap_summary(&b);

    hprof_options_init(&options);
    options.on_summary = note_errors;
    options.on_finding = note_offset;
    options.context = &reported;
    hprof_validate_memory(b.at, b.size, false, &options, NULL);
    assert_int_equal(reported.errors, 0);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        put_length(&b, length, (uint32_t)(12 + 8 * FRAMES + changes[i]));
        hprof_validate_memory(b.at, b.size, false, &options, NULL);
        if (reported.errors != 1 || reported.offset != length)
            fail_msg("%" PRId64 " bytes off: %" PRIu64 " errors, at %" PRIu64 ", not %zu", changes[i], reported.errors,
                     reported.offset, length);
    }
    free(b.at);
}

/* ---- Records of unknown tag ---- */

static void put_start(struct bytes *b, unsigned tag)
{
    size_t record = open_record(b, tag);

    put(b, 4, 1); /* thread serial */
    for (unsigned i = 0; i < 4 + 32; i++)
        put(b, 1, 0);
    close_record(b, record);
}

static void put_end(struct bytes *b, unsigned tag)
{
    size_t record = open_record(b, tag);

    put(b, 4, 1); /* thread serial */
    close_record(b, record);
}

/* Findings of a rule, where REC-003 has this severity. */
static uint64_t count_with(const struct bytes *b, const char *rule, enum hprof_severity of_rec_003)
{
    uint64_t *totals = calloc(hprof_rule_count(), sizeof *totals), n;
    struct hprof_options options;

    hprof_options_init(&options);
    options.profile = hprof_profile_find(of_rec_003 == HPROF_ERROR ? "hotspot" : "jvmpi-agent");
    options.on_summary = note_totals;
    options.context = totals;
    hprof_validate_memory(b->at, b->size, false, &options, NULL);
    assert_int_equal(totals[hprof_rule_find("REC-003")], 1);
    n = totals[hprof_rule_find(rule)];
    free(totals);
    return n;
}

/* The tag of a START_THREAD or an END_THREAD is unknown: where that is an error, nothing that follows from it is reported. */
static void what_an_unknown_record_may_explain_is_left_out_if_it_is_an_error(void **state)
{
    enum { START = 0x0a, END = 0x0b, UNKNOWN = 0x77 };
    static const struct {
        unsigned tags[4];
        const char *rule;
    } cases[] = {
        {{START, UNKNOWN, START, END}, "THR-004"},
        {{UNKNOWN, END, 0, 0}, "THR-005"},
        {{START, END, UNKNOWN, END}, "THR-006"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = {0};

        put_header(&b);
        for (size_t j = 0; j < 4 && cases[i].tags[j]; j++) {
            unsigned tag = cases[i].tags[j];
            bool is_start = tag == UNKNOWN ? strcmp(cases[i].rule, "THR-004") != 0 : tag == START;

            (is_start ? put_start : put_end)(&b, tag);
        }
        assert_int_equal(count_with(&b, cases[i].rule, HPROF_ERROR), 0);
        assert_int_equal(count_with(&b, cases[i].rule, HPROF_WARNING), 1);
        free(b.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_segment_before_valid_records_is_empty),
        cmocka_unit_test(an_empty_segment_before_a_wrong_length_is_empty),
        cmocka_unit_test(an_empty_segment_before_sub_records_was_not_filled_in),
        cmocka_unit_test(a_sub_record_in_two_segments_crosses),
        cmocka_unit_test(a_sub_record_in_three_segments_crosses_once),
        cmocka_unit_test(offsets_after_a_wrong_length_are_reported),
        cmocka_unit_test(a_wrong_length_is_one_fault),
        cmocka_unit_test(a_wrong_length_of_a_long_trace_is_one_error_there),
        cmocka_unit_test(what_an_unknown_record_may_explain_is_left_out_if_it_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
