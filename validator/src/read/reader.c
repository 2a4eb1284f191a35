/* What all calls of a reader use: its failure, results in the caller's structures, and the bytes that were joined. */
#include "read/reader.h"

#include <stdio.h>

#include "base/versioned.h"

int reader_fail(struct hprof_reader *r, enum hprof_status status, const char *sentence)
{
    snprintf(r->failure, sizeof r->failure, "%s", sentence);
    if (status != HPROF_USAGE)
        r->status = status;
    return -(int)status;
}

int reader_ready(const struct hprof_reader *r)
{
    return !r ? -HPROF_USAGE : -(int)r->status;
}

int reader_give(struct hprof_reader *r, void *callers, const void *own, size_t size)
{
    return give_versioned(callers, own, size) ? 1 : reader_fail(r, HPROF_USAGE, not_initialised);
}

int reader_check(struct hprof_reader *r)
{
    char reason[128];

    if (r->dump->memory.exhausted)
        return reader_fail(r, HPROF_LIMIT, r->dump->memory.limit ? "the memory limit was met" : "memory ran out");
    if (!r->in.error)
        return 0;
    input_reason(&r->in, reason, sizeof reason);
    return reader_fail(r, HPROF_IO, reason);
}

const char *hprof_failure(const struct hprof_reader *r)
{
    return r ? r->failure : "";
}

void drop_joined(struct hprof_reader *r)
{
    memory_put(&r->dump->memory, r->joined, r->joined_size);
    r->joined = NULL;
    r->joined_size = 0;
}
