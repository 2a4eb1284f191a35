/* The arguments of options. Each function returns false after printing what is wrong with the text. */
#ifndef HPROF_CLI_OPTION_VALUES_H
#define HPROF_CLI_OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

bool read_max_errors(const char *text, uint64_t *value);
bool read_jobs(const char *text, unsigned *jobs);
/* OFFSET or OFFSET:COUNT; an offset in hexadecimal, as findings have it, or decimal. */
bool read_show(const char *text, uint64_t *offset, uint64_t *around);
bool read_max_memory(const char *text, uint64_t *bytes);
/* `option` begins the sentence about a text that is none of the three. */
bool read_when(const char *option, const char *text, enum when *when);
bool read_format(const char *text, enum format *format);
bool read_profile(const char *text, size_t *profile);

#endif
