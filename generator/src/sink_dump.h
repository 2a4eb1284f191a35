/* The sink that writes a dump: typed records as bytes, the lengths of records put right. The one place that knows offsets. */
#ifndef HPROF_GEN_SINK_DUMP_H
#define HPROF_GEN_SINK_DUMP_H

#include "bytes.h"
#include "event.h"
#include "sizer.h"
#include "truth.h"

struct sink_dump;

enum sink_end {
    SINK_COMPLETE,
    SINK_OUT_FAILED, /* `out` knows why */
    SINK_NO_MEMORY,
    SINK_NOT_AS_MEASURED /* a heap dump record is not as long as when the sizer saw it */
};

/* `longs`, of a sizer that saw the same events, are the records of more than RECORD_MOST_BUFFERED bytes; they must outlive the
 * sink. `stop` becomes true when the bytes are not wanted any more, or the dump ends early because a fault says so. Of `truth`
 * it fills bytes and faults. NULL without memory. */
struct sink_dump *sink_dump_new(struct bytes *out, const struct long_record *longs, size_t long_count, struct truth *truth,
                                bool *stop);
struct stage *sink_dump_stage(struct sink_dump *sink);
/* After the END, or when the source stopped early: hands on what is left, and finishes `out` unless something failed. */
enum sink_end sink_dump_finish(struct sink_dump *sink);
void sink_dump_free(struct sink_dump *sink);

#endif
