/* The elements of primitive arrays. Blocks are made once, and each array copies pieces of them, from offsets that follow from
 * its index. So elements are as fast as memory. */
#include "heap/parts.h"

#include <stdlib.h>
#include <string.h>

/* An array consists of pieces. Each is copied from an offset in the first half of a block; the second half repeats the first.
 * Both sizes are multiples of the largest element. */
enum { PIECE = 32 << 10, BLOCK = 2 * PIECE, BLOCKS = 5, LARGEST_ELEMENT = 8 };

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

/* Letters of several scripts, and characters of two surrogates. The first unit of any piece is above 255: VMs store other texts as
 * LATIN1. Surrogates are never apart in a piece, because a piece begins at a multiple of LARGEST_ELEMENT. */
static void fill_utf16(struct element_blocks *blocks, uint64_t key)
{
    static const struct {
        uint16_t first, count;
    } scripts[] = {{0x3B1, 25} /* Greek */, {0x430, 32} /* Cyrillic */, {0x3041, 83} /* Hiragana */, {0x4E00, 5000} /* Han */};

    for (size_t i = 0; i < PIECE; i += 2) {
        uint64_t bits = mix_of(key, i, 11), script = bits % (sizeof scripts / sizeof *scripts);
        uint64_t unit = scripts[script].first + below(mix(bits), scripts[script].count);
        bool is_first = i % LARGEST_ELEMENT == 0, has_pair = mix_of(key, i / LARGEST_ELEMENT, 12) % 8 == 0;

        if (has_pair && i % LARGEST_ELEMENT <= 2)
            unit = is_first ? 0xD83D : 0xDE00 + bits % 64;
        else if (!is_first && bits >> 62 == 0)
            unit = ' ' + (bits >> 8) % 95;
        for (size_t byte = 0; byte < 2; byte++)
            blocks->utf16[i + byte] = blocks->utf16[PIECE + i + byte] = (uint8_t)(unit >> (8 * byte));
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
    blocks->utf16 = blocks->text + BLOCK;
    blocks->chars = blocks->utf16 + BLOCK;
    blocks->numbers = blocks->chars + BLOCK;
    blocks->booleans = blocks->numbers + BLOCK;
    fill_text(blocks, key_of(m));
    fill_utf16(blocks, key_of(m));
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
    bool is_utf16 = o->type == TYPE_BYTE && index < parts_of(m)->shape_from && model_is_utf16(m, index, o);
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
    if (is_utf16)
        block = parts_of(m)->blocks.utf16;
    while (size > 0) {
        uint64_t within = at % PIECE;
        size_t n = PIECE - within < size ? (size_t)(PIECE - within) : size;
        uint64_t from = mix_of(key_of(m), index, at / PIECE) % PIECE / LARGEST_ELEMENT * LARGEST_ELEMENT;

        memcpy(out, block + from + within, n);
        out += n;
        at += n;
        size -= n;
    }
    if (is_utf16 && at == o->elements && out[-1] >> 2 == 0xD8 >> 2)
        out[-1] = 0x30; /* the first half of a character would be the last unit */
}
