/* Whether a gzip member begins at some bytes, found by inflating a little: also where one of the ten fixed bytes of its header is
 * wrong. */
#ifndef HPROF_GZIP_TRIAL_H
#define HPROF_GZIP_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

enum {
    GZIP_TRIAL_SIGHT = 64 << 10,   /* bytes of a member that a trial needs at most, and that it makes */
    GZIP_TRIAL_ENOUGH = 256 << 10, /* a budget for one member */
};

struct gzip_trial;

/* `budget` bounds what trials read and make together: there is none after it is spent. NULL: no memory. */
struct gzip_trial *gzip_trial_new(struct memory *memory, uint64_t budget);
void gzip_trial_delete(struct gzip_trial *t, struct memory *memory);

/* Whether the budget is left. */
bool gzip_may_try(const struct gzip_trial *t);

/* Whether a trial may succeed, by the fixed bytes; and if one of them is wrong. */
bool gzip_may_begin(const uint8_t *p, size_t n);
bool gzip_may_be_wrong(const uint8_t *p, size_t n);

/* What is made of a member's first bytes. */
struct gzip_made {
    size_t data; /* the offset of its data; 0 if no member begins here */
    const uint8_t *bytes;
    size_t size; /* until the next trial */
};

/* A member that begins at p, where n bytes are. */
struct gzip_made gzip_try(struct gzip_trial *t, const uint8_t *p, size_t n);
/* The same if one of the fixed bytes is wrong. */
struct gzip_made gzip_try_wrong(struct gzip_trial *t, const uint8_t *p, size_t n);

#endif
