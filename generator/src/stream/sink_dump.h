/* The sink that writes a dump: it turns typed records into bytes and fills in the lengths of records. Only here are offsets
 * known. */
#ifndef HPROF_GEN_SINK_DUMP_H
#define HPROF_GEN_SINK_DUMP_H

#include "stream/bytes.h"
#include "stream/event.h"
#include "stream/sizer.h"
#include "stream/written.h"

struct sink_dump;

enum sink_end {
    SINK_COMPLETE,
    SINK_OUT_FAILED, /* `out` knows why */
    SINK_NO_MEMORY,
    SINK_NOT_AS_MEASURED /* a heap dump record has another length than in the sizer's pass */
};

/* `longs`, from a sizer with the same events, are the records of more than RECORD_MOST_BUFFERED bytes; they must outlive the
 * sink. *stop becomes true when no more bytes are wanted, or a fault ends the dump early. The sink fills bytes and faults of
 * `written`. NULL without memory. */
struct sink_dump *sink_dump_new(struct bytes *out, const struct long_record *longs, size_t long_count, struct written *written,
                                bool *stop);
struct stage *sink_dump_stage(struct sink_dump *sink);
/* After END, or when the source stopped early: passes on the rest, and finishes `out` unless something failed. */
enum sink_end sink_dump_finish(struct sink_dump *sink);
void sink_dump_free(struct sink_dump *sink);

#endif
