/* The texts of a model, each a function of its number. Constant texts are kept as pointers; made-up ones (the n-th class, the
 * n-th symbol) take no memory. */
#ifndef HPROF_GEN_NAMES_H
#define HPROF_GEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum name_form {
    NAME_TEXT,     /* unchanged */
    NAME_NUMBERED, /* text, and the number: "field12" */
    NAME_CLASS,    /* "com/example/<package>/<Word><Word>12" */
    NAME_ARRAY_OF, /* "[L", the text of another string, ";" */
    NAME_FIELD,    /* "indexBuffer": up to 4096 of them differ */
    NAME_SOURCE,   /* of the class whose name is another string: "HashMap.java" */
    NAME_SYMBOL    /* like the symbols of a program: methods, signatures, constants */
};

struct name_range {
    uint32_t first;
    enum name_form form;
    const char *text;
    uint32_t of; /* the other string; NAME_CLASS, NAME_NUMBERED: the first number; NAME_TEXT: the length */
};

struct names {
    struct name_range *ranges; /* in the order of their numbers */
    uint32_t range_count, capacity;
    uint32_t *texts;                    /* a hash table of the ranges of form NAME_TEXT: 1 + the index, 0 for free */
    uint32_t text_count, text_capacity; /* a power of two, or 0 */
    uint32_t count;                     /* of strings */
    uint64_t key;
    bool failed; /* no memory, or no numbers left */
};

/* The number of a text, added if it is new. The text belongs to the caller and must outlive the names. */
uint32_t names_text(struct names *names, const char *text, size_t length);
/* Adds `count` strings and returns the first. */
uint32_t names_add(struct names *names, enum name_form form, const char *text, uint32_t of, uint32_t count);
/* At most `most` bytes. */
size_t names_write(const struct names *names, uint32_t string, char *out, size_t most);
void names_free(struct names *names);

#endif
