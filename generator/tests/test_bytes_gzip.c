/* Compressing on several threads gives the bytes of one, in order, and members are shown in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/bytes_gzip.h"
#include "stream/random.h"

struct sink {
    struct bytes bytes;
    uint8_t *data;
    size_t size, most; /* most: bytes until the disk is full */
};

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct sink *s = (struct sink *)bytes;

    if (size > s->most - s->size)
        return false;
    memcpy(s->data + s->size, data, size);
    s->size += size;
    return true;
}

static bool finish(struct bytes *bytes)
{
    (void)bytes;
    return true;
}

struct shown {
    struct gzip_hook hook;
    uint64_t members, at, ends_at;
    bool in_order;
};

static void show(struct gzip_hook *hook, struct gzip_member *member)
{
    struct shown *s = (struct shown *)hook;

    s->in_order = s->in_order && member->number == s->members && member->at == s->at;
    s->members++;
    s->at += member->size;
    member->ends = s->members == s->ends_at;
}

/* Returns whether all was written. */
static bool compress_with(unsigned threads, const uint8_t *data, size_t size, struct sink *sink, struct shown *shown)
{
    struct bytes_gzip *g = bytes_gzip_new(&sink->bytes, 1, shown ? &shown->hook : NULL, threads);
    bool good = g != NULL;

    for (size_t at = 0, n = 1; good && at < size; at += n) {
        n = size - at < 300000 ? size - at : 300000;
        good = bytes_put(bytes_gzip_bytes(g), data + at, n);
    }
    good = good && bytes_finish(bytes_gzip_bytes(g));
    bytes_gzip_free(g);
    return good;
}

enum { SIZE = 21 * GZIP_BLOCK + 12345 };

static struct sink sink_of(size_t most)
{
    return (struct sink){.bytes = {.put = put, .finish = finish}, .data = malloc(most), .most = most};
}

static void check_size(const uint8_t *data, size_t size)
{
    static const unsigned threads[] = {0, 2, 3, 8, 100};
    struct sink one = sink_of(2 * SIZE);

    assert_true(compress_with(1, data, size, &one, NULL));
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (uint64_t ends_at = 0; ends_at < 8; ends_at += 5) {
            struct sink other = sink_of(2 * SIZE);
            struct shown shown = {.hook = {.member = show}, .in_order = true, .ends_at = ends_at};

            assert_true(compress_with(threads[i], data, size, &other, &shown));
            assert_true(shown.in_order);
            assert_true(other.size == (ends_at && size > ends_at * GZIP_BLOCK ? shown.at : one.size));
            assert_true(memcmp(other.data, one.data, other.size) == 0);
            free(other.data);
        }
    free(one.data);
}

static uint8_t *make_data(void)
{
    uint8_t *data = malloc(SIZE);

    assert_non_null(data);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(mix(i / 3) % 7 * (i >> 18));
    return data;
}

static void the_bytes_are_those_of_one_thread(void **state)
{
    uint8_t *data = make_data();

    (void)state;
    check_size(data, 0);
    check_size(data, 1);
    check_size(data, GZIP_BLOCK);
    check_size(data, SIZE);
    free(data);
}

static void a_full_disk_ends_all_threads(void **state)
{
    uint8_t *data = make_data();

    (void)state;
    for (unsigned threads = 1; threads < 5; threads++) {
        struct sink small = sink_of(100000);

        assert_false(compress_with(threads, data, SIZE, &small, NULL));
        free(small.data);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_of_one_thread),
        cmocka_unit_test(a_full_disk_ends_all_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
