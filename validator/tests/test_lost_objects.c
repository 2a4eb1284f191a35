/* lost_objects.c: what is found in an array that is too long, or in what was skipped, if objects are missing (RULES.md M.2, "Lost
 * objects"). The test knows which sub-records it lost, and what refers to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dice.h"
#include "dump.h"
#include "engine/validate.h"
#include "format/tags.h"
#include "hprof/testing.h"

enum {
    DRAWS = 2000,
    CLASSES = 40,
    LOST_CLASSES = 10,
    FIRST_LOST = 0x1a407040, /* of those that are loaded, and whose dump is lost */
    FIRST_CLASS = 0x1a404040,
    LONG = 11,
    OBJECTS_MOST = 100,
    MOST = 20,
    CHAIN = 128,
    BEFORE_RECORDS = 32,
    MIB = 1 << 20
};

enum container { ARRAY, CLASS, INSTANCE, OBJECT_ARRAY, WAITING_INSTANCE, CONTAINERS };

struct object {
    size_t at;
    uint64_t id;
    bool is_again; /* dumped before, too */
    bool is_named;
    unsigned bits;
};

struct draw {
    struct bytes b;
    size_t record;
    unsigned next;
    struct object read[OBJECTS_MOST], lost[OBJECTS_MOST];
    unsigned read_count, lost_count;
    size_t container, head; /* what takes the lost ones, and its elements or entries */
    unsigned width;         /* of these */
    unsigned classes;       /* that are lost */
    unsigned nowhere;       /* objects that are named and dumped nowhere */
};

/* No byte of it begins anything. */
static void put_junk(struct bytes *b, size_t n)
{
    while (n--)
        put(b, 1, 0x80 + below(0x7f));
}

/* No byte of it is a tag. */
static uint64_t id_of(unsigned n)
{
    enum { MOST = 0x40 };

    assert_true(n < MOST * MOST);
    return 0x1a504040 + n / MOST * 0x100 + n % MOST;
}

static uint64_t id_of_class(void)
{
    return FIRST_CLASS + below(CLASSES);
}

static void begin_heap(struct draw *d)
{
    *d = (struct draw){.width = 1};
    put_header(&d->b);
    put_string(&d->b, 0x40, "[A");
    for (unsigned i = 0; i < CLASSES; i++)
        put_class(&d->b, 1 + i, FIRST_CLASS + i, 0x40);
    for (unsigned i = 0; i < LOST_CLASSES; i++)
        put_class(&d->b, 1 + CLASSES + i, FIRST_LOST + i, 0x40);
    d->record = open_record(&d->b, TAG_HEAP_DUMP_SEGMENT);
    for (unsigned i = 0; i < CLASSES; i++)
        put_class_dump(&d->b, FIRST_CLASS + i, i ? FIRST_CLASS : 0, 0);
}

/* An array of objects without elements, or of numbers. */
static unsigned put_object(struct draw *d, uint64_t id, bool has_elements)
{
    if (!has_elements) {
        put_object_array(&d->b, id, id_of_class(), 0);
        return 40;
    }
    put_primitive_array(&d->b, id, LONG, 9);
    put_junk(&d->b, 9 * 8);
    return 12;
}

static void put_read(struct draw *d, unsigned count)
{
    assert_true(d->read_count + count <= OBJECTS_MOST);
    while (count--) {
        d->read[d->read_count++] = (struct object){.at = d->b.size, .id = id_of(d->next), .is_named = true};
        put_object(d, id_of(d->next++), heads());
    }
}

static void put_lost(struct draw *d, unsigned count)
{
    const unsigned named = 1 + below(8);

    assert_true(d->lost_count + count <= OBJECTS_MOST);
    while (count--) {
        struct object *o = &d->lost[d->lost_count++];

        *o = (struct object){.at = d->b.size, .is_again = d->read_count && !below(4)};
        o->is_named = !o->is_again && !below(named);
        o->id = o->is_again ? d->read[below(d->read_count)].id : id_of(d->next++);
        if (!o->is_again && d->width < 8 && d->classes < LOST_CLASSES && !below(4)) {
            o->id = FIRST_LOST + d->classes++;
            put_class_dump(&d->b, o->id, FIRST_CLASS, 0);
            o->bits = 40;
        } else {
            o->bits = put_object(d, o->id, heads() || d->width == 8);
        }
    }
}

/* Its count is that of what follows, up to close_container(). An instance is of a class that is not dumped, or later. */
static void open_container(struct draw *d, enum container kind)
{
    static const struct {
        unsigned type, width;
    } arrays[] = {{8, 1}, {9, 2}, {10, 4}, {11, 8}};
    const unsigned i = below(4);

    d->container = d->b.size;
    d->width = 1;
    if (kind == ARRAY) {
        put_primitive_array(&d->b, id_of(d->next++), arrays[i].type, 0);
        d->width = arrays[i].width;
    } else if (kind == OBJECT_ARRAY) {
        put_object_array(&d->b, id_of(d->next++), FIRST_CLASS, 0);
        d->width = 8;
    } else if (kind == CLASS) {
        put_class_dump(&d->b, FIRST_CLASS + CLASSES, FIRST_CLASS, 0);
    } else {
        put_instance(&d->b, id_of(d->next++), FIRST_CLASS + CLASSES, 0);
    }
    d->head = d->b.size;
}

static void close_container(struct draw *d, enum container kind)
{
    static const size_t before[CONTAINERS] = {5, 2, 4, 12, 4};
    const size_t entry = kind == CLASS ? 9 : d->width, more = (entry - (d->b.size - d->head) % entry) % entry, end = d->b.size;

    put_junk(&d->b, more); /* goes to the start */
    memmove(d->b.at + d->head + more, d->b.at + d->head, end - d->head);
    memset(d->b.at + d->head, kind == OBJECT_ARRAY ? 0 : 0xee, more);
    for (unsigned i = 0; i < d->lost_count; i++)
        d->lost[i].at += more;
    put_at(d->b.at + d->head - before[kind], kind == CLASS ? 2 : 4, (d->b.size - d->head) / entry);
}

/* An array names objects, and the dump ends. */
static void end_heap(struct draw *d)
{
    size_t array = d->b.size, elements = d->nowhere;

    put_object_array(&d->b, id_of(d->next++), FIRST_CLASS, 0);
    for (unsigned i = 0; i < d->read_count + d->lost_count; i++) {
        const struct object *o = i < d->read_count ? &d->read[i] : &d->lost[i - d->read_count];

        if (o->is_named) {
            put(&d->b, 8, o->id);
            elements++;
        }
    }
    for (unsigned i = 0; i < d->nowhere; i++)
        put(&d->b, 8, id_of(d->next++));
    put_at(d->b.at + array + 13, 4, elements);
    close_record(&d->b, d->record);
    close_record(&d->b, open_record(&d->b, TAG_HEAP_DUMP_END));
}

/* Whether the objects of a chain in a container are lost. */
static bool are_lost(const struct draw *d, unsigned first, unsigned end, enum container kind)
{
    const double more_than_chance = 4;
    unsigned missing = 0, unnamed = 0, again = 0, all_missing = d->nowhere;
    double all = d->read_count + 1 + (d->container != 0); /* with the array that names them */

    for (unsigned i = 0; i < d->lost_count; i++)
        all_missing += d->lost[i].is_named;
    for (unsigned i = first; i < end; i++) {
        again += d->lost[i].is_again;
        missing += d->lost[i].is_named;
        unnamed += !d->lost[i].is_again && !d->lost[i].is_named;
    }
    if (!all_missing && kind != INSTANCE && kind != OBJECT_ARRAY) /* a class is missing, too, or what is taken for IDs */
        return false;
    if (kind != ARRAY)
        return missing + unnamed > again;
    return missing > again && (missing * 4 >= unnamed || missing > more_than_chance * (again + 1) * all_missing / (all + 1));
}

/* Adds an ID that is named and dumped nowhere, once. */
static unsigned add_missing(const struct draw *d, uint64_t ids[], unsigned count, uint64_t id)
{
    bool is_there = id == 0;

    for (unsigned i = 0; i < d->read_count; i++)
        is_there |= d->read[i].id == id;
    for (unsigned i = 0; i < count; i++)
        is_there |= ids[i] == id;
    if (!is_there)
        ids[count++] = id;
    return count;
}

/* Whether a check alone seeks lost objects: the ID of a missing one follows a tag somewhere, or more are missing than a few, or a
 * class is. */
static bool check_seeks(const struct draw *d, enum container kind)
{
    enum { FEW = 8, IDS_MOST = 2 * OBJECTS_MOST + 2 * MOST + 9 * 80 };
    uint64_t ids[IDS_MOST];
    unsigned count = 0;

    for (unsigned i = 0; i < d->lost_count; i++)
        if (d->lost[i].is_named)
            count = add_missing(d, ids, count, d->lost[i].id);
    for (unsigned i = 0; i < d->nowhere; i++)
        count = add_missing(d, ids, count, id_of(d->next - 1 - i));
    for (uint64_t i = 0; kind == OBJECT_ARRAY && i < get_u4(d->b.at + d->head - 12); i++)
        count = add_missing(d, ids, count, get_id(d->b.at + d->head + 8 * i, 8));
    if (kind == INSTANCE || count > FEW)
        return true;
    for (size_t at = d->record; at + 9 <= d->b.size; at++)
        for (unsigned i = 0; i < count; i++)
            if (is_object_tag(d->b.at[at]) && get_id(d->b.at + at + 1, 8) == ids[i])
                return true;
    return false;
}

/* The first object from an index on with which a chain may begin: one that is dumped nowhere else, where an element begins. */
static unsigned first_lost(const struct draw *d, unsigned from, unsigned width)
{
    while (from < d->lost_count && (d->lost[from].is_again || (d->lost[from].at - d->head) % width))
        from++;
    return from;
}

struct found {
    size_t count; /* of jumps */
    struct jump first, second;
    bool none_lost;                   /* the check says that there are no others */
    size_t unsought;                  /* jumps of a check that does not seek them, */
    bool none_unsought, none_in_pipe; /* and what that says, or one that cannot */
    struct hprof_summary without;     /* of a check alone */
};

static int keep(void *context, const struct hprof_summary *s)
{
    *(struct hprof_summary *)context = *s;
    return 0;
}

static struct jumps seek(const struct draw *d, bool as_pipe, unsigned wanted, struct memory *memory)
{
    struct hprof_options options;
    struct jumps jumps;

    hprof_options_init(&options);
    jumps_init(&jumps, memory);
    (void)validate_with_jumps(source_of_memory(d->b.at, d->b.size, as_pipe), &options, &jumps, wanted);
    return jumps;
}

static struct found check(const struct draw *d)
{
    struct found f = {.count = 0};
    struct hprof_options options;
    struct jumps jumps;
    struct memory memory;

    hprof_options_init(&options);
    options.on_summary = keep;
    options.context = &f.without;
    (void)hprof_validate_memory(d->b.at, d->b.size, false, &options, NULL);
    memory_init(&memory, NULL, 0);
    jumps = seek(d, true, WANT_LOST, &memory);
    f.none_in_pipe = jumps.none_lost;
    jumps_clear(&jumps);
    jumps = seek(d, false, WANT_REFERENCES, &memory);
    f.none_unsought = jumps.none_lost;
    f.unsought = jumps.list.count;
    jumps_clear(&jumps);
    jumps = seek(d, false, WANT_REFERENCES | WANT_LOST, &memory);
    f.none_lost = jumps.none_lost;
    f.count = jumps.list.count;
    f.first = jumps_at(&jumps, 0);
    f.second = jumps_at(&jumps, 1);
    jumps_clear(&jumps);
    return f;
}

static void assert_jump(struct jump jump, size_t from, size_t to, bool failed, size_t heap_end)
{
    assert_int_equal(jump.from, from);
    assert_int_equal(jump.to, to);
    assert_int_equal(jump.failed, failed);
    assert_int_equal(jump.heap_end, heap_end);
}

static size_t end_of_record(const struct draw *d)
{
    return d->b.size - RECORD_HEADER_SIZE;
}

/* Another sub-record begins where they end, so that lengths lead on. */
static void what_a_sub_record_takes_is_found(void **state)
{
    unsigned found[CONTAINERS] = {0}, all[CONTAINERS] = {0};

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        static const unsigned most[CONTAINERS] = {MOST, MOST, 9, 0, 9}; /* of a long instance reading fails */
        const enum container kind = below(CONTAINERS);
        struct found f;
        struct draw d;
        unsigned first;
        bool is_found, is_mended;

        begin_heap(&d);
        put_read(&d, below(MOST));
        open_container(&d, kind);
        if (kind == OBJECT_ARRAY)
            put(&d.b, 8, 0);
        else
            put_junk(&d.b, below(20) * !(kind == WAITING_INSTANCE && heads()));
        put_lost(&d, kind == OBJECT_ARRAY ? 4 + 4 * below(2) : 1 + below(most[kind])); /* whole elements */
        close_container(&d, kind);
        put_read(&d, 4 + below(MOST));
        if (kind == WAITING_INSTANCE)
            put_class_dump(&d.b, FIRST_CLASS + CLASSES, FIRST_CLASS, 0);
        d.nowhere = heads() ? 0 : below(2 * MOST);
        end_heap(&d);
        first = first_lost(&d, 0, d.width);
        is_found = first < d.lost_count && are_lost(&d, first, d.lost_count, kind);
        f = check(&d);
        assert_int_equal(f.count, is_found);
        assert_int_equal(f.without.found_lost, is_found && check_seeks(&d, kind));
        assert_int_equal(f.none_lost, !is_found);
        assert_int_equal(f.unsought, 0);
        assert_false(f.none_unsought || (is_found && f.none_in_pipe));
        is_mended =
            kind == ARRAY || kind == OBJECT_ARRAY || (is_found && kind == WAITING_INSTANCE && d.lost[first].at == d.head);
        if (is_found)
            assert_jump(f.first, d.container, d.lost[first].at, !is_mended, is_mended ? 0 : end_of_record(&d));
        found[kind] += is_found;
        all[kind]++;
        free(d.b.at);
    }
    for (unsigned i = 0; i < CONTAINERS; i++)
        assert_in_range(found[i], 1, all[i] - 1);
}

/* The index of the first chain between two that has some bits up to the second; or that one. */
static unsigned chain_between(const struct draw *d, unsigned from, unsigned until, unsigned wanted)
{
    for (; (from = first_lost(d, from, d->width)) < until; from++) {
        unsigned bits = 0;

        for (unsigned i = from; i < until; i++)
            bits += d->lost[i].bits;
        if (bits >= wanted)
            break;
    }
    return from;
}

/* Within what an array takes there is other damage. What precedes that is found if it is a chain, and what follows it. */
static void damage_in_what_an_array_takes_costs_itself(void **state)
{
    unsigned both = 0, alone = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        const bool goes_on = below(4);
        struct found f;
        struct draw d;
        unsigned before, first;
        size_t damage, end;

        begin_heap(&d);
        open_container(&d, ARRAY);
        put_junk(&d.b, below(20));
        put_lost(&d, 1 + below(8));
        before = d.lost_count;
        damage = d.b.size;
        put_junk(&d.b, 1 + below(20));
        if (goes_on)
            put_lost(&d, 1 + below(MOST));
        end = d.b.size;
        close_container(&d, ARRAY);
        damage += d.b.size - end;
        end = d.b.size;
        for (unsigned n = 0; n < d.lost_count; n++)
            d.lost[n].is_named = true;
        put_read(&d, 4 + below(MOST));
        end_heap(&d);
        first = chain_between(&d, 0, before, CHAIN);
        f = check(&d);
        if (first < before) {
            assert_int_equal(f.count, 2);
            assert_jump(f.first, d.container, d.lost[first].at, false, 0);
            assert_jump(f.second, damage, goes_on ? d.lost[before].at : end, true, end_of_record(&d));
            both++;
        } else {
            assert_int_equal(f.count, first < d.lost_count);
            if (f.count)
                assert_jump(f.first, d.container, d.lost[first].at, false, 0);
            alone += f.count > 0;
        }
        free(d.b.at);
    }
    assert_in_range(both, DRAWS / 10, DRAWS - DRAWS / 10);
    assert_in_range(alone, DRAWS / 20, DRAWS - DRAWS / 10);
}

/* Whether a check by some threads, which read so many bytes at once, finds lost objects. */
static bool is_found_by(const struct draw *d, unsigned threads, uint32_t piece)
{
    struct hprof_testing testing = {.threads_from = 1, .job = 64, .job_read = piece, .block = 1000 + below(1000)};
    struct hprof_summary summary = {.found_lost = false};
    struct hprof_options options;

    hprof_options_init(&options);
    options.on_summary = keep;
    options.context = &summary;
    options.threads = threads;
    options.testing = &testing;
    (void)hprof_validate_memory(d->b.at, d->b.size, false, &options, NULL);
    return summary.found_lost;
}

/* Bytes are read in pieces, from the first sub-record on, and looked at in blocks: a lost object may begin anywhere. */
static void a_check_finds_what_crosses_a_border(void **state)
{
    enum { PIECE = 1 << 16, AROUND = 24 };

    (void)state;
    for (unsigned i = 0; i < 2 * AROUND; i++) {
        struct found f;
        struct draw d;
        size_t at;

        do {
            begin_heap(&d);
            at = d.record + PIECE * (1 + below(3)) - AROUND + i;
            open_container(&d, ARRAY);
        } while (d.width != 1 && (free(d.b.at), true));
        while (d.b.size < at)
            put(&d.b, 1, 0);
        put_lost(&d, 1);
        close_container(&d, ARRAY);
        d.lost[0].is_named = true;
        put_read(&d, 4);
        end_heap(&d);
        f = check(&d);
        assert_int_equal(d.lost[0].at, at);
        assert_true(f.without.found_lost && is_found_by(&d, 3, PIECE) && is_found_by(&d, 2, 1 + below(PIECE)) &&
                    is_found_by(&d, 1, PIECE));
        free(d.b.at);
    }
}

/* All bytes of what an array takes are searched, however many precede the first object; not those after the header of a dump. */
static void a_header_ends_the_search(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        const bool has_header = heads();
        struct found f;
        struct draw d;
        size_t zeros = heads() ? MIB / 2 - 60 + below(60) : below(5 * MIB / 4);

        begin_heap(&d);
        open_container(&d, ARRAY);
        for (size_t at = has_header ? below((uint32_t)zeros + 1) : SIZE_MAX, n = 0; n <= zeros; n++)
            if (n == at)
                put_header(&d.b);
            else
                put(&d.b, 1, 0);
        put_lost(&d, 1);
        close_container(&d, ARRAY);
        d.lost[0].is_named = true;
        put_read(&d, 4);
        end_heap(&d);
        f = check(&d);
        if ((d.lost[0].at - d.head) % d.width == 0)
            assert_int_equal(f.count, !has_header);
        if (f.count)
            assert_jump(f.first, d.container, d.lost[0].at, false, 0);
        free(d.b.at);
    }
}

/* By chance sub-records begin where the array ends, within another one that it took in part. The chain leads past that. One array
 * alone says too little for that. */
static void a_chain_leads_past_the_end_of_the_array(void **state)
{
    unsigned alone = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        struct found f;
        struct draw d;
        size_t array, end;
        unsigned first, own;

        begin_heap(&d);
        open_container(&d, ARRAY);
        put_junk(&d.b, below(20));
        put_lost(&d, below(6));
        own = d.lost_count;
        array = d.b.size;
        d.lost[d.lost_count++] = (struct object){.at = array, .id = id_of(d.next)};
        put_primitive_array(&d.b, id_of(d.next++), LONG, 0);
        put_junk(&d.b, 1 + below(20));
        end = d.b.size;
        close_container(&d, ARRAY);
        array += d.b.size - end;
        for (unsigned n = 0; n < d.lost_count; n++)
            d.lost[n].is_named = true;
        put_read(&d, 1 + below(3)); /* elements, in truth */
        while ((d.b.size - array - 18) % 8) {
            put(&d.b, 1, SUB_ROOT_STICKY_CLASS);
            put(&d.b, 8, id_of_class());
        }
        put_at(d.b.at + array + 13, 4, (d.b.size - array - 18) / 8);
        put_read(&d, 4 + below(4));
        end_heap(&d);
        first = first_lost(&d, 0, d.width);
        f = check(&d);
        assert_int_equal(f.count, first < own);
        if (f.count)
            assert_jump(f.first, d.container, d.lost[first].at, false, 0);
        alone += first == own;
        free(d.b.at);
    }
    assert_in_range(alone, DRAWS / 20, DRAWS / 2);
}

/* After a failure, recovery takes a chain that records follow for the dump in an array, and passes it over. */
static void what_recovery_passed_over_is_found(void **state)
{
    enum { RECORDS = 3 };
    unsigned found = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        struct found f;
        struct draw d;
        size_t failed_at, end, way;
        unsigned first;
        bool is_found;

        begin_heap(&d);
        put_read(&d, 1 + below(MOST));
        failed_at = d.b.size;
        put_junk(&d.b, 1 + below(20));
        put_lost(&d, 1 + below(MOST));
        end = d.b.size;
        for (unsigned n = 0; n < RECORDS; n++) {
            size_t record = open_record(&d.b, TAG_END_THREAD);

            put(&d.b, 4, 0xeeeeeeee);
            close_record(&d.b, record);
        }
        put_junk(&d.b, 1 + below(20));
        way = d.b.size;
        put_read(&d, 12);
        d.nowhere = heads() ? 0 : below(2 * MOST);
        end_heap(&d);
        d.width = 1;
        f = check(&d);
        assert_false(f.without.found_lost);
        first = chain_between(&d, 0, d.lost_count, BEFORE_RECORDS);
        is_found = first < d.lost_count && are_lost(&d, first, d.lost_count, ARRAY);
        assert_int_equal(f.count, is_found ? 2 : 1);
        assert_jump(f.first, failed_at, is_found ? d.lost[first].at : way, true, end_of_record(&d));
        if (is_found)
            assert_jump(f.second, end, way, true, end_of_record(&d));
        found += is_found;
        free(d.b.at);
    }
    assert_in_range(found, DRAWS / 10, DRAWS - DRAWS / 10);
}

static int begin(void **state)
{
    (void)state;
    shake_dice();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_sub_record_takes_is_found),        cmocka_unit_test(damage_in_what_an_array_takes_costs_itself),
        cmocka_unit_test(a_check_finds_what_crosses_a_border),     cmocka_unit_test(a_header_ends_the_search),
        cmocka_unit_test(a_chain_leads_past_the_end_of_the_array), cmocka_unit_test(what_recovery_passed_over_is_found),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
