/* Numbers as people type them: 1e6, 2.5e9, 1_000_000, 1.5G. Exact: no floating point. */
#ifndef HPROF_CLI_DECIMALS_H
#define HPROF_CLI_DECIMALS_H

#include <stdbool.h>
#include <stdint.h>

/* Each is false for what is no such number, or too large. */

/* A whole number. */
bool parse_count(const char *text, uint64_t *value);

/* Whether the text is a whole number after all, but one that is too large for parse_count(): 1e30. */
bool count_is_too_large(const char *text);

/* A size in bytes, a whole number, or in K, M, G, T (of 1024), rounded down to bytes: 1.1G is 1181116006. */
bool parse_size(const char *text, uint64_t *bytes);

/* A number of at most `decimals` decimals, in units of its last one: "2.5" with 3 is 2500. */
bool parse_decimal(const char *text, unsigned decimals, uint64_t *value);

#endif
