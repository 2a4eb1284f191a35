/* model.h: whatever the shape, the seed and the number of objects, a made-up heap agrees with itself, and takes no more memory
 * for more objects. */
#define _GNU_SOURCE

#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "format/format.h"
#include "heap/model.h"
#include "made_model.h"

/* ---- It hangs together ------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *text_of(const struct model *m, uint32_t string)
{
    char text[MODEL_STRING_MOST];
    size_t size;

    assert_true(string < m->string_count);
    size = model_string(m, string, text);
    assert_true(size > 0 && size < sizeof text);
    return strndup(text, size);
}

static void check_class(const struct model *m, uint32_t c, char *const *names)
{
    const struct model_class *class = &m->classes[c];
    uint64_t bytes = 0;

    assert_true(class->super == MODEL_NONE ? c == CORE_OBJECT : class->super < c);
    for (uint32_t at = c; at != MODEL_NONE; at = m->classes[at].next_with_fields) {
        assert_true(at == c || m->classes[at].fields > 0);
        for (uint32_t f = 0; f < m->classes[at].fields; f++)
            bytes += type_size(m->fields[m->classes[at].first_field + f].type, m->options.id_size);
    }
    assert_int_equal(bytes, class->instance_bytes);
    assert_true(class->first_field + class->fields + class->statics <= m->field_count);
    assert_true((class->element != 0) == (names[c][0] == '['));
    if (class->element == TYPE_OBJECT) {
        size_t size = strlen(names[c]);
        bool there = false;

        assert_true(names[c][1] == 'L' && names[c][size - 1] == ';');
        for (uint32_t of = 0; of < m->class_count && !there; of++)
            there = strlen(names[of]) == size - 3 && memcmp(names[of], names[c] + 2, size - 3) == 0;
        assert_true(there);
    } else if (class->element)
        assert_int_equal(names[c][1], "ZCFDBSIJ"[class->element - TYPE_BOOLEAN]);
}

static void classes_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; shapes[i]; i++)
        for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
            struct model_options options = unset(1000);
            struct model *m;
            char **names;

            options.id_size = id_size;
            m = made(shapes[i], &options);
            names = calloc(m->class_count, sizeof *names);
            for (uint32_t c = 0; c < m->class_count; c++)
                names[c] = text_of(m, m->classes[c].name);
            for (uint32_t c = 0; c < m->class_count; c++)
                check_class(m, c, names);
            for (uint32_t f = 0; f < m->field_count; f++)
                assert_true(m->fields[f].name < m->string_count);
            qsort(names, m->class_count, sizeof *names, by_text);
            for (uint32_t c = 1; c < m->class_count; c++)
                assert_string_not_equal(names[c - 1], names[c]);
            for (uint32_t c = 0; c < m->class_count; c++)
                free(names[c]);
            free(names);
            model_free(m);
        }
}

static void fields_of_a_class_differ(void **state)
{
    struct model *m = made_with("mixed", 10);

    (void)state;
    for (uint32_t c = 0; c < m->class_count; c++) {
        const struct model_field *fields = &m->fields[m->classes[c].first_field];
        uint32_t count = (uint32_t)m->classes[c].fields + m->classes[c].statics;

        for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = a + 1; b < count; b++)
                assert_true(fields[a].name != fields[b].name);
    }
    model_free(m);
}

static bool in_heap(const struct model *m, uint64_t object)
{
    return object == MODEL_NULL || object < m->options.objects;
}

static void check_object(const struct model *m, const uint32_t *references, uint64_t i)
{
    enum { ROW = 2 * MODEL_IDS_STEP - 1 }; /* no multiple of a step */
    uint64_t row[2 * MODEL_IDS_STEP], slots;
    struct object o;

    model_object(m, i, &o);
    assert_true(o.class < m->class_count);
    assert_false(m->classes[o.class].interface);
    assert_int_equal(m->classes[o.class].element, o.kind == OBJECT_INSTANCE ? 0 : o.type);
    if (o.kind == OBJECT_PRIMITIVE_ARRAY)
        assert_true(o.elements * type_size(o.type, 8) <= m->longest_object);
    else if (o.kind == OBJECT_OBJECT_ARRAY)
        assert_true(o.elements * m->options.id_size <= m->longest_object);
    slots = slots_of(references, &o);
    for (uint64_t s = 0; s < slots && s < 2000; s += ROW) {
        uint64_t n = slots - s < ROW ? slots - s : ROW;

        model_reference_ids(m, i, &o, s, n, row);
        for (uint64_t r = 0; r < n; r++) {
            uint64_t object = model_reference(m, i, &o, s + r);

            assert_true(in_heap(m, object));
            assert_true(row[r] == model_object_id(m, object));
        }
    }
    if (o.kind == OBJECT_INSTANCE && o.class == CORE_STRING && model_reference(m, i, &o, 0) != MODEL_NULL) {
        model_object(m, model_reference(m, i, &o, 0), &o);
        assert_int_equal(o.kind, OBJECT_PRIMITIVE_ARRAY);
        assert_int_equal(o.type, TYPE_BYTE);
    }
}

static void check_roots(const struct model *m)
{
    for (uint64_t g = 0; g < model_global_count(m); g++)
        assert_true(model_global(m, g) < m->options.objects);
    for (uint64_t t = 0; t < m->options.threads && t < 50; t++) {
        assert_true(in_heap(m, model_thread_object(m, t)));
        assert_true(model_thread_name(m, t) < m->string_count);
        for (uint64_t d = 0; d < m->options.stack_depth; d++) {
            struct model_frame frame;

            model_frame(m, t, d, &frame);
            assert_true(frame.method < m->string_count && frame.signature < m->string_count);
            assert_true(frame.source < m->string_count && frame.class < m->class_count && frame.line >= -3);
            assert_true(in_heap(m, model_local(m, t, d)));
        }
    }
    for (uint32_t c = 0; c < m->class_count; c++) {
        assert_true(in_heap(m, model_class_loader(m, c)));
        assert_true(in_heap(m, model_static(m, c, 3)));
    }
}

static void nothing_dangles(void **state)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 10, 20, 33, 64, 100, 1000, 4095, 4123, 16384, 16500, 30000};

    (void)state;
    for (size_t i = 0; shapes[i]; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct model *m = made_with(shapes[i]->name, sizes[s]);
            uint32_t *references = reference_fields(m);

            assert_int_equal(m->options.objects, sizes[s]);
            for (unsigned more = 0; more < 2; more++) {
                model_resize(m, sizes[s] + more);
                for (uint64_t o = 0; o < sizes[s] + more; o += 1 + sizes[s] / 3000)
                    check_object(m, references, o);
                check_roots(m);
            }
            free(references);
            model_free(m);
        }
}

/* Whatever --classes and --references say, with and without fractions. */
static void nothing_dangles_with_options(void **state)
{
    static const uint64_t sizes[] = {1, 20, 1000, 17000};

    (void)state;
    for (size_t i = 0; shapes[i]; i++)
        for (unsigned with = 1; with < 4; with++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct model_options options = unset(sizes[s]);
                struct model *m;
                uint32_t *references;

                if (with & 1 && shapes[i]->takes & SHAPE_TAKES_REFERENCES)
                    options.references = 7250;
                if (with & 2)
                    options.classes = 333;
                m = made(shapes[i], &options);
                references = reference_fields(m);
                for (uint64_t o = 0; o < sizes[s]; o += 1 + sizes[s] / 3000)
                    check_object(m, references, o);
                check_roots(m);
                free(references);
                model_free(m);
            }
}

static void no_threads_no_frames(void **state)
{
    (void)state;
    for (size_t i = 0; shapes[i]; i++)
        for (unsigned without = 1; without < 4; without++) {
            struct model_options options = unset(2000);
            struct model *m;
            uint32_t *references;

            if (without & 1)
                options.threads = 0;
            if (without & 2)
                options.stack_depth = 0;
            options.id_size = 4;
            m = made(shapes[i], &options);
            references = reference_fields(m);
            for (uint64_t o = 0; o < 100; o++)
                check_object(m, references, o);
            check_roots(m);
            free(references);
            model_free(m);
        }
}

/* The far end of the largest heap. */
static void a_million_millions(void **state)
{
    (void)state;
    for (size_t i = 0; shapes[i]; i++) {
        struct model *m = made_with(shapes[i]->name, 1000000000000);
        uint32_t *references = reference_fields(m);

        for (uint64_t o = 0; o < 200; o++) {
            check_object(m, references, o * 4999999999);
            check_object(m, references, m->options.objects - 1 - o);
        }
        free(references);
        model_free(m);
    }
}

static void all_is_reachable(void **state)
{
    static const char *const whole[] = {"mixed", "list", "tree", "graph", "strings", "deep", "wide", "threads"};
    enum { OBJECTS = 40000 };

    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct model *m = made_with(whole[i], OBJECTS);
        uint32_t *references = reference_fields(m);
        uint8_t *seen = calloc(OBJECTS, 1);
        uint64_t *queue = calloc(OBJECTS, sizeof *queue), head = 0, tail = 0, least;

        for (uint64_t t = 0; t < m->options.threads; t++)
            seen[queue[tail++] = model_thread_object(m, t)] = 1;
        if (!seen[model_global(m, 0)])
            seen[queue[tail++] = model_global(m, 0)] = 1;
        for (; head < tail; head++) {
            struct object o;
            uint64_t slots;

            model_object(m, queue[head], &o);
            slots = slots_of(references, &o);
            for (uint64_t s = 0; s < slots && s < 5000; s++) {
                uint64_t to = model_reference(m, queue[head], &o, s);

                if (to != MODEL_NULL && !seen[to])
                    seen[queue[tail++] = to] = 1;
            }
        }
        least = strcmp(whole[i], "mixed") == 0 ? OBJECTS - OBJECTS / 1000 : OBJECTS;
        if (tail < least)
            fail_msg("%s: %" PRIu64 " of %d objects are reached", whole[i], tail, OBJECTS);
        free(queue);
        free(seen);
        free(references);
        model_free(m);
    }
}

static void elements_come_in_pieces(void **state)
{
    enum { SIZE = 200000 };
    uint8_t *whole = malloc(SIZE), *piece = malloc(SIZE);
    struct model_options options = unset(5000);
    struct model *m;

    (void)state;
    options.array_length = 20000 * (uint64_t)MODEL_UNIT;
    m = made(shape_of("arrays"), &options);
    for (uint64_t i = 0; i < m->options.objects; i += 3) {
        struct object o;
        uint64_t element, size;

        model_object(m, i, &o);
        if (o.kind != OBJECT_PRIMITIVE_ARRAY)
            continue;
        element = type_size(o.type, 8);
        size = o.elements * element < SIZE ? o.elements * element : SIZE;
        model_elements(m, i, &o, 0, whole, size);
        for (uint64_t at = 0, n; at < size; at += n) {
            n = (1 + (at * 7 + i) % 9001) * element;
            n = n < size - at ? n : size - at;
            model_elements(m, i, &o, at / element, piece + at, n);
        }
        assert_memory_equal(whole, piece, size);
        for (uint64_t at = 0; at < size; at++) {
            assert_true(o.type != TYPE_BOOLEAN || whole[at] <= 1);
            assert_true(o.type != TYPE_BYTE || (whole[at] >= ' ' && whole[at] <= '~'));
        }
    }
    model_free(m);
    free(whole);
    free(piece);
}

static void threads_have_their_names(void **state)
{
    struct model *m = made_with("threads", 10000);
    uint32_t *references = reference_fields(m);

    (void)state;
    for (uint64_t t = 0; t < m->options.threads; t += 99) {
        uint64_t thread = model_thread_object(m, t), name = MODEL_NULL;
        char text[MODEL_STRING_MOST];
        uint8_t bytes[MODEL_STRING_MOST];
        size_t size = model_string(m, model_thread_name(m, t), text);
        struct object o;

        model_object(m, thread, &o);
        assert_int_equal(o.class, CORE_THREAD);
        name = model_reference(m, thread, &o, references[CORE_THREAD] - 1);
        model_object(m, name, &o);
        assert_int_equal(o.class, CORE_STRING);
        name = model_reference(m, name, &o, 0);
        model_object(m, name, &o);
        assert_int_equal(o.elements, size);
        model_elements(m, name, &o, 0, bytes, size);
        assert_memory_equal(bytes, text, size);
    }
    free(references);
    model_free(m);
}

/* ---- What it costs ----------------------------------------------------------------------------------------------- */

static size_t in_use(void)
{
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static size_t memory_of(const char *shape, uint64_t objects)
{
    size_t before = in_use();
    struct model *m = made_with(shape, objects);
    size_t used = in_use() - before;

    model_free(m);
    assert_int_equal(in_use(), before);
    return used;
}

static void memory_does_not_grow_with_objects(void **state)
{
    (void)state;
    for (size_t i = 0; shapes[i]; i++) {
        size_t few, many;

        model_free(made_with(shapes[i]->name, 10)); /* malloc keeps some of it */
        few = memory_of(shapes[i]->name, 100000);
        many = memory_of(shapes[i]->name, 1000000000000);
        assert_true(many < 16 << 20);
        assert_true(many <= few + 1024);
    }
}

static uint64_t nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void speed(void **state)
{
    enum { OBJECTS = 1000000, ROW = 64 };

    (void)state;
    for (size_t i = 0; shapes[i]; i++) {
        uint64_t from = nanoseconds(), made_in, took, row[ROW], slots = 0, all = 0, count = OBJECTS;
        struct model *m = made_with(shapes[i]->name, OBJECTS);
        uint32_t *references = reference_fields(m);

        made_in = nanoseconds() - from;
        if (strcmp(shapes[i]->name, "arrays") == 0 || strcmp(shapes[i]->name, "wide") == 0)
            count = OBJECTS / 100;
        from = nanoseconds();
        for (uint64_t o = 0; o < count; o++) {
            struct object object;
            uint64_t n;

            model_object(m, o, &object);
            n = slots_of(references, &object);
            slots += n;
            for (uint64_t s = 0; s < n; s += ROW) {
                model_reference_ids(m, o, &object, s, n - s < ROW ? n - s : ROW, row);
                all ^= row[0];
            }
        }
        took = nanoseconds() - from;
        print_message("%-8s made in %4" PRIu64 " us; an object and its %5.1f references: %6.1f ns%s\n", shapes[i]->name,
                      made_in / 1000, (double)slots / (double)count, (double)took / (double)count, all == 1 ? "." : "");
        free(references);
        model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_sound),
        cmocka_unit_test(fields_of_a_class_differ),
        cmocka_unit_test(nothing_dangles),
        cmocka_unit_test(nothing_dangles_with_options),
        cmocka_unit_test(no_threads_no_frames),
        cmocka_unit_test(a_million_millions),
        cmocka_unit_test(all_is_reachable),
        cmocka_unit_test(elements_come_in_pieces),
        cmocka_unit_test(threads_have_their_names),
        cmocka_unit_test(memory_does_not_grow_with_objects),
        cmocka_unit_test(speed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
