/* id_windows.h: threads that define and refer to IDs of any distribution make the set that a plain table says, and know which IDs
 * are defined twice. Built twice: usual sizes, and small ones, with which every window moves often. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "each_allocation.h"
#include "state/id_windows.h"

static const struct hash_key key = {0x1234567890abcdef, 0x9E3779B97F4A7C15};

enum { FLAGS = 3, IDS = 200000, STEPS = 100000, THREADS_MOST = 4, ROUNDS = 2, LONGEST_RUN = 300 };

/* ---- Where IDs lie ---------------------------------------------------------------------------------------------- */

static uint64_t aligned(uint32_t i)
{
    return 0x6c0000000 + UINT64_C(8) * i;
}

static uint64_t consecutive(uint32_t i)
{
    return i + 1;
}

/* More pages than windows, and each with many IDs. */
static uint64_t in_some_pages(uint32_t i)
{
    return ((uint64_t)(i % 97) << (PAGE_BITS + 3)) + UINT64_C(8) * (i / 97);
}

static uint64_t one_for_each_page(uint32_t i)
{
    return (uint64_t)i << (PAGE_BITS + 3);
}

static uint64_t any_bits(uint32_t i)
{
    return (i + 1) * 0x9E3779B97F4A7C15;
}

static uint64_t down_from_all_bits(uint32_t i)
{
    return ~(uint64_t)i;
}

/* The last three lie apart only if IDs have 8 bytes. */
static uint64_t (*const distributions[])(uint32_t) = {aligned,           consecutive, in_some_pages, down_from_all_bits,
                                                      one_for_each_page, any_bits};
enum { DISTRIBUTIONS = sizeof distributions / sizeof *distributions, DISTRIBUTIONS_OF_4 = DISTRIBUTIONS - 2 };

/* ---- The threads and the plain table ---------------------------------------------------------------------------- */

struct step {
    uint32_t id;
    enum id_set_flag flag;
};

struct test_thread {
    pthread_t thread;
    struct id_windows *windows;
    uint64_t (*id_at)(uint32_t i);
    unsigned number, id_size;
    struct page_filter pages[FLAGS];
    struct step steps[STEPS];
};

struct plain_table {
    uint8_t flags[IDS];
    uint8_t definitions[IDS]; /* 2 for more */
};

static uint64_t key_of(const struct test_thread *t, uint32_t i)
{
    return id_to_key(t->id_size == 8 ? t->id_at(i) : (uint32_t)t->id_at(i), t->id_size);
}

/* Runs of adjacent IDs, of all lengths around those that move a window, and single IDs among them. */
static void draw_steps(struct test_thread *t, struct plain_table *truth)
{
    uint32_t at = 0, left = 0;
    enum id_set_flag flag = ID_DEFINED;

    for (struct step *s = t->steps; s < t->steps + STEPS; s++) {
        if (!left) {
            at = below(IDS);
            left = below(2) ? 1 : 1 + below(LONGEST_RUN);
            flag = 1U << below(3);
        }
        *s = (struct step){at, flag};
        truth->flags[at] |= (uint8_t)flag;
        if (flag == ID_DEFINED && truth->definitions[at] < 2)
            truth->definitions[at]++;
        at = (at + 1) % IDS;
        left--;
    }
}

static void take_step(struct recent_page near[FLAGS], uint64_t k, enum id_set_flag flag, unsigned id_size)
{
    if (flag == ID_DEFINED)
        id_windows_mark(&near[0], k, ID_DEFINED, id_size);
    else if (flag == ID_REFERENCED)
        id_windows_mark(&near[1], k, ID_REFERENCED, id_size);
    else
        id_windows_mark(&near[2], k, ID_ELEMENT, id_size);
}

static void *work(void *context)
{
    struct test_thread *t = context;
    struct recent_page near[FLAGS];

    for (unsigned i = 0; i < FLAGS; i++)
        near[i] = (struct recent_page){.page = NO_PAGE, .windows = t->windows, .pages = &t->pages[i]};
    for (const struct step *s = t->steps; s < t->steps + STEPS; s++)
        take_step(near, key_of(t, s->id), s->flag, t->id_size);
    id_windows_finish(t->windows, t->number * 64);
    return NULL;
}

struct sweep {
    const struct id_set *set;
    size_t count;
};

static void count_missing(void *context, uint64_t id, unsigned flags)
{
    struct sweep *s = context;

    (void)id;
    assert_int_equal(flags & ID_DEFINED, 0);
    s->count++;
}

static void expect_as_table(struct id_set *objects, struct id_set *twice, const struct test_thread *t,
                            const struct plain_table *truth)
{
    size_t missing = 0;
    struct sweep sweep = {objects, 0};

    for (uint32_t i = 0; i < IDS; i++) {
        uint64_t id = key_to_id(key_of(t, i), t->id_size);

        assert_int_equal(id_set_get(objects, id), truth->flags[i]);
        assert_int_equal(id_set_get(twice, id), truth->definitions[i] == 2 ? ID_ELEMENT : 0);
        missing += truth->flags[i] && !(truth->flags[i] & ID_DEFINED);
    }
    id_set_sweep(objects, count_missing, &sweep);
    assert_int_equal(sweep.count, missing);
}

/* Whether the filter of a flag has the page of each ID that got the flag. */
static void expect_filters(const struct test_thread *t)
{
    for (const struct step *s = t->steps; s < t->steps + STEPS; s++) {
        struct page_filter one = {0};

        page_filter_add(&one, key_of(t, s->id) >> PAGE_BITS);
        assert_true(page_filters_meet(&one, &t->pages[s->flag >> 1]));
    }
}

/* One round: the threads draw, work, and the set is compared. A round after the first finds IDs in the set. */
static void play_round(struct id_set *objects, struct id_set *twice, struct test_thread *threads, unsigned count,
                       struct plain_table *truth)
{
    for (unsigned i = 0; i < count; i++)
        draw_steps(&threads[i], truth);
    assert_true(id_set_share(objects) && id_set_share(twice));
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i].thread, NULL, work, &threads[i]), 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    id_set_end_sharing(objects);
    id_set_end_sharing(twice);
    expect_as_table(objects, twice, &threads[0], truth);
    for (unsigned i = 0; i < count; i++)
        expect_filters(&threads[i]);
}

static void expect_for(unsigned distribution, unsigned id_size, uint64_t allowance, unsigned count)
{
    struct test_thread *threads = calloc(count, sizeof *threads);
    struct plain_table *truth = calloc(1, sizeof *truth);
    struct id_set objects, twice;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct memory memory;

    memory_init(&memory, NULL, 0);
    memory.lock = &lock;
    id_set_init(&objects, &memory, &key, id_size);
    id_set_init(&twice, &memory, &key, id_size);
    id_set_allow(&objects, allowance);
    for (unsigned i = 0; i < count; i++) {
        threads[i].windows = malloc(sizeof *threads[i].windows);
        id_windows_init(threads[i].windows, &objects, &twice);
        threads[i].id_at = distributions[distribution];
        threads[i].number = i;
        threads[i].id_size = id_size;
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        play_round(&objects, &twice, threads, count, truth);
    id_set_clear(&objects);
    id_set_clear(&twice);
    assert_int_equal(memory.used, 0);
    assert_false(memory.exhausted);
    for (unsigned i = 0; i < count; i++)
        free(threads[i].windows);
    free(truth);
    free(threads);
}

static void ids_of_8_bytes_are_as_in_the_table(void **state)
{
    (void)state;
    for (unsigned d = 0; d < DISTRIBUTIONS; d++)
        for (unsigned count = 1; count <= THREADS_MOST; count += 3)
            expect_for(d, 8, below(2) ? 0 : UINT64_MAX / 2, count);
}

static void ids_of_4_bytes_are_as_in_the_table(void **state)
{
    (void)state;
    for (unsigned d = 0; d < DISTRIBUTIONS_OF_4; d++)
        for (unsigned count = 1; count <= THREADS_MOST; count += 3)
            expect_for(d, 4, below(2) ? 0 : UINT64_MAX / 2, count);
}

/* One thread alone and threads may take turns. */
static void one_alone_and_windows_take_turns(void **state)
{
    struct id_windows *windows = malloc(sizeof *windows);
    struct id_set objects, twice;
    struct memory memory;

    (void)state;
    memory_init(&memory, NULL, 0);
    id_set_init(&objects, &memory, &key, 8);
    id_set_init(&twice, &memory, &key, 8);
    id_windows_init(windows, &objects, &twice);
    for (uint32_t turn = 0; turn < 20; turn++) {
        struct recent_page alone = {.page = NO_PAGE}, near = {.page = NO_PAGE, .windows = windows};

        for (uint32_t i = turn * 1000; i < turn * 1000 + 600; i++)
            assert_false(id_set_define(&objects, &alone, id_to_key(aligned(i), 8)));
        assert_true(id_set_share(&objects) && id_set_share(&twice));
        for (uint32_t i = turn * 1000 + 500; i < turn * 1000 + 1000; i++)
            id_windows_mark(&near, id_to_key(aligned(i), 8), ID_DEFINED, 8);
        id_windows_finish(windows, turn);
        id_set_end_sharing(&objects);
        id_set_end_sharing(&twice);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(id_set_get(&objects, aligned(i)), ID_DEFINED);
        assert_int_equal(id_set_get(&twice, aligned(i)), i % 1000 >= 500 && i % 1000 < 600 ? ID_ELEMENT : 0);
    }
    id_set_clear(&objects);
    id_set_clear(&twice);
    assert_int_equal(memory.used, 0);
    free(windows);
}

static void fill_with(struct memory *memory)
{
    struct id_windows *windows = malloc(sizeof *windows);
    struct recent_page near = {.page = NO_PAGE, .windows = windows};
    struct id_set objects, twice;

    id_set_init(&objects, memory, &key, 8);
    id_set_init(&twice, memory, &key, 8);
    id_windows_init(windows, &objects, &twice);
    if (id_set_share(&objects) && id_set_share(&twice)) {
        for (uint32_t i = 0; i < 3000; i++)
            id_windows_mark(&near, id_to_key(aligned(i * 15 % 9000), 8), ID_DEFINED, 8);
        id_windows_finish(windows, 0);
    } else {
        memory_exhaust(memory); /* where the caller goes on without threads */
    }
    id_set_end_sharing(&objects);
    id_set_end_sharing(&twice);
    id_set_clear(&objects);
    id_set_clear(&twice);
    free(windows);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(fill_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_8_bytes_are_as_in_the_table),
        cmocka_unit_test(ids_of_4_bytes_are_as_in_the_table),
        cmocka_unit_test(one_alone_and_windows_take_turns),
        cmocka_unit_test(any_allocation_may_fail),
    };

    shake_dice();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
