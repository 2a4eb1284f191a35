/* A filter that reports where each record and sub-record lies in the dump, and changes nothing. */
#ifndef HPROF_GEN_ITEMS_H
#define HPROF_GEN_ITEMS_H

#include "stream/event.h"

struct item {
    uint64_t at, size; /* its bytes in the dump; of a heap dump record, those of its header */
    uint64_t id;       /* of what it defines, or of the root's object */
    bool has_id;
    bool in_heap; /* a sub-record */
    uint8_t tag;  /* 0 for the file's header */
};

/* Gets the items in the order of the dump, each before its bytes are written. */
struct item_watch {
    void (*item)(struct item_watch *watch, const struct item *item);
    /* The heap dump record whose header came last ends at this offset. NULL if that does not matter. */
    void (*heap_end)(struct item_watch *watch, uint64_t at);
};

struct items {
    struct stage stage;
    struct item_watch *watch;
    uint64_t at; /* of the next event; after END, the size of the dump */
};

/* `next` may be NULL: then nothing is passed on. */
void items_init(struct items *items, struct stage *next, struct item_watch *watch, unsigned id_size);

/* UTF8, INSTANCE_DUMP; HEADER for the file's header. */
const char *item_name(const struct item *item);

#endif
