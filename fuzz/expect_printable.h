/* What text for people may not have. */
#ifndef HPROF_FUZZ_EXPECT_PRINTABLE_H
#define HPROF_FUZZ_EXPECT_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Fails the target unless the text, which ends with a NUL, is UTF-8 without control characters and without the characters that
 * turn the direction of text or break lines (U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069). `has_lines`: it may have line
 * feeds. `has_colours`: it may have escape sequences that set colours. */
void expect_printable(const char *text, size_t size, bool has_lines, bool has_colours);

#endif
