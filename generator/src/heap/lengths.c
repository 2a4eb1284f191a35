/* See lengths.h. */
#include "heap/lengths.h"

#include "heap/model.h"
#include "stream/random.h"

#define ONE ((uint64_t)1 << 32)

/* The number of arrays in each part, of 2^LENGTH_HALVED_PARTS * 32. The last two parts have the same number. */
static uint64_t weight_of(unsigned part)
{
    if (part < LENGTH_EQUAL_PARTS)
        return 1U << (LENGTH_HALVED_PARTS - 1);
    if (part < LENGTH_PARTS - 1)
        return 1U << (LENGTH_HALVED_PARTS - 2 - (part - LENGTH_EQUAL_PARTS));
    return 1;
}

uint64_t length_table_mean(const struct length_table *table)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < LENGTH_PARTS; i++)
        sum += ((uint64_t)table->parts[i].from + table->parts[i].to) * weight_of(i);
    /* Twice 2^32, times 2^12 arrays, and half the sum of two. */
    return sum << (32 - 1 - (LENGTH_HALVED_PARTS - 1) - 5);
}

struct lengths lengths_of(const struct length_table *table)
{
    return (struct lengths){.table = table, .scale = ONE};
}

struct lengths lengths_scaled(const struct length_table *table, uint64_t mean, uint64_t of)
{
    /* The mean is below 2^37 thousandths and `of` below 2^53, so the division is done in steps that fit in 64 bits. */
    uint64_t whole = (mean / MODEL_UNIT) << 32, rest = (mean % MODEL_UNIT << 32) / MODEL_UNIT, part = of >> 16;

    return (struct lengths){.table = table,
                            .scale = (whole / part << 16) + ((whole % part) << 16) / part + (rest << 16) / part};
}

static uint64_t scaled(uint64_t length, uint64_t scale, uint32_t up)
{
    uint64_t whole = length * (scale >> 32), part = length * (scale & UINT32_MAX) + up;

    length = whole + (part >> 32);
    return length < LENGTH_MOST ? length : LENGTH_MOST;
}

uint64_t lengths_draw(const struct lengths *lengths, uint64_t bits)
{
    unsigned part = (unsigned)(bits >> 59);
    uint64_t within = bits << 5, from, to;

    if (part == LENGTH_EQUAL_PARTS) {
        while (part < LENGTH_PARTS - 1 && within >> 63) {
            within <<= 1;
            part++;
        }
        if (part < LENGTH_PARTS - 1)
            within <<= 1;
    }
    from = lengths->table->parts[part].from;
    to = lengths->table->parts[part].to;
    from += (to - from + 1) * (within >> 32) >> 32;
    /* Between two lengths, the longer one is taken in proportion to its nearness. */
    return scaled(from, lengths->scale, (uint32_t)mix(bits));
}

uint64_t lengths_mean(const struct lengths *lengths)
{
    uint64_t mean = length_table_mean(lengths->table) >> 16;

    return mean * (lengths->scale >> 32) + (mean * (lengths->scale & UINT32_MAX) >> 32);
}

uint64_t lengths_longest(const struct lengths *lengths)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < LENGTH_PARTS; i++)
        if (longest < lengths->table->parts[i].to)
            longest = lengths->table->parts[i].to;
    return scaled(longest, lengths->scale, UINT32_MAX);
}
