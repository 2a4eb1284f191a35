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

#endif
