/* Reads the arguments of options. Each function returns false after it has reported what is wrong. */
#ifndef HPROF_GEN_OPTION_VALUES_H
#define HPROF_GEN_OPTION_VALUES_H

#include "nearest.h"
#include "options.h"

bool wrong(int id, const char *allowed, const char *text);
bool wrong_word(int id, const char *allowed, const struct nearest *nearest);
bool read_count(int id, const char *text, uint64_t least, uint64_t most, const char *allowed, uint64_t *value);
bool read_size(int id, const char *text, uint64_t *value);
bool read_many(int id, const char *text, uint64_t *value);
bool read_mean(int id, const char *text, uint64_t *thousandths);
bool read_version(const char *text, enum version *version);
bool read_producer(const char *text, const struct producer **producer);
bool read_shape(const char *text, const struct shape **shape);
bool read_load(const char *text, const struct heap_data **load);
bool read_records(const char *text, enum records_wanted *records);
bool read_at(const char *text, uint64_t *at);
bool read_when(const char *text, enum when *when);

#endif
