/* The state of digest.c while it runs, and the items that it adds up: references and values (digest_values.c), objects
 * (digest_objects.c), classes (digest_classes.c). */
#ifndef HPROF_GEN_DIGESTER_H
#define HPROF_GEN_DIGESTER_H

#include "base/sort.h"
#include "format/subrecord.h"
#include "truth/digest_heap.h"

/* The first pass finds what each ID names, the second makes the identity, four more are the rounds of the content. */
enum pass { PASS_COLLECT, PASS_IDENTITY, PASS_FIRST_ROUND, PASS_LAST_ROUND = PASS_FIRST_ROUND + 3 };

/* What an object is, in a byte: one of these, or the type of its elements. */
enum {
    KIND_INSTANCE = 0,
    KIND_TEXT = 1,       /* a String that is hashed as its text */
    KIND_ODD_BYTES = 16, /* a byte[] that cannot be UTF-16 */
    KIND_NO_ELEMENTS
};

/* A String whose text is an array, or a part of it. */
struct string_use {
    uint64_t array, string; /* numbers of objects */
    uint32_t first, end;    /* units */
    uint8_t width;          /* bytes of a unit in the array */
};
_Static_assert(sizeof(struct string_use) <= SORT_SIZE_MAX, "string uses can be sorted");

struct digester {
    struct stage stage;
    struct truth *truth;
    struct memory memory;
    struct hash_key key;
    struct texts texts;
    struct hash dangling;      /* a reference to nothing */
    struct hasher *hashers[2]; /* the first hashes all items; the second, resolved elements of an array in the meantime */
    bool stop;
    const char *failure;

    struct heap_dump *heaps; /* in the order of the file */
    size_t heap_count, heap_capacity;
    uint8_t *kinds; /* by number of object */
    size_t object_count, kind_capacity;
    struct hash *before, *now;  /* by number of object: of the previous round, of this one */
    struct string_use *strings; /* by number of the array, from the third pass on */
    size_t string_count, string_capacity;
    struct hash *string_hashes; /* of the items of all strings, without IDs */
    size_t hash_count, hash_capacity;

    /* These are of a pass. */
    enum pass pass;
    size_t heaps_seen, objects_seen, strings_seen;
    size_t heap, series; /* numbers of the present heap dump, and of that of the segments, from 1; 0 for none */

    /* The present record or sub-record. */
    enum layout_id layout; /* LAYOUT_ID_NONE if its body does not matter */
    union fields fields;
    uint64_t body_left; /* the bytes that are still to come */
    size_t object;      /* the number of the object that it dumps */
    struct item body;   /* a body that comes in parts and is needed as a whole */
    struct item item;
};

static inline struct heap_dump *heap_of(const struct digester *d)
{
    return &d->heaps[d->heap - 1];
}

/* ---- Items, references, values ---- */

/* The item, with only this word. */
struct item *new_item(struct digester *d, const char *word);
struct hash add_item(struct digester *d, enum digest_form form, enum digest_entry entry);
/* The ID, or 0 if it is dangling. */
uint64_t resolve(const struct digester *d, uint64_t id);
/* Without a length. */
void put_reference(struct digester *d, enum digest_form form, uint64_t id);
void put_value(struct digester *d, enum digest_form form, uint8_t type, const uint8_t *value);
/* The length of a value in an item. */
unsigned value_length(const struct digester *d, enum digest_form form, uint8_t type);

/* Empty for a class that the first pass did not see: the file was changed. */
struct text class_name_of(const struct digester *d, uint64_t id);

/* ---- Classes and objects ---- */

/* After the last round. */
void add_classes(struct digester *d);

/* Of the object whose body begins. */
void begin_array(struct digester *d);
void take_elements(struct digester *d, const uint8_t *p, size_t size);
/* Whether the array is the text of a String, whose hash is made now. */
bool is_text_of_string(const struct digester *d);
/* `body` is the whole of a text, else NULL. */
void end_array(struct digester *d, const uint8_t *body, size_t size);
void keep_hash(struct digester *d);
void take_array_without_elements(struct digester *d);
void take_instance(struct digester *d, const uint8_t *values, size_t size);

#endif
