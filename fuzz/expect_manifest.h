/* The manifest of a dump against the dump itself and what the validator counts in it. */
#ifndef HPROF_FUZZ_EXPECT_MANIFEST_H
#define HPROF_FUZZ_EXPECT_MANIFEST_H

#include <jansson.h>

#include "generate.h"
#include "hprof/hprof.h"
#include "truth/manifest.h"

/* The manifest of a dump, with one option that the user gave; the caller releases it. NULL if there is no parser (HAS_PARSERS).
 * Text that is not JSON fails the target. */
json_t *manifest_of_dump(const char *file, const struct generate_request *request, const struct generated *generated,
                         const struct manifest_option *option);

/* The number at a key, which the manifest must have. */
uint64_t number_in_manifest(const json_t *object, const char *key);
/* Fails the target unless the text at a key is the expected one, or null if `expected` is NULL. */
void expect_text_in_manifest(const json_t *object, const char *key, const char *expected);

/* Fails the target unless the manifest of a made dump without faults has the sizes and checksums of the dump, and agrees with
 * `summary`, the summary in the profile strict: version, ID size, counts, and quirks. The sums over its classes and the counts of
 * its digests must agree with these counts. */
void expect_manifest(const json_t *manifest, const uint8_t *file, size_t size, const struct hprof_summary *summary);

/* Fails the target unless the manifest names the faults that were planted, each with its rule and offset. */
void expect_violations(const json_t *manifest, const struct truth *truth);

/* Fails the target unless the manifest of a copy of the dump (--from) says the same, except for what a copy may not know: the
 * profile, the quirks, and how many references are null. Takes these from both. */
void expect_manifest_of_copy(json_t *manifest, json_t *copy);

#endif
