/* The standard streams of a tool. */
#ifndef HPROF_CLI_STREAMS_H
#define HPROF_CLI_STREAMS_H

#include <stdbool.h>

/* If a standard descriptor is closed at start, the next file opened would get its number. Opens something in its place that fails
 * only when it is used. */
void fill_standard_descriptors(void);

/* Whether all that was printed on standard output is written. Prints the error if not, except when the reader of a pipe has gone
 * (`| head`); errno has it. */
bool flush_standard_output(void);

#endif
