/* What can be taken out of a dump or made plainer: numbered edits, and for each the changes of bytes that belong to it. An edit
 * that removes an object also corrects the lengths and counts around it, and the references to it. */
#ifndef HPROF_REDUCE_PLAN_H
#define HPROF_REDUCE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_EDIT UINT32_MAX
#define NO_RECORD UINT32_MAX
#define NO_NODE UINT32_MAX

enum change_kind {
    CHANGE_REMOVE, /* `size` bytes of the record `value`, whose length gets smaller */
    CHANGE_LENGTH, /* the length of the record `value`; belongs to no edit */
    CHANGE_COUNT,  /* a number of `size` bytes gets smaller by `value` */
    CHANGE_ZERO,   /* `size` bytes become zero */
    CHANGE_NAME,   /* letters of a text become others, from which the text number `value` can be told */
    CHANGE_LINK,   /* a reference to the node `value`: changes with that node's edit */
    CHANGE_ROOT    /* a root sub-record of the node `value`, likewise */
};

struct change {
    uint64_t at, size;
    uint32_t edit, value;
    enum change_kind kind;
};

/* A heap dump record, or another one of which parts can be removed. */
struct plan_record {
    uint64_t at;
    uint64_t removed; /* scratch of candidate_write() */
};

/* An object or class that others refer to. */
struct node {
    uint64_t id;
    uint32_t edit; /* that removes it */
    uint32_t next; /* the first object that it refers to: takes its place where links are mended */
};

/* References to what an edit removes become 0, or refer to what it referred to; or they stay, as in a dump that lacks objects. */
enum links { LINKS_CUT, LINKS_MENDED, LINKS_LEFT, LINKS_COUNT };

struct plan {
    int base; /* the dump, decompressed */
    uint64_t base_size;
    unsigned id_size;
    uint32_t edits;
    enum links links;
    struct change *changes; /* by offset */
    size_t change_count, change_room;
    struct plan_record *records;
    size_t record_count, record_room;
    struct node *nodes; /* by ID */
    size_t node_count, node_room;
};

enum stage {
    STAGE_STRETCHES, /* of objects, in a large dump, while all that defines them is kept */
    STAGE_HEAP_DUMPS,
    STAGE_RECORDS,
    STAGE_SUBRECORDS,
    STAGE_CLASSES, /* each with all its objects */
    STAGE_MEMBERS, /* fields, elements, frames, characters */
    STAGE_BLANK,   /* nothing is removed: names, values and references become plain */
    STAGE_BYTES,
    STAGE_COUNT
};
extern const char *const stage_names[STAGE_COUNT];

/* Makes the plan of a stage. An edit holds more than one part if there are too many. False if the dump cannot be read, with the
 * reason in `failure`. A dump without a header has a plan for STAGE_BYTES alone; others are empty then. */
bool plan_make(struct plan *plan, enum stage stage, enum links links, int base, char failure[256]);
void plan_free(struct plan *plan);

/* For the files that make plans. */
void plan_add(struct plan *plan, enum change_kind kind, uint64_t at, uint64_t size, uint32_t edit, uint32_t value);
uint32_t plan_add_record(struct plan *plan, uint64_t at);
uint32_t plan_find_node(const struct plan *plan, uint64_t id);

#endif
