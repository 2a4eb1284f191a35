/* See chunks.h. */
#include "base/chunks.h"

enum { BLOCK_SIZE = 64 << 10 };

void chunks_init(struct chunks *c, struct memory *memory, size_t element)
{
    *c = (struct chunks){.memory = memory, .element = element, .per_block = BLOCK_SIZE / element};
}

void chunks_clear(struct chunks *c)
{
    for (size_t i = 0; i < c->block_count; i++)
        memory_put(c->memory, c->blocks[i], c->per_block * c->element);
    memory_put(c->memory, c->blocks, c->block_capacity * sizeof *c->blocks);
    c->blocks = NULL;
    c->block_capacity = c->block_count = c->count = 0;
}

void *chunks_add(struct chunks *c)
{
    if (c->count == c->block_count * c->per_block) {
        void *table = c->blocks;
        uint8_t *block;

        if (!memory_grow(c->memory, &table, &c->block_capacity, c->block_count + 1, sizeof *c->blocks))
            return NULL;
        c->blocks = table;
        block = memory_get(c->memory, c->per_block * c->element);
        if (!block)
            return NULL;
        c->blocks[c->block_count++] = block;
    }
    return chunks_at(c, c->count++);
}
