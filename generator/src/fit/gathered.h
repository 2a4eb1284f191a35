/* What is counted while a dump is read, before it is written as a profile. */
#ifndef HPROF_GEN_GATHERED_H
#define HPROF_GEN_GATHERED_H

#include <stdio.h>

#include "fit/fit.h"
#include "fit/follows.h"
#include "fit/hubs.h"
#include "fit/order.h"
#include "fit/sample.h"
#include "fit/tally.h"
#include "format/format.h"

/* Classes have the numbers of the reader, after those of primitive arrays, which no dump need name. */
enum { FIRST_CLASS = 8, FIRST_PRIMITIVE = 4, CLASS_NONE = (1 << 29) - 2 /* of a frame without a class */ };
#define CLASS_OF_CLASSES (UINT32_MAX - 1) /* of the sampled IDs that are classes */
#define CLASS_UNKNOWN (UINT32_MAX - 2)
#define NO_POSITION UINT64_MAX
enum {
    DISTANCE_ZERO = 64,
    DEGREES_EXACT = 8,
    HEAP_PARTS = 64,
    HUB_SHIFT = 9 /* HUB_PARTS and one more */,
    TAGS = 256,
    CODERS = 2
};

/* A field of type object in instances of one class, the elements of its arrays, or a static field. */
struct slot {
    uint64_t offset; /* in the body */
    uint64_t nulls, set;
    uint64_t nowhere; /* of the sampled IDs: no object or class has it */
};

struct gathered_class {
    uint64_t instances, arrays; /* the elements of an array may name a class by their own */
    uint32_t first_slot, slots; /* in gathered.slots: of instances, */
    uint32_t element_slot;      /* of arrays, if has_elements, */
    uint32_t first_static, statics;
    bool is_laid_out, has_elements;
};

struct class_serial {
    uint32_t serial, class;
};

struct gathered {
    struct hprof_reader *reader;
    struct hprof_header header;
    uint64_t heap_dumps; /* the last one is described */
    uint64_t records[TAGS], subrecords[TAGS];
    uint8_t record_order[TAGS], order[TAGS]; /* tags of records and sub-records, as they first occur */
    unsigned record_order_count, order_count;
    uint64_t heap_records;
    uint8_t heap_tag;
    uint64_t objects, unknown;
    uint64_t coders[CODERS + 1]; /* of Strings; the last: any other */
    struct hprof_field coder;
    uint32_t string_class; /* CLASS_UNKNOWN if it has no coder */

    struct gathered_class *classes;
    uint32_t class_count;
    struct class_serial *serials; /* sorted */
    uint32_t serial_count;
    struct slot *slots;
    size_t slot_count, slot_capacity;
    struct sample sample;
    struct order class_order;
    struct hubs hubs;
    struct follows follows;
    uint64_t positions; /* objects in the heap dump */
    struct tally tally;
    bool has_dotted_names; /* java.lang.Object[] */
    bool no_memory;
};

static inline uint32_t bits_of(uint64_t number)
{
    return number ? 64 - (uint32_t)__builtin_clzll(number) : 0;
}

/* How many references name an object: exactly up to eight, then in octaves: 9 to 15, 16 to 31. */
static inline uint32_t degree_bucket(uint32_t references)
{
    uint32_t bits = 0;

    if (references <= DEGREES_EXACT)
        return references;
    while (references >> bits)
        bits++;
    return DEGREES_EXACT + bits - 3;
}

/* What is tallied for an object: the bucket, and for more than one reference in which part of the heap it is. */
static inline uint32_t degree_value(uint32_t references, uint64_t position, uint64_t objects)
{
    uint32_t bucket = degree_bucket(references);

    return bucket << 8 | (bucket > 1 ? (uint32_t)(position * HEAP_PARTS / objects) : 0);
}

/* The least number of references of a bucket. */
static inline uint32_t degree_least(uint32_t bucket)
{
    return bucket <= DEGREES_EXACT + 1 ? bucket : UINT32_C(1) << (bucket - DEGREES_EXACT + 2);
}

static inline bool is_object(uint8_t tag)
{
    return tag == SUB_INSTANCE_DUMP || tag == SUB_OBJECT_ARRAY_DUMP || tag == SUB_PRIMITIVE_ARRAY_DUMP ||
           tag == SUB_PRIMITIVE_ARRAY_NODATA;
}

static inline uint32_t class_with(const struct gathered *g, uint64_t class_id)
{
    uint32_t number = hprof_class_number(g->reader, class_id);

    return number < CLASS_UNKNOWN - FIRST_CLASS ? number + FIRST_CLASS : CLASS_UNKNOWN;
}

static inline bool is_primitive_array(uint8_t tag)
{
    return tag == SUB_PRIMITIVE_ARRAY_DUMP || tag == SUB_PRIMITIVE_ARRAY_NODATA;
}

static inline uint32_t class_of(const struct gathered *g, const struct hprof_item *item)
{
    return is_primitive_array(item->tag) ? (uint32_t)item->element_type - FIRST_PRIMITIVE : class_with(g, item->class_id);
}

/* ---- find.c ---- */

/* An item of the first reading. *position: of the next object in its heap dump. *got is below 0 if reading failed. */
void gathered_find(struct gathered *g, const struct hprof_item *item, uint64_t *position, int64_t *got);

/* ---- gather.c ---- */

/* Reads the dump twice. Not HPROF_VALID: `failure` says why. */
enum hprof_status gather(struct gathered *g, int fd, char *failure, size_t size);
void gathered_free(struct gathered *g);

/* ---- references.c ---- */

/* The index of a new slot. */
uint32_t gathered_add_slot(struct gathered *g);
/* Calls `see` for the references of an instance or an object array of a class. Below 0: reading failed. */
typedef void see_slot(struct gathered *g, uint32_t slot, uint64_t id);
int64_t references_of_instance(struct gathered *g, const struct hprof_item *item, uint32_t number, see_slot *see);
int64_t references_of_elements(struct gathered *g, const struct hprof_item *item, uint32_t number, see_slot *see);

/* ---- profile_text.c ---- */

/* False without memory. */
bool profile_write(struct gathered *g, FILE *out, struct revealed *revealed);

#endif
