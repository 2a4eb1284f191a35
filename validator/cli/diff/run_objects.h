/* The objects of a run that the check counted, one after another. */
#ifndef HPROF_CLI_DIFF_RUN_OBJECTS_H
#define HPROF_CLI_DIFF_RUN_OBJECTS_H

#include "diff.h"

/* Of the bytes of a run, those from `from` on are in sight. Offsets are from its first byte on. */
struct run_objects {
    struct hprof_reader *reader;
    uint64_t offset; /* of the run in the dump */
    uint64_t at;     /* of the next object */
    uint64_t end;    /* of the run; 0 for none */
    const uint8_t *bytes;
    uint64_t from, to;
};

/* The run is the last item of the reader, and stays it while its objects are read. */
void run_objects_begin(struct run_objects *run, struct hprof_reader *reader, const struct hprof_item *item);

/* Brings at least `want` bytes from an offset on in sight, or all. False if they could not be read. */
bool run_objects_read(struct run_objects *run, uint64_t at, size_t want);

/* At least `want` bytes from an offset on, or all. NULL if they could not be read. */
static inline const uint8_t *run_objects_see(struct run_objects *run, uint64_t at, size_t want)
{
    if ((at < run->from || at > run->to || (run->to - at < want && run->to < run->end)) && !run_objects_read(run, at, want))
        return NULL;
    return run->bytes + (at - run->from);
}

/* The next object, of which the members that hprof_counted_object() gives, and the offset in the dump, are set. The run must have
 * one. False if it could not be read. */
bool run_objects_next(struct run_objects *run, struct hprof_item *item);

#endif
