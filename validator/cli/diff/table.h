/* What one side has and the other has not shown yet: a hash table that also keeps several entries with the same key. */
#ifndef HPROF_CLI_DIFF_TABLE_H
#define HPROF_CLI_DIFF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entry {
    uint64_t id, digest, offset;
    uint64_t class_id;  /* of an object; the type of the elements of a primitive array */
    uint32_t heap_dump; /* 0 for records */
    uint32_t stretch;   /* for reading it again */
    uint8_t kind, side;
    bool is_used;
};

struct table {
    struct entry *entries;
    size_t count, capacity; /* a power of two */
    uint64_t key;           /* drawn, so that no file can choose the order */
};

/* Adds a copy; false if memory ran out. */
bool table_add(struct table *table, const struct entry *entry);

/* Removes an entry of the other side that is the same: ID, kind, heap dump and digest. */
bool table_take(struct table *table, const struct entry *like);

/* Makes an array of the `count` entries, by key, side and offset. Nothing may be added or taken after that. */
void table_sort(struct table *table);

/* By kind, heap dump and ID: below 0, 0 or above. */
int compare_keys(const struct entry *a, const struct entry *b);

#endif
