/* The elements of primitive arrays. Blocks are made once, and each array copies pieces of them, from offsets that follow from
 * its index. So elements are as fast as memory. */
#include "heap/parts.h"

#include <stdlib.h>
#include <string.h>

/* An array consists of pieces. Each is copied from an offset in the first half of a block; the second half repeats the first.
 * Both sizes are multiples of the largest element. */
enum { PIECE = 32 << 10, BLOCK = 2 * PIECE, BLOCKS = 4, LARGEST_ELEMENT = 8 };

static void fill_text(struct element_blocks *blocks, uint64_t key)
{
    /* Roughly as frequent as in English prose. */
    static const char letters[] =
        "eeeeeetttttaaaaooooiiiinnnnsssshhhrrrdddlllucmwfgypbvk    ....,(){};=_ABCDEFHIJLMNOPRSTW0123456789";

    for (size_t i = 0; i < PIECE; i++) {
        uint8_t letter = (uint8_t)letters[mix_of(key, i, 7) % (sizeof letters - 1)];

        blocks->text[i] = blocks->text[PIECE + i] = letter;
    }
    for (size_t i = 0; i < BLOCK; i += 2) {
        blocks->chars[i] = 0;
        blocks->chars[i + 1] = blocks->text[i / 2];
    }
}

/* Three of four ints are small. */
static void fill_numbers(struct element_blocks *blocks, uint64_t key)
{
    for (size_t i = 0; i < PIECE; i += 4) {
        uint64_t bits = mix_of(key, i, 8);
        uint32_t number = (uint32_t)(bits & 3 ? bits >> 32 & 1023 : bits >> 32);

        for (size_t byte = 0; byte < 4; byte++)
            blocks->numbers[i + byte] = blocks->numbers[PIECE + i + byte] = (uint8_t)(number >> (24 - 8 * byte));
    }
    for (size_t i = 0; i < PIECE; i++)
        blocks->booleans[i] = blocks->booleans[PIECE + i] = mix_of(key, i, 9) & 1;
}

bool elements_prepare(struct model *m)
{
    struct element_blocks *blocks = &((struct parts *)m)->blocks;

    blocks->text = malloc(BLOCKS * BLOCK);
    if (!blocks->text)
        return false;
    blocks->chars = blocks->text + BLOCK;
    blocks->numbers = blocks->chars + BLOCK;
    blocks->booleans = blocks->numbers + BLOCK;
    fill_text(blocks, key_of(m));
    fill_numbers(blocks, key_of(m));
    return true;
}

void elements_free(struct model *m)
{
    free(((struct parts *)m)->blocks.text);
}

static const uint8_t *block_of(const struct element_blocks *blocks, uint8_t type)
{
    switch (type) {
    case TYPE_BYTE:
        return blocks->text;
    case TYPE_CHAR:
        return blocks->chars;
    case TYPE_BOOLEAN:
        return blocks->booleans;
    default:
        return blocks->numbers;
    }
}

void model_elements(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint8_t *out, size_t size)
{
    const uint8_t *block = block_of(&parts_of(m)->blocks, o->type);
    uint64_t at = first * type_size(o->type, 0);

    if (index < parts_of(m)->core_objects) {
        char text[MODEL_STRING_MOST];
        size_t length;

        if (!core_text(m, index, text, &length))
            return;
        if (o->type == TYPE_BYTE)
            memcpy(out, text + at, size);
        for (size_t i = 0; i < size && o->type == TYPE_CHAR; i++)
            out[i] = (at + i) % 2 ? (uint8_t)text[(at + i) / 2] : 0;
        return;
    }
    while (size > 0) {
        uint64_t within = at % PIECE;
        size_t n = PIECE - within < size ? (size_t)(PIECE - within) : size;
        uint64_t from = mix_of(key_of(m), index, at / PIECE) % PIECE / LARGEST_ELEMENT * LARGEST_ELEMENT;

        memcpy(out, block + from + within, n);
        out += n;
        at += n;
        size -= n;
    }
}
