/* The header of a dump (SPEC.md 3.1), as those that only want to read on need it. check_header.c says what is wrong with one. */
#ifndef HPROF_HEADER_H
#define HPROF_HEADER_H

#include <string.h>

#include "format/format.h"

#define HEADER_MAGIC "JAVA PROFILE 1.0."
enum { HEADER_MAGIC_SIZE = sizeof HEADER_MAGIC - 1 };

/* Whether the HEADER_MAGIC_SIZE bytes at p are those with which a dump of any version begins. */
static inline bool is_header_magic(const void *p)
{
    return memcmp(p, HEADER_MAGIC, HEADER_MAGIC_SIZE) == 0;
}

/* The same for the HEADER_STRING_SIZE bytes with the version; false if that is unknown. */
static inline bool parse_header_version(const void *p, enum version *version)
{
    const char *text = p;

    *version = (enum version)(text[HEADER_MAGIC_SIZE] - '0');
    return is_header_magic(p) && text[HEADER_MAGIC_SIZE] >= '1' && text[HEADER_MAGIC_SIZE] <= '3' &&
           !text[HEADER_MAGIC_SIZE + 1];
}

/* The same for the HEADER_SIZE bytes of a header; false also if no ID has that size. */
static inline bool parse_header(const uint8_t *p, enum version *version, unsigned *id_size)
{
    *id_size = get_u4(p + HEADER_STRING_SIZE);
    return parse_header_version(p, version) && (*id_size == 4 || *id_size == 8);
}

#endif
