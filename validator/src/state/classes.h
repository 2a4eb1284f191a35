/* Classes: the loaded ones of the whole file, and the layouts of the dumped ones of one heap dump. Resolves superclass chains;
 * knows no rules. */
#ifndef HPROF_CLASSES_H
#define HPROF_CLASSES_H

#include <stdatomic.h>

#include "base/byte_log.h"
#include "base/chunks.h"
#include "base/keymap.h"
#include "format/format.h"

/* A loaded class, as its first LOAD_CLASS describes it. */
struct class
{
    uint64_t name; /* string ID */
    uint32_t serial;
    bool named;  /* the name was defined before this LOAD_CLASS; if not, it is never shown, neither early nor late */
    bool reused; /* the ID had another name before its class was unloaded: no name holds for the whole file */
};
_Static_assert(sizeof(struct class) == 16, "the smallest LOAD_CLASS takes 25 bytes");

enum layout_state {
    LAYOUT_OPEN,    /* not resolved yet, or a superclass may still follow */
    LAYOUT_ENTERED, /* being resolved: a chain that meets it again is a cycle */
    LAYOUT_VALID,
    LAYOUT_INVALID /* a superclass is missing, the chain is a cycle, or a field type is undefined */
};

/* Once an object array has the class, and OBJ-007 was checked for it. */
enum array_kind { ARRAY_KIND_UNKNOWN, ARRAY_OF_OBJECT /* Object[] */, ARRAY_OF_OTHERS };

/* What the instances of a class and of its subclasses are, by their names; flags. */
enum special { SPECIAL_THREAD = 1, SPECIAL_LOADER = 2, SPECIAL_CLASS = 4 };

enum { LAYOUT_NONE = UINT32_MAX };

/* The layout of a dumped class. Its *checked fields* are the references and booleans among its own fields. The types of the own
 * fields, up to the last checked one, are kept in classes.types and not copied to subclasses. Its IDs are in classes.ids. */
struct layout {
    uint64_t at : 48;                /* offset of the CLASS_DUMP, after its tag; no file is longer than 48 bits can count */
    uint64_t state : 2;              /* enum layout_state */
    uint64_t colour : 2;             /* for finding cycles: 0 not visited, 1 on the present path, 2 done */
    uint64_t bad_type : 1;           /* an own field has an undefined type */
    uint64_t has_fields : 1;         /* own fields */
    uint64_t has_checked_fields : 1; /* among its own fields */
    uint64_t has_no_superclass : 1;  /* the CLASS_DUMP names none */
    uint64_t is_stray : 1;           /* dumped under a wrong ID, as another finding already says: no CLS-008 */
    uint64_t is_far_from_root : 1;   /* its chain is valid, and its superclass has a superclass */
    uint64_t special : 3;            /* enum special of its own name; once it is valid, also of its superclasses */
    uint64_t total : 48;             /* bytes of its own fields; once it is valid, also those of its superclasses */
    uint32_t
        nearest_open; /* while it is open: an open layout further up the chain, at best the one whose superclass is missing */
    uint32_t types;   /* with has_checked_fields: where its types begin in classes.types, in units of TYPES_UNIT */
    uint32_t instance_size; /* as declared */
    /* Threads read these while the coordinator writes them. */
    atomic_bool has_instances;
    _Atomic uint8_t array_kind; /* enum array_kind */
};
_Static_assert(sizeof(struct layout) <= 32, "the smallest CLASS_DUMP takes 43 bytes, and the sets of IDs take some of them");
enum { TYPES_UNIT = 4 };

struct classes {
    struct memory *memory;
    unsigned id_size;
    struct keymap loaded_by_id;     /* class ID to index in `loaded` */
    struct chunks loaded;           /* struct class */
    uint64_t lowest_id, highest_id; /* of all that were loaded or dumped; 0 for none */
    bool has_other_serials;         /* the serial of a loaded class is not its ID */

    /* The present heap dump. */
    uint32_t dump;              /* its number */
    struct keymap dumped_by_id; /* class ID to index in `layouts` */
    struct chunks layouts;      /* struct layout */
    struct chunks ids;          /* two IDs for each layout: its own, and what classes_above() returns */
    struct keymap other_sizes;  /* class ID to a size that instances have: see classes_note_other_size() */
    struct byte_log types;
    struct chunks path; /* uint32_t: the layouts of the chain that is being resolved */
    bool complete;      /* no CLASS_DUMP can follow: a superclass without a layout is undefined */
    unsigned special;   /* enum special of all layouts */
};

void classes_init(struct classes *c, struct memory *memory, const struct hash_key *key, unsigned id_size);
void classes_clear(struct classes *c);

void classes_begin_dump(struct classes *c);
/* Frees the layouts. */
void classes_end_dump(struct classes *c);

/* A loaded class, or NULL. */
struct class *classes_find(const struct classes *c, uint64_t id);
/* Adds a class that was not loaded yet; NULL if memory ran out. */
struct class *classes_add(struct classes *c, uint64_t id);

static inline struct layout *classes_layout(const struct classes *c, uint32_t index)
{
    return chunks_at(&c->layouts, index);
}

/* Whether an ID may be that of a class or an object: it lies near those of the classes. */
static inline bool classes_are_near(const struct classes *c, uint64_t id)
{
    return id >= c->lowest_id / 2 && id / 2 <= c->highest_id;
}

/* The index of the layout of a class in the present heap dump, or LAYOUT_NONE. */
uint32_t classes_find_layout(const struct classes *c, uint64_t class_id);

/* The layout itself, or NULL. */
static inline struct layout *classes_layout_of(const struct classes *c, uint64_t class_id)
{
    uint32_t index = classes_find_layout(c, class_id);

    return index == LAYOUT_NONE ? NULL : classes_layout(c, index);
}

uint64_t classes_id(const struct classes *c, uint32_t index);

/* Of an invalid layout, the layout of its superclass; of a valid one, the layout of the nearest superclass with checked fields.
 * LAYOUT_NONE if there is none. */
uint32_t classes_above(const struct classes *c, uint32_t index);

/* Adds the layout of a class that has none in this heap dump and returns its index, or LAYOUT_NONE if memory ran out. `fields`
 * are the names and types of its fields as in the dump. */
uint32_t classes_add_layout(struct classes *c, const struct CLASS_DUMP *r, uint64_t at, const uint8_t *fields,
                            uint16_t field_count);

/* The name of a layout that was just added says what its instances are. */
void classes_set_special(struct classes *c, uint32_t index, enum special special);

/* Resolves the superclass chain of a layout. The result is LAYOUT_OPEN only if a superclass that may still follow is missing.
 * All calls for one heap dump together take nearly linear time. */
enum layout_state classes_resolve(struct classes *c, uint32_t index);

/* The layout of a class whose instances have one size, as far as is known yet; else NULL. */
static inline const struct layout *classes_valid_layout(struct classes *c, uint64_t class_id)
{
    uint32_t index = classes_find_layout(c, class_id);

    return index != LAYOUT_NONE && classes_resolve(c, index) == LAYOUT_VALID ? classes_layout(c, index) : NULL;
}

/* An instance, at an offset, has a size that its class does not give it, and is right otherwise. Where two in succession agree on
 * theirs, the CLASS_DUMP is what is wrong. */
void classes_note_other_size(struct classes *c, uint64_t class_id, uint32_t bytes, uint64_t at);

/* What a size is for an instance of a class, as far as is known yet. */
enum size_of_class { SIZE_UNKNOWN, SIZE_WRONG, SIZE_RIGHT /* by the CLASS_DUMP, or by two instances */ };
enum size_of_class classes_check_size(struct classes *c, uint64_t class_id, uint32_t bytes);

/* Iterates over the checked fields of a layout. */
struct checked_field {
    uint32_t at; /* offset of the field within the class's own part of an instance */
    uint32_t end;
    uint8_t type; /* TYPE_OBJECT or TYPE_BOOLEAN */
    uint16_t left;
    uint64_t next;
};
struct checked_field checked_fields_begin(const struct classes *c, const struct layout *l);

static inline bool checked_fields_next(const struct classes *c, struct checked_field *f)
{
    while (f->left) {
        f->left--;
        f->type = byte_log_byte(&c->types, f->next++);
        f->at = f->end;
        f->end += type_size(f->type, c->id_size);
        if (f->type == TYPE_OBJECT || f->type == TYPE_BOOLEAN)
            return true;
    }
    return false;
}

/* The bytes of a class's own part of an instance, up to the end of its last checked field. */
static inline uint32_t checked_fields_bytes(const struct classes *c, const struct layout *l)
{
    struct checked_field field = checked_fields_begin(c, l);

    while (checked_fields_next(c, &field))
        continue;
    return field.end;
}

#endif
