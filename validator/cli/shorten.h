/* Lines of a limited width. */
#ifndef HPROF_CLI_SHORTEN_H
#define HPROF_CLI_SHORTEN_H

#include <stddef.h>

/* No line of a report for people is longer than this many columns, not counting the path of the file. */
#define LINE_COLUMNS 160

/* Shortens a text that is wider than this: the middle of its longest words gives way, which are names of classes; if
 * it has no long ones, its last words. */
void cut_to_columns(char *text, size_t columns);

/* Shortens words that are wider than this in the middle. */
void cut_words(char *text, size_t columns);

#endif
