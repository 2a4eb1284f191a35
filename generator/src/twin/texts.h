/* The texts of a twin's UTF8 records: the names of its classes, those of the JDK that it needs, made-up ones for all others, and as
 * many as the profile has besides, with the lengths that are left. */
#ifndef HPROF_GEN_TWIN_TEXTS_H
#define HPROF_GEN_TWIN_TEXTS_H

#include "twin/profile.h"

struct texts {
    const struct heap_profile *p;
    uint32_t first_class;
    uint32_t *of_names; /* by number of the JDK's name: its place among `names`, plus 1 */
    uint32_t *names;    /* the JDK's that are needed */
    uint32_t name_count;
    uint32_t made_up; /* names */
    uint64_t *left;   /* by line of p->texts: those lengths that are of no name */
    uint64_t fillers;
    uint64_t filler, filler_line, filler_before; /* the last one, and its line: they are asked for in order */
};

/* False without memory. */
bool texts_make(struct texts *t, const struct heap_profile *p, uint32_t first_class);
void texts_free(struct texts *t);

uint64_t texts_count(const struct texts *t);
uint64_t texts_id(const struct texts *t, uint64_t string);
uint64_t texts_size(struct texts *t, uint64_t string);
enum { TEXTS_NAME_MOST = 4096 };
/* Returns the size, which is that of texts_size(), without a NUL. */
uint64_t texts_write(struct texts *t, uint64_t string, char *out);

uint64_t texts_of_class(const struct texts *t, uint32_t class);
/* A field or method: of this name, if it is the JDK's, or the n-th made-up one. */
uint64_t texts_of_name(const struct texts *t, const char *name, uint32_t n);
uint64_t texts_of_signature(const struct texts *t);

#endif
