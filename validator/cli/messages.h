/* What the tool itself has to say, on standard error. */
#ifndef HPROF_CLI_MESSAGES_H
#define HPROF_CLI_MESSAGES_H

/* The tool that speaks: defined by its main.c. */
extern const char program_name[];

/* One sentence on wrong usage and where to read more. `subject`, as the user typed it, is put between the two parts. */
void say_usage(const char *before, const char *subject, const char *after);

/* The same, and a question: see nearest.h. */
void say_usage_asking(const char *before, const char *subject, const char *after, const char *question);

/* "hprof-validate: heap.hprof: No such file or directory" */
void say_failure(const char *subject, const char *failure);

/* How a file is called in messages and texts: as it was given, but for "-". */
const char *display_name(const char *file);

#endif
