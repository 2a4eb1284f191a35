/* Bytes kept in the order in which they came, in blocks that never move, and read again from the start. */
#ifndef HPROF_BYTELOG_H
#define HPROF_BYTELOG_H

#include "base/memory.h"

enum { LOG_BLOCK = 64 << 10 };

struct bytelog {
    struct memory *memory;
    uint8_t **blocks;
    size_t block_capacity, block_count;
    size_t forgotten; /* blocks */
    uint64_t size;
};

void bytelog_init(struct bytelog *log, struct memory *memory);
void bytelog_clear(struct bytelog *log);

/* False when memory ran out. */
bool bytelog_append(struct bytelog *log, const void *bytes, size_t n);

/* Copies n bytes at an offset; they are there. */
void bytelog_read(const struct bytelog *log, uint64_t offset, void *to, size_t n);

static inline uint8_t bytelog_byte(const struct bytelog *log, uint64_t offset)
{
    return log->blocks[offset / LOG_BLOCK][offset % LOG_BLOCK];
}

/* Gives back what stands in front of an offset and will not be read again. */
void bytelog_forget(struct bytelog *log, uint64_t offset);

/* Changes one byte. */
void bytelog_patch(struct bytelog *log, uint64_t offset, uint8_t byte);

/* Numbers in as few bytes as they need: 7 bits each, the lowest first. */
bool bytelog_append_number(struct bytelog *log, uint64_t number);
uint64_t bytelog_read_number(const struct bytelog *log, uint64_t *offset);

#endif
