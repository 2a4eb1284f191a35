/* The mutator changes dumps so that most of them stay dumps: of mutants of a dump, most have the lengths of their records right and
 * most of their sub-records can be read. Any bytes may be given to it, and any room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "break.h"
#include "gzip.h"
#include "hprof/hprof.h"
#include "mutator.h"
#include "pieces.h"

#include "../validator/tests/corpus.h"

enum { MUTANTS = 40, ROOM = 1 << 16 };

static struct pieces pieces;
static uint8_t arena[ARENA_SIZE], out[ROOM];

static const struct sample *other_than(size_t i)
{
    return &corpus[(i * 7 + 3) % corpus_size];
}

/* A dump that is split and joined again is the same. */
static void split_and_join_are_inverse(void **state)
{
    size_t same = 0, dumps = 0;

    (void)state;
    pieces.arena = arena;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *b = &corpus[i].bytes;

        if (b->size > ROOM || !split(&pieces, b->at, b->size))
            continue;
        size_t size = join(&pieces, out, ROOM);

        assert_int_equal(size, b->size);
        dumps++;
        same += memcmp(out, b->at, size) == 0;
    }
    assert_true(dumps > 700);
    assert_int_equal(same, dumps);
}

/* Whether the pieces have five sub-records, of three kinds. */
static bool are_rich(const struct pieces *p)
{
    bool seen[256] = {false};
    size_t subrecords = 0, kinds = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i].kind != PIECE_SUBRECORD)
            continue;
        subrecords++;
        kinds += !seen[p->list[i].bytes[0]];
        seen[p->list[i].bytes[0]] = true;
    }
    return subrecords >= 5 && kinds >= 3;
}

static void mutants_stay_dumps(void **state)
{
    size_t mutants = 0, whole = 0, changed = 0, rich = 0;

    (void)state;
    pieces.arena = arena;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *b = &corpus[i].bytes, *o = &other_than(i)->bytes;

        if (strncmp(corpus[i].name, "corpus/valid/", 13) != 0 || !split(&pieces, b->at, b->size))
            continue;
        for (uint64_t seed = 0; seed < MUTANTS; seed++) {
            size_t size = mutate_dump(b->at, b->size, o->at, o->size, out, ROOM, seed);
            bool lengths_right = true;

            mutants++;
            changed += size != b->size || memcmp(out, b->at, size) != 0;
            if (!split(&pieces, out, size))
                continue;
            for (size_t p = 0; p < pieces.count; p++)
                lengths_right &=
                    !pieces.list[p].keep_length && pieces.list[p].kind != PIECE_RAW && pieces.list[p].kind != PIECE_REST;
            whole += lengths_right;
            rich += are_rich(&pieces);
        }
    }
    print_message("%zu mutants: %zu are changed, %zu lead from record to record, %zu have sub-records of several kinds\n",
                  mutants, changed, whole, rich);
    assert_true(mutants > 5000);
    assert_true(changed > mutants * 8 / 10);
    assert_true(whole > mutants / 2);
    assert_true(rich > mutants / 2);
}

static void the_seed_decides(void **state)
{
    static uint8_t again[ROOM];
    const struct bytes *b = &corpus[0].bytes, *o = &corpus[1].bytes;
    unsigned different = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t size = mutate_dump(b->at, b->size, o->at, o->size, out, ROOM, seed);

        assert_int_equal(mutate_dump(b->at, b->size, o->at, o->size, again, ROOM, seed), size);
        assert_memory_equal(out, again, size);
        size = mutate_dump(b->at, b->size, o->at, o->size, again, ROOM, seed + 1000);
        different += memcmp(out, again, size) != 0;
    }
    assert_true(different > 150);
}

/* Of just the size of the room: a write past it is seen by the sanitizers. */
static void any_room_will_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i += 5)
        for (uint64_t seed = 0; seed < 20; seed++) {
            const struct bytes *b = &corpus[i].bytes;
            size_t room = (size_t)(seed * 31 % (b->size + 20)) + 1, cut = (size_t)(seed * 17) % (b->size + 1);
            uint8_t *small = malloc(room);

            assert_non_null(small);
            assert_true(mutate_dump(b->at, cut, b->at, b->size, small, room, seed) <= room);
            free(small);
        }
}

static void gzip_is_packed_and_repaired(void **state)
{
    static uint8_t packed[2 * ROOM], plain[ROOM];
    struct dice dice = {1};

    (void)state;
    for (size_t i = 0; i < corpus_size; i += 9) {
        const struct bytes *b = &corpus[i].bytes;

        if (is_gzip(b->at, b->size) || b->size > ROOM)
            continue;
        size_t size = pack_gzip(b->at, b->size, packed, sizeof packed, &dice);

        assert_int_equal(unpack_gzip(packed, size, plain, sizeof plain), b->size);
        assert_memory_equal(plain, b->at, b->size);
        memcpy(out, packed, size);
        out[size - 1] ^= 0x55;
        out[size - 6] ^= 0x55;
        assert_int_equal(repair_gzip(out, size), size);
        assert_memory_equal(out, packed, size);
    }
}

static int count_finding(void *context, const struct hprof_finding *finding)
{
    (void)finding;
    ++*(size_t *)context;
    return 0;
}

static size_t count_findings(const uint8_t *dump, size_t size)
{
    struct hprof_options options;
    size_t n = 0;

    hprof_options_init(&options);
    options.on_finding = count_finding;
    options.context = &n;
    (void)hprof_validate_memory(dump, size, false, &options, NULL);
    return n;
}

/* The faults of the generator: most of them fit into some dump, and each gives a finding. */
static void dumps_are_broken(void **state)
{
    struct dice dice = {1};
    size_t broken = 0, reported = 0;

    (void)state;
    if (!break_dump)
        skip();
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *b = &corpus[i].bytes;

        if (strncmp(corpus[i].name, "corpus/valid/", 13) != 0)
            continue;
        for (unsigned n = 0; n < MUTANTS; n++) {
            size_t size = break_dump(b->at, b->size, out, ROOM, &dice);

            if (!size)
                continue;
            broken++;
            reported += count_findings(out, size) > 0;
        }
    }
    print_message("%zu dumps were broken, and %zu have findings\n", broken, reported);
    assert_true(broken > 1000);
    assert_true(reported > broken * 9 / 10); /* strict does not report what it switches off */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_and_join_are_inverse), cmocka_unit_test(mutants_stay_dumps),
        cmocka_unit_test(dumps_are_broken),           cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(any_room_will_do),           cmocka_unit_test(gzip_is_packed_and_repaired),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
