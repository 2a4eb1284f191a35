/* The mutator as libFuzzer and AFL++ call it. */
#include <stdlib.h>
#include <string.h>

#include "mutator.h"

/* ---- libFuzzer ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out,
                                 size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

/* One input in eight is changed by libFuzzer, which uses the dictionary and the values that comparisons met. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint8_t *copy;

    if (LLVMFuzzerMutate && seed % 8 == 0)
        return LLVMFuzzerMutate(data, size, max);
    copy = malloc(size + 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    size = mutate_dump(copy, size, NULL, 0, data, max, seed);
    free(copy);
    return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out,
                                 size_t max, unsigned seed)
{
    return mutate_dump(data, size, other, other_size, out, max, seed);
}

/* ---- AFL++ (docs/custom_mutators.md) ---- */

struct afl_mutator {
    uint64_t seed;
    uint8_t *out;
    size_t capacity;
};

void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *context, uint8_t *data, size_t size, uint8_t **out, uint8_t *other, size_t other_size, size_t max);
void afl_custom_deinit(void *context);

void *afl_custom_init(void *afl, unsigned seed)
{
    struct afl_mutator *m = calloc(1, sizeof *m);

    (void)afl;
    if (m)
        m->seed = (uint64_t)seed << 32;
    return m;
}

size_t afl_custom_fuzz(void *context, uint8_t *data, size_t size, uint8_t **out, uint8_t *other, size_t other_size, size_t max)
{
    struct afl_mutator *m = context;

    if (max > m->capacity) {
        free(m->out);
        m->out = malloc(max);
        m->capacity = m->out ? max : 0;
    }
    *out = m->out;
    return m->out ? mutate_dump(data, size, other, other_size, m->out, max, m->seed++) : 0;
}

void afl_custom_deinit(void *context)
{
    struct afl_mutator *m = context;

    free(m->out);
    free(m);
}
