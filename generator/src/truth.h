/* What is in the dump that was written: all that the manifest has. Filled by the census, the sinks and the filters. */
#ifndef HPROF_GEN_TRUTH_H
#define HPROF_GEN_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct truth_class {
    uint64_t id;
    bool loaded; /* by a LOAD_CLASS, the first of which has the name: */
    uint64_t name_id;
    char *name; /* NULL if not known */
    uint64_t instances;
    uint64_t instance_bytes; /* of the bodies of its INSTANCE_DUMPs */
    uint64_t arrays;         /* OBJECT_ARRAY_DUMPs that name it; those of primitive types name no class */
    uint64_t elements;       /* of these */
};

struct truth_fault {
    int rule;
    const char *variant; /* of faults.def */
    uint64_t offset;     /* as hprof_finding.offset counts it */
};

struct truth {
    uint64_t bytes;          /* of the dump, uncompressed */
    uint64_t file_bytes;     /* of the file: the same, or compressed */
    uint8_t sha256[32];      /* of the dump, */
    uint8_t file_sha256[32]; /* and of the file */

    const char *version;                    /* of the header, "1.0.2"; NULL for an unknown one */
    uint64_t records[256], subrecords[256]; /* by tag */
    uint64_t heap_dumps;
    uint64_t references, nulls; /* IDs in fields, elements, statics, constants of type object; those that are null */
    bool references_known, nulls_known;
    uint64_t arrays[12];         /* by basic type, */
    uint64_t array_elements[12]; /* and what is in them */
    uint64_t deepest_chain;      /* dumped classes, from one up to the one without a superclass */

    /* By ID, each once, in the order in which they were first named by a LOAD_CLASS, CLASS_DUMP or INSTANCE_DUMP. */
    struct truth_class *classes;
    size_t class_count;

    /* In the order of writing. */
    struct truth_fault *faults;
    size_t fault_count;

    /* Findings of the strict profile that the producer's quirks give rise to, by rule index. */
    uint64_t *quirks;
};

/* Copies the name. False without memory. */
bool truth_name_class(struct truth_class *class, const char *name, size_t size);
/* False without memory. */
bool truth_add_fault(struct truth *truth, int rule, const char *variant, uint64_t offset);
/* Frees what it holds, but for `quirks`, which are the caller's. */
void truth_clear(struct truth *truth);

#endif
