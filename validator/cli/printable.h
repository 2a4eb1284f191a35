/* Untrusted text made fit for a terminal or a document. What the library hands out is clean already; names of files and
 * arguments of the command line are not: they may hold any byte but NUL. */
#ifndef HPROF_CLI_PRINTABLE_H
#define HPROF_CLI_PRINTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REPLACEMENT_CHARACTER 0xFFFDu

/* The length of the UTF-8 sequence at `text` and its character; 0 if the bytes there are not UTF-8, or at the NUL. */
size_t utf8_sequence(const char *text, uint32_t *character);

/* How many columns a text takes, one for each character: the whole of it, or `size` bytes. */
size_t text_columns(const char *text);
size_t text_columns_of(const char *text, size_t size);

/* Writes `text` on one line, whatever is in it: controls, line separators, characters that turn the direction of text
 * and bytes that are not UTF-8 as \n, \x1b, \u202e. Gives how many columns that takes. */
size_t print_safely(FILE *out, const char *text);

/* The same into memory: as much as fits whole, NUL-terminated. Gives whether all of it did. */
bool format_safely(char *buffer, size_t size, const char *text);

#endif
