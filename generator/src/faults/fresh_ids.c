/* See fresh_ids.h. */
#include "faults/fresh_ids.h"

#include <stdlib.h>
#include <string.h>

#include "format/cursor.h"
#include "stream/random.h"

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(*state);
}

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* IDs look like addresses: multiples of 8, whose first byte is no tag. */
static uint64_t draw(uint64_t *state, unsigned width, bool is_serial)
{
    uint64_t value = next_random(state);

    if (is_serial)
        return (value & 0x7fffff) | 0x800000;
    return width == 8 ? (value & UINT64_C(0x7ffffffff8)) | UINT64_C(0x8000000000) : (value & 0x3ffffff8) | 0x40000000;
}

bool fresh_ids_fill(struct fresh_ids *p, uint64_t wanted, unsigned width, bool is_serial, uint64_t seed)
{
    uint64_t state = seed ^ (is_serial ? UINT64_C(0x5e71a1) : UINT64_C(0x1d));

    p->width = width;
    p->count = (size_t)(2 * wanted + 64);
    p->values = calloc(p->count, sizeof *p->values);
    p->free = calloc(p->count, sizeof *p->free);
    p->met = calloc(p->count, sizeof *p->met);
    if (!p->values || !p->free || !p->met)
        return false;
    for (size_t i = 0; i < p->count; i++)
        p->values[i] = draw(&state, width, is_serial);
    qsort(p->values, p->count, sizeof *p->values, compare_values);
    for (size_t i = 0; i < p->count; i++) {
        p->met[i] = i && p->values[i] == p->values[i - 1];
        p->filter[fresh_ids_filter_bit(p->values[i]) >> 3] |= (uint8_t)(1 << (fresh_ids_filter_bit(p->values[i]) & 7));
    }
    return true;
}

void fresh_ids_free(struct fresh_ids *p)
{
    free(p->values);
    free(p->free);
    free(p->met);
}

void fresh_ids_strike(struct fresh_ids *p, uint64_t value)
{
    uint64_t *found = bsearch(&value, p->values, p->count, sizeof value, compare_values);
    size_t i;

    if (!found)
        return;
    for (i = (size_t)(found - p->values); i && p->values[i - 1] == value; i--)
        ;
    for (; i < p->count && p->values[i] == value; i++)
        p->met[i] = true;
}

/* At every offset: the layout of the instance is not known yet. */
static void fresh_ids_scan(struct fresh_ids *p, const uint8_t *bytes, uint64_t n)
{
    for (uint64_t i = 0; i + p->width <= n; i++)
        fresh_ids_meet(p, get_id(bytes + i, p->width));
}

void fresh_ids_scan_on(struct fresh_ids *p, const uint8_t *bytes, uint64_t n)
{
    uint8_t seam[14];
    size_t most = p->width - 1u, head = n < most ? (size_t)n : most, size = p->carried + head, keep;

    memcpy(seam, p->carry, p->carried);
    memcpy(seam + p->carried, bytes, head);
    fresh_ids_scan(p, seam, size);
    fresh_ids_scan(p, bytes, n);
    if (n >= most) {
        memcpy(p->carry, bytes + n - most, most);
        p->carried = most;
    } else {
        keep = size < most ? size : most;
        memcpy(p->carry, seam + size - keep, keep);
        p->carried = keep;
    }
}

bool fresh_ids_settle(struct fresh_ids *p, uint64_t wanted, uint64_t seed)
{
    uint64_t state = seed;

    p->free_count = 0;
    for (size_t i = 0; i < p->count; i++)
        if (!p->met[i])
            p->free[p->free_count++] = p->values[i];
    for (size_t i = p->free_count; i > 1; i--) {
        size_t j = (size_t)(next_random(&state) % i);
        uint64_t swapped = p->free[i - 1];

        p->free[i - 1] = p->free[j];
        p->free[j] = swapped;
    }
    return p->free_count >= wanted;
}
