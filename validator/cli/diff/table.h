/* What one side has and the other has not shown yet: a hash table, in which any number of entries may be the same. */
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
    uint32_t next; /* the place of another one of the same list, from 1; 0 for none */
};

struct table {
    struct entry *entries;
    size_t count, used, capacity; /* those that wait, the places that any had, and all; a power of two */
    uint32_t *lists;              /* as many, of the entries with the same hash: the place of the first, from 1; 0 for none */
    uint32_t unused;              /* likewise, of places that are free again */
    uint64_t key;                 /* drawn, so that no file can choose the lists */
};

/* Adds a copy; false if memory ran out, or there are 2^32 entries. */
bool table_add(struct table *table, const struct entry *entry);

/* Removes an entry of the other side that is the same: ID, kind, heap dump and digest. It goes to `taken`, if that is not NULL. */
bool table_take(struct table *table, const struct entry *like, struct entry *taken);

/* Makes an array of the `count` entries, by key, side and offset. Nothing may be added or taken after that. */
void table_sort(struct table *table);

void table_free(struct table *table);

/* By kind, heap dump and ID: below 0, 0 or above. */
int compare_keys(const struct entry *a, const struct entry *b);

#endif
