/* The content of the dump that was written, for the manifest. The census, the sinks and the filters fill it. */
#ifndef HPROF_GEN_TRUTH_H
#define HPROF_GEN_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/written.h"
#include "truth/answers.h"

struct truth_class {
    uint64_t id;
    bool loaded; /* by a LOAD_CLASS; the first one has the name: */
    uint64_t name_id;
    char *name; /* NULL if unknown */
    uint64_t instances;
    uint64_t instance_bytes; /* of the bodies of its INSTANCE_DUMPs */
    uint64_t arrays;         /* OBJECT_ARRAY_DUMPs of this class; a PRIMITIVE_ARRAY_DUMP does not name its class */
    uint64_t elements;       /* of these */
};

/* One entry of a digest (conformance/PROTOCOL.md, section 1): the number of items, and the sum of their hashes modulo 2^128. */
struct digest {
    uint64_t count, high, low;
};

enum digest_entry {
    DIGEST_STRINGS,
    DIGEST_CLASSES,
    DIGEST_LOADERS,
    DIGEST_STATICS,
    DIGEST_CONSTANTS,
    DIGEST_INSTANCES,
    DIGEST_INSTANCE_BYTES,
    DIGEST_OBJECT_ARRAYS,
    DIGEST_PRIMITIVE_ARRAYS,
    DIGEST_ROOTS,
    DIGEST_ENTRIES
};

/* `exact` and `resolved` are the two forms of `identity`. */
enum digest_form { DIGEST_EXACT, DIGEST_RESOLVED, DIGEST_CONTENT, DIGEST_FORMS };

struct truth {
    struct written written;
    uint64_t file_bytes;     /* of the file: the same, or compressed */
    uint8_t sha256[32];      /* of the dump, */
    uint8_t file_sha256[32]; /* and of the file */

    const char *version;                    /* of the header, "1.0.2"; NULL for an unknown one */
    uint64_t records[256], subrecords[256]; /* by tag */
    uint64_t heap_dumps;
    uint64_t references, nulls; /* IDs in fields, elements, statics, constants of type object; those that are null */
    bool references_known, nulls_known;
    uint64_t arrays[12];         /* by basic type, */
    uint64_t array_elements[12]; /* and their elements */
    uint64_t deepest_chain;      /* the longest chain of dumped classes up to one without a superclass */

    struct digest digests[DIGEST_FORMS][DIGEST_ENTRIES]; /* if they were wanted */
    struct answers answers;                              /* likewise */

    /* By ID, each once, in the order in which they were first named by a LOAD_CLASS, CLASS_DUMP or INSTANCE_DUMP. */
    struct truth_class *classes;
    size_t class_count;

    /* Findings in the profile strict that come from quirks of the producer, by rule index. */
    uint64_t *quirks;
};

/* Copies the name. False without memory. */
bool truth_name_class(struct truth_class *class, const char *name, size_t size);
/* Frees everything except `quirks`, which belongs to the caller. */
void truth_clear(struct truth *truth);

#endif
