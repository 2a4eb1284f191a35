/* Numbers of 4 or 8 bytes in the byte order of this machine: for tables in memory, and for bytes that are only compared. */
#ifndef HPROF_NATIVE_H
#define HPROF_NATIVE_H

#include <stdint.h>
#include <string.h>

static inline uint64_t native_load(const uint8_t *p, unsigned size)
{
    uint32_t four;
    uint64_t eight;

    if (size == 8) {
        memcpy(&eight, p, sizeof eight);
        return eight;
    }
    memcpy(&four, p, sizeof four);
    return four;
}

static inline void native_store(uint8_t *p, unsigned size, uint64_t number)
{
    uint32_t four = (uint32_t)number;

    if (size == 8)
        memcpy(p, &number, sizeof number);
    else
        memcpy(p, &four, sizeof four);
}

#endif
