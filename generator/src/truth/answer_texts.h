/* The texts of Strings, as UTF-16 code units, and how many Strings have each. */
#ifndef HPROF_GEN_ANSWER_TEXTS_H
#define HPROF_GEN_ANSWER_TEXTS_H

#include "truth/answers.h"
#include "truth/digest_item.h"

/* How an array holds a text. HotSpot's UTF-16 has the byte order of the machine, here little-endian. */
enum coder { CODER_LATIN1, CODER_UTF16, CODER_CHARS };

struct string_text {
    size_t at;            /* in `units`, */
    const uint8_t *units; /* or there, once all are known */
    size_t size;
    uint64_t count;
};

struct string_texts {
    struct memory *memory;
    struct item units; /* big-endian, of all texts */
    struct string_text *texts;
    size_t count, capacity;
};

void string_texts_init(struct string_texts *texts, struct memory *memory);
void string_texts_clear(struct string_texts *texts);
/* `size` bytes of an array. */
void string_texts_add(struct string_texts *texts, enum coder coder, const uint8_t *bytes, size_t size);
/* The texts of `answers`. False without memory. */
bool string_texts_finish(struct string_texts *texts, struct answers *answers);

/* UTF-8 of code units, NUL-terminated, which free() frees; U+FFFD for U+0000 and for surrogates without their other half. NULL
 * without memory. */
char *utf8_of_units(const uint8_t *units, size_t size);

#endif
