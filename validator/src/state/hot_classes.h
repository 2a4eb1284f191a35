/* What the check of instances needs of their classes: a cache line each, found by the bytes of the class ID in the dump.
 * Each thread has its own. */
#ifndef HPROF_HOT_CLASSES_H
#define HPROF_HOT_CLASSES_H

#include "state/classes.h"

enum { HOT_BITS_LEAST = 6, HOT_BITS_MOST = 13, HOT_FIELDS = 20 };

enum hot_kind {
    HOT_INSTANCES,
    HOT_WAITING,      /* instances wait for the class, or for one of its superclasses */
    HOT_UNKNOWN,      /* the heap dump has ended without it or a superclass, or its layout is not valid */
    HOT_OBJECT_ARRAY, /* the class is Object[], or may be; OBJ-007 was checked */
    HOT_OTHER_ARRAY
};

struct hot_class {
    uint64_t raw_id;    /* the ID in the dump's byte order */
    uint32_t bytes;     /* of an instance; UINT32_MAX for a class without instances, since no window holds so many */
    uint32_t dump;      /* the number of the heap dump; an entry of another heap dump is not valid */
    uint8_t references; /* the first fields are references */
    uint8_t booleans;   /* booleans follow */
    uint8_t kind;       /* enum hot_kind */
    bool is_wide;       /* it has more fields, or its instances are noted */
    uint8_t special;    /* of a class that is wide or unknown: enum special, as which its instances are noted */
    uint16_t counted;   /* where counted.h found it last */
    union {
        uint16_t fields[HOT_FIELDS]; /* offsets within an instance */
        uint32_t first_wide;         /* where the fields are in the list of wide classes */
        uint32_t epoch;              /* the other kinds: in which it holds; see make_hot_class() */
    };
};
_Static_assert(sizeof(struct hot_class) == 64, "a cache line");

struct hot_classes {
    struct hot_class *slots; /* 1 << bits of them; NULL for none */
    uint64_t multiply;
    unsigned bits;
};

/* Makes room for a number of classes, unless there is enough. `slots` stays NULL if memory ran out. */
void hot_classes_fit(struct hot_classes *hot, struct memory *memory, const struct hash_key *key, uint64_t classes);
/* Makes as much room as `other` has, unless memory is short. */
bool hot_classes_like(struct hot_classes *hot, const struct hot_classes *other, struct memory *memory);
/* Empties all slots. */
void hot_classes_forget(struct hot_classes *hot);
void hot_classes_clear(struct hot_classes *hot, struct memory *memory);

/* The slot of a class, which may hold another one. Only if there are slots. */
static inline struct hot_class *hot_slot(const struct hot_classes *hot, uint64_t raw_id)
{
    return &hot->slots[(raw_id * hot->multiply) >> (64 - hot->bits)];
}

/* Puts a class of one of the other kinds into its slot, for an epoch (struct segment), or, if that is ALWAYS, for the whole heap
 * dump. */
enum { ALWAYS = UINT32_MAX };
static inline void make_hot_class(const struct hot_classes *hot, uint64_t raw_id, uint32_t dump, enum hot_kind kind,
                                  uint32_t epoch)
{
    *hot_slot(hot, raw_id) =
        (struct hot_class){.raw_id = raw_id, .bytes = UINT32_MAX, .dump = dump, .kind = (uint8_t)kind, .epoch = epoch};
}

/* The same of a class that is unknown. Its instances may be of any special class that was dumped. */
static inline void make_unknown_class(const struct hot_classes *hot, uint64_t raw_id, const struct classes *classes)
{
    make_hot_class(hot, raw_id, classes->dump, HOT_UNKNOWN, ALWAYS);
    hot_slot(hot, raw_id)->special = (uint8_t)classes->special;
}

static inline enum hot_kind hot_array_kind(bool is_object_array)
{
    return is_object_array ? HOT_OBJECT_ARRAY : HOT_OTHER_ARRAY;
}

/* The classes of one heap dump that are wide. Each thread has its own. */
struct wide_classes {
    uint32_t *fields; /* of each: how many references and how many booleans, and where they are in an instance */
    size_t capacity, count;
    struct keymap first; /* by layout; UINT32_MAX if there was no room */
};

void wide_classes_init(struct wide_classes *wide, struct memory *memory, const struct hash_key *key);
void wide_classes_clear(struct wide_classes *wide);

/* Describes a valid layout, except raw_id and dump. False if it is wide. */
bool describe_class(const struct classes *classes, uint32_t index, struct hot_class *hot);
/* The same for one that is wide: adds it to the list of wide classes, unless the list has it. */
bool describe_wide(struct wide_classes *wide, const struct classes *classes, uint32_t index, struct hot_class *hot);

#endif
