/* Object arrays whose references have not come yet: only a reference to an array says how long it is. */
#ifndef AGENT_ARRAYS_H
#define AGENT_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct array {
    uint64_t number; /* of its ID; 0: none */
    uint64_t length;
    uint64_t size; /* that the VM takes for it */
};

/* A hash table, whose slots are freed by its owner. */
struct arrays {
    struct array *slots;
    size_t room, count;
};

/* False if there is no memory. */
bool arrays_add(struct arrays *arrays, struct array array);

/* Takes the array out. Its number is 0 if it is not there. */
struct array arrays_take(struct arrays *arrays, uint64_t number);

#endif
