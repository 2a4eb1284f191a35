/* Instances that precede their classes: whatever the order of sub-records, what is found in them is the same as after all
 * classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dice.h"
#include "dump.h"
#include "hprof/hprof.h"
#include "hprof/testing.h"

enum {
    DRAWS = 1000,
    CLASSES = 5,
    FIELDS_MOST = 70,
    INSTANCES_MOST = 40,
    FINDINGS_MOST = 2 * INSTANCES_MOST * FIELDS_MOST,
    LINE = 200,
    CLASS = 0x1000,
    OBJECT = 0x10000,
    NAME = 0x100
};
enum { REFERENCE = 2, BOOLEAN = 4, LONG = 11 };

struct heap {
    struct bytes items[CLASSES + INSTANCES_MOST]; /* sub-records, classes first */
    unsigned count, classes;                      /* of these */
    uint8_t types[CLASSES][FIELDS_MOST];
    unsigned fields[CLASSES], supers[CLASSES]; /* CLASSES for none */
};

static unsigned size_of(unsigned type)
{
    return type == BOOLEAN ? 1 : 8;
}

/* ---- The dump ---- */

static void draw_class(struct heap *h, unsigned i)
{
    struct bytes *b = &h->items[h->count];
    unsigned size = 0;

    h->supers[i] = i && below(3) ? below(i) : CLASSES;
    h->fields[i] = below(4) ? below(4) : below(FIELDS_MOST);
    put_class_dump(b, CLASS + i, h->supers[i] < CLASSES ? CLASS + h->supers[i] : 0, 0);
    put_at(b->at + b->size - 2, 2, h->fields[i]);
    for (unsigned k = 0; k < h->fields[i]; k++) {
        h->types[i][k] = below(3) ? REFERENCE : heads() ? BOOLEAN : LONG;
        put(b, 8, NAME);
        put(b, 1, h->types[i][k]);
    }
    for (unsigned c = i; c < CLASSES; c = h->supers[c])
        for (unsigned k = 0; k < h->fields[c]; k++)
            size += size_of(h->types[c][k]);
    put_at(b->at + 1 + 8 + 4 + 6 * 8, 4, size);
    if (below(12))
        h->count++;
    else
        b->size = 0; /* it is not dumped */
}

static void draw_instance(struct heap *h, unsigned number)
{
    struct bytes *b = &h->items[h->count++];
    unsigned class = below(CLASSES);
    size_t at;

    put_instance(b, OBJECT + 8 * number, CLASS + class, 0);
    at = b->size;
    for (unsigned c = class; c < CLASSES; c = h->supers[c])
        for (unsigned k = 0; k < h->fields[c]; k++)
            if (h->types[c][k] == REFERENCE)
                put(b, 8, below(4) ? OBJECT + 8 * below(number + 1) : below(3) ? 0 : OBJECT + 8 * below(10 * INSTANCES_MOST));
            else
                put(b, size_of(h->types[c][k]), below(3));
    if (!below(8))
        put(b, 1 + below(8), 0);
    else if (!below(8) && b->size > at)
        b->size--;
    put_at(b->at + at - 4, 4, b->size - at);
}

static struct heap draw_heap(unsigned instances)
{
    struct heap h = {0};

    for (unsigned i = 0; i < CLASSES; i++)
        draw_class(&h, i);
    h.classes = h.count;
    for (unsigned i = 0; i < instances; i++)
        draw_instance(&h, i);
    return h;
}

/* Those of one kind stay in their order: which instance is the first of a class is reported. */
static void order_items(const struct heap *h, bool mixed, unsigned order[])
{
    unsigned class = 0, instance = h->classes;

    for (unsigned i = 0; i < h->count; i++) {
        bool is_class = class < h->classes && (instance == h->count || !mixed || !below(6));

        order[i] = is_class ? class ++ : instance++;
    }
}

static struct bytes write_dump(const struct heap *h, const unsigned order[], unsigned share)
{
    struct bytes b = {0};
    size_t record;

    put_header(&b);
    put_string(&b, NAME, "A");
    for (unsigned i = 0; i < CLASSES; i++)
        put_class(&b, 1 + i, CLASS + i, NAME);
    record = open_record(&b, 0x1c);
    for (unsigned i = 0; i < h->count; i++) {
        append(&b, h->items[order[i]].at, h->items[order[i]].size);
        if (!below(share)) {
            close_record(&b, record);
            if (!below(4))
                put_string(&b, NAME + 1 + i, "B");
            record = open_record(&b, 0x1c);
        }
        if (!below(share)) {
            put(&b, 1, 0xff);
            put(&b, 8, OBJECT);
        }
    }
    close_record(&b, record);
    close_record(&b, open_record(&b, 0x2c));
    return b;
}

/* ---- What is found ---- */

struct found {
    char lines[FINDINGS_MOST][LINE];
    unsigned count;
};

static int note_finding(void *context, const struct hprof_finding *f)
{
    struct found *found = context;
    const char *id = hprof_rule_at(f->rule)->id, *within = strstr(f->path, " > ");

    if (strncmp(id, "OBJ", 3) && strncmp(id, "REF", 3))
        return 0;
    assert_true(found->count < FINDINGS_MOST);
    snprintf(found->lines[found->count++], LINE, "%s %s %s %.*s", id, within ? within : "", f->expected,
             (int)strcspn(f->found, ";") /* what names it is not known on a pipe */, f->found);
    return 0;
}

static int compare_lines(const void *one, const void *other)
{
    return strcmp(one, other);
}

static void check(const struct bytes *b, bool as_pipe, const struct hprof_testing *testing, struct found *found)
{
    struct hprof_options options;

    hprof_options_init(&options);
    options.max_errors = 0;
    options.on_finding = note_finding;
    options.context = found;
    options.testing = testing;
    options.threads = testing && testing->job ? 1 + below(3) : 1;
    found->count = 0;
    (void)hprof_validate_memory(b->at, b->size, as_pipe, &options, NULL);
    qsort(found->lines, found->count, sizeof *found->lines, compare_lines);
}

/* However it is read. */
static void expect(const struct bytes *b, const struct found *expected, struct found *found)
{
    for (unsigned run = 0; run < 6; run++) {
        const struct hprof_testing testing = {.piece = 400,
                                              .block = run > 3 ? 64 + below(400) : 0,
                                              .job = run == 2 ? 1 + below(300) : 0,
                                              .threads_from = 1,
                                              .job_pieces = 1,
                                              .job_ranges = 1 + below(4)};

        check(b, run & 1, run > 1 ? &testing : NULL, found);
        assert_int_equal(found->count, expected->count);
        for (unsigned i = 0; i < found->count; i++)
            assert_string_equal(found->lines[i], expected->lines[i]);
    }
}

static void the_order_of_classes_and_instances_does_not_matter(void **state)
{
    struct found *expected = malloc(sizeof *expected), *found = malloc(sizeof *found);
    unsigned all = 0;

    (void)state;
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        unsigned order[CLASSES + INSTANCES_MOST], instances = 1 + below(INSTANCES_MOST), share = 2 + below(20);
        struct heap h = draw_heap(instances);
        struct bytes b;

        order_items(&h, false, order);
        b = write_dump(&h, order, share);
        check(&b, false, NULL, expected);
        all += expected->count;
        free(b.at);
        order_items(&h, true, order);
        b = write_dump(&h, order, share);
        expect(&b, expected, found);
        b.size -= below(20 + (uint32_t)h.items[order[h.count - 1]].size); /* it may end within an instance */
        check(&b, false, NULL, expected);
        expect(&b, expected, found);
        free(b.at);
        for (unsigned i = 0; i < CLASSES + INSTANCES_MOST; i++)
            free(h.items[i].at);
    }
    assert_true(all > DRAWS);
    free(expected);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_classes_and_instances_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
