/* Numbers as people type them: 1e6, 2.5e9, 1_000_000, 1.5G. Exact: no floating point. */
#ifndef HPROF_CLI_DECIMALS_H
#define HPROF_CLI_DECIMALS_H

#include <stdbool.h>
#include <stdint.h>

/* These return false if the text is not such a number or the number is too large. */

/* A whole number. */
bool parse_count(const char *text, uint64_t *value);

/* Whether the text is a whole number, but too large for parse_count(): 1e30. */
bool count_is_too_large(const char *text);

/* A size: a whole number of bytes, or a number with K, M, G or T (of 1024), rounded down to bytes: 1.1G is 1181116006. */
bool parse_size(const char *text, uint64_t *bytes);

/* A number with at most `decimals` decimals, as a multiple of its last decimal: "2.5" with 3 decimals is 2500. */
bool parse_decimal(const char *text, unsigned decimals, uint64_t *value);

#endif
