/* array_log.h: what was not defined when an array was added is read back, in order; what has been defined since may be gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "dump.h"
#include "state/array_log.h"

enum { ARRAYS_MOST = 1000, ELEMENTS_MOST = 400, IDS = 300, PRUNED_FROM = 64 << 10, NUMBERS = 1 << 11 };

static const struct hash_key key = {0x1234567890abcdef, 0x9E3779B97F4A7C15};

struct array {
    uint64_t id, class_id, elements[ELEMENTS_MOST];
    size_t count;
    bool is_named; /* another reference names it */
};

struct logged {
    struct memory memory;
    struct id_set objects, named;
    struct array_log log;
    struct array arrays[ARRAYS_MOST];
    size_t count;
    uint64_t ids[IDS]; /* of which elements are drawn */
    bool is_defined[IDS];
};

/* Near each other, far from each other, and with the highest bit set. Each number has others. */
static uint64_t draw_id(unsigned id_size, unsigned number)
{
    uint64_t id = below(3) ? 0x7f000000 + (uint64_t)below(1 << 10) * (2 * NUMBERS) : throw_dice();

    id = id / NUMBERS * NUMBERS + number;
    return id_size == 8 ? id : (uint32_t)id;
}

static void define(struct logged *l, uint64_t id)
{
    struct recent_page near = {.page = NO_PAGE};

    id_set_define(&l->objects, &near, id_to_key(id, l->objects.id_size));
}

static void refer(struct logged *l, uint64_t id)
{
    struct recent_page near = {.page = NO_PAGE};

    id_set_refer(&l->objects, &near, id_to_key(id, l->objects.id_size), ID_REFERENCED);
}

static bool is_referred_to(void *objects, uint64_t array_id)
{
    return id_set_get(objects, array_id) & (ID_REFERENCED | ID_ELEMENT);
}

static struct logged *start(unsigned id_size)
{
    struct logged *l = calloc(1, sizeof *l);

    memory_init(&l->memory, NULL, 0);
    id_set_init(&l->objects, &l->memory, &key, id_size);
    id_set_init(&l->named, &l->memory, &key, id_size);
    array_log_init(&l->log, &l->memory, &l->named, is_referred_to, &l->objects);
    for (unsigned i = 0; i < IDS; i++) {
        l->ids[i] = draw_id(id_size, i + 1);
        l->is_defined[i] = !below(3);
        if (l->is_defined[i])
            define(l, l->ids[i]);
    }
    return l;
}

static void end(struct logged *l)
{
    array_log_clear(&l->log);
    id_set_clear(&l->objects);
    id_set_clear(&l->named);
    assert_int_equal(l->memory.used, 0);
    free(l);
}

/* In parts, as an array arrives. Keeps what must be in the log. */
static void add_array(struct logged *l)
{
    const unsigned id_size = l->objects.id_size;
    struct array *a = &l->arrays[l->count++];
    uint8_t bytes[8 * ELEMENTS_MOST];
    size_t n = below(ELEMENTS_MOST + 1);
    struct recent_page near = {.page = NO_PAGE};

    assert_true(l->count < ARRAYS_MOST);
    a->id = draw_id(id_size, IDS + (unsigned)l->count);
    a->class_id = draw_id(id_size, 0);
    a->is_named = !below(4);
    if (a->is_named)
        refer(l, a->id);
    for (size_t i = 0; i < n; i++) {
        unsigned one = below(IDS), kind = below(10);
        uint64_t id = kind == 0 ? 0 : kind == 1 ? a->id : l->ids[one];

        put_at(bytes + i * id_size, id_size, id);
        if (kind > 1 && !l->is_defined[one])
            a->elements[a->count++] = id;
    }
    array_log_begin(&l->log, a->id, a->class_id);
    for (size_t at = 0, part; at < n; at += part) {
        part = 1 + below(200);
        if (part > n - at)
            part = n - at;
        array_log_add(&l->log, &l->objects, &near, bytes + at * id_size, part);
    }
    array_log_end(&l->log, &l->objects, 0);
}

/* Of an array that is named the elements are in a set. */
static void expect_named(struct logged *l, const struct array *a)
{
    for (size_t i = 0; i < a->count; i++)
        assert_true(id_set_get(&l->named, a->elements[i]) & ID_REFERENCED);
}

/* `is_gone` says of which of l->ids nothing may be left. */
static void expect_log(struct logged *l, const bool *is_gone)
{
    struct logged_array found;
    uint64_t next = 0, id;

    assert_false(l->log.overflowed);
    for (size_t i = 0; i < l->count; i++) {
        const struct array *a = &l->arrays[i];
        bool has_begun = false;

        if (a->is_named) {
            expect_named(l, a);
            continue;
        }
        for (size_t j = 0; j < a->count; j++) {
            unsigned one = 0;

            while (l->ids[one] != a->elements[j])
                one++;
            if (is_gone && is_gone[one])
                continue;
            if (!has_begun) {
                assert_true(array_log_next(&l->log, &next, &found));
                assert_true(found.array_id == a->id && found.class_id == a->class_id);
                has_begun = true;
            }
            assert_true(array_log_element(&l->log, &next, &found, &id));
            assert_true(id == a->elements[j]);
        }
        if (has_begun)
            assert_false(array_log_element(&l->log, &next, &found, &id));
    }
    assert_false(array_log_next(&l->log, &next, &found));
}

static void what_is_added_is_read_back(void **state)
{
    (void)state;
    shake_dice();
    for (unsigned id_size = 4; id_size <= 8; id_size += 4)
        for (unsigned run = 0; run < 20; run++) {
            struct logged *l = start(id_size);

            while (l->count < 60)
                add_array(l);
            expect_log(l, NULL);
            end(l);
        }
}

/* Beyond a size the log loses what has been defined since, and only that. */
static void what_has_been_defined_since_is_pruned(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        struct logged *l = start(id_size);
        bool is_gone[IDS];
        uint64_t size = 0;

        while (l->log.log.size < PRUNED_FROM / 2)
            add_array(l);
        for (unsigned i = 0; i < IDS; i++) {
            is_gone[i] = !l->is_defined[i] && below(2);
            l->is_defined[i] |= is_gone[i];
            if (is_gone[i])
                define(l, l->ids[i]);
        }
        while (size <= l->log.log.size) {
            size = l->log.log.size;
            add_array(l);
        }
        assert_true(size <= PRUNED_FROM);
        expect_log(l, is_gone);
        end(l);
    }
}

/* Beyond its bound the log is given up, and no element before. */
static void the_log_is_bounded(void **state)
{
    enum { BOUND = 4 << 20, ELEMENT_MOST = 10 };
    const uint64_t read = 64 << 20, bound = BOUND + read / 64;

    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        struct logged *l = start(id_size);
        struct recent_page near = {.page = NO_PAGE};
        uint64_t added = 0, size = 0;
        uint8_t bytes[8 * ELEMENTS_MOST];

        for (unsigned i = 0; !l->log.overflowed; i++) {
            for (size_t j = 0; j < sizeof bytes; j++)
                bytes[j] = (uint8_t)throw_dice();
            size = l->log.log.size;
            assert_true(size <= bound);
            array_log_begin(&l->log, i + 1, 1);
            array_log_add(&l->log, &l->objects, &near, bytes, ELEMENTS_MOST);
            array_log_end(&l->log, &l->objects, read);
            added += ELEMENTS_MOST;
        }
        assert_int_equal(l->log.log.size, 0);
        assert_true(size + ELEMENTS_MOST * ELEMENT_MOST > bound - 100);
        assert_true(size < added * (id_size == 8 ? ELEMENT_MOST : 6)); /* an element takes little more than an ID */
        array_log_begin(&l->log, 1, 1);
        array_log_add(&l->log, &l->objects, &near, bytes, ELEMENTS_MOST);
        array_log_end(&l->log, &l->objects, read);
        assert_int_equal(l->log.log.size, 0);
        end(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_read_back),
        cmocka_unit_test(what_has_been_defined_since_is_pruned),
        cmocka_unit_test(the_log_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
