/* Makes untrusted text safe for a terminal or a document. Strings from the library are clean already; file names and arguments of
 * the command line may contain any byte except NUL. */
#ifndef HPROF_CLI_PRINTABLE_H
#define HPROF_CLI_PRINTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REPLACEMENT_CHARACTER 0xFFFDu

/* The length of the UTF-8 sequence at `text`, and its character; 0 if it is not UTF-8, or at the NUL. */
size_t utf8_sequence(const char *text, uint32_t *character);

/* The columns that a text, or its first `size` bytes, takes: one for each character. */
size_t text_columns(const char *text);
size_t text_columns_of(const char *text, size_t size);

/* Writes `text` on one line. Control characters, line separators, characters that change the direction of text, and bytes that are
 * not UTF-8 are escaped: \n, \x1b, \u202e. Returns the columns that it takes. */
size_t print_safely(FILE *out, const char *text);

/* The same into memory, NUL-terminated. Writes as many whole characters as fit, and returns whether all of them did. */
bool format_safely(char *buffer, size_t size, const char *text);

#endif
