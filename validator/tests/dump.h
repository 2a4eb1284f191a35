/* Writes dumps of version 1.0.2 with IDs of 8 bytes, record by record, for tests whose dumps are too many for corpus/. */
#ifndef HPROF_TESTS_DUMP_H
#define HPROF_TESTS_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
    uint8_t *at;
    size_t size, capacity;
};

static inline void append(struct bytes *b, const void *more, size_t n)
{
    if (b->size + n > b->capacity) {
        b->capacity = (b->size + n) * 2;
        b->at = realloc(b->at, b->capacity);
        assert_non_null(b->at);
    }
    if (n)
        memcpy(b->at + b->size, more, n);
    b->size += n;
}

/* The last n bytes of a number, big-endian. */
static inline void put_at(uint8_t *at, unsigned n, uint64_t value)
{
    while (n--) {
        at[n] = (uint8_t)value;
        value >>= 8;
    }
}

static inline void put(struct bytes *b, unsigned n, uint64_t value)
{
    uint8_t bytes[sizeof value];

    put_at(bytes, n, value);
    append(b, bytes, n);
}

static inline void put_header(struct bytes *b)
{
    append(b, "JAVA PROFILE 1.0.2", 19);
    put(b, 4, 8);
    put(b, 8, 1767225600000);
}

static inline size_t open_record(struct bytes *b, unsigned tag)
{
    put(b, 1, tag);
    put(b, 8, 0);
    return b->size;
}

static inline void close_record(struct bytes *b, size_t body)
{
    put_at(b->at + body - 4, 4, b->size - body);
}

static inline void put_string(struct bytes *b, uint64_t id, const char *text)
{
    size_t record = open_record(b, 0x01);

    put(b, 8, id);
    append(b, text, strlen(text));
    close_record(b, record);
}

/* So that the dump does not consist of definitions alone (REC-016). */
static inline void put_heap_summary(struct bytes *b)
{
    size_t record = open_record(b, 0x07);

    put(b, 8, 0);
    put(b, 8, 0);
    put(b, 8, 0);
    close_record(b, record);
}

static inline void put_class(struct bytes *b, uint32_t serial, uint64_t id, uint64_t name)
{
    size_t record = open_record(b, 0x02);

    put(b, 4, serial);
    put(b, 8, id);
    put(b, 4, 0);
    put(b, 8, name);
    close_record(b, record);
}

static inline void put_class_dump(struct bytes *b, uint64_t id, uint64_t super, uint32_t instance_size)
{
    put(b, 1, 0x20);
    put(b, 8, id);
    put(b, 4, 0);
    put(b, 8, super);
    for (unsigned i = 0; i < 5; i++)
        put(b, 8, 0);
    put(b, 4, instance_size);
    put(b, 6, 0); /* no constants, statics, fields */
}

/* Without the `bytes` of the values. */
static inline void put_instance(struct bytes *b, uint64_t id, uint64_t class, uint32_t bytes)
{
    put(b, 1, 0x21);
    put(b, 8, id);
    put(b, 4, 0);
    put(b, 8, class);
    put(b, 4, bytes);
}

/* Without the elements. */
static inline void put_object_array(struct bytes *b, uint64_t id, uint64_t class, uint32_t elements)
{
    put(b, 1, 0x22);
    put(b, 8, id);
    put(b, 4, 0);
    put(b, 4, elements);
    put(b, 8, class);
}

/* Without the elements. */
static inline void put_primitive_array(struct bytes *b, uint64_t id, unsigned type, uint32_t elements)
{
    put(b, 1, 0x23);
    put(b, 8, id);
    put(b, 4, 0);
    put(b, 4, elements);
    put(b, 1, type);
}

#endif
