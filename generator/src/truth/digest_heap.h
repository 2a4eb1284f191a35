/* For digests: the classes of one heap dump, the layout of their instances, and what each ID of the heap dump names. */
#ifndef HPROF_GEN_DIGEST_HEAP_H
#define HPROF_GEN_DIGEST_HEAP_H

#include "stream/event.h"
#include "truth/digest_texts.h"

enum item_form { ITEM_IDENTITY, ITEM_CONTENT, ITEM_FORMS };

/* A field of an instance. The bytes of `literals` between the end of the previous field and `ends` precede its value. */
struct slot {
    size_t ends[ITEM_FORMS];
    uint64_t at; /* in the bytes of the instance */
    uint8_t type;
};

#define NO_FIELD UINT64_MAX

/* The fields of the instances of a class, those of the class first. */
struct layout {
    enum { LAYOUT_NOT_MADE, LAYOUT_UNKNOWN /* a class is not dumped, or a type is undefined */, LAYOUT_KNOWN } state;
    struct slot *slots;
    size_t count, capacity;
    uint64_t bytes;
    bool has_references;
    struct item literals[ITEM_FORMS]; /* declaring class, name and type of each field, and the length of its value */
    /* Of a class java/lang/String: the offsets of its own fields, or NO_FIELD. */
    bool is_string;
    uint64_t value_at, coder_at, offset_at, count_at;
};

/* A class that a CLASS_DUMP, an object or a subclass names. */
struct heap_class {
    uint64_t id;
    struct text name; /* in the form of descriptors */
    struct hash reference;
    struct layout layout;
    /* Its CLASS_DUMP. */
    bool dumped;
    uint64_t super_id, loader_id;
    uint8_t *body;
    size_t body_size, fields_at; /* the list of instance fields in `body` */
};

struct heap_dump {
    struct memory *memory;
    unsigned id_size;
    struct heap_class *classes;
    size_t class_count, class_capacity;
    struct keymap class_at;  /* class ID to index in `classes` */
    struct keymap targets;   /* ID of a class or object that is dumped to its target, see below */
    uint64_t meanings_ended; /* texts.ended at its first record */
};

/* `meanings_ended` is texts.ended. */
void heap_dump_init(struct heap_dump *heap, struct memory *memory, unsigned id_size, const struct hash_key *key,
                    uint64_t meanings_ended);
void heap_dump_clear(struct heap_dump *heap);

/* Whether the event is a root, of the object with the ID *id. */
bool is_root(const struct event *e, uint64_t *id);

/* The class with this ID, added if it is new. NULL without memory. */
struct heap_class *heap_dump_class_of(struct heap_dump *heap, uint64_t id);
/* These two are false if the ID is defined already, or without memory. */
bool heap_dump_add_class(struct heap_dump *heap, const struct CLASS_DUMP *fields, const uint8_t *body, size_t size);
bool heap_dump_add_object(struct heap_dump *heap, uint64_t id, uint64_t number);
/* Once all records have been read. */
void heap_dump_name_classes(struct heap_dump *heap, struct texts *texts, struct hasher *hasher, struct item *scratch);

/* What an ID of the heap dump names. */
enum target { TARGET_NOTHING, TARGET_CLASS, TARGET_OBJECT };
enum target heap_dump_target(const struct heap_dump *heap, uint64_t id,
                             uint64_t *number); /* of the object, or index of the class */

/* After heap_dump_name_classes(). */
const struct layout *heap_dump_layout(struct heap_dump *heap, const struct texts *texts, struct heap_class *class);

#endif
