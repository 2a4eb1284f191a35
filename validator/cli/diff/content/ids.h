/* The IDs of the objects of a dump: from an ID to its rank among them. Takes 1 byte an ID and 16 to 32 a block: a block is 2 KiB of
 * the heap where IDs are addresses. */
#ifndef HPROF_CLI_DIFF_IDS_H
#define HPROF_CLI_DIFF_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_OBJECT UINT32_MAX

struct ids {
    struct id_block *blocks; /* a hash table */
    size_t capacity;         /* a power of two */
    uint8_t *lows;
    uint32_t count;
    uint64_t key; /* drawn, so that no file can choose the order of the table */
};

/* Makes it of IDs in any order, which are sorted and may be there twice. False if memory ran out. */
bool ids_build(struct ids *ids, uint64_t *list, size_t count);
/* NO_OBJECT if it is not among them. */
uint32_t ids_rank(const struct ids *ids, uint64_t id);
void ids_free(struct ids *ids);

#endif
