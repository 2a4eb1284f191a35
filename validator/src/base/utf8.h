/* UTF-8 as HPROF has it (SPEC.md 2.5, 4.1): standard UTF-8, and Java's modified form: C0 80 for NUL, surrogates, in pairs or
 * alone, as three bytes each. */
#ifndef HPROF_UTF8_H
#define HPROF_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many of the first n bytes are sound. Fewer than n when the next byte begins no character, or one that the n bytes cut
 * short. */
size_t utf8_valid(const uint8_t *p, size_t n);

/* Writes bytes as text to show, in standard UTF-8: a pair of surrogates becomes its character, whatever is not printable \xNN. At
 * most size - 1 bytes and a NUL; "..." ends it when it does not fit or `more` says that there was more. Returns the length. */
size_t utf8_show(char *to, size_t size, const uint8_t *p, size_t n, bool more);

#endif
