/* Dumps that the generator makes in memory, with options drawn from the bytes of an input. */
#ifndef HPROF_FUZZ_MADE_DUMP_H
#define HPROF_FUZZ_MADE_DUMP_H

#include "generate.h"

/* The bytes of an input, taken one by one; zeros after the end. */
struct drawer {
    const uint8_t *at, *end;
};

static inline uint64_t draw_byte(struct drawer *d)
{
    return d->at < d->end ? *d->at++ : 0;
}

/* Below n, at most 2^16. */
static inline uint64_t draw_below(struct drawer *d, uint64_t n)
{
    uint64_t high = draw_byte(d);

    return (high << 8 | draw_byte(d)) % n;
}

/* Options of small dumps of any kind. */
struct generate_request draw_request(struct drawer *d);

struct made_dump {
    struct bytes sink; /* the first member: see bytes.h */
    uint8_t *at;
    size_t size, capacity;
    bool is_full; /* the generator failed, because the dump is too long */
};

/* Runs the generator. `dump` and `generated` start as zeros. The next call reuses the memory of `dump`. Fails the target if the
 * generator refuses without a sentence, has no memory, or fails, unless the dump is too long or is a copy (request->from). */
enum generate_status make_dump(const struct generate_request *request, struct made_dump *dump, struct generated *generated);

#endif
