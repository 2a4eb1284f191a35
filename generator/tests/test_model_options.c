/* model.h: a made-up heap has the means and as many classes and references as were asked for, or as it is fitted to have; what no
 * heap can have is refused. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "heap/model.h"
#include "made_model.h"

/* ---- What was asked for ------------------------------------------------------------------------------------------ */

struct sums {
    uint64_t instances, references, nulls, body;
    uint64_t object_arrays, elements, element_nulls;
    uint64_t arrays[12], values[12]; /* primitive, by type */
    uint64_t texts, text;            /* values of Strings */
};

static struct sums sums_of(const struct model *m)
{
    uint32_t *references = reference_fields(m);
    struct sums sums = {0};
    struct object o;

    for (uint64_t i = 0; i < m->options.objects; i++) {
        uint64_t slots, nulls = 0;

        model_object(m, i, &o);
        slots = slots_of(references, &o);
        for (uint64_t s = 0; s < slots; s++)
            nulls += model_reference(m, i, &o, s) == MODEL_NULL;
        switch (o.kind) {
        case OBJECT_INSTANCE:
            sums.instances++;
            sums.body += m->classes[o.class].instance_bytes;
            sums.references += slots;
            sums.nulls += nulls;
            if (o.class == CORE_STRING && nulls == 0) {
                model_object(m, model_reference(m, i, &o, 0), &o);
                sums.texts++;
                sums.text += o.elements;
            }
            break;
        case OBJECT_OBJECT_ARRAY:
            sums.object_arrays++;
            sums.elements += slots;
            sums.element_nulls += nulls;
            break;
        case OBJECT_PRIMITIVE_ARRAY:
            sums.arrays[o.type]++;
            sums.values[o.type] += o.elements;
            break;
        }
    }
    free(references);
    return sums;
}

static struct sums sums_with(const char *shape, const struct model_options *options)
{
    struct model *m = made(shape_of(shape), options);
    struct sums sums = sums_of(m);

    model_free(m);
    return sums;
}

/* a / b is `wanted` thousandths, to within `hundredths` per cent of it (and the name of the thread group). */
static void near(const char *what, uint64_t a, uint64_t b, uint64_t wanted, uint64_t hundredths)
{
    uint64_t got = b ? a * MODEL_UNIT / b : 0, off = got > wanted ? got - wanted : wanted - got;

    if (off > 2 && off * 100 > wanted * hundredths)
        fail_msg("%s: %" PRIu64 " thousandths, not %" PRIu64, what, got, wanted);
}

static void mixed_is_as_fitted(void **state)
{
    struct model *m = made_with("mixed", 1000000);
    struct sums s = sums_of(m);
    uint64_t primitive = 0, fields = 0;

    (void)state;
    for (size_t t = 0; t < sizeof s.arrays / sizeof *s.arrays; t++)
        primitive += s.arrays[t];
    near("instances", s.instances * 1000, 1000000, 959848, 1);
    near("object arrays", s.object_arrays * 1000, 1000000, 14589, 3);
    near("primitive arrays", primitive * 1000, 1000000, 25563, 3);
    near("bytes of a body", s.body, s.instances, 32130, 1);
    near("references of an instance", s.references, s.instances, 3495, 1);
    near("nulls", s.nulls * 1000, s.references, 330080, 1);
    near("elements", s.elements, s.object_arrays, 16004, 4);
    near("elements that are not null", (s.elements - s.element_nulls) * 1000, s.elements, 268220, 4);
    near("chars", s.values[TYPE_CHAR], s.arrays[TYPE_CHAR], 15818146, 3);
    near("char arrays", s.arrays[TYPE_CHAR], 1000, 654, 4);
    near("bytes", s.values[TYPE_BYTE], s.arrays[TYPE_BYTE], 60720, 4);
    near("byte arrays", s.arrays[TYPE_BYTE], 1000, 21355, 2);
    near("ints", s.values[TYPE_INT], s.arrays[TYPE_INT], 125913, 4);
    near("longs", s.values[TYPE_LONG], s.arrays[TYPE_LONG], 8012, 2);
    for (uint32_t c = 0; c < m->class_count; c++)
        fields += m->classes[c].fields;
    assert_int_equal(m->class_count, 2464);
    near("fields of a class", fields, m->class_count, 1817, 4);
    near("strings for a class", m->string_count, m->class_count, 25823, 2);
    model_free(m);
}

static void means_hold(void **state)
{
    static const uint64_t lengths[] = {0, 500, 3000, 20000, 250000};
    static const uint64_t branches[] = {1000, 1500, 2000, 7300};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct model_options options = unset(100000);
        struct sums s;

        options.threads = 0; /* their names are Strings too */
        options.string_length = lengths[i];
        s = sums_with("strings", &options);
        near("strings", s.text, s.texts, lengths[i], 3);
        s = sums_with("mixed", &options);
        near("strings in mixed", s.text, s.texts, lengths[i], 5);

        options = unset(100000);
        options.array_length = lengths[i];
        s = sums_with("arrays", &options);
        near("elements", s.elements, s.object_arrays, lengths[i], 4);
        near("ints", s.values[TYPE_INT], s.arrays[TYPE_INT], lengths[i], 4);
    }
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        struct model_options options = unset(100000);
        struct sums s;

        options.references = branches[i];
        s = sums_with("graph", &options);
        near("neighbours", s.elements, s.object_arrays, branches[i], 3);
        /* In a tree each node but one is a child: the mean is that of the nodes that have any to choose from. */
        s = sums_with("tree", &options);
        near("children", s.elements, s.object_arrays, MODEL_UNIT, 1);
    }
}

static void as_many_classes_as_wanted(void **state)
{
    static const uint64_t counts[] = {200, 1000, 50000};

    (void)state;
    for (size_t t = 0; shapes[t]; t++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            struct model_options options = unset(1000);
            struct model *m;

            options.classes = counts[i];
            m = made(shapes[t], &options);
            assert_int_equal(m->class_count, counts[i]);
            model_free(m);
        }
}

/* Those that --classes adds to the ones a shape needs have about as many instances as these. */
static void each_class_has_its_share(void **state)
{
    static const char *const takers[] = {"list", "tree", "graph", "arrays", "strings", "threads"};
    enum { CLASSES = 100, OBJECTS = 200000 };

    (void)state;
    for (size_t t = 0; t < sizeof takers / sizeof *takers; t++) {
        struct model_options options = unset(OBJECTS);
        uint64_t instances[CLASSES] = {0}, least = OBJECTS, most = 0;
        struct model *m;
        uint32_t kinds = 0;

        options.classes = CLASSES;
        m = made(shape_of(takers[t]), &options);
        for (uint64_t i = 0; i < OBJECTS; i++) {
            struct object o;

            model_object(m, i, &o);
            instances[o.class] += o.kind == OBJECT_INSTANCE;
        }
        for (uint32_t c = CORE_CLASSES; c < CLASSES; c++)
            if (!m->classes[c].element) {
                kinds++;
                least = instances[c] < least ? instances[c] : least;
                most = instances[c] > most ? instances[c] : most;
            }
        assert_true(kinds >= CLASSES - CORE_CLASSES - 1);
        if (most - least > 3 + most / 20)
            fail_msg("%s: a class has %" PRIu64 " instances, another one %" PRIu64, takers[t], least, most);
        model_free(m);
    }
}

/* The first nodes of a tree, to which all children belong: each node but one is a child, so that no others are left. */
static uint64_t parents_of(const struct model *m, uint64_t children)
{
    uint64_t parents = 0;

    for (uint64_t i = 0; i < m->options.objects && children > 0; i++) {
        struct object o;

        model_object(m, i, &o);
        if (o.kind == OBJECT_OBJECT_ARRAY) {
            parents++;
            children -= o.elements;
        }
    }
    return parents;
}

static void references_are_as_many_as_wanted(void **state)
{
    static const struct {
        const char *shape;
        uint64_t objects, array_length;
        enum { AN_OBJECT, AN_ARRAY, AN_ARRAY_HOLDS, A_PARENT } of;
        uint64_t means[6]; /* thousandths */
    } cases[] = {
        {"mixed", 100000, 0, AN_OBJECT, {500, 1000, 2300, 3600, 12000, 100000}},
        {"mixed", 100000, 40000, AN_OBJECT, {1000, 2500, 8000}},
        {"list", 20000, 0, AN_OBJECT, {1000, 1001, 1500, 3000, 7750, 200000}},
        {"threads", 100000, 0, AN_OBJECT, {1000, 1600, 2000, 3400, 9999, 64000}},
        {"deep", 20000, 0, AN_OBJECT, {1000, 1030, 1500, 4000, 33300, 300000}},
        {"wide", 20000, 0, AN_OBJECT, {1000, 1250, 8000, 90000, 700000}},
        {"arrays", 20000, 200000, AN_ARRAY_HOLDS, {4200, 10000, 33333, 100000, 200000}},
        {"arrays", 40000, 9500, AN_ARRAY_HOLDS, {4000, 7000, 9500}},
        {"graph", 50000, 0, AN_ARRAY, {1000, 1250, 4000, 30000}},
        {"tree", 100000, 0, A_PARENT, {1000, 1500, 3000, 20000, 100000}},
    };

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t i = 0; i < sizeof cases->means / sizeof *cases->means && cases[c].means[i]; i++) {
            struct model_options options = unset(cases[c].objects);
            uint64_t wanted = cases[c].means[i];
            struct model *m;
            struct sums s;

            options.threads = 4;
            options.references = wanted;
            if (cases[c].array_length)
                options.array_length = cases[c].array_length;
            m = made(shape_of(cases[c].shape), &options);
            s = sums_of(m);
            switch (cases[c].of) {
            case AN_OBJECT:
                near(cases[c].shape, s.references + s.elements, cases[c].objects, wanted, 5);
                break;
            case AN_ARRAY:
                near(cases[c].shape, s.elements, s.object_arrays, wanted, 5);
                break;
            case AN_ARRAY_HOLDS:
                near(cases[c].shape, s.elements - s.element_nulls, s.object_arrays, wanted, 5);
                break;
            case A_PARENT:
                near(cases[c].shape, s.elements, parents_of(m, s.elements), wanted, 5);
                break;
            }
            model_free(m);
        }
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static void refused(const char *shape, const struct model_options *options, const char *says)
{
    const char *failure = NULL;
    struct model *m = model_new(shape_of(shape), options, &failure);

    assert_null(m);
    assert_non_null(failure);
    assert_non_null(strstr(failure, says));
}

static void nonsense_is_refused(void **state)
{
    struct model_options options = unset(1000);

    (void)state;
    options.classes = 10;
    refused("mixed", &options, "--classes");
    refused("wide", &options, "--classes");
    refused("deep", &options, "--classes");
    for (size_t i = 0; shapes[i]; i++)
        refused(shapes[i]->name, &options, "--classes");
    options.classes = 20000000;
    refused("mixed", &options, "--classes");
    options = unset(1000);
    options.references = 999;
    refused("tree", &options, "--references");
    refused("graph", &options, "--references");
    refused("list", &options, "--references");
    refused("threads", &options, "--references");
    refused("deep", &options, "--references");
    refused("wide", &options, "--references");
    refused("arrays", &options, "--references");
    refused("strings", &options, "--references");
    options.references = 499;
    refused("mixed", &options, "--references");
    options.references = 1000;
    options.array_length = 5000 * (uint64_t)MODEL_UNIT;
    refused("mixed", &options, "--references"); /* elements alone are more */
    options = unset(1000);
    options.references = 20001;
    options.array_length = 20000;
    refused("arrays", &options, "--references");
    options.references = 65536 * (uint64_t)MODEL_UNIT;
    refused("wide", &options, "--array-length");
    options.array_length = MODEL_UNSET;
    refused("wide", &options, "--references");
    options = unset(1000);
    options.references = 1500;
    options.classes = CORE_CLASSES + 1;
    refused("deep", &options, "--references");
    refused("list", &options, "--classes");
    options = unset(1000);
    options.array_length = 200000000 * (uint64_t)MODEL_UNIT;
    refused("arrays", &options, "--array-length");
    refused("mixed", &options, "--array-length");
    refused("deep", &options, "--array-length");
    options = unset(1000);
    options.string_length = 200000000 * (uint64_t)MODEL_UNIT;
    refused("strings", &options, "--string-length");
    refused("mixed", &options, "--string-length");
    refused("tree", &options, "--string-length");
    options = unset(1000000000001);
    refused("list", &options, "--objects");
    options = unset(1000);
    options.threads = 1000001;
    refused("threads", &options, "--threads");
    options.threads = 1000;
    options.stack_depth = 1000001;
    refused("threads", &options, "--stack-depth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_is_as_fitted),
        cmocka_unit_test(means_hold),
        cmocka_unit_test(as_many_classes_as_wanted),
        cmocka_unit_test(each_class_has_its_share),
        cmocka_unit_test(references_are_as_many_as_wanted),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
