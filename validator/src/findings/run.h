/* One run of the validator: what the caller asked for, and what is reported. */
#ifndef HPROF_RUN_H
#define HPROF_RUN_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "findings/findings.h"

struct run {
    const struct hprof_options *options;
    struct memory memory;
    struct sizes sizes;
    struct hash_key key; /* of every hash table */
    struct findings findings;
    struct hprof_summary sum;
    uint64_t totals[RULE_COUNT], quirks[RULE_COUNT], quirk_notes[RULE_COUNT]; /* for the summary */
    bool in_baseline[RULE_COUNT];
    uint64_t missing[SHAPE_COUNT]; /* objects that are referred to and not dumped, by the shape of REF-002 */
    bool undecided;                /* whether the archive of class data sharing explains what is missing */
    char failure[256];             /* for the summary: why the dump could not be checked to its end */
    uint64_t progress_shown;       /* bytes of the file */
};

/* The framing has a fault at this offset. */
static inline void end_sound_part(struct run *run, uint64_t offset)
{
    if (offset < run->sum.sound_until)
        run->sum.sound_until = offset;
}

#endif
