/* Numbers for people: "2.09 GB", "60,300", "3.4 GB/s", "0:12", "0x7fff9a". Each fits in NUMBER_SIZE bytes. */
#ifndef HPROF_CLI_NUMBERS_H
#define HPROF_CLI_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#define NUMBER_SIZE 48

const char *format_size(char out[NUMBER_SIZE], uint64_t bytes);
/* All digits, in groups of three: "60,300". */
const char *format_exact(char out[NUMBER_SIZE], uint64_t count);
/* With what is counted, of 20 letters at most: "60,300 objects", "1 root". */
const char *format_counted(char out[NUMBER_SIZE], uint64_t count, const char *noun);
const char *format_rate(char out[NUMBER_SIZE], uint64_t bytes, double seconds);
const char *format_seconds(char out[NUMBER_SIZE], double seconds);
const char *format_countdown(char out[NUMBER_SIZE], double seconds);

/* An offset in hexadecimal, or in decimal if --decimal asks for that. */
const char *format_offset(char out[NUMBER_SIZE], uint64_t offset, bool decimal);

/* "" for 1, else "s". */
const char *plural(uint64_t count);

#endif
