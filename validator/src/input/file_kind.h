/* What a file is that is often mistaken for a dump, by its first bytes. */
#ifndef HPROF_FILE_KIND_H
#define HPROF_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILE_KIND_SIGHT = 262 /* bytes that show the kind: those of a tar file up to the end of "ustar" */ };

struct file_kind {
    const char *name; /* NULL if the kind is not known */
    bool may_be_text; /* if not, the header of a dump in it does not follow text: an archive or a core holds anything */
};

struct file_kind find_file_kind(const uint8_t *p, size_t n);

/* Zeros are in place of what was there, if the file is not empty. */
bool begins_with_zeros(const uint8_t *p, size_t n);

/* A control character that no text has. */
static inline bool is_no_text(uint8_t byte)
{
    return byte < '\b' || (byte > '\r' && byte < ' ' && byte != '\033');
}

/* Whether the bytes are text, in whatever encoding: there are no control characters that no text has. */
bool is_text(const uint8_t *p, size_t n);

/* A part of a dump begins with a segment, as HotSpot writes it, and has no header. */
bool is_part_of_dump(const uint8_t *p, size_t n);

#endif
