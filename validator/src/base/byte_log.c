/* See byte_log.h. */
#include "base/byte_log.h"

#include <string.h>

enum { FIRST_SIZE = 256 };

void byte_log_init(struct byte_log *log, struct memory *memory)
{
    *log = (struct byte_log){.memory = memory};
}

/* Bytes of the last block. */
static size_t last_block_size(const struct byte_log *log)
{
    return log->block_count == 1 ? log->first_size : LOG_BLOCK;
}

void byte_log_clear(struct byte_log *log)
{
    for (size_t i = log->discarded; i < log->block_count; i++)
        memory_put(log->memory, log->blocks[i], i ? LOG_BLOCK : log->first_size);
    memory_put(log->memory, log->blocks, log->block_capacity * sizeof *log->blocks);
    *log = (struct byte_log){.memory = log->memory};
}

static bool grow_first_block(struct byte_log *log, size_t wanted)
{
    size_t size = 4 * log->first_size;
    uint8_t *grown;

    while (size < wanted)
        size *= 4;
    if (size > LOG_BLOCK)
        size = LOG_BLOCK;
    grown = memory_resize(log->memory, log->blocks[0], log->first_size, size);
    if (!grown)
        return false;
    log->blocks[0] = grown;
    log->first_size = size;
    return true;
}

static bool add_block(struct byte_log *log)
{
    size_t size = log->block_count ? LOG_BLOCK : FIRST_SIZE;
    void *table = log->blocks;
    uint8_t *block;

    if (!memory_grow(log->memory, &table, &log->block_capacity, log->block_count + 1, sizeof *log->blocks))
        return false;
    log->blocks = table;
    block = memory_get(log->memory, size);
    if (!block)
        return false;
    if (!log->block_count)
        log->first_size = size;
    log->blocks[log->block_count++] = block;
    return true;
}

bool byte_log_append(struct byte_log *log, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    while (n) {
        size_t used = (size_t)(log->size % LOG_BLOCK), part = LOG_BLOCK - used < n ? LOG_BLOCK - used : n;

        if (log->size == (uint64_t)log->block_count * LOG_BLOCK && !add_block(log))
            return false;
        if (used + part > last_block_size(log) && !grow_first_block(log, used + part))
            return false;
        memcpy(log->blocks[log->block_count - 1] + used, p, part);
        log->size += part;
        p += part;
        n -= part;
    }
    return true;
}

void byte_log_read(const struct byte_log *log, uint64_t offset, void *to, size_t n)
{
    uint8_t *p = to;

    while (n) {
        size_t at = (size_t)(offset % LOG_BLOCK), part = LOG_BLOCK - at < n ? LOG_BLOCK - at : n;

        memcpy(p, log->blocks[offset / LOG_BLOCK] + at, part);
        offset += part;
        p += part;
        n -= part;
    }
}

void byte_log_discard(struct byte_log *log, uint64_t offset)
{
    for (; log->discarded < offset / LOG_BLOCK; log->discarded++)
        memory_put(log->memory, log->blocks[log->discarded], LOG_BLOCK);
}

bool byte_log_append_number(struct byte_log *log, uint64_t number)
{
    uint8_t bytes[NUMBER_MOST];

    return byte_log_append(log, bytes, write_number(bytes, number));
}

uint64_t byte_log_read_number(const struct byte_log *log, uint64_t *offset)
{
    uint64_t number = 0;
    uint8_t byte;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        byte_log_read(log, (*offset)++, &byte, 1);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return number;
}
