/* One run of the validator: what the caller asked for, and what is reported. */
#ifndef HPROF_RUN_H
#define HPROF_RUN_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "findings/findings.h"

/* What is counted while the dump is read: these members of the summary. */
struct counts {
    const char *version;
    uint32_t id_size;
    uint64_t timestamp, bytes, sound_until, skipped, references;
    uint64_t record_counts[256], subrecord_counts[256];
    unsigned transfer; /* HPROF_TRANSFER_* */
    bool is_part, header_lost, found_lost;
};

struct counted;

struct run {
    struct hprof_options own_options; /* the members that this version knows */
    const struct hprof_options *options;
    struct memory memory;
    struct sizes sizes;
    struct hash_key key; /* of every hash table */
    struct findings findings;
    struct counts sum;
    struct hprof_summary *summary; /* complete after reading */
    bool in_baseline[RULE_COUNT];
    uint64_t missing[SHAPE_COUNT]; /* objects that are referred to and not dumped, by the shape of REF-002 */
    bool undecided;                /* whether the archive of class data sharing explains what is missing */
    struct counted *counted;       /* objects, for who reads the dump after the check; NULL if they are not counted */
    bool stopped;                  /* by a callback */
    uint64_t progress_shown;       /* bytes of the file */
};

/* The framing has a fault at this offset. */
static inline void end_sound_part(struct run *run, uint64_t offset)
{
    if (offset < run->sum.sound_until)
        run->sum.sound_until = offset;
}

#endif
