/* Random bytes, the same in every run, plain or compressed; and streams opened on them, which are read to the end or at
 * random and must release all their memory. */
#ifndef HPROF_TESTS_INPUTS_H
#define HPROF_TESTS_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "caller.h"
#include "dice.h"
#include "dump.h"
#include "input/input.h"

/* ---- Bytes, random but the same in every run -------------------------------------------------------------------- */

/* Compresses about as well as a heap dump: runs, repeats and noise. */
static inline struct bytes random_bytes(size_t size)
{
    struct bytes b = {malloc(size + 1), 0, size + 1};

    while (b.size < size) {
        size_t n = 1 + below(300);
        uint32_t kind = below(3), distance = 1 + below(40000);

        for (; n > 0 && b.size < size; n--, b.size++) {
            if (kind == 0 || b.size < distance)
                b.at[b.size] = (uint8_t)below(256);
            else
                b.at[b.size] = kind == 1 ? b.at[b.size - distance] : 0;
        }
    }
    return b;
}

/* ---- gzip files ------------------------------------------------------------------------------------------------- */

struct member_options {
    int level;
    int strategy;
    const char *comment;
    const char *name;
    unsigned extra_size; /* up to 100 */
    bool header_crc;
};

static inline void append_member(struct bytes *file, const uint8_t *data, size_t size, const struct member_options *options)
{
    static uint8_t extra[100];
    gz_header header = {.comment = (Bytef *)(uintptr_t)options->comment,
                        .name = (Bytef *)(uintptr_t)options->name,
                        .extra = options->extra_size ? extra : NULL,
                        .extra_len = options->extra_size,
                        .hcrc = options->header_crc,
                        .os = 3};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    uint8_t block[5000];
    int result;

    assert_int_equal(deflateInit2(&z, options->level, Z_DEFLATED, 31, 8, options->strategy), Z_OK);
    assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
    do {
        z.next_out = block;
        z.avail_out = sizeof block;
        result = deflate(&z, Z_FINISH);
        append(file, block, sizeof block - z.avail_out);
    } while (result == Z_OK);
    assert_int_equal(result, Z_STREAM_END);
    deflateEnd(&z);
}

static inline void append_random_member(struct bytes *file, const uint8_t *data, size_t size)
{
    static const int levels[] = {0, 1, 6}, strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY};
    struct member_options options = {.level = levels[below(3)],
                                     .strategy = strategies[below(3)],
                                     .comment = below(4) ? NULL : "HPROF BLOCKSIZE=1048576",
                                     .name = below(4) ? NULL : "heap.hprof",
                                     .extra_size = below(4) ? 0 : below(100),
                                     .header_crc = below(3) == 0};

    append_member(file, data, size, &options);
}

/* Members of up to `largest` bytes each; some are empty. */
static inline struct bytes compress_in_members(const struct bytes *data, uint32_t largest)
{
    struct bytes file = {0};
    size_t at = 0;

    append_random_member(&file, data->at, 0);
    while (at < data->size) {
        size_t size = below(5) ? below(largest + 1) : 0;

        if (size > data->size - at)
            size = data->size - at;
        append_random_member(&file, data->at + at, size);
        at += size;
    }
    return file;
}

static inline struct bytes one_member(const char *text)
{
    static const struct member_options plain = {.level = 6};
    struct bytes file = {0};

    append_member(&file, (const uint8_t *)text, strlen(text), &plain);
    return file;
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

struct findings {
    size_t count;
    struct gzip_finding list[8];
};

static inline void listen(void *context, const struct gzip_finding *finding)
{
    struct findings *f = context;

    if (f->count < sizeof f->list / sizeof f->list[0])
        f->list[f->count] = *finding;
    f->count++;
}

struct stream {
    struct input in;
    struct memory memory;
    struct caller caller;
    struct findings findings;
};

static inline struct stream *new_stream(void)
{
    struct stream *s = calloc(1, sizeof *s);
    struct hprof_allocator allocator;

    assert_non_null(s);
    s->caller.left = UINT64_MAX;
    allocator = caller_allocator(&s->caller);
    memory_init(&s->memory, &allocator, 0);
    return s;
}

static inline struct stream *open_without_thread(struct input_source source, size_t block)
{
    struct stream *s = new_stream();

    assert_true(input_open(&s->in, source, block, &usual_sizes, &s->memory, listen, &s->findings));
    return s;
}

/* Every other stream may have a thread that reads ahead, and nothing shows which. */
static inline struct stream *open_source(struct input_source source, size_t block)
{
    struct stream *s = open_without_thread(source, block);

    if (below(2))
        input_allow_threads(&s->in, 2);
    return s;
}

static inline void close_stream(struct stream *s)
{
    input_close(&s->in);
    assert_true(caller_has_all_back(&s->caller));
    free(s);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static inline void expect_all(struct stream *s, const uint8_t *bytes, size_t size)
{
    size_t at = 0, n;

    while ((n = input_need(&s->in, 1)) > 0) {
        assert_true(n <= size - at);
        assert_memory_equal(s->in.at, bytes + at, n);
        input_advance(&s->in, n);
        at += n;
        assert_int_equal(s->in.offset, at);
    }
    assert_int_equal(at, size);
    assert_true(s->in.ended);
    assert_int_equal(s->in.error, 0);
}

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Mostly small, sometimes more than the size. */
static inline size_t random_length(size_t size)
{
    switch (below(8)) {
    case 0:
        return below((uint32_t)size + 2);
    case 1:
        return below((uint32_t)size / 10 + 2);
    default:
        return below(100);
    }
}

/* Random operations, compared with `data` and an offset. */
static inline void walk(struct stream *s, const struct bytes *data, int steps)
{
    struct input *in = &s->in;
    size_t at = (size_t)in->offset;

    while (steps-- > 0) {
        size_t n = random_length(data->size), rest = data->size - at, have;

        if (below(5) == 0)
            input_keep(in, at - below((uint32_t)smaller(at, 50) + 1));
        switch (below(input_can_reread(in) ? 4 : 3)) {
        case 0:
            have = input_need(in, n);
            assert_true(have >= smaller(n, rest) && have <= rest);
            assert_memory_equal(in->at, data->at + at, have);
            break;
        case 1:
            have = smaller(n, input_need(in, n));
            assert_memory_equal(in->at, data->at + at, have);
            input_advance(in, have);
            at += have;
            break;
        case 2:
            if (below(10) == 0)
                n += data->size;
            assert_int_equal(input_skip(in, n), smaller(n, rest));
            at += smaller(n, rest);
            break;
        default:
            at = below((uint32_t)data->size + 1);
            if (below(10) == 0) {
                assert_false(input_seek(in, data->size + 1 + below(1000)));
                at = data->size;
            } else {
                assert_true(input_seek(in, at));
            }
        }
        assert_int_equal(in->offset, at);
        assert_int_equal(in->error, 0);
    }
    assert_int_equal(s->findings.count, 0);
}

static const size_t blocks[] = {2, 3, 7, 61, 1000, 4096, 65536, INPUT_BLOCK};
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

#endif
