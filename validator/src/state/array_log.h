/* For input that cannot be read twice: what each Object[] refers to that is not defined yet. What an array refers to that
 * something else refers to is a bit of a set, since nothing more is asked about it. The rest is a log. Both are bounded: when the
 * log meets its bound, what has been defined since is removed, and if that is too little, both are given up. */
#ifndef HPROF_ARRAY_LOG_H
#define HPROF_ARRAY_LOG_H

#include "base/byte_log.h"
#include "state/id_set.h"

/* Whether something refers to an array, as far as the dump was read. */
typedef bool array_is_named(void *context, uint64_t array_id);

struct array_log {
    struct byte_log log;
    struct id_set *named;          /* gets, as referenced, what arrays that are referred to refer to; */
    uint64_t named_count;          /* so many */
    uint64_t pruned;               /* the size of the log when it was last pruned */
    bool overflowed;               /* given up: nothing more is added */
    array_is_named *asks_is_named; /* about an array that is added, with the context */
    void *context;
    bool is_named;                         /* the array to which elements are added is referred to */
    uint64_t array_id, class_id, previous; /* of the array to which elements are added, and its last element in the log */
    bool has_elements;                     /* it is in the log */
};

/* An array in the log. */
struct logged_array {
    uint64_t array_id, class_id;
    uint64_t previous, left; /* its last element that was read, and how many follow it in its block */
};

void array_log_init(struct array_log *a, struct memory *memory, struct id_set *named, array_is_named *is_named, void *context);
void array_log_clear(struct array_log *a);

/* Adds an array: first its IDs, then its elements, as often as is needed, then its end. `objects` says which elements are defined,
 * and `near` is for it. */
void array_log_begin(struct array_log *a, uint64_t array_id, uint64_t class_id);
void array_log_add(struct array_log *a, struct id_set *objects, struct recent_page *near, const uint8_t *elements, size_t n);
/* `read`: the bytes of the dump that were read, a small share of which the log may take. */
void array_log_end(struct array_log *a, struct id_set *objects, uint64_t read);

/* Reads the array at *next in the log, and moves *next to its elements. False at the end. */
bool array_log_next(const struct array_log *a, uint64_t *next, struct logged_array *array);
/* Reads the element at *next, and moves *next past it. False at the end of the array, which *next is then moved past. */
bool array_log_element(const struct array_log *a, uint64_t *next, struct logged_array *array, uint64_t *id);

#endif
