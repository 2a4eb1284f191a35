/* Random numbers, the same in every run. */
#ifndef HPROF_TESTS_DICE_H
#define HPROF_TESTS_DICE_H

#include <stdint.h>

static uint64_t dice = 0x2545F4914F6CDD1D;

static inline uint64_t throw_dice(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice * 0x9E3779B97F4A7C15;
}

static inline uint32_t below(uint32_t n)
{
    return (uint32_t)((throw_dice() >> 32) % n);
}

#endif
