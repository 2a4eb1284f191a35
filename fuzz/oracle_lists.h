/* Lists, and indexes by ID or serial, as the oracle keeps them. */
#ifndef HPROF_FUZZ_ORACLE_LISTS_H
#define HPROF_FUZZ_ORACLE_LISTS_H

#include <stddef.h>
#include <stdint.h>

struct list {
    void *items;
    size_t count, capacity;
};

/* Room for one more item of `size` bytes, zeroed. */
void *append(struct list *list, size_t size);

/* Adds an item of this type, with these members. */
#define ADD(list, type, ...) ((void)(*(type *)append(list, sizeof(type)) = (type){__VA_ARGS__}))

/* Where an ID or serial is defined. What sub-records define is in the scope of their heap dump, numbered from 1; what
 * records define is in scope 0. */
struct definition {
    uint64_t scope, id;
    uint64_t at;
    size_t item; /* in the list of what is defined */
};

int compare_numbers(uint64_t a, uint64_t b);
void define(struct list *index, uint64_t scope, uint64_t id, uint64_t at, size_t item);
void sort_index(struct list *index);

/* The first definition in the file; NULL if there is none. */
const struct definition *first_definition(const struct list *index, uint64_t scope, uint64_t id);

#endif
