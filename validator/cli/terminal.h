/* Properties of a descriptor: whether it is a terminal, how wide, with colours or without. */
#ifndef HPROF_CLI_TERMINAL_H
#define HPROF_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/* "auto", "always" or "never"; false for anything else. */
bool parse_when(const char *text, enum when *when);

/* Columns of the terminal at `fd`; `otherwise` if that is unknown or `fd` is not a terminal. */
size_t terminal_width(int fd, size_t otherwise);

/* auto: on a terminal that is not dumb, unless NO_COLOR is set (https://no-color.org). */
bool terminal_wants_color(enum when when, int fd);

#endif
