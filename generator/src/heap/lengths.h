/* Lengths of arrays, drawn from a table of a real distribution, which is stretched to the requested mean. */
#ifndef HPROF_GEN_LENGTHS_H
#define HPROF_GEN_LENGTHS_H

#include <stdint.h>

/* The distribution of the lengths of one kind of arrays: the bounds of the shortest 32nd, the next one, and so on. The longest
 * 32nd is halved, its longer half again, and so on, so that rare long arrays keep their share. Within a part all lengths are
 * equally likely. */
enum { LENGTH_EQUAL_PARTS = 31, LENGTH_HALVED_PARTS = 8, LENGTH_PARTS = LENGTH_EQUAL_PARTS + LENGTH_HALVED_PARTS };
struct length_table {
    struct {
        uint32_t from, to;
    } parts[LENGTH_PARTS];
};

/* The longest array in Java. */
#define LENGTH_MOST 2147483647U

struct lengths {
    const struct length_table *table;
    uint64_t scale; /* in 2^32ths */
};

/* The mean of a table, in 2^32ths. */
uint64_t length_table_mean(const struct length_table *table);
/* As in the table, or stretched to a mean of `mean` thousandths. `of` is the mean of the tables, in 2^32ths. */
struct lengths lengths_of(const struct length_table *table);
struct lengths lengths_scaled(const struct length_table *table, uint64_t mean, uint64_t of);
/* Turns random bits into a length. */
uint64_t lengths_draw(const struct lengths *lengths, uint64_t bits);
/* In 2^16ths. */
uint64_t lengths_mean(const struct lengths *lengths);
uint64_t lengths_longest(const struct lengths *lengths);

#endif
