/* source_model.h: whatever the producer, the shape and the options, what comes is a dump in the right order, the same each time,
 * and no two things of a heap dump have one ID. That the dumps are right otherwise is for the validator to say. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../validator/tests/share.h"
#include "made_model.h"
#include "producers/source_model.h"
#include "stream/encode.h"
#include "stream/sink_dump.h"
#include "stream/sizer.h"

/* What a run gives. */
struct look {
    struct stage stage;
    unsigned id_size;
    uint64_t events, hash;
    bool headed, ended, open, in_parts;
    uint64_t parts_missing; /* bytes of the body that comes in parts */
    uint64_t in_record, longest_record;
    bool stated;
    uint32_t length;
    uint64_t stop_at; /* events; 0 for never */
    bool stop;
    uint64_t *ids; /* of the heap dump at hand */
    size_t count, capacity;
    uint64_t objects, in_pieces;
};

static void hash(struct look *l, const uint8_t *p, uint64_t n)
{
    for (uint64_t word; n; p += sizeof word) {
        size_t most = n < sizeof word ? (size_t)n : sizeof word;

        word = most;
        memcpy(&word, p, most);
        l->hash = (l->hash ^ word) * 0x9E3779B97F4A7C15;
        l->hash ^= l->hash >> 32;
        n -= most;
    }
}

static void note_id(struct look *l, uint64_t id)
{
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 1024;
        l->ids = realloc(l->ids, l->capacity * sizeof *l->ids);
        assert_non_null(l->ids);
    }
    assert_int_not_equal(id, 0);
    l->ids[l->count++] = id;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void check_ids(struct look *l)
{
    if (l->count)
        qsort(l->ids, l->count, sizeof *l->ids, by_number);
    for (size_t i = 1; i < l->count; i++)
        assert_true(l->ids[i] > l->ids[i - 1]);
    l->count = 0;
}

static void look_at_subrecord(struct look *l, const struct event *e)
{
    assert_true(l->open);
    switch (e->layout) {
    case LAYOUT_ID_CLASS_DUMP:
        assert_non_null(e->body);
        note_id(l, e->fields.CLASS_DUMP.class_id);
        break;
    case LAYOUT_ID_INSTANCE_DUMP:
        assert_int_equal(e->fields.INSTANCE_DUMP.bytes, e->body_size);
        assert_true(e->nulls <= e->references);
        note_id(l, e->fields.INSTANCE_DUMP.object_id);
        l->objects++;
        break;
    case LAYOUT_ID_OBJECT_ARRAY_DUMP:
        assert_int_equal(e->fields.OBJECT_ARRAY_DUMP.elements * l->id_size, e->body_size);
        note_id(l, e->fields.OBJECT_ARRAY_DUMP.object_id);
        l->objects++;
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_DUMP:
        note_id(l, e->fields.PRIMITIVE_ARRAY_DUMP.object_id);
        l->objects++;
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_NODATA:
        note_id(l, e->fields.PRIMITIVE_ARRAY_NODATA.object_id);
        l->objects++;
        break;
    default:
        break;
    }
    l->in_record += fixed_part_size(e, l->id_size) + e->body_size;
}

static void take(struct stage *stage, struct event *e)
{
    struct look *l = (struct look *)stage;
    uint8_t fixed[FIELDS_MOST];

    assert_int_equal(stage->id_size, l->id_size);
    assert_int_equal(e->kind == EVENT_HEADER, !l->headed);
    assert_false(l->ended);
    assert_int_equal(e->rule, NO_RULE);
    assert_true(e->keep == KEEP_ALL);
    for (unsigned i = 0; i < e->quirk_count; i++) {
        assert_true(e->quirks[i].findings > 0);
        hash(l, (const uint8_t *)&(uint64_t){(uint32_t)e->quirks[i].rule}, 8);
    }
    l->headed = true;
    if (e->kind == EVENT_PART)
        assert_true(l->parts_missing >= e->body_size);
    else if (!l->stop)
        assert_int_equal(l->parts_missing, 0);

    switch (e->kind) {
    case EVENT_HEADER:
    case EVENT_RAW:
        break;
    case EVENT_BATCH:
        fail();
        break;
    case EVENT_RECORD:
        assert_false(l->open);
        break;
    case EVENT_OPEN:
        assert_false(l->open);
        l->open = true;
        l->in_record = 0;
        l->stated = e->length_stated;
        l->length = e->length;
        break;
    case EVENT_SUBRECORD:
        look_at_subrecord(l, e);
        break;
    case EVENT_PART:
        l->parts_missing -= e->body_size;
        l->in_pieces++;
        break;
    case EVENT_CLOSE:
        assert_true(l->open);
        l->open = false;
        if (l->stated)
            assert_int_equal(l->in_record, l->length);
        else if (l->in_record > l->longest_record)
            l->longest_record = l->in_record;
        break;
    case EVENT_END:
        assert_false(l->open);
        l->ended = true;
        break;
    }
    if (e->kind == EVENT_RECORD || e->kind == EVENT_SUBRECORD)
        l->parts_missing = e->body ? 0 : e->body_size;
    if ((e->kind == EVENT_RECORD && e->tag == TAG_HEAP_DUMP_END) || (e->kind == EVENT_CLOSE && e->tag == TAG_HEAP_DUMP))
        check_ids(l);

    hash(l, (const uint8_t *)&(uint64_t){e->kind}, 8);
    hash(l, fixed, (uint64_t)(put_fixed_part(fixed, e, (uint32_t)e->body_size, l->id_size) - fixed));
    if (e->body)
        hash(l, e->body, e->body_size);

    /* As a filter may. */
    e->rule = 1;
    e->keep = 3;
    e->tag ^= 1;
    e->quirk_count = 0;
    if (++l->events == l->stop_at)
        l->stop = true;
}

static struct look run(struct source *source, uint64_t stop_at)
{
    struct look l = {.stage = {.take = take, .id_size = source->id_size}, .id_size = source->id_size, .stop_at = stop_at};

    assert_true(source->run(source, &l.stage, &l.stop));
    free(l.ids);
    l.ids = NULL;
    return l;
}

static struct source_settings settings_of(const struct producer *producer, const struct shape *shape, uint64_t objects)
{
    struct source_settings s = {.producer = producer, .shape = shape, .model = unset(objects)};

    s.model.seed = 5;
    return s;
}

static struct source *source_of(const struct source_settings *s)
{
    const char *failure = "unset";
    struct source *source = source_model_new(s, &failure);

    if (source)
        assert_null(failure);
    else
        assert_non_null(failure);
    return source;
}

/* ---- Several readers ---- */

/* Of all bytes of a dump, FNV-1a. */
struct hasher {
    struct bytes bytes;
    uint64_t hash;
};

static bool hash_put(struct bytes *bytes, const void *data, size_t size)
{
    struct hasher *h = (struct hasher *)bytes;

    for (size_t i = 0; i < size; i++)
        h->hash = (h->hash ^ ((const uint8_t *)data)[i]) * 0x100000001B3;
    return true;
}

static bool hash_finish(struct bytes *bytes)
{
    (void)bytes;
    return true;
}

static uint64_t hash_of_dump(struct source *source, enum detail detail)
{
    struct hasher h = {.bytes = {.put = hash_put, .finish = hash_finish}, .hash = 0xCBF29CE484222325};
    struct written written = {0};
    bool stop = false;
    struct sink_dump *sink = sink_dump_new(&h.bytes, NULL, 0, &written, &stop);

    assert_non_null(sink);
    sink_dump_stage(sink)->id_size = source->id_size;
    source->detail = detail;
    assert_true(source->run(source, sink_dump_stage(sink), &stop));
    assert_int_equal(sink_dump_finish(sink), SINK_COMPLETE);
    sink_dump_free(sink);
    source->detail = DETAIL_FIELDS;
    return h.hash;
}

static struct sizer sizes_of(struct source *source, enum detail detail)
{
    static const bool never = false;
    struct sizer sizer;

    sizer_init(&sizer);
    sizer.stage.id_size = source->id_size;
    source->detail = detail;
    assert_true(source->run(source, &sizer.stage, &never));
    source->detail = DETAIL_FIELDS;
    return sizer;
}

/* The dump has the same bytes and length, however much of it is read. */
static void check_details(struct source *source)
{
    struct sizer all = sizes_of(source, DETAIL_FIELDS), alone = sizes_of(source, DETAIL_SIZES);

    assert_int_equal(alone.bytes, all.bytes);
    assert_int_equal(alone.opened, all.opened);
    assert_int_equal(alone.long_count, all.long_count);
    if (all.long_count)
        assert_memory_equal(alone.longs, all.longs, all.long_count * sizeof *all.longs);
    sizer_free(&all);
    sizer_free(&alone);
    assert_true(hash_of_dump(source, DETAIL_BYTES) == hash_of_dump(source, DETAIL_FIELDS));
}

static void check_source(const struct source_settings *s, uint64_t objects)
{
    struct source *source = source_of(s);
    struct look first, second;

    if (!source)
        return;
    source->unchanged = true;
    first = run(source, 0);
    second = run(source, 0);
    assert_true(first.ended);
    assert_int_equal(first.objects, objects);
    assert_true(first.longest_record <= source->longest_heap_record);
    assert_int_equal(first.events, second.events);
    assert_true(first.hash == second.hash);
    if (objects != 10)
        check_details(source);
    else {
        second = run(source, first.events / 2);
        assert_true(second.events < first.events);
        second = run(source, 0);
        assert_true(first.hash == second.hash);
    }
    source->free(source);
}

static void every_dump_is_whole_and_the_same_each_time(void **state)
{
    static const uint64_t objects[] = {0, 2, 10, 300};
    struct share share = draw_share();
    size_t turn = 0;

    (void)state;
    for (size_t l = 0; producer_at(l); l++)
        for (size_t sh = 0; shapes[sh]; sh++, turn++)
            for (size_t n = 0; n < sizeof objects / sizeof *objects; n++)
                for (enum version v = objects[n] == 10 ? V101 : 0; v <= (objects[n] == 10 ? V103 : 0); v++)
                    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
                        struct source_settings s = settings_of(producer_at(l), shapes[sh], objects[n]);

                        if (turn++ % share.parts != share.part)
                            continue;
                        s.version = v; /* 0: that of the producer */
                        s.id_size = id_size;
                        s.heap_dumps = objects[n] == 10 ? 2 : objects[n] == 300 ? 3 : 0;
                        s.compressed = objects[n] == 2;
                        check_source(&s, objects[n]);
                    }
}

static void every_producer_has_defaults(void **state)
{
    (void)state;
    assert_string_equal(producer_name(producer_at(0)), "plain");
    for (size_t l = 0; producer_at(l); l++) {
        struct source_settings s = settings_of(producer_at(l), NULL, 100);
        struct source *source = source_of(&s);

        assert_non_null(source);
        assert_true(*producer_about(producer_at(l)) && *producer_profile(producer_at(l)));
        source->free(source);
    }
}

static void what_a_producer_cannot_write_is_refused(void **state)
{
    static const struct {
        const char *producer;
        enum version version;
        unsigned id_size;
        enum records_wanted records;
        uint64_t segment_size;
        uint64_t objects;
    } cases[] = {
        {"jdk8-agent", 0, 8, RECORDS_DEFAULT, 0, 1},
        {"jdk8-agent", V103, 0, RECORDS_DEFAULT, 0, 1},
        {"hotspot", V103, 0, RECORDS_DEFAULT, 0, 1},
        {"hotspot", 0, 0, RECORDS_SITES, 0, 1},
        {"mat", V101, 0, RECORDS_DEFAULT, 0, 1},
        {"android", 0, 8, RECORDS_DEFAULT, 0, 1},
        {"plain", V101, 0, RECORDS_DEFAULT, 100, 1},
        {"plain", 0, 4, RECORDS_DEFAULT, 0, 4294967296},
        {"jdk8-agent", 0, 0, RECORDS_DEFAULT, 0, 1 << 28},
        {"sa", 0, 0, RECORDS_ALL, 0, 1},
        {"android", 0, 0, RECORDS_DEFAULT, 0, UINT64_C(1) << 31}, /* the IDs beside classes are taken */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t l = 0; producer_at(l); l++)
            if (strcmp(producer_name(producer_at(l)), cases[i].producer) == 0) {
                struct source_settings s = settings_of(producer_at(l), shapes[1], cases[i].objects);

                s.version = cases[i].version;
                s.id_size = cases[i].id_size;
                s.records = cases[i].records;
                s.segment_size = cases[i].segment_size;
                assert_null(source_of(&s));
            }
}

static void large_bodies_come_in_parts(void **state)
{
    struct source_settings s = settings_of(NULL, shape_of("arrays"), 100);
    struct source *source;
    struct look l;

    (void)state;
    s.model.array_length = (uint64_t)30000 * MODEL_UNIT;
    source = source_of(&s);
    assert_non_null(source);
    l = run(source, 0);
    assert_true(l.in_pieces > 20);
    check_details(source);
    source->free(source);
}

static void no_segment_is_longer_than_it_should_be(void **state)
{
    (void)state;
    for (uint64_t size = 1; size < 100000; size = size * 3 + 1) {
        struct source_settings s = settings_of(NULL, shape_of("list"), 3000);
        struct source *source;

        s.segment_size = size;
        source = source_of(&s);
        assert_non_null(source);
        assert_true(run(source, 0).longest_record <= (size > 2000 ? size : 2000));
        source->free(source);
    }
}

static void the_same_bytes_on_every_machine(void **state)
{
    /* A change here changes the dumps that every command line makes. */
    static const struct {
        const char *producer;
        uint64_t hash;
    } golden[] = {
        {"plain", 0x73E7ADC1E887FEC5},       {"hotspot", 0xEB9662839A36297A},    {"hotspot-8", 0xE7656FE2CF6ED71D},
        {"hotspot-11", 0x09508F31033FB1F5},  {"hotspot-17", 0xC559F1F955252F6E}, {"hotspot-21", 0x85B43070184DF260},
        {"hotspot-25", 0xEB9662839A36297A},  {"hotspot-28", 0xEC3A2E151E647416}, {"jdk8-agent", 0xC703A1CA5B484640},
        {"jvmpi-agent", 0x03593F5B58FEEE75}, {"sa", 0x32237D6E5982D48B},         {"sa-11", 0x54F06C403C6CCE70},
        {"sa-17", 0x93FD33560F7DBB5D},       {"sa-21", 0xE5C255B1E27926E3},      {"sa-25", 0x73DAE8C2B6B38922},
        {"sa-28", 0x05C129E5BD996C03},       {"graalvm", 0x5349097697FC1D0E},    {"mat", 0x99EA5EE9383A36B4},
        {"android", 0x0FFFA29CC8E34B34},
    };

    (void)state;
    for (size_t l = 0; producer_at(l); l++) {
        struct source_settings s = settings_of(producer_at(l), NULL, 2000);
        struct source *source;
        uint64_t hash_now;

        s.model.threads = 2;
        s.model.stack_depth = 9;
        source = source_of(&s);
        assert_non_null(source);
        hash_now = hash_of_dump(source, DETAIL_BYTES);
        assert_string_equal(producer_name(producer_at(l)), golden[l].producer);
        if (hash_now != golden[l].hash)
            fail_msg("%s: 0x%016" PRIX64, golden[l].producer, hash_now);
        source->free(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dump_is_whole_and_the_same_each_time),
        cmocka_unit_test(the_same_bytes_on_every_machine),
        cmocka_unit_test(every_producer_has_defaults),
        cmocka_unit_test(what_a_producer_cannot_write_is_refused),
        cmocka_unit_test(large_bodies_come_in_parts),
        cmocka_unit_test(no_segment_is_longer_than_it_should_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
