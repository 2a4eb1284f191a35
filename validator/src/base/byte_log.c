/* See byte_log.h. */
#include "base/byte_log.h"

#include <string.h>

void byte_log_init(struct byte_log *log, struct memory *memory)
{
    *log = (struct byte_log){.memory = memory};
}

void byte_log_clear(struct byte_log *log)
{
    for (size_t i = log->forgotten; i < log->block_count; i++)
        memory_put(log->memory, log->blocks[i], LOG_BLOCK);
    memory_put(log->memory, log->blocks, log->block_capacity * sizeof *log->blocks);
    *log = (struct byte_log){.memory = log->memory};
}

bool byte_log_append(struct byte_log *log, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    while (n) {
        size_t used = (size_t)(log->size % LOG_BLOCK), part = LOG_BLOCK - used < n ? LOG_BLOCK - used : n;

        if (log->size == (uint64_t)log->block_count * LOG_BLOCK) {
            void *table = log->blocks;

            if (!memory_grow(log->memory, &table, &log->block_capacity, log->block_count + 1, sizeof *log->blocks))
                return false;
            log->blocks = table;
            log->blocks[log->block_count] = memory_get(log->memory, LOG_BLOCK);
            if (!log->blocks[log->block_count])
                return false;
            log->block_count++;
        }
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
    for (; log->forgotten < offset / LOG_BLOCK; log->forgotten++)
        memory_put(log->memory, log->blocks[log->forgotten], LOG_BLOCK);
}

void byte_log_patch(struct byte_log *log, uint64_t offset, uint8_t byte)
{
    log->blocks[offset / LOG_BLOCK][offset % LOG_BLOCK] = byte;
}

bool byte_log_append_number(struct byte_log *log, uint64_t number)
{
    uint8_t bytes[10];
    size_t n = 0;

    do {
        bytes[n++] = (uint8_t)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
    } while (number);
    return byte_log_append(log, bytes, n);
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
