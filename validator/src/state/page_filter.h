/* A Bloom filter of page numbers, in 128 bytes: which pages of IDs a part of a dump defines or references. */
#ifndef HPROF_PAGE_FILTER_H
#define HPROF_PAGE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_filter {
    uint64_t words[16];
};

static inline void page_filter_add(struct page_filter *f, uint64_t page)
{
    uint64_t bit = page * UINT64_C(0x9E3779B97F4A7C15) >> 54;

    f->words[bit >> 6] |= UINT64_C(1) << (bit & 63);
}

static inline void page_filter_add_all(struct page_filter *f, const struct page_filter *other)
{
    for (size_t i = 0; i < sizeof f->words / sizeof *f->words; i++)
        f->words[i] |= other->words[i];
}

static inline bool page_filters_meet(const struct page_filter *a, const struct page_filter *b)
{
    uint64_t both = 0;

    for (size_t i = 0; i < sizeof a->words / sizeof *a->words; i++)
        both |= a->words[i] & b->words[i];
    return both != 0;
}

#endif
