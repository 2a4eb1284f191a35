/* The objects of a heap as data: their kinds, and what they refer to. A .def file has the rows; data_rows.h makes a heap_data of
 * them. There is one for what an idle VM holds, and one for each load. */
#ifndef HPROF_GEN_HEAP_DATA_H
#define HPROF_GEN_HEAP_DATA_H

#include "heap/lengths.h"
#include "heap/parts.h"

enum { DATA_SHARES = 10000000, DATA_THOUSAND = 1000 };

enum data_row_kind { ROW_KNOWN, ROW_CLASS, ROW_OBJECT_ARRAYS, ROW_PRIMITIVE_ARRAYS, ROW_SLOT, ROW_TARGET, ROW_CORE, ROW_ADDED };

struct data_row {
    enum data_row_kind row;
    uint32_t kind; /* the symbol */
    /* KNOWN, CORE: the class; CLASS: its superclass; OBJECT_ARRAYS: the class of the elements; PRIMITIVE_ARRAYS: their type */
    uint32_t class;
    uint32_t share; /* SLOT: the share of nulls; ADDED: its objects, which are no part of the data's shares */
    uint32_t nonnull;
    uint32_t array;
    const char *name, *fields, *statics;
};

struct heap_data {
    const char *name, *about;
    const struct data_row *rows;
    uint32_t row_count;
    const struct length_table *lengths;            /* by array */
    uint32_t array_count, kind_count, class_count; /* class_count: with those of every heap */
    bool declared_order;                           /* fields are in the order of the class file; else the last one is first */
    uint32_t shares;                               /* the number of objects that the rows' shares are of: for an idle VM, all */
    uint32_t text;                                 /* the kind of the texts of Strings */
    uint32_t classes;                              /* in a large heap, with those of every heap */
    uint32_t strings;                              /* of the dump of a large heap; 0: a number for each class */
    uint32_t globals;                              /* JNI globals; 0: as many as a heap without data has */
    uint32_t utf16;                                /* Strings of an idle VM whose text is UTF-16 */
    uint32_t thread_count;                         /* of a load, with those of an idle VM */
    const char *mark;           /* a class of even the smallest heap, by which readers recognise the version; NULL for none */
    const char *const *threads; /* their names, up to NULL; NULL for made-up ones */
};

/* A class: of an idle VM, or one that a program adds. */
static inline bool is_class_row(const struct data_row *row)
{
    return row->row == ROW_CLASS || row->row == ROW_ADDED;
}

/* Kinds that the rows leave out; and other targets of a reference. */
static inline uint32_t kind_rare(const struct heap_data *data)
{
    return data->kind_count;
}
static inline uint32_t target_null(const struct heap_data *data)
{
    return data->kind_count + 1;
}

enum data_form { FORM_INSTANCE, FORM_OBJECT_ARRAY, FORM_PRIMITIVE_ARRAY, FORM_RARE, FORM_SPINE };

struct data_kind {
    enum data_form form;
    uint32_t share; /* of data->shares */
    uint32_t count; /* of the objects of a cell */
    uint32_t class; /* of an array: its class; MODEL_NONE: a small heap has not loaded it, and has no such object */
    uint8_t type;
    uint32_t array;
    uint32_t nonnull; /* of an object array: thousandths of its elements */
    const struct data_row *row;
    const struct data_row *slots; /* an instance's references, or what the elements of an array are */
    uint32_t slot_count;
    const uint16_t *slot_at; /* index of each in `slots`, DATA_SLOT_MORE if the rows do not have it; NULL: in order */
};
#define DATA_SLOT_MORE UINT16_MAX
enum { ALL_KINDS_FROM = 2048 /* objects: a cell of this size has at least one of each kind */ };

/* All kinds, and the rare one after them, for a cell of `size` objects. */
void data_kinds(const struct heap_data *data, struct data_kind *kinds, uint32_t size);
/* Adds the classes of the kinds, or finds those of the same name: those that the objects need, that of the mark, and `part` of
 * `whole` others. */
bool data_classes(struct model *m, const struct heap_data *data, struct data_kind *kinds, uint64_t part, uint64_t whole);
/* Changes the numbers of references of instances, so that data->shares objects have about `wanted` references in fields of the
 * classes of the rows. */
bool data_refit(struct model *m, const struct heap_data *data, struct data_kind *kinds, uint64_t wanted);

/* The n-th slot of a kind. */
const struct data_row *data_slot(const struct heap_data *data, const struct data_row *slots, uint32_t n);
/* The target of a reference, from random bits: a kind, kind_rare() for any object, target_null(). */
uint32_t data_target(const struct heap_data *data, const struct data_row *slot, uint64_t bits);

uint8_t data_text_type(const struct heap_data *data);
/* The fields of a class of every heap, where the data has other ones than classes.c. */
bool data_core(const struct heap_data *data, uint32_t class, const char **fields, const char **statics);

/* The model wants fields in the opposite order. */
static inline bool data_is_turned(const struct model *m, const struct heap_data *data)
{
    return m->options.declared_order != data->declared_order;
}

/* A program was started in the idle VM. */
static inline bool has_program(const struct model *m)
{
    const struct model_options *o = &m->options;

    return o->idle && !(o->load && load_is_none(o->load)) && o->objects / 2 >= o->idle->shares;
}

extern const struct heap_data load_javac, load_web, load_map, idle_8, idle_11, idle_17, idle_21, idle_25, idle_28;

#endif
