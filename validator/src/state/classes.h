/* Classes: those that were loaded, for the whole file, and the layouts of those that were dumped, for one heap dump. Knows what
 * a superclass chain adds up to; knows no rules. */
#ifndef HPROF_CLASSES_H
#define HPROF_CLASSES_H

#include "base/byte_log.h"
#include "base/chunks.h"
#include "base/keymap.h"
#include "format/format.h"

/* A class that was loaded: what its first LOAD_CLASS says. */
struct class
{
    uint64_t name; /* string ID */
    uint32_t serial;
    bool named;  /* its name was defined then: else it is shown nowhere, early or late */
    bool reused; /* the ID had another name before its class was unloaded: no name holds for the whole file */
};
_Static_assert(sizeof(struct class) == 16, "the smallest LOAD_CLASS takes 25 bytes");

enum layout_state {
    LAYOUT_OPEN,    /* nobody asked yet, or a superclass may still come */
    LAYOUT_ENTERED, /* on the way up */
    LAYOUT_SOUND,
    LAYOUT_BROKEN /* a superclass is missing, the chain is a cycle, a type is none */
};

enum { LAYOUT_NONE = UINT32_MAX };

/* A dumped class. References and booleans are its marks: the types of its own fields up to the last of them are kept once, in
 * a byte each, and never copied to subclasses. Its ID and what is above it are in classes.ids. 48 bits say any offset. */
struct layout {
    uint64_t at : 48;             /* offset of the CLASS_DUMP, behind its tag */
    uint64_t state : 2;           /* enum layout_state */
    uint64_t colour : 2;          /* for finding cycles: 0 not seen, 1 on this way, 2 done */
    uint64_t bad_type : 1;        /* of a field */
    uint64_t has_fields : 1;      /* of its own, */
    uint64_t has_marks : 1;       /* references or booleans among them */
    uint64_t is_rootless : 1;     /* it names no superclass */
    uint64_t is_array_class : 1;  /* an object array was of this class, and OBJ-007 saw to it; */
    uint64_t is_object_array : 1; /* then: it is Object[] */
    uint64_t has_instances : 1;
    uint64_t is_excused : 1; /* its CLS-008 follows from what was told */
    uint64_t total : 48;     /* bytes of an instance: the own part, and once it is sound, the superclasses */
    uint32_t
        nearest_open; /* while it is open: a layout up its chain that is open too, most often the one whose superclass is missing */
    uint32_t types;         /* where in classes.types the own fields are, in units of TYPES_UNIT; if it has marks */
    uint32_t instance_size; /* as declared */
};
_Static_assert(sizeof(struct layout) == 32, "the smallest CLASS_DUMP takes 43 bytes, and much else is known of it");
enum { TYPES_UNIT = 4 };

struct classes {
    struct memory *memory;
    unsigned id_size;
    struct keymap loaded_by_id; /* class ID to index in `loaded` */
    struct chunks loaded;       /* struct class */
    uint32_t dump;              /* the number of the present heap dump; of it are: */
    struct keymap dumped_by_id; /* class ID to index in `layouts` */
    struct chunks layouts;      /* struct layout */
    struct chunks ids;          /* two IDs for each layout: its own, and what is above it */
    struct byte_log types;
    struct chunks path; /* uint32_t: layouts on the way up a chain */
    bool complete;      /* all classes of this heap dump are known: what is missing now is missing */
};

void classes_init(struct classes *c, struct memory *memory, const struct hash_key *key, unsigned id_size);
void classes_clear(struct classes *c);

void classes_begin_dump(struct classes *c);
/* Forgets the layouts. */
void classes_end_dump(struct classes *c);

/* A class that was loaded, or NULL. */
struct class *classes_find(const struct classes *c, uint64_t id);
/* Adds a class that was not loaded yet; NULL when memory ran out. */
struct class *classes_add(struct classes *c, uint64_t id);

static inline struct layout *classes_layout(const struct classes *c, uint32_t index)
{
    return chunks_at(&c->layouts, index);
}

/* The layout of a class in the present heap dump, or LAYOUT_NONE. */
uint32_t classes_find_layout(const struct classes *c, uint64_t class_id);

/* The same, or NULL. */
static inline struct layout *classes_layout_of(const struct classes *c, uint64_t class_id)
{
    uint32_t index = classes_find_layout(c, class_id);

    return index == LAYOUT_NONE ? NULL : classes_layout(c, index);
}

/* The class that a layout is of. */
uint64_t classes_id(const struct classes *c, uint32_t index);

/* The layout above one: the superclass of a broken one, the nearest superclass with marks of a sound one, or LAYOUT_NONE. */
uint32_t classes_above(const struct classes *c, uint32_t index);

/* Adds a layout for a class that has none in this heap dump: its index, or LAYOUT_NONE when memory ran out. `fields` are
 * field_count names and types as in the dump. */
uint32_t classes_add_layout(struct classes *c, const struct CLASS_DUMP *r, uint64_t at, const uint8_t *fields,
                            uint16_t field_count);

/* Finds out whether the chain of a layout is sound, and what it adds up to. Leaves LAYOUT_OPEN only when a superclass is
 * missing that may still come. Nearly linear in all over the classes of a heap dump, however often it is asked. */
enum layout_state classes_resolve(struct classes *c, uint32_t index);

/* Goes over the marks of a layout. */
struct mark {
    uint32_t at; /* within the class's own part of an instance */
    uint32_t end;
    uint8_t type; /* TYPE_OBJECT or TYPE_BOOLEAN */
    uint16_t left;
    uint64_t next;
};
struct mark marks_begin(const struct classes *c, const struct layout *l);

static inline bool marks_next(const struct classes *c, struct mark *m)
{
    while (m->left) {
        m->left--;
        m->type = byte_log_byte(&c->types, m->next++);
        m->at = m->end;
        m->end += type_size(m->type, c->id_size);
        if (m->type == TYPE_OBJECT || m->type == TYPE_BOOLEAN)
            return true;
    }
    return false;
}

/* The bytes of a class's own part of an instance up to the end of its last mark. */
static inline uint32_t marks_bytes(const struct classes *c, const struct layout *l)
{
    struct mark m = marks_begin(c, l);

    while (marks_next(c, &m))
        continue;
    return m.end;
}

#endif
