/* Members of a gzip file (RFC 1952) that threads inflate before they are wanted. HotSpot compresses each MB as a member of its
 * own, so several can be inflated at the same time. But only the end of a member shows where the next one begins: so a thread
 * tries each place that looks like the header of a member. Its result is used only if a member does begin there and is valid by
 * checksum and size. All other members, and so all faults, are left to gunzip.c. */
#ifndef HPROF_MEMBERS_H
#define HPROF_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "input/input_source.h"

struct members;

/* A valid member. */
struct member {
    uint64_t offset; /* of its header in the file, */
    uint64_t data;   /* of its data, */
    uint64_t end;    /* and of what follows the data: its trailer */
    const uint8_t *bytes;
    size_t size;
    uint32_t crc;
};

/* Starts threads that inflate the members that begin at an offset or later. They look for members in pieces of the file of `piece`
 * bytes. The source must be seekable. NULL: there are no threads, or no memory for them. */
struct members *members_start(struct memory *memory, const struct input_source *source, uint64_t from, size_t piece,
                              unsigned threads);

/* The member whose header is at an offset; NULL if it was not inflated, or is not valid. Offsets must not decrease. The bytes stay
 * until a member of a later piece is asked for. */
const struct member *members_find(struct members *m, uint64_t offset);

/* Ends the threads. NULL is allowed. */
void members_stop(struct members *m);

#endif
