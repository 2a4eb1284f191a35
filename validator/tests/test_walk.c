/* walk.h: valid dumps are walked from their header to their end, and what is in sight never changes what is found, only whether it
 * is known yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "corpus.h"
#include "format/walk.h"
#include "hprof/hprof.h"

static int on_summary(void *context, const struct hprof_summary *summary)
{
    uint64_t *counts = context;

    memcpy(counts, summary->record_counts, sizeof summary->record_counts);
    memcpy(counts + 256, summary->subrecord_counts, sizeof summary->subrecord_counts);
    return 0;
}

static bool is_same(const struct walk_item *a, const struct walk_item *b)
{
    return a->tag == b->tag && a->time == b->time && a->length == b->length && a->head == b->head && a->size == b->size &&
           a->bad_at == b->bad_at && a->in_constant_pool == b->in_constant_pool;
}

/* In a block of exactly this size, so that sanitizers notice a read after its end. `left` is UINT64_MAX for a record. */
static enum frame walk_part(const struct sight *whole, uint64_t at, size_t n, bool ended, uint64_t left, struct walk_item *item)
{
    uint8_t *copy = malloc(n + 1);
    struct sight s = {copy + 1, n, ended, whole->id_size, whole->version};
    enum frame frame;

    assert_non_null(copy);
    memcpy(copy + 1, whole->at + at, n);
    frame = left == UINT64_MAX ? walk_record(&s, 0, item) : walk_subrecord(&s, 0, left, item);
    free(copy);
    return frame;
}

/* With fewer bytes in sight the frame is the same, or not known. */
static void check_parts(const struct sight *whole, uint64_t at, uint64_t left, enum frame frame, const struct walk_item *item)
{
    size_t there = whole->size - (size_t)at, most = there < 128 ? there : 128;
    bool was_known = false;

    for (size_t n = 0; n <= most; n++) {
        struct walk_item part, last;
        enum frame unseen = walk_part(whole, at, n, false, left, &part), truncated = walk_part(whole, at, n, true, left, &last);

        if (unseen == FRAME_UNSEEN) {
            assert_int_equal(truncated, FRAME_TRUNCATED);
            assert_false(was_known);
            continue;
        }
        was_known = true;
        assert_int_equal(unseen, truncated);
        assert_int_equal(unseen, frame);
        assert_true(is_same(&part, item) && is_same(&last, item));
    }
}

/* The bytes that walk_over() passes are those of whole sub-records, one after the other. */
static void check_many(const struct sight *s, uint64_t at, uint64_t end)
{
    uint64_t wanted = (end - at) / 2 + 1,
             passed = walk_over(s->at + at, (size_t)(end - at), wanted, end - at, s->id_size, s->version), one = at;
    struct walk_item item;

    assert_in_range(passed, wanted, end - at);
    while (one < at + wanted) {
        assert_int_equal(walk_subrecord(s, one, end - one, &item), FRAME_RIGHT);
        one += item.size;
    }
    assert_int_equal(one, at + passed);
}

static void walk_dump(const struct bytes *bytes, uint64_t counts[512])
{
    struct sight s = {bytes->at, bytes->size, true, get_u4(bytes->at + HEADER_STRING_SIZE),
                      (enum version)(bytes->at[HEADER_STRING_SIZE - 2] - '0')};
    uint64_t at = HEADER_SIZE;

    while (at < s.size) {
        struct walk_item record, item;
        uint64_t end;

        assert_int_equal(walk_record(&s, at, &record), FRAME_RIGHT);
        check_parts(&s, at, UINT64_MAX, FRAME_RIGHT, &record);
        counts[record.tag]++;
        end = at + record.size;
        assert_true(end <= s.size);
        if (is_heap_dump_record(record.tag) && record.length) {
            check_many(&s, at + record.head, end);
            for (at += record.head; at < end; at += item.size) {
                assert_int_equal(walk_subrecord(&s, at, end - at, &item), FRAME_RIGHT);
                check_parts(&s, at, end - at, FRAME_RIGHT, &item);
                counts[256 + item.tag]++;
            }
        }
        assert_true(at <= end);
        at = end;
    }
}

static void valid_dumps_are_walked_to_their_end(void **state)
{
    size_t walked = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *bytes = &corpus[i].bytes;
        uint64_t counts[512] = {0}, told[512] = {0};
        struct hprof_options options;

        if (!strstr(corpus[i].name, "corpus/valid/") || bytes->size < HEADER_SIZE || bytes->at[0] != 'J')
            continue;
        hprof_options_init(&options);
        options.on_summary = on_summary;
        options.context = told;
        hprof_validate_memory(bytes->at, bytes->size, false, &options, NULL);
        walk_dump(bytes, counts);
        assert_memory_equal(counts, told, sizeof counts);
        walked++;
    }
    assert_true(walked > 100);
}

/* Of any bytes too: every offset of broken dumps, as a record, and as a sub-record of a record of any length. */
static void any_bytes_have_one_frame(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i += 11) {
        const struct bytes *bytes = &corpus[i].bytes;
        struct sight s = {bytes->at, bytes->size, true, i % 2 ? 4 : 8, (enum version)(1 + i % 3)};

        for (uint64_t at = 0; at < bytes->size && at < 400; at += 3) {
            uint64_t lefts[] = {UINT64_MAX, 1, 20, bytes->size - at, UINT32_MAX};

            for (size_t j = 0; j < sizeof lefts / sizeof *lefts; j++) {
                struct walk_item item;
                enum frame frame =
                    lefts[j] == UINT64_MAX ? walk_record(&s, at, &item) : walk_subrecord(&s, at, lefts[j], &item);

                if (frame != FRAME_TRUNCATED)
                    check_parts(&s, at, lefts[j], frame, &item);
                assert_int_equal(frame == FRAME_RIGHT, item.size && (lefts[j] == UINT64_MAX || item.size <= lefts[j]));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_dumps_are_walked_to_their_end),
        cmocka_unit_test(any_bytes_have_one_frame),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
