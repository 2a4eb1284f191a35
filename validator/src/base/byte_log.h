/* A log of bytes in blocks, appended at the end and read from the start. */
#ifndef HPROF_BYTE_LOG_H
#define HPROF_BYTE_LOG_H

#include "base/memory.h"
#include "base/sizes.h"

enum { LOG_BLOCK = USUAL_OR_SMALL(64 << 10, 1 << 10) };

struct byte_log {
    struct memory *memory;
    uint8_t **blocks;
    size_t block_capacity, block_count;
    size_t first_size; /* bytes of the first block, which grows to LOG_BLOCK: most logs are short */
    size_t discarded;  /* blocks that were discarded */
    uint64_t size;
};

void byte_log_init(struct byte_log *log, struct memory *memory);
void byte_log_clear(struct byte_log *log);

/* False if memory ran out. */
bool byte_log_append(struct byte_log *log, const void *bytes, size_t n);

/* Copies n bytes of the log from an offset. */
void byte_log_read(const struct byte_log *log, uint64_t offset, void *to, size_t n);

static inline uint8_t byte_log_byte(const struct byte_log *log, uint64_t offset)
{
    return log->blocks[offset / LOG_BLOCK][offset % LOG_BLOCK];
}

/* Releases the bytes before an offset, which will not be read again. */
void byte_log_discard(struct byte_log *log, uint64_t offset);

/* Numbers in as few bytes as they need: 7 bits each, the lowest first. */
enum { NUMBER_MOST = 10 };
static inline size_t write_number(uint8_t to[NUMBER_MOST], uint64_t number)
{
    size_t n = 0;

    for (; number > 0x7f; number >>= 7)
        to[n++] = (uint8_t)(number | 0x80);
    to[n++] = (uint8_t)number;
    return n;
}
bool byte_log_append_number(struct byte_log *log, uint64_t number);
uint64_t byte_log_read_number(const struct byte_log *log, uint64_t *offset);

#endif
