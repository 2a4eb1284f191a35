/* See follows.h. */
#include "fit/follows.h"

/* The usual ones of 64-bit VMs first. */
static const struct heap_sizes known[FOLLOW_SIZES] = {
    {12, 16, 4}, /* compressed references */
    {8, 12, 4},  /* of 4 bytes, or compressed with compact headers */
    {12, 16, 8}, /* as with ZGC: classes are compressed alone */
    {8, 12, 8},  /* likewise with compact headers: an Object[] has a gap of 4 bytes */
    {16, 24, 8}, /* nothing is compressed, */
    {16, 20, 8}, /* and the gap before elements is used */
    {16, 24, 4}, /* classes are not compressed */
};

enum { ALIGNED = 8 };

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

void follows_see(struct follows *f, uint64_t id, bool is_array, uint64_t references, uint64_t bytes)
{
    for (unsigned i = 0; i < FOLLOW_SIZES; i++) {
        const struct heap_sizes *s = &known[i];

        f->counts[i] += id == f->ends[i];
        f->ends[i] = id + rounded((is_array ? s->array_header : s->header) + references * s->reference + bytes);
    }
}

uint64_t follows_most(const struct follows *f, struct heap_sizes *sizes)
{
    unsigned best = 0;

    for (unsigned i = 1; i < FOLLOW_SIZES; i++)
        best = f->counts[i] > f->counts[best] ? i : best;
    *sizes = known[best];
    return f->counts[best];
}
