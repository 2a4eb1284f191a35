/* Which parts of a dump there are: for plan.c. */
#ifndef HPROF_REDUCE_PARTS_H
#define HPROF_REDUCE_PARTS_H

#include <hprof/read.h>

#include "plan.h"

enum {
    TAG_UTF8 = 0x01,
    TAG_LOAD_CLASS = 0x02,
    TAG_STACK_TRACE = 0x05,
    TAG_ALLOC_SITES = 0x06,
    TAG_HEAP_DUMP = 0x0c,
    TAG_CPU_SAMPLES = 0x0d,
    TAG_HEAP_DUMP_SEGMENT = 0x1c,
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SUB_ANDROID_PRIMITIVE_ARRAY_NODATA = 0xc3,
    SUB_ANDROID_HEAP_DUMP_INFO = 0xfe,
    TYPE_OBJECT = 2,
    RECORD_HEAD = 9
};

unsigned type_size(uint8_t type, unsigned id_size); /* 0 for an undefined type */
bool is_object(const struct hprof_item *item);      /* an instance or an array */
bool is_root(const struct hprof_item *item);
uint64_t number_at(const uint8_t *bytes, unsigned size);

/* All of the body of the last item, at most 1 MiB; NULL if it is longer or cannot be read. */
const uint8_t *whole_body(struct hprof_reader *reader, const struct hprof_item *item);

/* The constants in the body of a CLASS_DUMP, one after another: `at` is where the value is. False after the last that is whole. */
struct constants {
    const uint8_t *body;
    uint64_t size, left, at;
    unsigned id_size, value_size;
    uint8_t type;
};
struct constants constants_of(const uint8_t *body, uint64_t size, unsigned id_size);
bool next_constant(struct constants *constants);

/* The references of the last item, one call for each that is not null. */
typedef void take_reference(void *context, uint64_t at, uint64_t id);
void each_reference(struct hprof_reader *reader, const struct hprof_item *item, unsigned id_size, take_reference *take,
                    void *context);

/* Fields, elements, frames and characters: each is an edit. */
struct members {
    struct plan *plan;
    struct hprof_reader *reader;
    uint32_t *first_field; /* by the number of a class: the edit of its first field, and one more */
    size_t class_room;
};
void members_of(struct members *members, const struct hprof_item *item, uint32_t record);
void members_free(struct members *members);

/* Names, values and references that can be made plain. A name keeps the bytes that part it. */
bool name_part_stays(uint8_t byte);
void blanks_of(struct plan *plan, struct hprof_reader *reader, const struct hprof_item *item);

#endif
