/* The rules on what records define and name: strings, classes, stacks, threads. */
#ifndef HPROF_FUZZ_ORACLE_DEFINITIONS_H
#define HPROF_FUZZ_ORACLE_DEFINITIONS_H

#include "oracle_notes.h"

/* The indexes are sorted. */
void check_definitions(struct oracle *o);

/* A string that is defined before `at`. ID 0 is no name, even if a string has it. */
const struct string *string_before(const struct oracle *o, uint64_t string_id, uint64_t at);

#endif
