/* See arena.h. */
#include "base/arena.h"

#include "base/sizes.h"

enum { FIRST_BLOCK = 1 << 10, ARENA_BLOCK = USUAL_OR_SMALL(64 << 10, 2 << 10) };

struct arena_block {
    struct arena_block *before;
    size_t size; /* with this header */
};

void arena_init(struct arena *a, struct memory *memory)
{
    *a = (struct arena){.memory = memory};
}

void arena_clear(struct arena *a)
{
    while (a->last) {
        struct arena_block *before = a->last->before;

        memory_put(a->memory, a->last, a->last->size);
        a->last = before;
    }
    a->left = 0;
}

static struct arena_block *new_block(struct arena *a, size_t size)
{
    struct arena_block *block = memory_get(a->memory, size);

    if (block)
        block->size = size;
    return block;
}

/* Blocks double up to ARENA_BLOCK, so that a small dump takes little. */
static size_t next_block_size(const struct arena *a, size_t least)
{
    size_t size = a->last ? 2 * a->last->size : FIRST_BLOCK;

    if (size > ARENA_BLOCK)
        size = ARENA_BLOCK;
    return size > least ? size : least;
}

void *arena_get(struct arena *a, size_t size)
{
    struct arena_block *block;
    uint8_t *piece;

    if (size > SIZE_MAX - sizeof *block - 7) {
        a->memory->exhausted = true;
        return NULL;
    }
    size = (size + 7) & ~(size_t)7;
    if (size > a->left) {
        /* A large piece gets a block of its own, linked after the present block, which stays in use. */
        if (size > ARENA_BLOCK / 4 && a->last) {
            block = new_block(a, sizeof *block + size);
            if (!block)
                return NULL;
            block->before = a->last->before;
            a->last->before = block;
            return block + 1;
        }
        block = new_block(a, next_block_size(a, sizeof *block + size));
        if (!block)
            return NULL;
        block->before = a->last;
        a->last = block;
        a->left = block->size - sizeof *block;
    }
    piece = (uint8_t *)a->last + a->last->size - a->left;
    a->left -= size;
    return piece;
}
