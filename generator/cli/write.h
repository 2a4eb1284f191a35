/* Writes a dump and its manifest to files, as the options say. */
#ifndef HPROF_GEN_WRITE_H
#define HPROF_GEN_WRITE_H

#include "options.h"

enum { REFUSAL_SIZE = 256 };

/* Returns an exit status. A failure is reported on standard error; with `refusal`, a sentence why the dump cannot be made goes
 * there instead. */
int write_files(const struct cli_options *options, char refusal[REFUSAL_SIZE]);

/* Reports a failure of generate(). `file` and `parts` may be NULL. */
struct bytes_file;
struct part_files;
int say_generate_failure(const struct cli_options *options, enum generate_status status, const struct generated *generated,
                         const struct bytes_file *file, const struct part_files *parts);
/* Reports that a file cannot be opened or written. The exit status, 0 if the reader of a pipe has gone. */
int say_file_failure(const struct bytes_file *file);

/* Whether two names are one file, so that one output would overwrite the other. NULL is standard output. */
bool is_same_file(const char *a, const char *b);

/* A stream for text, whose bytes go to the file. NULL without memory. */
FILE *open_text(struct bytes_file *file);

#endif
