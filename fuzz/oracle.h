/* A second, naive validator of HPROF dumps, written from SPEC.md alone. It shares no code with validator/, so a mistake in
 * one of the two shows as a difference between their reports. The whole dump is in memory; reading ends at the first framing
 * failure. Severities are those of the strict profile. Compressed dumps and dumps of 4 GiB are not covered. */
#ifndef HPROF_FUZZ_ORACLE_H
#define HPROF_FUZZ_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle_finding {
    const char *rule; /* "OBJ-004" */
    uint64_t offset;
};

#define ORACLE_UNKNOWN UINT64_MAX

struct oracle_report {
    /* Plain reading failed: a header that cannot be trusted, a tag that the version does not define, a length beyond the end
     * of the file or other than its kind or count asks for, a sub-record that cannot be there or crosses the end of its
     * record. */
    bool failed;
    struct oracle_finding failure; /* what is reported for it */
    /* Or this: only recovery weighs whether a record of unknown tag is a heap dump's. The rule is NULL if there is no doubt. */
    struct oracle_finding other_failure;
    /* Reading failed within a heap dump record. Only recovery weighs whether the length of a record before is what is wrong: then
     * REC-002 for a record that begins before the failure comes with it, or in its place, and sound_until is that record's. */
    bool failed_in_heap;
    /* Only recovery weighs whether an instance or a record, from read_until on, is wrong. All that follows may be another then: it
     * is not compared. */
    bool in_doubt;
    uint64_t read_until;   /* the tag of what is at fault; without a failure, the size of the dump */
    uint64_t record_at;    /* the record in which reading failed, or the last one; findings in its header are not compared */
    uint64_t sound_until;  /* RULES.md M.4; ORACLE_UNKNOWN if a later failure decides it */
    uint64_t closed_until; /* heap dumps that begin before this offset were read to their end */

    /* In the order of their offsets; after a failure, only those that oracle_settles(). */
    struct oracle_finding *findings;
    size_t finding_count;
    bool valid; /* no failure, and no finding is an error */

    uint64_t records[256], subrecords[256]; /* complete ones, by tag */
    uint64_t references;                    /* IDs in fields, elements, static fields and constants of type object */
};

/* Ends the process if memory runs out. */
struct oracle_report *oracle_validate(const uint8_t *bytes, size_t size);
void oracle_free(struct oracle_report *report);

/* Whether the bytes before the failure decide if there is such a finding; always, if nothing failed. Other findings wait for
 * the end of the file, or of a heap dump that is not complete. */
bool oracle_settles(const struct oracle_report *report, const struct oracle_finding *finding);

#endif
