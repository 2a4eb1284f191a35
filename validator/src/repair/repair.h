/* Repair: repair_copy.c copies what lengths lead to, repair.c has the copy checked and leaves out what breaks a rule, until the
 * copy is valid. */
#ifndef HPROF_REPAIR_H
#define HPROF_REPAIR_H

#include "input/input.h"
#include "state/names.h"

/* What was left out, by kind and by what names it. */
enum left_out_kind {
    LEFT_RECORD,          /* by tag */
    LEFT_SUBRECORD,       /* of no class, by tag */
    LEFT_CLASS,           /* a CLASS_DUMP, by class ID */
    LEFT_INSTANCE,        /* by class ID */
    LEFT_OBJECT_ARRAY,    /* by class ID */
    LEFT_PRIMITIVE_ARRAY, /* by element type */
    LEFT_BYTES,           /* that are of no record and no sub-record */
    LEFT_KINDS
};

struct left_out {
    enum left_out_kind kind;
    uint64_t key;
    uint64_t count, bytes;
};

struct repair {
    struct hprof_repair *asked;
    struct memory memory;
    struct hash_key key;
    struct input in;
    unsigned id_size;
    enum version version;
    struct names names;
    bool has_names; /* they are to be cleared */

    /* the copy */
    int to;
    uint8_t *buffer;
    size_t buffered;
    uint64_t written; /* bytes in front of those in the buffer */
    int error;        /* errno of a write that failed */

    /* What the pass at hand leaves out besides what lengths do not lead to: what has one of these offsets. */
    uint64_t *offsets;
    size_t offset_count, offset_room, next_offset;

    struct left_out *left;
    size_t left_count, left_room;
    struct keymap left_index[LEFT_KINDS]; /* key to index in `left` */
    bool is_first_pass;
    bool has_dropped; /* this pass has left something out */
};

/* One pass from the input, which is at its start, to the start of the copy. False: see `error`, `in` and `memory`; or the header is
 * not valid, and asked->failure says so. */
bool repair_copy(struct repair *r);

#endif
