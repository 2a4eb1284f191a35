/* Raw bytes into the decompressing input. Up to the first fault, what comes out is what zlib makes of the same members, and zlib
 * finds the same fault at the same place; the stream is the same in blocks of any size, from a file and from a pipe, after
 * seeking, and each fault is reported once. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "allocator.h"
#include "dice.h"
#include "gzip.h"
#include "input/input.h"
#include "target.h"

enum { FAULTS_MAX = 1024, SEEKS = 4, TRAILER_SIZE = 8, LONGEST_MATCH = 258 };

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
    return input_open(&s->in, source_of_memory(file, size, as_pipe), block, &usual_sizes, &s->memory, on_fault, s);
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

static bool has_fault(const struct stream *s, enum gzip_fault fault)
{
    for (size_t i = 0; i < s->fault_count && i < FAULTS_MAX; i++)
        if (s->faults[i].fault == fault)
            return true;
    return false;
}

/* The number of bytes that may be missing before a fault. ISA-L decodes several literals at once. Whether it decodes the last
 * symbol of truncated data depends on where a block ends. */
static uint64_t uncertain_bytes(enum gzip_fault fault)
{
    return fault == GZIP_TRUNCATED ? LONGEST_MATCH : 0;
}

static uint64_t uncertain_at_end(const struct stream *s)
{
    return has_fault(s, GZIP_TRUNCATED) ? uncertain_bytes(GZIP_TRUNCATED) : 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

static void compare(const struct stream *a, const struct stream *b, const char *what)
{
    size_t both = a->size < b->size ? a->size : b->size;

    if (distance(a->size, b->size) > uncertain_at_end(a) || (both && memcmp(a->bytes, b->bytes, both) != 0))
        fail_target("%s: %zu bytes came and %zu, or others", what, a->size, b->size);
    if (a->fault_count != b->fault_count)
        fail_target("%s: %zu faults and %zu", what, a->fault_count, b->fault_count);
    for (size_t i = 0; i < a->fault_count && i < FAULTS_MAX; i++) {
        const struct gzip_finding *f = &a->faults[i], *g = &b->faults[i];

        /* The size of the buffer decides how much of gzip within gzip is inflated. None of it comes out. */
        bool same_end = distance(f->end, g->end) <= uncertain_bytes(f->fault) || f->fault == GZIP_NESTED;

        if (!same_end || f->fault != g->fault || f->member != g->member || f->offset != g->offset || f->start != g->start ||
            strcmp(f->expected, g->expected) != 0 || strcmp(f->found, g->found) != 0)
            fail_target("%s: fault %zu is GZ-00%d at 0x%llx and GZ-00%d at 0x%llx, or its text differs", what, i, f->fault,
                        (unsigned long long)f->offset, g->fault, (unsigned long long)g->offset);
    }
}

/* Goes to places of a file and reads there. */
static void seek_around(struct stream *s, const struct stream *expected, struct dice *dice)
{
    size_t faults = s->fault_count, uncertain = uncertain_at_end(expected);
    size_t certain = expected->size < uncertain ? 0 : expected->size - uncertain;

    for (int i = 0; i < SEEKS && certain; i++) {
        size_t to = (size_t)below(dice, certain), n = 1 + (size_t)below(dice, 40), rest = certain - to;

        input_keep(&s->in, to);
        if (!input_seek(&s->in, to))
            fail_target("cannot seek to offset %zu of %zu bytes", to, expected->size);
        size_t have = input_need(&s->in, n);

        if (have < (n < rest ? n : rest) || have > rest + 2 * uncertain)
            fail_target("%zu bytes at %zu of %zu", have, to, expected->size);
        if (memcmp(s->in.at, expected->bytes + to, have < rest ? have : rest) != 0)
            fail_target("other bytes at %zu after seeking", to);
    }
    if (s->fault_count != faults)
        fail_target("a fault is reported again when its bytes are read again");
}

/* ---- What zlib makes of the file, up to its first fault ---- */

struct zlib_view {
    enum gzip_fault fault;
    uint64_t member;    /* from 1, the one with the fault */
    size_t at, until;   /* where the fault is; for GZIP_DATA at least `at`, and before `until` */
    uint64_t size;      /* decompressed, up to the fault */
    bool code_is_usual; /* false if zlib refuses a code that others take: see gunzip.c */
    bool cannot_go_on;  /* of GZIP_TRUNCATED: what zlib has read so far cannot become valid, so others may find GZIP_DATA */
};

static uint8_t zlib_plain[GZIP_PLAIN_MAX]; /* the first of the decompressed bytes */

static bool is_zeros(const uint8_t *p, size_t n)
{
    while (n && !*p) {
        p++;
        n--;
    }
    return !n;
}

/* What inflate() refused after `used` bytes of the file. */
static void name_fault(struct zlib_view *view, const char *because, size_t member_at, size_t used)
{
    static const struct {
        const char *because;
        enum gzip_fault fault;
        size_t back; /* from the last byte that was read to the field at fault */
    } faults[] = {{"unknown compression method", GZIP_HEADER, 2},
                  {"unknown header flags set", GZIP_HEADER, 1},
                  {"header crc mismatch", GZIP_HEADER, 2},
                  {"incorrect data check", GZIP_CHECKSUM, 4},
                  {"incorrect length check", GZIP_SIZE, 4}};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(because, faults[i].because) == 0) {
            view->fault = faults[i].fault;
            view->at = used - faults[i].back;
            return;
        }
    view->fault = GZIP_DATA;
    view->at = member_at;
    view->until = used;
    view->code_is_usual = !strstr(because, " set"); /* "invalid distances set" and the like */
}

/* Whether zlib, at the end of its input, refuses each of four different continuations. */
static bool refuses_all(z_stream *at_end)
{
    static uint8_t next[512], room[1 << 16];
    static const uint8_t fillings[] = {0x00, 0x55, 0xaa, 0xff};
    bool refuses = true;

    for (size_t i = 0; refuses && i < sizeof fillings; i++) {
        z_stream z;
        int result = inflateCopy(&z, at_end);

        if (result != Z_OK)
            fail_target("zlib has no memory");
        memset(next, fillings[i], sizeof next);
        z.next_in = next;
        z.avail_in = sizeof next;
        do {
            z.next_out = room;
            z.avail_out = sizeof room;
            result = inflate(&z, Z_NO_FLUSH);
        } while (result == Z_OK);
        refuses = result == Z_DATA_ERROR;
        inflateEnd(&z);
    }
    return refuses;
}

static void read_with_zlib(const uint8_t *file, size_t size, struct zlib_view *view)
{
    static uint8_t more[1 << 16];
    z_stream z = {.next_in = (Bytef *)(uintptr_t)file, .avail_in = (uInt)size};
    size_t member_at = 0, kept = 0;
    int result = Z_OK;

    *view = (struct zlib_view){.member = 1, .code_is_usual = true};
    if (inflateInit2(&z, 16 + 15) != Z_OK)
        fail_target("zlib has no memory");
    while (result == Z_OK) {
        bool is_full = kept == sizeof zlib_plain;

        z.next_out = is_full ? more : zlib_plain + kept;
        z.avail_out = (uInt)(is_full ? sizeof more : sizeof zlib_plain - kept);
        uInt room = z.avail_out;

        result = inflate(&z, Z_NO_FLUSH);
        view->size += room - z.avail_out;
        kept += is_full ? 0 : room - z.avail_out;
        size_t used = size - z.avail_in;

        if (result == Z_STREAM_END) {
            view->at = used;
            if (!z.avail_in)
                break;
            if (!is_gzip(z.next_in, z.avail_in)) {
                view->member++;
                view->fault = is_zeros(z.next_in, z.avail_in) ? GZIP_ZEROS : GZIP_TRAILING;
                break;
            }
            member_at = used;
            view->member++;
            result = inflateReset(&z);
        } else if (result == Z_BUF_ERROR) {
            bool ends_at_method = size - member_at == 3; /* which zlib reads together with the flags */

            view->fault = ends_at_method && file[size - 1] != Z_DEFLATED ? GZIP_HEADER : GZIP_TRUNCATED;
            view->at = view->fault == GZIP_HEADER ? size - 1 : member_at;
            view->cannot_go_on = refuses_all(&z);
        } else if (result != Z_OK) {
            name_fault(view, z.msg ? z.msg : "", member_at, used);
            if (view->fault == GZIP_CHECKSUM && size - view->at < TRAILER_SIZE) { /* zlib does not wait for the rest */
                view->fault = GZIP_TRUNCATED;
                view->at = member_at;
            }
        }
    }
    inflateEnd(&z);
}

static void expect_view(const struct stream *s, const struct zlib_view *view)
{
    const struct gzip_finding none = {.fault = GZIP_VALID, .member = view->member, .offset = view->at, .end = s->size};
    const struct gzip_finding *first = s->fault_count ? &s->faults[0] : &none;
    uint64_t n = view->size < sizeof zlib_plain ? view->size : sizeof zlib_plain;

    if (!view->code_is_usual || (view->cannot_go_on && first->fault == GZIP_DATA))
        return; /* another inflater may fail later, earlier, or not at all */
    if (first->fault != view->fault || first->member != view->member)
        fail_target("GZ-00%d in member %llu first, by zlib GZ-00%d in member %llu", first->fault,
                    (unsigned long long)first->member, view->fault, (unsigned long long)view->member);
    if (view->fault == GZIP_DATA ? first->offset < view->at || first->offset >= view->until : first->offset != view->at)
        fail_target("GZ-00%d at 0x%llx, by zlib at 0x%zx", first->fault, (unsigned long long)first->offset, view->at);
    /* ISA-L may leave the last symbol before a fault. */
    bool is_within = view->fault == GZIP_DATA || view->fault == GZIP_TRUNCATED;

    if (view->size - first->end > (is_within ? LONGEST_MATCH : 0))
        fail_target("%llu bytes before GZ-00%d, by zlib %llu", (unsigned long long)first->end, first->fault,
                    (unsigned long long)view->size);
    n = n < first->end ? n : first->end;
    if (n > s->size || (n && memcmp(s->bytes, zlib_plain, n) != 0))
        fail_target("%zu bytes came; zlib makes %llu, or others", s->size, (unsigned long long)n);
}

static size_t draw_block(struct dice *dice)
{
    return 2 + (size_t)below(dice, one_in(dice, 4) ? INPUT_BLOCK : 600);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct stream whole, blocks, pipe;
    struct zlib_view view;
    struct dice dice = {drawn_bits(data, size) + (uint64_t)size}; /* most seeds have a time of 0 */
    const uint8_t *file;

    if (!is_gzip(data, size))
        return -1; /* nothing is decompressed: not kept as a seed */
    file = copy_to_guard_page(data, size);
    if (!open_stream(&whole, file, size, INPUT_BLOCK, false))
        fail_target("memory cannot be opened");
    read_all(&whole);
    bool lacks_end = ends_in_zeros(data, size) && has_fault(&whole, GZIP_TRUNCATED);
    if (!has_fault(&whole, GZIP_NESTED) && !lacks_end) { /* GZ-007 is no rule of zlib's, which inflates the zeros */
        read_with_zlib(file, size, &view);
        expect_view(&whole, &view);
    }
    if (!open_stream(&blocks, file, size, draw_block(&dice), false))
        fail_target("memory cannot be opened in blocks");
    read_all(&blocks);
    compare(&whole, &blocks, "one block, small blocks");
    if (!has_fault(&whole, GZIP_NESTED)) /* which counts as empty, and cannot be read again */
        seek_around(&blocks, &whole, &dice);
    close_stream(&blocks);

    if (!open_stream(&pipe, file, size, draw_block(&dice), true))
        fail_target("a pipe cannot be opened");
    read_all(&pipe);
    if (!lacks_end)
        compare(&whole, &pipe, "a file, a pipe");
    close_stream(&pipe);
    close_stream(&whole);
    return 0;
}
