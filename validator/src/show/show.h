/* Shows the records around an offset to people: show.c finds them, show_lines.c writes them. */
#ifndef HPROF_SHOW_H
#define HPROF_SHOW_H

#include "base/arena.h"
#include "base/keymap.h"
#include "format/format.h"
#include "input/input.h"
#include "state/names.h"

enum item_kind {
    ITEM_HEADER,    /* the header of the dump */
    ITEM_RECORD,    /* any record except a heap dump record */
    ITEM_HEAP,      /* the header of a HEAP_DUMP or HEAP_DUMP_SEGMENT */
    ITEM_SUBRECORD, /* a sub-record in a heap dump record */
    ITEM_UNREADABLE /* the rest of a heap dump record, or of the dump, after a malformed or truncated part */
};

struct item {
    enum item_kind kind;
    uint64_t offset;
    uint64_t size;   /* with the header */
    uint64_t length; /* of the body, for ITEM_RECORD and ITEM_HEAP */
    uint64_t heap;   /* the offset of the heap dump record that contains the item; 0 for none */
    char why[120];   /* what is wrong with it, or "" */
};

struct show {
    struct hprof_show asked;
    char failure[HPROF_FAILURE_SIZE]; /* "" if nothing failed */
    bool stopped;                     /* by a callback */
    struct memory memory;
    struct input in;
    struct hash_key key;
    unsigned id_size;
    enum version version;
    uint64_t heap, heap_end; /* start and end of the present heap dump record; 0 outside */
    struct names names;
    struct keymap classes; /* class ID to the address of a copy of its CLASS_DUMP */
    struct arena copies;
};

/* At most n bytes at an offset of the dump, valid until the next call. */
struct cursor show_bytes(struct show *s, uint64_t offset, size_t n);

/* Writes an item, line by line. */
void show_item(struct show *s, const struct item *item);
/* The line that closes a heap dump record. */
void show_heap_end(struct show *s);

#endif
