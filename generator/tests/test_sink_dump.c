/* What the sink does when its events differ from those that the sizer saw (the file changed in between), and when its output cannot
 * be written. All other tests of the generator check what it writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stream/sink_dump.h"

enum { RECORD_SIZE = RECORD_MOST_BUFFERED + (1 << 20) };

struct taker {
    struct bytes bytes;
    uint64_t taken, enough;
    bool finished;
};

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct taker *t = (struct taker *)bytes;

    (void)data;
    t->taken += size;
    return t->taken <= t->enough;
}

static bool finish(struct bytes *bytes)
{
    ((struct taker *)bytes)->finished = true;
    return true;
}

static struct taker taker_of(uint64_t enough)
{
    return (struct taker){.bytes = {.put = put, .finish = finish}, .enough = enough};
}

static void give_mark(struct stage *to, enum event_kind kind)
{
    struct event e = event_of(kind, TAG_HEAP_DUMP, LAYOUT_ID_NONE);

    give(to, &e);
}

/* A heap dump record of arrays of so many bytes each, RECORD_SIZE in all. */
static enum sink_end write_record(struct taker *t, const struct long_record *longs, uint32_t bytes)
{
    static const uint8_t zeros[RECORD_SIZE];
    struct written written = {0};
    bool stop = false;
    struct sink_dump *sink = sink_dump_new(&t->bytes, longs, longs ? 1 : 0, &written, &stop);
    struct stage *stage;
    enum sink_end end;

    assert_non_null(sink);
    stage = sink_dump_stage(sink);
    stage->id_size = 8;
    give_mark(stage, EVENT_OPEN);
    for (uint64_t done = 0; done < RECORD_SIZE; done += 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, 8) + bytes) {
        struct event e = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP);

        e.fields.PRIMITIVE_ARRAY_DUMP.elements = bytes;
        e.fields.PRIMITIVE_ARRAY_DUMP.type = TYPE_BYTE;
        e.body = zeros;
        e.body_size = bytes;
        give(stage, &e);
    }
    give_mark(stage, EVENT_CLOSE);
    give_mark(stage, EVENT_END);
    end = sink_dump_finish(sink);
    assert_int_equal(stop, end != SINK_COMPLETE);
    assert_int_equal(t->finished, end == SINK_COMPLETE);
    sink_dump_free(sink);
    return end;
}

static uint64_t size_of_record(uint32_t bytes)
{
    uint64_t each = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, 8) + bytes;

    return (RECORD_SIZE + each - 1) / each * each;
}

static const uint32_t sizes[] = {0, 1, 100, 100000, RECORD_SIZE};

static void test_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct taker t = taker_of(UINT64_MAX);
        struct long_record record = {0, size_of_record(sizes[i])};

        assert_int_equal(write_record(&t, &record, sizes[i]), SINK_COMPLETE);
        assert_int_equal(t.taken, RECORD_HEADER_SIZE + record.length);
    }
}

static void test_longer_than_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct taker t = taker_of(UINT64_MAX);
        struct long_record record = {0, size_of_record(sizes[i]) - 1};

        assert_int_equal(write_record(&t, NULL, sizes[i]), SINK_NOT_AS_MEASURED);
        assert_int_equal(t.taken, 0);
        assert_int_equal(write_record(&t, &record, sizes[i]), SINK_NOT_AS_MEASURED);
    }
}

static void test_not_wanted(void **state)
{
    struct long_record record = {0, size_of_record(100)};

    (void)state;
    for (uint64_t enough = 0; enough < record.length; enough += record.length / 7) {
        struct taker t = taker_of(enough);

        assert_int_equal(write_record(&t, &record, 100), SINK_OUT_FAILED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_longer_than_measured),
        cmocka_unit_test(test_not_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
