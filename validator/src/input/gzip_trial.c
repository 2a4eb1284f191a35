/* See gzip_trial.h. */
#include "input/gzip_trial.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <string.h>

#include "input/gzip_header.h"

enum {
    FIXED = 10,        /* bytes of a header */
    SETUP = 4 << 10,   /* what a trial spends in any case */
    LEAST = 64,        /* bytes that inflate: no others do by chance */
    TEXT_MOST = 1024,  /* bytes of a name or a comment */
    FLAG_SETS = 1 << 5 /* all flags but the reserved ones */
};

struct gzip_trial {
    struct inflate_state state;
    uint64_t budget;
    uint8_t made[GZIP_TRIAL_SIGHT];
};

struct gzip_trial *gzip_trial_new(struct memory *memory, uint64_t budget)
{
    struct gzip_trial *t = memory_get(memory, sizeof *t);

    if (t)
        t->budget = budget;
    return t;
}

void gzip_trial_delete(struct gzip_trial *t, struct memory *memory)
{
    memory_put(memory, t, sizeof *t);
}

/* The size of the header by flags; 0 if it is not all there. */
static size_t header_size(const uint8_t *p, size_t n, unsigned flags)
{
    size_t size = FIXED;

    if (flags & FEXTRA && size + 2 <= n)
        size += 2 + (size_t)(p[size] | p[size + 1] << 8);
    for (unsigned texts = (flags & FNAME ? 1U : 0) + (flags & FCOMMENT ? 1U : 0); texts; texts--) {
        const uint8_t *end = size < n ? memchr(p + size, 0, n - size < TEXT_MOST ? n - size : TEXT_MOST) : NULL;

        if (!end)
            return 0;
        size = (size_t)(end - p) + 1;
    }
    size += flags & FHCRC ? 2 : 0;
    return size < n ? size : 0;
}

static bool has_right_trailer(const struct gzip_made *made, const uint8_t *trailer)
{
    return crc32_gzip_refl(0, made->bytes, made->size) == get_u32_little(trailer) &&
           get_u32_little(trailer + 4) == (uint32_t)made->size;
}

/* Inflates the data of a member, which begins with p. `data` is 0 if it cannot be. */
static struct gzip_made try_data(struct gzip_trial *t, const uint8_t *p, size_t n, size_t data)
{
    struct inflate_state *state = &t->state;
    struct gzip_made made = {.data = data, .bytes = t->made};
    size_t size = n - data < GZIP_TRIAL_SIGHT ? n - data : GZIP_TRIAL_SIGHT, used;
    int result;

    if (t->budget < SETUP) {
        t->budget = 0;
        return (struct gzip_made){0};
    }
    isal_inflate_init(state);
    state->next_in = (uint8_t *)(p + data); /* not written to */
    state->avail_in = (uint32_t)size;
    state->next_out = t->made;
    state->avail_out = sizeof t->made;
    result = isal_inflate(state);
    made.size = (size_t)(state->next_out - t->made);
    used = size - state->avail_in - (size_t)(state->read_in_length / 8);
    t->budget -= SETUP;
    t->budget -= t->budget < used + made.size ? t->budget : used + made.size;
    if (result < 0)
        return (struct gzip_made){0};
    if (state->block_state != ISAL_BLOCK_FINISH)
        return used >= LEAST || !state->avail_out ? made : (struct gzip_made){0};
    return size - used >= TRAILER_SIZE && has_right_trailer(&made, p + data + used) ? made : (struct gzip_made){0};
}

bool gzip_may_try(const struct gzip_trial *t)
{
    return t->budget;
}

bool gzip_may_begin(const uint8_t *p, size_t n)
{
    return n >= FIXED && is_gzip_sign(p);
}

struct gzip_made gzip_try(struct gzip_trial *t, const uint8_t *p, size_t n)
{
    size_t data = gzip_may_begin(p, n) ? header_size(p, n, p[3]) : 0;

    return data ? try_data(t, p, n, data) : (struct gzip_made){0};
}

/* Which of the flags are right is not known: a header may be longer or shorter by them. */
static struct gzip_made try_flags(struct gzip_trial *t, const uint8_t *p, size_t n)
{
    struct gzip_made made = {0};
    size_t last = 0;

    for (unsigned flags = 0; flags < FLAG_SETS && !made.data; flags++) {
        size_t data = header_size(p, n, flags);

        if (data && data != last)
            made = try_data(t, p, n, data);
        last = data;
    }
    return made;
}

/* How many of the bytes before the flags are wrong. */
static unsigned count_wrong(const uint8_t *p)
{
    static const uint8_t right[] = {0x1f, 0x8b, DEFLATE_METHOD};
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof right; i++)
        wrong += p[i] != right[i];
    return wrong;
}

bool gzip_may_be_wrong(const uint8_t *p, size_t n)
{
    return n >= FIXED && (!count_wrong(p) || (count_wrong(p) == 1 && !(p[3] & RESERVED_FLAGS)));
}

struct gzip_made gzip_try_wrong(struct gzip_trial *t, const uint8_t *p, size_t n)
{
    size_t data;

    if (!gzip_may_be_wrong(p, n))
        return (struct gzip_made){0};
    if (!count_wrong(p))
        return try_flags(t, p, n);
    data = header_size(p, n, p[3]);
    return data ? try_data(t, p, n, data) : (struct gzip_made){0};
}
