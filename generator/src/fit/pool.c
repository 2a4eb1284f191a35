/* See pool.h. */
#include "fit/pool.h"

uint64_t round_to_one_digit(uint64_t number)
{
    uint64_t unit = 1;

    while (number / unit >= 10)
        unit *= 10;
    return (number + unit / 2) / unit * unit;
}

static bool next_shared(struct pool *p, struct pooled *out)
{
    while (p->next_shared < p->lengths.count) {
        const struct counted *one = &p->lengths.at[p->next_shared++];

        if (one->count >= POOL_SHARED) {
            *out = (struct pooled){counted_value(one), one->count, POOLED_SHARED};
            return true;
        }
    }
    return false;
}

/* Whether those from next_other on have twenty arrays; their mean, and where the next mean begins. */
static bool next_mean(const struct pool *p, struct pooled *out, size_t *end)
{
    uint64_t count = 0, sum = 0;
    size_t i = p->next_other;

    for (; i < p->lengths.count && count < POOL_SHARED; i++) {
        const struct counted *one = &p->lengths.at[i];

        if (one->count < POOL_SHARED) {
            count += one->count;
            sum += one->count * counted_value(one);
        }
    }
    *end = i;
    if (count < POOL_SHARED)
        return false;
    *out = (struct pooled){(sum + count / 2) / count, count, POOLED_MEAN};
    return true;
}

bool pool_next(struct pool *p, struct pooled *out)
{
    size_t end;

    if (next_shared(p, out))
        return true;
    if (next_mean(p, out, &end)) {
        p->next_other = end;
        return true;
    }
    while (p->next_other < p->lengths.count) {
        const struct counted *one = &p->lengths.at[p->next_other++];

        if (one->count < POOL_SHARED) {
            *out = (struct pooled){round_to_one_digit(counted_value(one)), one->count, POOLED_ROUNDED};
            return true;
        }
    }
    return false;
}
