/* Bytes kept in the order in which they came, in blocks that never move, and read again from the start. */
#ifndef HPROF_BYTELOG_H
#define HPROF_BYTELOG_H

#include "memory.h"

struct bytelog {
    struct memory *memory;
    uint8_t **blocks;
    size_t block_capacity, block_count;
    uint64_t size;
};

void bytelog_init(struct bytelog *log, struct memory *memory);
void bytelog_clear(struct bytelog *log);

/* False when memory ran out. */
bool bytelog_append(struct bytelog *log, const void *bytes, size_t n);

/* Copies n bytes at an offset; they are there. */
void bytelog_read(const struct bytelog *log, uint64_t offset, void *to, size_t n);

/* Changes one byte. */
void bytelog_patch(struct bytelog *log, uint64_t offset, uint8_t byte);

/* Numbers in as few bytes as they need: 7 bits each, the lowest first. */
bool bytelog_append_number(struct bytelog *log, uint64_t number);
uint64_t bytelog_read_number(const struct bytelog *log, uint64_t *offset);

#endif
