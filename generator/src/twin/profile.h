/* A profile of --fit, as read. Its text is in hprof-gen(1). */
#ifndef HPROF_GEN_PROFILE_H
#define HPROF_GEN_PROFILE_H

#include <string.h>

#include "format/format.h"
#include "format/header.h"

/* Lines of one kind: so many have this value. */
struct profile_number {
    uint64_t value, count;
};
struct profile_range {
    uint32_t first, count; /* in profile.numbers */
};

/* Of a `to`: classes by index in profile.classes, and: */
enum { TO_REST = -1, TO_CLASS = -2, TO_NOTHING = -3 };

/* A reference of instances, the elements of arrays, or a static field. */
struct profile_slot {
    uint64_t set, nulls;
    struct profile_range to, at; /* `at`: values are signed */
};

struct profile_field {
    uint8_t type;
    const char *name; /* NULL: none of the JDK's */
};

#define COUNT_MOST UINT64_C(100000000000) /* so that sums of as many as a text can hold fit in 64 bits */
enum { PRIMITIVES = 8, HEAP_PARTS = 64, CLASS_NONE_INDEX = -1 };

struct profile_class {
    uint32_t number;
    const char *label;
    int32_t super;         /* index; CLASS_NONE_INDEX for none */
    uint32_t super_number; /* 0 for none */
    bool is_loaded, is_dumped, has_loader;
    uint32_t first_static, statics, first_field, fields; /* in profile.fields, each static object field has a slot */
    uint32_t first_static_slot, static_slots;
    uint32_t first_slot, slots; /* in profile.slots */
    int64_t element_slot;       /* -1 for none */
    uint64_t instances, arrays;
    struct profile_range lengths, named;
    struct profile_range where;   /* of in-degrees; values: HEAP_PARTS * in-degree + part */
    uint32_t first_frame, frames; /* in profile.frames */
    uint64_t bytes;               /* of an instance */
};

struct profile_frame {
    uint64_t count;
    const char *method; /* NULL: none of the JDK's */
    int32_t class;      /* CLASS_NONE_INDEX for none */
};

/* An object in the order of the dump. */
struct profile_object {
    uint32_t class; /* by index */
    uint32_t bits;  /* of its length, if it is an object array */
};

enum { PROFILE_TAGS = 256 };

/* Bytes in the heap of the original; header is 0 if its IDs do not tell. */
struct profile_sizes {
    unsigned header, array_header, reference;
};

struct heap_profile {
    char *text;
    enum version version;
    unsigned id_size;
    uint64_t objects, unknown;
    uint64_t latin1, utf16;
    struct profile_sizes sizes;
    bool has_dotted_names; /* of classes */
    uint64_t records[PROFILE_TAGS], subrecords[PROFILE_TAGS];
    uint8_t record_order[PROFILE_TAGS], order[PROFILE_TAGS]; /* of records and sub-records */
    unsigned record_order_count, order_count;
    uint8_t heap_tag;
    struct profile_range stacks, traces, texts;
    struct profile_class *classes; /* those of primitive arrays first, as far as there are any */
    struct profile_slot *slots;
    struct profile_field *fields;
    struct profile_frame *frames;
    struct profile_number *numbers;
    struct profile_object *sequence; /* as far as the profile has it */
    uint32_t class_count, slot_count, field_count, frame_count, number_count, sequence_count;
    uint32_t class_capacity, slot_capacity, field_capacity, frame_capacity, number_capacity, sequence_capacity;
};

enum { PROFILE_FAILURE_SIZE = 160 };
/* Reads a file. False: `failure` says why; empty if memory ran out. */
bool profile_read(struct heap_profile *p, int fd, char failure[PROFILE_FAILURE_SIZE]);
void profile_free(struct heap_profile *p);
/* Its lines alone, which the text is divided into. False: `failure` says why; empty if memory ran out. */
bool profile_read_lines(struct heap_profile *p, char *text, char failure[PROFILE_FAILURE_SIZE]);
/* "java.lang.String" is the label of a class that instances of this one are of. */
bool profile_is_a(const struct heap_profile *p, uint32_t class, const char *label);
/* The type of the elements, if the label is that of a primitive array; 0 for any other. */
static inline uint8_t profile_element_type(const struct profile_class *class)
{
    static const char *const names[] = {"boolean[]", "char[]", "float[]", "double[]", "byte[]", "short[]", "int[]", "long[]"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(class->label, names[i]) == 0)
            return (uint8_t)(TYPE_BOOLEAN + i);
    return 0;
}

#endif
