/* Jumps: where reading did not continue at the end of a record or sub-record. Whoever reads the dump again makes the same jumps. */
#ifndef HPROF_JUMPS_H
#define HPROF_JUMPS_H

#include "base/chunks.h"

struct jump {
    uint64_t from : 48;
    uint64_t part : 15; /* it passes this part, from 1, of a joined sub-record; 0 for none */
    /* Plain reading failed at `from`; else the sub-record there ends at `to`: an instance has the size of its class, an array
     * fewer elements than it says. */
    uint64_t failed : 1;
    uint64_t to; /* UINT64_MAX for the end */
    uint64_t
        heap_end; /* if it lies after `to`, sub-records go on there, and their record ends at it (UINT64_MAX: at the next jump to
                          itself); else a record follows */
};
#define NO_JUMP (UINT64_MAX >> 16) /* where the jump after the last one is from; no file is that long */
enum { PARTS_MOST = (1 << 15) - 1 };

struct jumps {
    struct chunks list; /* struct jump, by `from` */
    bool any_joined;
    bool none_lost; /* lost objects were sought (lost_objects.c), and none found */
};

void jumps_init(struct jumps *jumps, struct memory *memory);
void jumps_clear(struct jumps *jumps);
/* Discards all but the first ones. */
void jumps_shrink(struct jumps *jumps, size_t count);
/* Notes a jump, and discards those from later offsets. */
void jumps_note(struct jumps *jumps, uint64_t from, uint64_t to, uint64_t heap_end, bool failed);
/* Adds a jump after all others. */
void jumps_add(struct jumps *jumps, struct jump jump);
/* Whether a jump begins at an offset, to which whoever follows the jumps has come; *jump is the first one from there on, and *next
 * its index, which begins with 0. */
bool jumps_here(const struct jumps *jumps, size_t *next, uint64_t offset, struct jump *jump);
/* Reading failed at an offset to which the check did not come, within a heap dump record that ends at `heap_end`: after lost
 * objects (lost_objects.c) lengths may lead another way. Whether the check went on after a jump that begins before that end; *jump
 * then leads there from the offset, and *next is its index. */
bool jumps_go_on(const struct jumps *jumps, size_t *next, uint64_t offset, uint64_t heap_end, struct jump *jump);
/* The index of the first jump from an offset or later. */
size_t jumps_find(const struct jumps *jumps, uint64_t from);
/* The jump with an index; after the last, a jump from NO_JUMP. */
struct jump jumps_at(const struct jumps *jumps, size_t i);
/* Whether the sub-record at an offset is left out. */
bool jumps_over(const struct jumps *jumps, uint64_t offset);
/* Whether plain reading failed at an offset. */
bool jumps_failed_at(const struct jumps *jumps, uint64_t offset);

/* The last jumps pass the parts of a sub-record that crosses segments, and was joined. */
void jumps_join(struct jumps *jumps, unsigned parts);
/* Bytes of a joined sub-record have offsets as if there were no record headers between the parts; no other sub-record has these
 * offsets. Returns the offset in the dump. */
uint64_t jumps_offset(const struct jumps *jumps, uint64_t offset);

#endif
