/* hprof.h: a small dump takes little memory, and so does a small heap dump, however many of them a file has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "caller.h"
#include "corpus.h"
#include "hprof/hprof.h"
#include "inputs.h"

enum { SMALL_DUMP = 500, MOST_FROM_MEMORY = 64 << 10, MOST_THROUGH_A_BUFFER = 256 << 10 };

static struct caller validate(const struct bytes *dump, bool as_pipe)
{
    struct caller caller = {.left = UINT64_MAX};
    struct hprof_allocator allocator = caller_allocator(&caller);
    struct hprof_options options;

    hprof_options_init(&options);
    options.allocator = &allocator;
    (void)hprof_validate_memory(dump->at, dump->size, as_pipe, &options, NULL);
    assert_true(caller_has_all_back(&caller));
    return caller;
}

static bool is_compressed(const struct bytes *dump)
{
    return dump->size >= 2 && dump->at[0] == 0x1f && dump->at[1] == 0x8b;
}

static void expect_at_most(const struct sample *sample, const struct bytes *dump, bool as_pipe, uint64_t most)
{
    uint64_t peak = validate(dump, as_pipe).peak;

    if (peak > most)
        fail_msg("%s: %llu bytes", sample->name, (unsigned long long)peak);
}

static void a_small_dump_takes_little_memory(void **state)
{
    static const struct member_options plain = {.level = 6};
    size_t small = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *dump = &corpus[i].bytes;
        struct bytes gzip = {0};

        if (dump->size > SMALL_DUMP || is_compressed(dump))
            continue;
        append_member(&gzip, dump->at, dump->size, &plain);
        expect_at_most(&corpus[i], dump, false, MOST_FROM_MEMORY);
        expect_at_most(&corpus[i], dump, true, MOST_THROUGH_A_BUFFER);
        expect_at_most(&corpus[i], &gzip, false, MOST_THROUGH_A_BUFFER);
        expect_at_most(&corpus[i], &gzip, true, MOST_THROUGH_A_BUFFER);
        free(gzip.at);
        small++;
    }
    assert_true(small > 200);
}

static void put_heap_dump(struct bytes *b, unsigned instances)
{
    size_t record = open_record(b, 0x1c);

    put(b, 1, 0x05);
    put(b, 8, 0x100);
    put_class_dump(b, 0x100, 0, 0);
    for (unsigned i = 0; i < instances; i++)
        put_instance(b, 0x1000 + 8 * i, 0x100, 0);
    close_record(b, record);
    close_record(b, open_record(b, 0x2c));
}

static struct bytes heap_dumps(unsigned count, unsigned instances)
{
    struct bytes b = {0};

    put_header(&b);
    put_string(&b, 1, "java/lang/Object");
    put_class(&b, 1, 0x100, 1);
    for (unsigned i = 0; i < count; i++)
        put_heap_dump(&b, instances);
    return b;
}

/* Allocated memory may have to be cleared or searched, so this bounds the work, too. */
static void a_small_heap_dump_takes_little_of_everything(void **state)
{
    enum { INSTANCES = 35 /* about 1 KB */, FEW = 10, MANY = 1010, MOST_BYTES = 20000, MOST_BLOCKS = 30 };
    struct bytes few = heap_dumps(FEW, INSTANCES), many = heap_dumps(MANY, INSTANCES);
    struct caller one = validate(&few, false), all = validate(&many, false);

    (void)state;
    assert_true(all.peak <= one.peak + 16384);
    assert_true(all.all_bytes - one.all_bytes <= (uint64_t)(MANY - FEW) * MOST_BYTES);
    assert_true(all.all_blocks - one.all_blocks <= (uint64_t)(MANY - FEW) * MOST_BLOCKS);
    free(few.at);
    free(many.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_dump_takes_little_memory),
        cmocka_unit_test(a_small_heap_dump_takes_little_of_everything),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
