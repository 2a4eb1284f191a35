/* UTF-8 as HPROF allows it (SPEC.md 2.5, 4.1): standard UTF-8, and Java's modified UTF-8, where NUL is C0 80 and each surrogate,
 * paired or alone, takes three bytes. */
#ifndef HPROF_UTF8_H
#define HPROF_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the longest prefix of the n bytes that is valid. */
size_t utf8_valid(const uint8_t *p, size_t n);

/* The length of the longest prefix of the n bytes that is printable as it is, without quotes and backslashes. */
size_t utf8_plain(const uint8_t *p, size_t n);

/* Writes bytes as printable text in standard UTF-8: a pair of surrogates becomes one character, and a byte that is not printable
 * becomes \xNN. Writes at most size - 1 bytes and a NUL. The text ends with "..." if it does not fit, or if `more` says that the
 * bytes are only the first of the string. Returns the length. */
size_t utf8_show(char *to, size_t size, const uint8_t *p, size_t n, bool more);

#endif
