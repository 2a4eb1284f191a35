/* Prose in lines as wide as the terminal. */
#ifndef HPROF_CLI_WRAP_H
#define HPROF_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define WRAP_NEVER ((size_t)-1) /* a width: everything on one line */

/* Writes `text` in lines of `width` columns, each indented by `indent` spaces, and a line end. The first line continues at
 * `column`. Words that are longer than a line stay whole. */
void wrap(FILE *out, const char *text, size_t indent, size_t column, size_t width);

/* The same, but the first line is not indented: it starts at the left, or continues after `column` columns. */
void wrap_hanging(FILE *out, const char *text, size_t indent, size_t column, size_t width);

#endif
