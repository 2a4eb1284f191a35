/* What the tool itself has to say, on standard error. */
#ifndef HPROF_CLI_MESSAGES_H
#define HPROF_CLI_MESSAGES_H

#include <stdbool.h>

/* The tool that speaks: defined by its main.c. */
extern const char program_name[];

/* One sentence on wrong usage and where to read more. `subject`, as the user typed it, stands between the two parts. */
void say_usage(const char *before, const char *subject, const char *after);

/* What getopt_long refused: `word` of the command line, as it told by '?' or ':' and by optopt, which is the code of a known
 * option or not. */
void say_refused_option(int told, int code, bool known, const char *word);

/* "hprof-validate: heap.hprof: No such file or directory" */
void say_failure(const char *subject, const char *failure);

/* How a file is called in messages and texts: as it was given, but for "-". */
const char *display_name(const char *file);

#endif
