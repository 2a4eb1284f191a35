/* What objects of one class have in common: which references and values they hold, where, and under which names. */
#ifndef HPROF_CLI_DIFF_SHAPES_H
#define HPROF_CLI_DIFF_SHAPES_H

#include <stddef.h>

#include "hprof/read.h"

/* What --ignore names; and that addresses of native memory are values as others. */
enum { IGNORE_PAYLOAD = 1, IGNORE_IDENTITY_HASH = 2, IGNORE_ORDER_OF_MAPS = 4, KEEP_ADDRESSES = 8 };

enum shape_kind { SHAPE_CLASS, SHAPE_INSTANCE, SHAPE_OBJECT_ARRAY, SHAPE_PRIMITIVE_ARRAY, SHAPE_OPAQUE, SHAPE_KINDS };

/* How the elements of an array are compared. */
enum shape_order {
    IN_ORDER,
    AS_CHAINS, /* of entries: all that an element and its `next` lead to, in any order */
    AS_PAIRS,  /* of key and value, in any order */
    AS_SET,
    SHAPE_ORDERS
};

enum { TYPE_OBJECT = 2, TYPE_BOOLEAN = 4, TYPE_BYTE = 8, TYPE_LONG = 11, PRIMITIVE_TYPES_END };

struct slot {
    uint64_t name;    /* a hash of the name of the field and of the class that declares it */
    uint64_t name_id; /* SLOT_SUPER or SLOT_LOADER where it is no field */
    uint64_t at;      /* in the body */
    uint8_t type;
};
#define SLOT_SUPER UINT64_MAX
#define SLOT_LOADER (UINT64_MAX - 1)
#define NO_SLOT UINT32_MAX
#define NO_SHAPE UINT32_MAX

struct shape {
    enum shape_kind kind;
    enum shape_order order;
    uint8_t element_type; /* of an array */
    uint8_t id_size;
    bool has_payload;      /* values are compared */
    uint32_t class_number; /* UINT32_MAX where there is no class */
    uint64_t size;         /* of the body of an instance */
    uint64_t key;          /* a hash of the name of the class, then of its loader's class too */
    uint64_t super_id, loader_id;
    struct slot *references, *values; /* sorted by the hash of the name */
    uint32_t reference_count, value_count;
    uint32_t link;      /* of an entry of a map whose order is ignored: the reference to the next entry; else NO_SLOT */
    uint32_t entry_key; /* of such an entry: the reference to its key; else NO_SLOT */
    uint32_t table;     /* of such a map without entries: the reference to the array; else NO_SLOT */
    enum shape_order table_order;
    uint32_t in_order[SHAPE_ORDERS]; /* of an array: the same array with another order; 0 if there is none yet */
    uint32_t group;                  /* of objects that are counted together, in both dumps */
};

struct shapes {
    struct hprof_reader *reader;
    unsigned ignored;
    struct shape *list;
    uint32_t count, capacity;
    struct class_shapes *classes; /* by the number of the class */
    size_t class_capacity;
    uint32_t others[PRIMITIVE_TYPES_END]; /* arrays by type; 0 for what has no class */
    struct recent {
        uint64_t class_id;
        uint32_t shape;
    } recent[1024];
    bool out_of_memory;
};

void shapes_init(struct shapes *shapes, struct hprof_reader *reader, unsigned ignored);
void shapes_free(struct shapes *shapes);

/* The shape of the last item, an object of any kind; NO_SHAPE if memory ran out. */
uint32_t shape_of_item(struct shapes *shapes, const struct hprof_item *item);

/* The same array with another order. */
uint32_t shape_in_order(struct shapes *shapes, uint32_t number, enum shape_order order);

/* Adds the name of the loader's class, or 0 for none, to the key. */
void shape_add_loader(struct shape *shape, uint64_t loader_key);

/* "java.lang.String", "int[]". */
void shape_name(struct shapes *shapes, const struct shape *shape, char *to, size_t size);
void slot_name(struct shapes *shapes, const struct slot *slot, char *to, size_t size);
/* The reference or value with the name; NO_SLOT if there is none. */
uint32_t find_slot(struct shapes *shapes, const struct slot *slots, uint32_t count, const char *name);

#endif
