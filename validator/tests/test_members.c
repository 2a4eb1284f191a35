/* members.h: what is inflated ahead is what each member holds, and most members are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <zlib.h>

#include "dice.h"
#include "input/members.h"

enum { MEMBERS = 60, PIECE = 64 << 10, SIZE_MOST = 40 << 10, TRIALS = 20 };

struct file {
    uint8_t *bytes;
    size_t size;
    uint64_t offsets[MEMBERS];
    uint8_t *content[MEMBERS];
    size_t sizes[MEMBERS];
};

/* Little compressible, so that a member takes about as much as it holds. Bytes like those of a header are in it. */
static void make(struct file *f)
{
    f->bytes = malloc(MEMBERS * (SIZE_MOST + 1000));
    f->size = 0;
    for (unsigned i = 0; i < MEMBERS; i++) {
        z_stream z = {0};
        gz_header header = {0};

        f->offsets[i] = f->size;
        f->sizes[i] = 1 + below(SIZE_MOST);
        f->content[i] = malloc(f->sizes[i]);
        for (size_t j = 0; j < f->sizes[i]; j++)
            f->content[i][j] = below(40) ? (uint8_t)throw_dice() : 0x1f;
        assert_int_equal(deflateInit2(&z, 1 + (int)below(9), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        header.comment = below(2) ? (Bytef *)"HPROF BLOCKSIZE=1048576" : NULL;
        header.name = below(4) ? NULL : (Bytef *)"dump.hprof";
        deflateSetHeader(&z, &header);
        z.next_in = f->content[i];
        z.avail_in = (uInt)f->sizes[i];
        z.next_out = f->bytes + f->size;
        z.avail_out = SIZE_MOST + 1000;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        f->size += z.total_out;
        deflateEnd(&z);
    }
}

static void forget(struct file *f)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        free(f->content[i]);
    free(f->bytes);
}

/* How many members were there when they were wanted. `is_damaged` says of which the trailer is wrong. */
static unsigned find_all(const struct file *f, unsigned first, const bool *is_damaged)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    struct input_source source = source_of_memory(f->bytes, f->size, false);
    struct memory memory;
    struct members *members;
    unsigned count = 0;

    memory_init(&memory, NULL, 0);
    members = members_start(&memory, &source, f->offsets[first], PIECE, 2);
    assert_non_null(members);
    for (unsigned i = first; i < MEMBERS; i++) {
        uint64_t end = i + 1 < MEMBERS ? f->offsets[i + 1] : f->size;
        const struct member *found;

        nanosleep(&moment, NULL);
        found = members_find(members, f->offsets[i]);
        if (!found)
            continue;
        assert_false(is_damaged && is_damaged[i]);
        count++;
        assert_true(found->offset == f->offsets[i] && found->data >= f->offsets[i] + 10 && found->end == end - 8);
        assert_int_equal(found->size, f->sizes[i]);
        assert_memory_equal(found->bytes, f->content[i], f->sizes[i]);
        assert_int_equal(found->crc, crc32(0, f->content[i], (uInt)f->sizes[i]));
        assert_null(members_find(members, f->offsets[i] + 1));
    }
    members_stop(members);
    assert_int_equal(memory.used, 0);
    return count;
}

static void most_members_are_inflated_ahead(void **state)
{
    unsigned first, best = 0;
    struct file f;

    (void)state;
    shake_dice();
    first = below(MEMBERS / 2);
    make(&f);
    for (unsigned i = 0; i < TRIALS && best < (MEMBERS - first) * 9 / 10; i++) { /* on a busy machine the reader is faster */
        unsigned found = find_all(&f, first, NULL);

        best = found > best ? found : best;
    }
    assert_in_range(best, (MEMBERS - first) * 9 / 10, MEMBERS - first);
    forget(&f);
}

/* A member is only given if it is right by checksum and size. */
static void a_damaged_member_is_not_given(void **state)
{
    bool is_damaged[MEMBERS];
    struct file f;

    (void)state;
    make(&f);
    for (unsigned i = 0; i < MEMBERS; i++) {
        uint64_t end = i + 1 < MEMBERS ? f.offsets[i + 1] : f.size;

        is_damaged[i] = !below(3);
        if (is_damaged[i])
            f.bytes[end - 1 - below(8)] ^= (uint8_t)(1 << below(8));
    }
    assert_true(find_all(&f, 0, is_damaged) > 0);
    forget(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_members_are_inflated_ahead),
        cmocka_unit_test(a_damaged_member_is_not_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
