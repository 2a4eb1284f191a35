/* Random-looking bits as functions of numbers. Only integers of 64 bits, so the same on every machine. */
#ifndef HPROF_GEN_RANDOM_H
#define HPROF_GEN_RANDOM_H

#include <stdint.h>

/* splitmix64's last step: each bit of the result depends on each of x (Steele, Lea, Flood 2014). */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
}

/* A function of a key and two numbers. */
static inline uint64_t mix_of(uint64_t key, uint64_t a, uint64_t b)
{
    return mix(key + a * 0x9E3779B97F4A7C15U + b * 0xD1B54A32D192ED03U);
}

/* A number from 0 to n - 1, for n above 0, from random bits. */
static inline uint64_t below(uint64_t bits, uint64_t n)
{
    return n <= UINT32_MAX ? (bits >> 32) * n >> 32 : bits % n;
}

/* The n-th point of a sequence that fills 0 to 2^64 evenly after any number of points (Weyl's, with the golden ratio), so that
 * a few samples have nearly the right mean. */
static inline uint64_t even(uint64_t key, uint64_t n)
{
    return key + n * 0x9E3779B97F4A7C15U;
}

#endif
