/* See sizes.h. */
#include "sizes.h"

#include "hash.h"

uint64_t seed_from(const uint8_t *data, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    add_to_hash(&hash, data, size);
    return hash;
}

/* From the least to the usual; each power of two is as likely as any other. A large input has no more than some thousand parts,
 * so that it does not take long; what has a small usual value is a number, not bytes. */
static uint32_t draw_size(struct dice *dice, size_t input, uint32_t usual, uint32_t least)
{
    enum { PARTS = 4096 };
    unsigned doublings = 0;
    uint64_t size;

    if (usual >= PARTS && least < input / PARTS)
        least = (uint32_t)(input / PARTS);
    if (usual <= least)
        return 0;
    if (one_in(dice, 2))
        return 0;
    while ((uint64_t)least << doublings < usual)
        doublings++;
    size = (uint64_t)least << below(dice, doublings + 1);
    size += below(dice, size);
    return size < usual ? (uint32_t)size : usual;
}

void draw_sizes(struct hprof_testing *testing, struct dice *dice, size_t size)
{
#define DRAW(name, usual, least) testing->name = draw_size(dice, size, usual, least);
    HPROF_SIZES(DRAW)
}

void draw_limits(struct hprof_testing *testing, struct dice *dice, size_t size)
{
    HPROF_LIMITS(DRAW)
#undef DRAW
}
