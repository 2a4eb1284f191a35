/* See chunks.h. */
#include "base/chunks.h"

#include "base/sizes.h"

enum { FIRST_BLOCK_SIZE = 1 << 10, BLOCK_SIZE = USUAL_OR_SMALL(64 << 10, 2 << 10) };

/* The binary logarithm, rounded down, of how many elements fit into `size` bytes. */
static unsigned bits_for(size_t size, size_t element)
{
    unsigned bits = 0;

    while (element << (bits + 1) <= size)
        bits++;
    return bits;
}

void chunks_init(struct chunks *c, struct memory *memory, size_t element)
{
    *c = (struct chunks){.memory = memory,
                         .element = element,
                         .first_bits = bits_for(FIRST_BLOCK_SIZE, element),
                         .block_bits = bits_for(BLOCK_SIZE, element)};
}

static size_t block_bytes(const struct chunks *c, size_t block)
{
    return c->element << (block ? c->block_bits : c->first_bits);
}

void chunks_clear(struct chunks *c)
{
    for (size_t i = 0; i < c->block_count; i++)
        memory_put(c->memory, c->blocks[i], block_bytes(c, i));
    memory_put(c->memory, c->blocks, c->block_capacity * sizeof *c->blocks);
    c->blocks = NULL;
    c->block_capacity = c->block_count = c->count = 0;
}

/* The number of elements that fit into the blocks. */
static size_t capacity(const struct chunks *c)
{
    if (c->block_count <= 1)
        return c->block_count << c->first_bits;
    return (c->block_count - 1) << c->block_bits;
}

void *chunks_add(struct chunks *c)
{
    if (c->count == capacity(c)) {
        void *table = c->blocks;
        uint8_t *block;

        if (!memory_grow(c->memory, &table, &c->block_capacity, c->block_count + 1, sizeof *c->blocks))
            return NULL;
        c->blocks = table;
        block = memory_get(c->memory, block_bytes(c, c->block_count));
        if (!block)
            return NULL;
        c->blocks[c->block_count++] = block;
    }
    return chunks_at(c, c->count++);
}
