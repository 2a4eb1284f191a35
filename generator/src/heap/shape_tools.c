/* What shapes use: options, memory, texts, random references. It knows no shape. */
#include "heap/parts.h"

#include <stdlib.h>

struct shape_block {
    struct shape_block *next;
    _Alignas(uint64_t) uint8_t bytes[];
};

bool option_within(struct model *m, uint64_t *option, uint64_t unset, uint64_t least, uint64_t most, const char *allowed)
{
    if (*option == MODEL_UNSET)
        *option = unset;
    return (*option >= least && *option <= most) || fail(m, allowed);
}

void *shape_memory(struct model *m, size_t size)
{
    struct parts *parts = (struct parts *)m;
    struct shape_block *block = malloc(sizeof *block + size);

    if (!block)
        return NULL;
    block->next = parts->shape_blocks;
    parts->shape_blocks = block;
    return block->bytes;
}

void shape_memory_free(struct model *m)
{
    struct parts *parts = (struct parts *)m;

    while (parts->shape_blocks) {
        struct shape_block *block = parts->shape_blocks;

        parts->shape_blocks = block->next;
        free(block);
    }
}

void longest_is(struct model *m, uint64_t bytes)
{
    if (m->longest_object < bytes)
        m->longest_object = bytes;
}

static inline uint64_t any(uint64_t bits, uint64_t first, uint64_t count)
{
    return (first + below(bits, count)) | ((uint64_t)0 - (bits % 4 == 0)); /* no branch: it could not be predicted */
}

uint64_t any_or_null(const struct model *m, uint64_t index, uint64_t slot)
{
    return any(mix_of(key_of(m), index, slot), shape_first(m), shape_count(m));
}

void any_or_null_ids(const struct model *m, uint64_t index, uint64_t first, uint64_t count, uint64_t *out)
{
    const uint64_t key = key_of(m), first_object = shape_first(m), objects = shape_count(m);

    for (uint64_t i = 0; i < count; i++)
        out[i] = model_object_id(m, any(mix_of(key, index, first + i), first_object, objects));
}

size_t model_string(const struct model *m, uint32_t string, char out[MODEL_STRING_MOST])
{
    return names_write(&parts_of(m)->names, string, out, MODEL_STRING_MOST);
}
