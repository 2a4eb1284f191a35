/* The manifest of a dump against the dump itself and what the validator counts in it. */
#ifndef HPROF_FUZZ_EXPECT_MANIFEST_H
#define HPROF_FUZZ_EXPECT_MANIFEST_H

#include <jansson.h>

#include "hprof/hprof.h"

/* The JSON of a manifest; the caller releases it. Text that is not JSON fails the target. */
json_t *parse_manifest(const char *text, size_t size);

/* The value of a key, which the manifest must have: a count, or a text that is the expected one (NULL: null). */
uint64_t number_in_manifest(const json_t *object, const char *key);
void expect_text_in_manifest(const json_t *object, const char *key, const char *expected);

/* Fails the target unless the manifest of a made dump without faults has the sizes and checksums of its bytes; version, ID size,
 * and the counts by tag, of arrays and references, and of findings (its quirks) that are in `summary`, which is that of the
 * profile strict; and sums over its classes and digests that agree with these. */
void expect_manifest(const json_t *manifest, const uint8_t *file, size_t size, const struct hprof_summary *summary);

/* Fails the target unless the manifest of a copy of the dump (--from) says the same, except for what a copy may not know: the
 * profile, the quirks, and how many references are null. Takes these from both. */
void expect_manifest_of_copy(json_t *manifest, json_t *copy);

#endif
