/* Hubs: objects that very many references name, and those that are named as such: by static fields, and by the first instances of
 * each class, so that also of a class with one instance it is known what that names. They are few, and a sample of IDs would have
 * one of them or not by chance, so each is counted. The first reading counts references by a hash of the ID; where many meet, the
 * second reading counts by ID. How far a hub is from what names it before it comes is known when the dump ends, from the part of
 * the heap where each reference was. */
#ifndef HPROF_GEN_HUBS_H
#define HPROF_GEN_HUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/keymap.h"

enum { HUB_NONE = 0, HUB_PARTS = 256 /* of a heap */ };

struct hub {
    uint64_t position;
    uint32_t class, references;
    bool is_found;
};

struct hubs {
    uint32_t *counters;
    uint64_t references, least; /* least: references that a hub has */
    struct memory memory;
    struct keymap of_ids; /* its number */
    struct hub *all;      /* by number, from 1 */
    uint32_t count;
};

/* False without memory. */
bool hubs_init(struct hubs *h);
void hubs_free(struct hubs *h);
/* Of another heap dump. */
void hubs_clear(struct hubs *h);

/* In the first reading. */
void hubs_count(struct hubs *h, uint64_t id);
/* The object is a hub, however many references name it, as long as there is room. */
void hubs_name(struct hubs *h, uint64_t id);
/* After the first reading. */
void hubs_decide(struct hubs *h);
/* The number of a hub; HUB_NONE if the ID is that of no hub. */
uint32_t hubs_number(struct hubs *h, uint64_t id);

#endif
