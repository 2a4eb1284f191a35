/* The memory of the agent: names that threads add at the same time, and tables of numbers. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../agent/arrays.h"
#include "../agent/names.h"
#include "../agent/store.h"

enum { THREADS = 4, NAMES = 50000 };

static uint32_t numbers[THREADS][NAMES];

static void text_of(unsigned name, char *text, size_t size)
{
    snprintf(text, size, "a name of the program, %u", name);
}

/* Each thread adds the same names from another one on, so that some are new to two of them at once. */
static void *add_names(void *thread)
{
    unsigned self = *(const unsigned *)thread;
    for (unsigned i = 0; i < NAMES; i++) {
        char text[64];
        unsigned name = (i + self % 2 * 8) % NAMES;
        text_of(name, text, sizeof text);
        numbers[self][name] = name_of(text);
    }
    return NULL;
}

static void test_names_of_many_threads(void **unused)
{
    (void)unused;
    hash_start();
    pthread_t threads[THREADS];
    unsigned selves[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        selves[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, add_names, &selves[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned name = 0; name < NAMES; name++) {
        char text[64];
        text_of(name, text, sizeof text);
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(numbers[i][name], numbers[0][name]);
        assert_string_equal(name_text(numbers[0][name]), text);
        assert_int_equal(name_at(numbers[0][name])->size, strlen(text));
    }
}

/* Large, so that a reader that comes too early meets it half copied. */
struct record {
    uint32_t number, others[62], again;
};

static struct store records = {.size = sizeof(struct record)};

/* The first record that is counted before it is there, or 0. */
static void *read_records(void *begin)
{
    pthread_barrier_wait(begin);
    for (uint32_t read = 0, count; read < NAMES; read = count) {
        count = atomic_load(&records.count);
        for (uint32_t i = read + 1; i <= count; i++) {
            const struct record *record = store_at(&records, i);
            if (record->number != i || record->again != i)
                return (void *)(uintptr_t)i;
        }
    }
    return NULL;
}

/* Tables go through all records without a lock, while threads add more. */
static void test_records_are_whole_when_they_are_counted(void **unused)
{
    (void)unused;
    pthread_t reader;
    pthread_barrier_t begin;
    void *first = NULL;
    assert_int_equal(pthread_barrier_init(&begin, NULL, 2), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_records, &begin), 0);
    pthread_barrier_wait(&begin);
    for (uint32_t i = 1; i <= NAMES; i++)
        assert_int_equal(store_add(&records, &(struct record){.number = i, .again = i}), i);
    pthread_join(reader, &first);
    pthread_barrier_destroy(&begin);
    assert_null(first);
}

static void test_names_of_classes(void **unused)
{
    (void)unused;
    static const char *const pairs[][2] = {{"Ljava/lang/String;", "java.lang.String"},
                                           {"[[Ljava/lang/String;", "java.lang.String[][]"},
                                           {"[J", "long[]"},
                                           {"V", "void"},
                                           {"X", "Unknown_class"},
                                           {"[", "Unknown_class"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(name_text(name_of_signature(pairs[i][0])), pairs[i][1]);
    assert_int_equal(name_of(NULL), 0);
    assert_string_equal(name_text(0), "");
}

/* Arrays are added and taken in any order, as a walk of the heap does. */
static void test_arrays(void **unused)
{
    (void)unused;
    enum { MOST = 4096, STEPS = 200000 };
    static bool is_there[MOST];
    struct arrays arrays = {.count = 0};
    unsigned long long state = (unsigned long long)time(NULL);
    print_message("seed %llu\n", state);
    size_t count = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t number = 1 + (state >> 33) % (MOST - 1);
        struct array found = arrays_take(&arrays, number);
        assert_int_equal(found.number, is_there[number] ? number : 0);
        assert_true(!is_there[number] || (found.length == number * 3 && found.size == number * 5));
        if (!is_there[number])
            assert_true(arrays_add(&arrays, (struct array){number, number * 3, number * 5}));
        count += is_there[number] ? -(size_t)1 : 1;
        is_there[number] = !is_there[number];
        assert_int_equal(arrays.count, count);
    }
    free(arrays.slots);
}

static void test_bits(void **unused)
{
    (void)unused;
    struct bits bits = {.room = 0};
    assert_false(bits_has(&bits, 70));
    assert_false(bits_set(&bits, 70));
    assert_true(bits_set(&bits, 70));
    assert_false(bits_set(&bits, 1000000));
    assert_true(bits_has(&bits, 70) && bits_has(&bits, 1000000));
    assert_false(bits_has(&bits, 69) || bits_has(&bits, 71) || bits_has(&bits, 1000001) || bits_has(&bits, 1ull << 40));
    bits_free(&bits);
}

static void test_numbers_of_the_format(void **unused)
{
    (void)unused;
    static const uint8_t expected[] = {0x12, 0x34, 0x56, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 7, 0x3f, 0xc0, 0, 0, 'x', 'y'};
    struct buffer buffer = {.size = 0};
    buffer_put(&buffer, 0x123456, 3);
    buffer_put_most(&buffer, 1ull << 32);
    buffer_put_most(&buffer, 7);
    buffer_put_float(&buffer, 1.5);
    buffer_put_bytes(&buffer, "xy", 2);
    assert_int_equal(buffer.size, sizeof expected);
    assert_memory_equal(buffer.data, expected, sizeof expected);
    free(buffer.data);
}

/* Of the address sanitizer: such a request is refused, as it is without it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_a_buffer_without_memory(void **unused)
{
    (void)unused;
    struct buffer buffer = {.size = 0};
    buffer_put(&buffer, 1, 4);
    assert_false(buffer.has_failed);
    assert_null(buffer_extend(&buffer, SIZE_MAX));
    assert_null(buffer_extend(&buffer, SIZE_MAX / 2));
    buffer_put(&buffer, 2, 4);
    assert_int_equal(buffer.size, 8);
    assert_true(buffer.has_failed);
    free(buffer.data);
}

static void test_arrays_that_grow(void **unused)
{
    (void)unused;
    enum { COUNT = 5000 };
    uint16_t *array = NULL;
    size_t room = 0;
    for (uint16_t i = 0; i < COUNT; i++) {
        array = array_with_room(array, i, &room, sizeof *array);
        assert_non_null(array);
        assert_true(room > i);
        array[i] = i;
    }
    for (uint16_t i = 0; i < COUNT; i++)
        assert_int_equal(array[i], i);
    free(array);
}

static void test_an_array_without_memory(void **unused)
{
    (void)unused;
    for (unsigned bits = 2; bits <= 6; bits++) { /* more than size_t counts, or more than there is */
        size_t room = SIZE_MAX >> bits, before = room;
        assert_null(array_with_room(NULL, room, &room, 8));
        assert_int_equal(room, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_of_many_threads),
                                       cmocka_unit_test(test_records_are_whole_when_they_are_counted),
                                       cmocka_unit_test(test_names_of_classes),
                                       cmocka_unit_test(test_arrays),
                                       cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_numbers_of_the_format),
                                       cmocka_unit_test(test_a_buffer_without_memory),
                                       cmocka_unit_test(test_arrays_that_grow),
                                       cmocka_unit_test(test_an_array_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
