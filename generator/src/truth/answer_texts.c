/* See answer_texts.h. */
#include "truth/answer_texts.h"

#include <stdlib.h>

#include "base/sort.h"
#include "format/format.h"

enum { UNIT = 2, UTF8_MOST = 3 /* bytes for a unit */, REPLACEMENT = 0xFFFD };

void string_texts_init(struct string_texts *t, struct memory *memory)
{
    *t = (struct string_texts){.memory = memory};
    item_init(&t->units, memory);
}

void string_texts_clear(struct string_texts *t)
{
    item_clear(&t->units);
    memory_put(t->memory, t->texts, t->capacity * sizeof *t->texts);
}

void string_texts_add(struct string_texts *t, enum coder coder, const uint8_t *bytes, size_t size)
{
    size_t width = coder == CODER_LATIN1 ? 1 : UNIT, count = size / width, at = t->units.size;
    uint8_t *to = item_extend(&t->units, count * UNIT);
    void *texts = t->texts;

    if (!to || !memory_grow(t->memory, &texts, &t->capacity, t->count + 1, sizeof *t->texts))
        return;
    t->texts = texts;
    t->texts[t->count++] = (struct string_text){.at = at, .size = count * UNIT, .count = 1};
    for (size_t i = 0; i < count; i++, bytes += width, to += UNIT) {
        to[0] = coder == CODER_LATIN1 ? 0 : bytes[coder == CODER_UTF16];
        to[1] = bytes[coder == CODER_CHARS];
    }
}

/* ---- UTF-8 ---- */

static char *put_utf8(char *p, uint32_t c)
{
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    unsigned bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (unsigned i = bytes; i-- > 0; c >>= 6)
        p[i] = (char)(i ? 0x80 | (c & 0x3F) : bytes == 1 ? c : leads[bytes] | c);
    return p + bytes;
}

char *utf8_of_units(const uint8_t *units, size_t size)
{
    char *text = malloc(size / UNIT * UTF8_MOST + 1), *p = text;

    if (!text)
        return NULL;
    for (size_t i = 0; i + UNIT <= size; i += UNIT) {
        uint32_t c = get_u2(units + i), low = i + 2 * UNIT <= size ? get_u2(units + i + UNIT) : 0;

        if (c >> 10 == 0xD800 >> 10 && low >> 10 == 0xDC00 >> 10) {
            c = 0x10000 + ((c & 0x3FF) << 10) + (low & 0x3FF);
            i += UNIT;
        } else if (!c || c >> 11 == 0xD800 >> 11) {
            c = REPLACEMENT;
        }
        p = put_utf8(p, c);
    }
    *p = '\0';
    return text;
}

/* ---- How many have each ---- */

static bool text_is_less(const void *a, const void *b)
{
    const struct string_text *x = a, *y = b;
    size_t shorter = x->size < y->size ? x->size : y->size;
    int order = shorter ? memcmp(x->units, y->units, shorter) : 0;

    return order ? order < 0 : x->size < y->size;
}

static bool count_is_greater(const void *a, const void *b)
{
    const struct string_text *x = a, *y = b;

    return x->count != y->count ? x->count > y->count : text_is_less(a, b);
}

bool string_texts_finish(struct string_texts *t, struct answers *answers)
{
    size_t distinct = 0;

    _Static_assert(sizeof(struct string_text) <= SORT_SIZE_MAX, "texts can be sorted");
    for (size_t i = 0; i < t->count; i++)
        t->texts[i].units = t->texts[i].size ? t->units.bytes + t->texts[i].at : (const uint8_t *)"";
    sort_in_place(t->texts, t->count, sizeof *t->texts, text_is_less);
    for (size_t i = 0; i < t->count; i++)
        if (distinct && !text_is_less(&t->texts[distinct - 1], &t->texts[i]))
            t->texts[distinct - 1].count++;
        else
            t->texts[distinct++] = t->texts[i];
    sort_in_place(t->texts, distinct, sizeof *t->texts, count_is_greater);
    answers->distinct = distinct;
    answers->text_count = distinct < ANSWER_TEXTS ? distinct : ANSWER_TEXTS;
    answers->texts = calloc(answers->text_count + 1, sizeof *answers->texts);
    for (size_t i = 0; answers->texts && i < answers->text_count; i++) {
        answers->texts[i] = (struct answer_text){utf8_of_units(t->texts[i].units, t->texts[i].size), t->texts[i].count};
        if (!answers->texts[i].text)
            return false;
    }
    return answers->texts != NULL;
}
