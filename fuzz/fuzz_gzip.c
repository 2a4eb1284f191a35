/* Raw bytes into the decompressing input. What comes out is what zlib makes of the same members, up to the first fault; the
 * stream is the same in blocks of any size, from a file and from a pipe, after seeking, and each fault is reported once. */
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "gzip.h"
#include "input/input.h"
#include "target.h"

enum { FAULTS_MAX = 1024, SEEKS = 4 };

struct stream {
    struct input in;
    struct memory memory;
    struct allocator allocator;
    struct gzip_finding faults[FAULTS_MAX];
    size_t fault_count;
    uint8_t *bytes;
    size_t size, capacity;
};

static void on_fault(void *context, const struct gzip_finding *finding)
{
    struct stream *s = context;

    if (s->fault_count < FAULTS_MAX)
        s->faults[s->fault_count] = *finding;
    s->fault_count++;
}

static bool open_stream(struct stream *s, const uint8_t *file, size_t size, size_t block, bool as_pipe)
{
    struct hprof_allocator allocator;

    s->allocator = (struct allocator){.left = UINT64_MAX, .junk = 0xa5};
    allocator = allocator_for(&s->allocator);
    memory_init(&s->memory, &allocator, 0);
    s->fault_count = s->size = 0;
    return input_open(&s->in, source_of_memory(file, size, as_pipe), block, &s->memory, on_fault, s);
}

static void close_stream(struct stream *s)
{
    input_close(&s->in);
    expect_no_leak(&s->allocator);
}

static void keep(struct stream *s, const uint8_t *bytes, size_t n)
{
    if (n > s->capacity - s->size) {
        s->capacity = 2 * (s->capacity + n);
        s->bytes = realloc(s->bytes, s->capacity);
        if (!s->bytes)
            fail_target("no memory for the stream");
    }
    memcpy(s->bytes + s->size, bytes, n);
    s->size += n;
}

static void read_all(struct stream *s)
{
    size_t n;

    while ((n = input_need(&s->in, 1)) > 0) {
        if (s->in.offset != s->size)
            fail_target("offset %llu after %zu bytes", (unsigned long long)s->in.offset, s->size);
        keep(s, s->in.at, n);
        input_advance(&s->in, n);
    }
    if (s->in.error)
        fail_target("error %d while memory is read", s->in.error);
}

static void compare(const struct stream *a, const struct stream *b, const char *what)
{
    if (a->size != b->size || (a->size && memcmp(a->bytes, b->bytes, a->size) != 0))
        fail_target("%s: %zu bytes came and %zu, or others", what, a->size, b->size);
    if (a->fault_count != b->fault_count)
        fail_target("%s: %zu faults and %zu", what, a->fault_count, b->fault_count);
    for (size_t i = 0; i < a->fault_count && i < FAULTS_MAX; i++) {
        const struct gzip_finding *f = &a->faults[i], *g = &b->faults[i];

        /* Of gzip within gzip as much is inflated as there was room for; nothing of it comes out. */
        bool same_end = f->end == g->end || f->fault == GZIP_NESTED;

        if (!same_end || f->fault != g->fault || f->member != g->member || f->offset != g->offset || f->start != g->start ||
            strcmp(f->expected, g->expected) != 0 || strcmp(f->found, g->found) != 0)
            fail_target("%s: fault %zu is GZ-00%d at 0x%llx and GZ-00%d at 0x%llx, or its text differs", what, i, f->fault,
                        (unsigned long long)f->offset, g->fault, (unsigned long long)g->offset);
    }
}

static bool is_nested(const struct stream *s)
{
    for (size_t i = 0; i < s->fault_count && i < FAULTS_MAX; i++)
        if (s->faults[i].fault == GZIP_NESTED)
            return true;
    return false;
}

/* Goes to places of a file and reads there. */
static void seek_around(struct stream *s, const struct stream *expected, uint32_t bits)
{
    size_t faults = s->fault_count;

    for (int i = 0; i < SEEKS && expected->size; i++) {
        size_t to = draw(&bits, 97) * expected->size / 97, n = 1 + draw(&bits, 40);

        input_keep(&s->in, to);
        if (!input_seek(&s->in, to))
            fail_target("offset %zu of %zu bytes cannot be gone to", to, expected->size);
        size_t have = input_need(&s->in, n);

        if (have > expected->size - to || (have < n && have != expected->size - to))
            fail_target("%zu bytes at %zu of %zu", have, to, expected->size);
        if (memcmp(s->in.at, expected->bytes + to, have) != 0)
            fail_target("other bytes at %zu after seeking", to);
    }
    if (s->fault_count != faults)
        fail_target("a fault is reported again when its bytes are read again");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct stream whole, blocks, pipe;
    static uint8_t plain[GZIP_PLAIN_MAX];
    const uint8_t *file = copy_to_guard_page(data, size);
    uint32_t bits = drawn_bits(data, size) + (uint32_t)size * UINT32_C(0x9E3779B1); /* most seeds have a time of 0 */

    if (!is_gzip(data, size))
        return -1; /* nothing is decompressed: not kept as a seed */
    if (!open_stream(&whole, file, size, INPUT_BLOCK, false))
        fail_target("memory cannot be opened");
    read_all(&whole);
    bool refused_code, accepted = zlib_accepts(file, size, &refused_code);
    bool is_laxer = refused_code && whole.fault_count == 0; /* see gunzip.c */

    if (accepted != (whole.fault_count == 0) && !is_laxer && !is_nested(&whole)) /* GZ-007 is no rule of zlib's */
        fail_target("%zu faults; zlib %s", whole.fault_count, accepted ? "accepts the file" : "finds some");
    if (accepted && whole.fault_count == 0) {
        size_t n = unpack_gzip(file, size, plain, sizeof plain);

        if (n < sizeof plain && (n != whole.size || (n && memcmp(plain, whole.bytes, n) != 0)))
            fail_target("%zu bytes without a fault; zlib makes %zu of them, or others", whole.size, n);
    }
    if (!open_stream(&blocks, file, size, 2 + draw(&bits, 600), false))
        fail_target("memory cannot be opened in blocks");
    read_all(&blocks);
    compare(&whole, &blocks, "one block, small blocks");
    if (!is_nested(&whole)) /* which counts as empty, and cannot be read again */
        seek_around(&blocks, &whole, bits);
    close_stream(&blocks);

    if (!open_stream(&pipe, file, size, 2 + draw(&bits, 600), true))
        fail_target("a pipe cannot be opened");
    read_all(&pipe);
    compare(&whole, &pipe, "a file, a pipe");
    close_stream(&pipe);
    close_stream(&whole);
    return 0;
}
