/* Shows the records around an offset to people: show_find.c finds them, show_classes.c the classes of their instances, and
 * show_items.c writes them. */
#ifndef HPROF_SHOW_H
#define HPROF_SHOW_H

#include "base/arena.h"
#include "base/keymap.h"
#include "format/format.h"
#include "reread/replay.h"
#include "state/names.h"

enum item_kind {
    ITEM_HEADER,    /* the header of the dump */
    ITEM_RECORD,    /* any record except a heap dump record */
    ITEM_HEAP,      /* the header of a HEAP_DUMP or HEAP_DUMP_SEGMENT */
    ITEM_SUBRECORD, /* a sub-record in a heap dump record */
    ITEM_PART,      /* a part of a sub-record that crosses the ends of segments */
    ITEM_DAMAGE     /* bytes that reading steps over, or those after which it ends */
};

struct item {
    enum item_kind kind;
    uint8_t tag;
    unsigned part; /* its number, for ITEM_PART */
    uint64_t offset;
    uint64_t size;        /* with the header; as it was read */
    uint64_t length;      /* of the body, for ITEM_RECORD and ITEM_HEAP */
    uint64_t heap;        /* the offset of the heap dump record that contains the item; 0 for none */
    const char *why_open; /* of a heap dump record that opens again, or whose header is not there; else NULL */
    char why[120];        /* what is wrong with it, or "" */
};

struct show {
    struct hprof_show asked;
    struct input_source source;
    char failure[HPROF_FAILURE_SIZE]; /* "" if nothing failed */
    bool stopped;                     /* by a callback */
    struct memory memory;
    struct input in;
    struct hash_key key;
    struct replay replay;
    uint64_t heap, last_heap; /* the start of the present heap dump record, and of the last one; 0 for none */
    struct names names;
    struct keymap classes; /* class ID to the address of a copy of its CLASS_DUMP */
    struct arena copies;
    struct jumps jumps; /* of the check, which is asked only where lengths do not lead to what is shown */
    bool is_damaged;    /* plain reading failed, or may have failed, before something that is shown */
    bool is_checked;    /* the jumps are there */
    uint64_t size;      /* then: of the dump */
};

/* At most n bytes at an offset of the dump, valid until the next call. */
struct cursor show_bytes(struct show *s, uint64_t offset, size_t n);

/* ---- show_find.c ---- */

/* The record or sub-record that begins here. False at the end of the dump. *is_suspect if the check may read it another way. */
bool show_next(struct show *s, struct item *item, struct replay_item *read, bool *is_suspect);
/* Moves past an item. False if the dump ends within it. */
bool show_pass(struct show *s, const struct item *item, const struct replay_item *read);
/* Goes to a record. */
bool show_seek(struct show *s, uint64_t offset, uint64_t last_heap);

/* The result of the walk over the records. */
struct found {
    struct found_record {
        uint64_t offset, last_heap;
    } * recent; /* a ring with the records up to the wanted offset */
    size_t capacity, count;
    bool is_found;       /* a record contains the wanted offset */
    uint64_t heap_start; /* of the heap dump that contains it, or of the last one before it, or of the first one after it */
};
/* Walks over the records, finds the one with the offset, and collects the names. */
void show_find(struct show *s, struct found *f);
/* Collects the items to be shown: the one that contains the offset, and `around` items before and after it. Returns how many. */
size_t show_collect(struct show *s, const struct found *f, struct item *items);
bool item_has(const struct item *item, uint64_t offset);

/* ---- show_classes.c ---- */

/* Finds the class dumps of the instances among the items, from the start of the heap dump on. `ids` has room for `count`. */
void show_find_classes(struct show *s, uint64_t heap_start, const struct item *items, size_t count, uint64_t *ids);

/* ---- show_subrecords.c ---- */

/* Whether an item is an instance that does not have the size of its class, whose class dumps were found. */
bool show_is_of_wrong_size(struct show *s, const struct item *item);

/* ---- show_items.c ---- */

/* Writes an item, line by line. */
void show_item(struct show *s, const struct item *item);
/* The line that closes a heap dump record. */
void show_heap_end(struct show *s);

#endif
