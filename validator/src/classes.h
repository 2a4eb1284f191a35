/* Classes: those that were loaded, for the whole file, and the layouts of those that were dumped, for one heap dump. Knows what
 * a superclass chain adds up to; knows no rules. */
#ifndef HPROF_CLASSES_H
#define HPROF_CLASSES_H

#include "arena.h"
#include "chunks.h"
#include "format.h"
#include "keymap.h"

/* A class ID that was loaded or dumped. */
struct class
{
    uint64_t name;         /* string ID, of the first LOAD_CLASS; 0 for none */
    uint32_t serial;       /* of the first LOAD_CLASS, */
    uint32_t loaded_after; /* and how many heap dump records stand in front of it */
    uint32_t dump;         /* the heap dump in which it was dumped last, from 1; 0 for none */
    uint32_t layout;       /* its layout there */
    bool loaded;
    bool named;            /* and its name was defined then: else it is shown nowhere, early or late */
    bool array_use_judged; /* an object array was of this class, and OBJ-007 saw to it */
};

enum layout_state {
    LAYOUT_OPEN,    /* nobody asked yet, or a superclass may still come */
    LAYOUT_ENTERED, /* on the way up */
    LAYOUT_SOUND,
    LAYOUT_BROKEN /* a superclass is missing, the chain is a cycle, a type is none */
};

enum { LAYOUT_NONE = UINT32_MAX };

/* The instance fields of a dumped class. Marks are offsets, within the class's own part of an instance, of references and
 * then of booleans; they are kept once for each class and never copied to subclasses. */
struct layout {
    uint64_t class_id;
    uint64_t super_id;
    uint64_t at;    /* offset of the CLASS_DUMP, behind its tag */
    uint64_t total; /* bytes of an instance: own part and superclasses; if sound */
    const uint32_t *marks;
    uint32_t own_bytes;
    uint32_t instance_size; /* as declared */
    uint32_t super;         /* layout of the superclass; if sound */
    uint32_t marked;        /* the nearest superclass with marks; if sound */
    uint16_t field_count;
    uint16_t references; /* among the marks */
    uint16_t booleans;
    enum layout_state state : 2;
    uint8_t colour : 2; /* for finding cycles: 0 not seen, 1 on this way, 2 done */
    bool in_turn : 1;   /* settled by what stood in front of its first instance: not by looking ahead or waiting */
    bool reached : 1;   /* false while only looked ahead to */
    bool bad_type : 1;
};
_Static_assert(sizeof(struct layout) == 64, "a million classes cost 64 MB");

struct classes {
    struct memory *memory;
    struct keymap by_id;   /* class ID to index in `all`, plus 1 */
    struct chunks all;     /* struct class */
    uint32_t dump;         /* the number of the present heap dump */
    struct chunks layouts; /* struct layout, of this heap dump */
    struct arena parts;    /* marks */
    struct chunks path;    /* uint32_t: layouts on the way up a chain */
    bool waiting;          /* a class was missing: what is settled from now on is not settled in turn */
    bool any_in_turn;      /* a layout of this heap dump was */
    bool complete;         /* all classes of this heap dump are known: what is missing now is missing */
};

void classes_init(struct classes *c, struct memory *memory, const struct hash_key *key);
void classes_clear(struct classes *c);

/* Forgets the layouts: a new heap dump begins. */
void classes_begin_dump(struct classes *c);

struct class *classes_find(const struct classes *c, uint64_t id);
/* Finds or adds; NULL when memory ran out. */
struct class *classes_add(struct classes *c, uint64_t id);

/* The layout of a class in the present heap dump, or NULL. */
static inline struct layout *classes_layout(const struct classes *c, const struct class *class)
{
    return class && class->dump == c->dump ? chunks_at(&c->layouts, class->layout) : NULL;
}

static inline struct layout *classes_layout_of(const struct classes *c, uint64_t class_id)
{
    return classes_layout(c, classes_find(c, class_id));
}

/* Adds a layout for a class that has none in this heap dump. `fields` are field_count names and types as in the dump. */
struct layout *classes_add_layout(struct classes *c, struct class *class, const struct CLASS_DUMP *r, uint64_t at,
                                  const uint8_t *fields, uint16_t field_count, unsigned id_size);

/* Finds out whether the chain of a layout is sound, and what it adds up to. Leaves LAYOUT_OPEN only when a superclass is
 * missing that may still come. Linear in all over the classes of a heap dump once `complete` is set. */
enum layout_state classes_resolve(struct classes *c, struct layout *l);

#endif
