/* The archive's list of roots (RULES.md M.2): small heap dumps with arrays that may be the list. The test knows all references, and
 * applies the rules of the text to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dice.h"
#include "dump.h"
#include "hprof/hprof.h"

enum { DRAWS = 3000, HEAPS = 2, ARRAYS = 3, MISSING = 4, IDS = ARRAYS + MISSING, ELEMENTS_MOST = 5 };
/* Classes: of the elements, of their holder, and of arrays. Only the last one is certain to be another than Object[]. */
enum {
    THING = 0x1000,
    HOLDER = 0x1100,
    FIRST_ARRAY = 0x1200,
    OBJECTS = 0,
    LOST_NAME,
    STAND_IN,
    NOT_LOADED,
    THINGS,
    ARRAY_CLASSES
};
enum { GLOBAL = 0x01, STICKY = 0x05, UNKNOWN = 0xff };

/* Who names the IDs of a heap dump: first those of arrays, then those of objects that are not dumped. */
struct graph {
    unsigned count; /* of arrays */
    uint64_t ids[IDS];
    unsigned classes[ARRAYS];
    bool by_array[IDS][ARRAYS], by_field[IDS], is_sticky[IDS];
    unsigned globals[IDS], other_roots[IDS];
};

struct found {
    bool dangles, is_note, as_root, by_others;
};

struct report {
    const struct graph *heaps;
    struct found found[HEAPS][IDS];
};

static int note_finding(void *context, const struct hprof_finding *f)
{
    struct report *r = context;
    const char *rule = hprof_rule_at(f->rule)->id;
    bool dangles = !strcmp(rule, "REF-002"), as_root = !strcmp(rule, "REF-001");

    for (unsigned i = 0; i < HEAPS * IDS; i++) {
        struct found *one = &r->found[i / IDS][i % IDS];

        if (!(dangles || as_root) || strtoull(f->found, NULL, 16) != r->heaps[i / IDS].ids[i % IDS])
            continue;
        one->dangles |= dangles;
        one->is_note |= dangles && f->severity == HPROF_NOTE;
        one->as_root |= as_root;
        one->by_others |= as_root && strstr(f->found, "others refer to it");
    }
    return 0;
}

static struct hprof_summary check(const struct bytes *b, const char *profile, bool as_pipe, struct report *r)
{
    struct hprof_options options;
    struct hprof_summary summary;

    hprof_options_init(&options);
    hprof_summary_init(&summary);
    options.profile = hprof_profile_find(profile);
    options.max_errors = 0;
    options.on_finding = r ? note_finding : NULL;
    options.context = r;
    (void)hprof_validate_memory(b->at, b->size, as_pipe, &options, &summary);
    return summary;
}

/* ---- The dump ---- */

static void put_definitions(struct bytes *b)
{
    static const char *const names[] = {
        [OBJECTS] = "[Ljava/lang/Object;", [STAND_IN] = "unknown/Class_0x1202", [THINGS] = "[LThing;"};

    put_header(b);
    put_string(b, 0x100, "Thing");
    put_class(b, 1, THING, 0x100);
    put_class(b, 2, HOLDER, 0x100);
    for (unsigned i = 0; i < ARRAY_CLASSES; i++) {
        if (i != LOST_NAME && i != NOT_LOADED)
            put_string(b, 0x200 + i, names[i]);
        if (i != NOT_LOADED)
            put_class(b, 3 + i, FIRST_ARRAY + i, 0x200 + i);
    }
}

static void put_class_dumps(struct bytes *b)
{
    put_class_dump(b, THING, 0, 0);
    for (unsigned i = 0; i < ARRAY_CLASSES; i++)
        put_class_dump(b, FIRST_ARRAY + i, 0, 0);
    put_class_dump(b, HOLDER, 0, 8);
    put_at(b->at + b->size - 2, 2, 1);
    put(b, 8, 0x100);
    put(b, 1, 2);
}

/* Any of the arrays, or of the objects that are not dumped. */
static unsigned any_id(const struct graph *g)
{
    unsigned one = below(g->count + MISSING);

    return one < g->count ? one : ARRAYS + one - g->count;
}

static void put_root(struct bytes *b, struct graph *g, unsigned one, unsigned tag)
{
    put(b, 1, tag);
    put(b, 8, g->ids[one]);
    if (tag == GLOBAL)
        put(b, 8, 0x77);
    g->is_sticky[one] |= tag == STICKY;
    g->globals[one] += tag == GLOBAL;
    g->other_roots[one] += tag == UNKNOWN;
}

/* Mostly one for each array, and few others. */
static void put_roots(struct bytes *b, struct graph *g, bool is_rooted)
{
    for (unsigned i = 0; i < g->count && is_rooted; i++)
        if (below(4))
            put_root(b, g, i, GLOBAL);
    for (unsigned i = below(3); i > 1; i--) {
        unsigned one = any_id(g);

        put_root(b, g, one, heads() ? GLOBAL : one < ARRAYS || heads() ? UNKNOWN : STICKY);
    }
}

static void put_arrays(struct bytes *b, struct graph *g, bool have_own)
{
    for (unsigned i = 0; i < g->count; i++) {
        unsigned n = below(ELEMENTS_MOST);

        put_object_array(b, g->ids[i], FIRST_ARRAY + g->classes[i], n);
        while (n--) {
            unsigned one = !below(6) ? any_id(g) : have_own ? (below(4) ? ARRAYS + i : i) : ARRAYS + below(MISSING);
            bool is_null = !below(8);

            put(b, 8, is_null ? 0 : g->ids[one]);
            g->by_array[one][i] |= !is_null;
        }
    }
}

static void put_holders(struct bytes *b, struct graph *g, uint64_t id)
{
    for (unsigned i = below(3); i > 1; i--) {
        unsigned one = any_id(g);

        put_instance(b, id + i, HOLDER, 8);
        put(b, 8, g->ids[one]);
        g->by_field[one] = true;
    }
}

/* Arrays have the same IDs in all heap dumps. */
static void put_heap(struct bytes *b, struct graph *g, unsigned number)
{
    bool is_rooted = below(3), roots_come_last = heads();
    size_t record = open_record(b, 0x1c);

    *g = (struct graph){.count = 1 + below(ARRAYS)};
    for (unsigned i = 0; i < IDS; i++)
        g->ids[i] = i < ARRAYS ? 0x2000 + 0x100 * i : 0x8000 + 0x1000 * number + 0x10 * i;
    for (unsigned i = 0; i < ARRAYS; i++)
        g->classes[i] = heads() ? OBJECTS : below(ARRAY_CLASSES);
    put_class_dumps(b);
    if (!roots_come_last)
        put_roots(b, g, is_rooted);
    put_arrays(b, g, below(3));
    put_holders(b, g, 0x4000);
    if (roots_come_last)
        put_roots(b, g, is_rooted);
    close_record(b, record);
    close_record(b, open_record(b, 0x2c));
}

/* ---- The rules ---- */

static bool is_rooted(const struct graph *g, unsigned one)
{
    return g->globals[one] || g->other_roots[one];
}

/* Whether an array other than this one names the ID. */
static bool others_name(const struct graph *g, unsigned one, unsigned array)
{
    bool is_named = g->by_field[one];

    for (unsigned i = 0; i < g->count; i++)
        is_named |= i != array && g->by_array[one][i];
    return is_named;
}

static bool fits(const struct graph *g, unsigned array, bool with_root)
{
    bool has_missing = false;

    for (unsigned i = ARRAYS; i < IDS; i++)
        has_missing |= g->by_array[i][array];
    return has_missing && g->classes[array] != THINGS && !others_name(g, array, array) && g->globals[array] == with_root &&
           !g->other_roots[array];
}

/* The list; ARRAYS if there is none. */
static unsigned find_list(const struct graph *g, bool with_root)
{
    unsigned list = ARRAYS, fitting = 0;

    for (unsigned i = 0; i < g->count; i++)
        if (fits(g, i, with_root)) {
            list = i;
            fitting++;
        }
    for (unsigned i = ARRAYS; i < IDS && fitting == 1; i++)
        if (g->by_array[i][list] && (others_name(g, i, list) || is_rooted(g, i)))
            return ARRAYS;
    return fitting == 1 ? list : ARRAYS;
}

static void expect(const struct graph *g, const struct found found[IDS], bool with_root)
{
    unsigned list = find_list(g, with_root), rooted_list = find_list(g, true);

    for (unsigned i = ARRAYS; i < IDS; i++) {
        bool is_named = others_name(g, i, ARRAYS), is_root = is_rooted(g, i) || g->is_sticky[i];

        assert_int_equal(found[i].dangles, is_named && !is_root);
        assert_int_equal(found[i].is_note, found[i].dangles && list < ARRAYS && g->by_array[i][list]);
        assert_int_equal(found[i].as_root, is_root);
        assert_int_equal(found[i].by_others, is_root && is_named && !(rooted_list < ARRAYS && g->by_array[i][rooted_list]));
    }
}

static void what_the_list_alone_names_is_excused(void **state)
{
    unsigned lists[2] = {0};

    (void)state;
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        struct graph heaps[HEAPS];
        struct bytes b = {0};

        put_definitions(&b);
        for (unsigned i = 0; i < HEAPS; i++)
            put_heap(&b, &heaps[i], i);
        for (unsigned run = 0; run < 4; run++) {
            struct report r = {.heaps = heaps};
            bool with_root = run & 1, as_pipe = run & 2;

            check(&b, with_root ? "hotspot" : "sa", as_pipe, &r);
            for (unsigned i = 0; i < HEAPS; i++) {
                expect(&heaps[i], r.found[i], with_root);
                lists[with_root] += find_list(&heaps[i], with_root) < ARRAYS;
            }
        }
        free(b.at);
    }
    assert_true(lists[0] > DRAWS / 4 && lists[1] > DRAWS / 4);
}

/* A class lacks its only field, and takes a part of the next object in its place: recovery leaves the class out. What another
 * object names is no list; what the class that was left out names, as its loader, may be one, whatever else names it. */
static void what_is_left_out_does_not_name_the_list(void **state)
{
    enum { LIST = 0x2000, LOADER_AT = 21 };

    (void)state;
    for (unsigned run = 0; run < 8; run++) {
        struct bytes b = {0};
        size_t record, class;
        bool is_named = run & 1, as_loader = run & 2, as_pipe = run & 4;

        put_definitions(&b);
        record = open_record(&b, 0x1c);
        put_class_dumps(&b);
        put_object_array(&b, LIST, FIRST_ARRAY, MISSING);
        for (unsigned i = 0; i < MISSING; i++)
            put(&b, 8, 0x8000 + 8 * i);
        put_instance(&b, 0x3000, HOLDER, 8);
        put(&b, 8, is_named ? LIST : 0);
        class = b.size;
        put_class_dump(&b, 0x4000, 0, 0);
        put_at(b.at + class + LOADER_AT, 8, as_loader ? LIST : 0);
        put_at(b.at + b.size - 2, 2, 1);
        for (unsigned i = 0; i < 60; i++)
            put_instance(&b, 0x20002 + 8 * i, THING, 0);
        close_record(&b, record);
        close_record(&b, open_record(&b, 0x2c));
        assert_int_equal(check(&b, "hotspot", as_pipe, NULL).missing_objects, is_named && !as_loader ? MISSING : 0);
        free(b.at);
    }
}

/* The array is lost, if another object names it; then it is no list, and what its whole pieces name is missing, too. */
static void the_dump_may_end_within_an_array(void **state)
{
    enum { MANY = 40000, PIECE = 64 << 10 /* bytes that are checked at once */ };

    (void)state;
    for (unsigned draw = 0; draw < 40; draw++) {
        struct bytes b = {0};
        uint64_t missing;
        size_t record, cut = 1 + below(8 * MANY);
        bool is_named = draw & 1;

        put_definitions(&b);
        record = open_record(&b, 0x1c);
        put_class_dumps(&b);
        put_instance(&b, 0x3000, HOLDER, 8);
        put(&b, 8, is_named ? 0x2000 : 0);
        put_object_array(&b, 0x2000, FIRST_ARRAY, MANY);
        for (unsigned i = 0; i < MANY; i++)
            put(&b, 8, 0x100000 + 8 * i);
        close_record(&b, record);
        b.size -= cut;
        missing = check(&b, "hotspot", false, NULL).missing_objects;
        assert_int_equal(missing, is_named ? 1 + (8 * MANY - cut) / PIECE * (PIECE / 8) : 0);
        assert_int_equal(check(&b, "hotspot", true, NULL).missing_objects, missing);
        free(b.at);
    }
}

/* More than a pipe keeps: half a million IDs, each far from the one before. */
static void a_pipe_cannot_decide_what_it_does_not_keep(void **state)
{
    enum { MANY = 1 << 19 };
    struct bytes b = {0};
    size_t record;

    (void)state;
    put_definitions(&b);
    record = open_record(&b, 0x1c);
    put_class_dumps(&b);
    put_root(&b, &(struct graph){.ids = {0x2000}}, 0, GLOBAL);
    put_object_array(&b, 0x2000, FIRST_ARRAY, MANY);
    for (uint64_t i = 1; i <= MANY; i++)
        put(&b, 8, i * 0x5bd1e9955bd1e990);
    close_record(&b, record);
    close_record(&b, open_record(&b, 0x2c));
    for (unsigned as_pipe = 0; as_pipe < 2; as_pipe++)
        assert_int_equal(check(&b, "hotspot", as_pipe, NULL).missing_undecided, as_pipe);
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_list_alone_names_is_excused),
        cmocka_unit_test(what_is_left_out_does_not_name_the_list),
        cmocka_unit_test(the_dump_may_end_within_an_array),
        cmocka_unit_test(a_pipe_cannot_decide_what_it_does_not_keep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
