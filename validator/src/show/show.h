/* The records around an offset, written for people: show.c finds them, show_lines.c writes them. */
#ifndef HPROF_SHOW_H
#define HPROF_SHOW_H

#include "base/arena.h"
#include "base/keymap.h"
#include "format/format.h"
#include "input/input.h"
#include "state/names.h"

enum item_kind {
    ITEM_RECORD,    /* a record that is not of a heap dump */
    ITEM_HEAP,      /* the header of a HEAP_DUMP or HEAP_DUMP_SEGMENT */
    ITEM_SUBRECORD, /* a sub-record in it */
    ITEM_UNREADABLE /* the rest of a heap dump record, or of the dump, that lengths do not lead through */
};

struct item {
    enum item_kind kind;
    uint64_t offset;
    uint64_t size;   /* with the header */
    uint64_t length; /* of the body, for ITEM_RECORD and ITEM_HEAP */
    uint64_t heap;   /* the offset of the heap dump record that the item is in; 0 outside */
    char why[120];   /* what is wrong with it; "" for nothing */
};

struct show {
    struct hprof_show *asked;
    struct memory memory;
    struct input in;
    struct hash_key key;
    unsigned id_size;
    enum version version;
    uint64_t heap, heap_end; /* of the heap dump record that the walk is in; 0 outside */
    struct names names;
    struct keymap classes; /* class ID to the address of a copy of its CLASS_DUMP */
    struct arena copies;
};

/* At most n bytes at an offset of the dump. Good until the next call. */
struct cursor show_bytes(struct show *s, uint64_t offset, size_t n);

/* Writes an item, line by line. */
void show_item(struct show *s, const struct item *item);
/* The line that closes a heap dump record. */
void show_heap_end(struct show *s);

#endif
