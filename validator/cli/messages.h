/* Messages of the tool on standard error. On a terminal they are wrapped. */
#ifndef HPROF_CLI_MESSAGES_H
#define HPROF_CLI_MESSAGES_H

/* The name of the tool, which its main.c defines. */
extern const char program_name[];

/* Prints one sentence on wrong usage, and how to get help. `subject`, as the user typed it, comes between the two parts. */
void say_usage(const char *before, const char *subject, const char *after);

/* The same, followed by a question from nearest.h. */
void say_usage_asking(const char *before, const char *subject, const char *after, const char *question);

/* "hprof-validate: heap.hprof: No such file or directory" */
void say_failure(const char *subject, const char *failure);

/* "-" has the name that options give to standard input, if they do. */
const char *input_name(const char *file, const char *stdin_name);

/* The name of a file in messages and reports: as given, or "standard input" for "-". */
const char *display_name(const char *file);

#endif
