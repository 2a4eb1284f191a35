/* Lengths of arrays: drawn from a table of how long they are, stretched so that they have the mean that is wanted. */
#ifndef HPROF_GEN_LENGTHS_H
#define HPROF_GEN_LENGTHS_H

#include <stdint.h>

/* How long the arrays of a kind are: the shortest 32nd, the next one, and so on; the longest 32nd is halved, and the longer
 * half again, so that rare long ones keep their due share. Within a part all lengths are equally likely. */
enum { LENGTH_EQUAL_PARTS = 31, LENGTH_HALVED_PARTS = 8, LENGTH_PARTS = LENGTH_EQUAL_PARTS + LENGTH_HALVED_PARTS };
struct length_table {
    struct {
        uint32_t from, to;
    } parts[LENGTH_PARTS];
};

/* No array of Java is longer. */
#define LENGTH_MOST 2147483647U

struct lengths {
    const struct length_table *table;
    uint64_t scale; /* in 2^32ths */
};

/* The mean of a table, in 2^32ths. */
uint64_t length_table_mean(const struct length_table *table);
/* As the table says; or such that the mean is `mean` thousandths instead of `of`, the tables' own, in 2^32ths. */
struct lengths lengths_of(const struct length_table *table);
struct lengths lengths_scaled(const struct length_table *table, uint64_t mean, uint64_t of);
/* Random bits to a length. */
uint64_t lengths_draw(const struct lengths *lengths, uint64_t bits);
/* In 2^16ths. */
uint64_t lengths_mean(const struct lengths *lengths);
uint64_t lengths_longest(const struct lengths *lengths);

#endif
