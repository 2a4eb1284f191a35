/* The framing of sub-records (SPEC.md 6.1): finds out how long a sub-record is. */
#ifndef HPROF_SUBRECORD_H
#define HPROF_SUBRECORD_H

#include "format/format.h"
#include "format/tags.h"

enum measured {
    MEASURED,     /* size is known */
    MEASURE_MORE, /* more bytes are needed */
    MEASURE_TAG,  /* the tag is undefined */
    MEASURE_TYPE  /* the type at `bad_at` is undefined, so the size of the value after it is unknown */
};

struct measure {
    uint64_t size;         /* with the tag */
    uint64_t bad_at;       /* offset from the tag */
    bool in_constant_pool; /* of a CLASS_DUMP: the bad type is there, not in a static field */
};

/* Measures the instance or array at p, of which n bytes are available. MEASURE_TAG for any other sub-record. Inline for loops over
 * many of them. */
static inline enum measured measure_object(const uint8_t *p, size_t n, unsigned id_size, struct measure *m)
{
    struct cursor c = {p + 1, p + n};
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP array;
    struct PRIMITIVE_ARRAY_DUMP primitives;
    uint64_t bytes;

    switch (*p) {
    case SUB_INSTANCE_DUMP:
        if (!read_INSTANCE_DUMP(&c, id_size, &instance))
            return MEASURE_MORE;
        bytes = instance.bytes;
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        if (!read_OBJECT_ARRAY_DUMP(&c, id_size, &array))
            return MEASURE_MORE;
        bytes = (uint64_t)array.elements * id_size;
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        if (!read_PRIMITIVE_ARRAY_DUMP(&c, id_size, &primitives))
            return MEASURE_MORE;
        if (!type_is_primitive(primitives.type)) {
            m->bad_at = 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, type, id_size);
            return MEASURE_TYPE;
        }
        bytes = (uint64_t)primitives.elements * type_size(primitives.type, id_size);
        break;
    default:
        return MEASURE_TAG;
    }
    m->size = (uint64_t)(c.at - p) + bytes;
    return MEASURED;
}

/* Whether the first byte of an element of an object array says that it may be no ID: IDs of 8 bytes are addresses, which begin with
 * 0; and where a shorter array ends, the tag of an object follows. */
static inline bool is_doubtful_element(const uint8_t *id, unsigned id_size)
{
    return id_size == 8 ? *id != 0 : is_object_tag(*id);
}

/* Whether an instance or array is at p, all of which lies before `end`. */
static inline bool is_whole_object(const uint8_t *p, const uint8_t *end, unsigned id_size, struct measure *m)
{
    return p < end && measure_object(p, (size_t)(end - p), id_size, m) == MEASURED && m->size <= (size_t)(end - p);
}

/* Measures the sub-record at p, of which n bytes are available. */
enum measured measure_subrecord(const uint8_t *p, size_t n, unsigned id_size, enum version version, struct measure *m);

/* A constant or a static field of a CLASS_DUMP that was measured, so all its bytes are available. */
struct entry {
    const uint8_t *head, *value;
    unsigned type;
};

/* Reads the u2 that counts entries or instance fields, and moves past it. */
static inline uint16_t read_count(const uint8_t **p)
{
    *p += 2;
    return get_u2(*p - 2);
}

/* Reads an entry whose head takes `head` bytes, the last of which is the type, and moves past it. */
static inline void read_entry(const uint8_t **p, size_t head, unsigned id_size, struct entry *e)
{
    *e = (struct entry){.head = *p, .value = *p + head, .type = get_u1(*p + head - 1)};
    *p += head + type_size(e->type, id_size);
}

/* Whether the bytes at p may be sub-records of a heap dump record that ends after `left` bytes: the first few that the n
 * available bytes hold have defined tags and lie within the record. */
bool plausible_subrecords(const uint8_t *p, size_t n, uint64_t left, unsigned id_size, enum version version);

#endif
