/* Wraps prose to the width of the terminal. */
#ifndef HPROF_CLI_WRAP_H
#define HPROF_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define WRAP_NEVER ((size_t)-1) /* a width that keeps everything on one line */

/* Writes `text` in lines of `width` columns, each indented by `indent` spaces, and ends the last line. The first line continues at
 * `column`. Words that are longer than a line are not split. */
void wrap(FILE *out, const char *text, size_t indent, size_t column, size_t width);

/* The same without indenting the first line: it starts at the left, or continues after `column` columns. */
void wrap_hanging(FILE *out, const char *text, size_t indent, size_t column, size_t width);

#endif
