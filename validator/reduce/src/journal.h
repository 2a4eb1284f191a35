/* What a reduction has come to, in a file beside OUT, so that the same command line goes on where an earlier one was ended. The
 * smallest dump so far is OUT itself. The last line may be incomplete. */
#ifndef HPROF_REDUCE_JOURNAL_H
#define HPROF_REDUCE_JOURNAL_H

#include <stdio.h>

#include "command.h"
#include "failed.h"
#include "plan.h"

/* Where a reduction is. */
struct position {
    unsigned links, stage;
    uint64_t chunk;
    uint64_t pieces; /* a stage takes out no less than one of so many */
    unsigned quiet;  /* stages before this one, since the last that has found anything */
    bool is_coarse;  /* a stage since stage 0 could have tried smaller pieces */
    uint64_t size;   /* of the smallest dump at stage 0 */
};

struct journal {
    char *path;
    FILE *file;
    uint64_t fingerprint; /* of the input and what is asked */
    /* What an earlier run has left, if there was one: */
    bool is_found;
    struct outcome wanted;
    struct position position;
    uint64_t runs, written;
    bool has_found; /* the stage of the position has */
};

/* Reads the journal, if there is one. False if it is of another reduction. */
bool journal_read(struct journal *journal, struct failed *failed);
/* Opens the journal to write it. False if that fails: errno says why. */
bool journal_open(struct journal *journal, const struct outcome *wanted);
void journal_at(struct journal *journal, const struct position *position, uint64_t runs, uint64_t written);
/* Before a candidate becomes OUT. */
void journal_found(struct journal *journal);
void journal_failed(struct journal *journal, uint64_t hash);
/* Closes the journal; removes it if the reduction is done. */
void journal_close(struct journal *journal, bool is_done);

#endif
