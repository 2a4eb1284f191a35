/* Random numbers, the same in every run unless the dice are shaken. */
#ifndef HPROF_TESTS_DICE_H
#define HPROF_TESTS_DICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

static inline bool heads(void)
{
    return below(2);
}

/* Fresh numbers from here on. The seed is printed; HPROF_SEED repeats them. */
static inline void shake_dice(void)
{
    const char *text = getenv("HPROF_SEED");
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    dice = text ? strtoull(text, NULL, 0) : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    dice |= 1; /* never 0 */
    printf("HPROF_SEED=%llu\n", (unsigned long long)dice);
}

#endif
