/* Chains of items, as a dump has them, with the bits that each counts by the tables of RULES.md M.2 ("The way"). */
#ifndef HPROF_TESTS_CHAINS_H
#define HPROF_TESTS_CHAINS_H

#include "dump.h"
#include "format/tags.h"
#include "known.h"

enum {
    ITEMS_MOST = 64,
    CHAIN = 128 /* bits of a chain of sub-records that goes on */
};

struct item {
    size_t at, end;
    unsigned bits;
};

struct chain {
    struct item items[ITEMS_MOST];
    size_t count;
};

/* Bytes with which no record, sub-record or header begins. */
static inline void put_junk(struct bytes *b, size_t n)
{
    while (n--)
        put(b, 1, 0x80 + below(0x7f));
}

static inline unsigned put_trace(struct bytes *b)
{
    bool is_defined = heads();

    put(b, 4, is_defined ? 9 + 16 * below(TRACES / 16) : 0); /* no byte of it begins anything */
    return is_defined ? 20 : 0;
}

static inline unsigned put_root(struct bytes *b, const struct known *k)
{
    static const uint8_t tags[] = {0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
    const unsigned id_size = k->file.id_size;
    static uint64_t last;
    const uint8_t tag = tags[below(sizeof tags)];
    uint64_t object;

    do
        object = id_of_object(k);
    while (object == last); /* a root with the ID of the one before it counts one bit */
    last = object;
    put(b, 1, tag);
    put(b, id_size, object);
    if (tag == 0x01)
        put(b, id_size, id_of_object(k));
    else if (tag == 0x02 || tag == 0x03 || tag == 0x08) {
        put(b, 4, 1 + below(THREADS));
        put(b, 4, 1 + below(TRACES)); /* of 02 and 03 a frame */
    } else if (tag == 0x04 || tag == 0x06)
        put(b, 4, 1 + below(THREADS));
    return id_size == 8 ? 23 : 5;
}

/* The bits that it counts. */
static inline unsigned put_object(struct bytes *b, const struct known *k)
{
    const unsigned id_size = k->file.id_size, of_class = id_size == 8 ? 40 : 12;
    const unsigned kind = below(4), elements = heads() ? 0 : 9 + below(3) * 7; /* no tag */
    unsigned bits = kind == 3 ? 12 : of_class;

    put(b, 1, SUB_CLASS_DUMP + kind);
    put(b, id_size, kind ? id_of_object(k) : id_of_class(k));
    bits += put_trace(b);
    switch (kind) {
    case 0:
        put(b, id_size, id_of_class(k));
        for (unsigned i = 0; i < 5; i++)
            put(b, id_size, 0);
        put(b, 4, FIELDS_SIZE);
        put(b, 4, 0); /* no constants, no static fields */
        put(b, 2, 1);
        put(b, id_size, id_of_object(k)); /* a name */
        put(b, 1, 11);
        break;
    case 1:
        put(b, id_size, id_of_class(k));
        put(b, 4, FIELDS_SIZE);
        put_junk(b, FIELDS_SIZE);
        bits += 16;
        break;
    case 2:
        put(b, 4, elements);
        put(b, id_size, id_of_class(k));
        put_junk(b, (size_t)elements * id_size);
        break;
    default:
        put(b, 4, elements);
        put(b, 1, 11);
        put_junk(b, (size_t)elements * 8);
    }
    return bits;
}

static inline unsigned all_bits(const struct chain *c)
{
    unsigned bits = 0;

    for (size_t i = 0; i < c->count; i++)
        bits += c->items[i].bits;
    return bits;
}

static inline void put_item(struct bytes *b, const struct known *k, bool is_root, struct chain *c)
{
    struct item *item = &c->items[c->count++];

    assert_true(c->count <= ITEMS_MOST);
    item->at = b->size;
    item->bits = is_root ? put_root(b, k) : put_object(b, k);
    item->end = b->size;
}

/* A root at the start is left out where an object follows, so the first one is an object. */
static inline void put_chain(struct bytes *b, const struct known *k, size_t count, struct chain *c)
{
    c->count = 0;
    while (c->count < count)
        put_item(b, k, c->count && heads(), c);
}

/* As many as lead on without an end, and some more. */
static inline void put_long_chain(struct bytes *b, const struct known *k, struct chain *c)
{
    size_t more = 1 + below(4);

    c->count = 0;
    while (all_bits(c) < CHAIN || more--)
        put_item(b, k, c->count && heads(), c);
}

/* Of a record that is no heap dump record. A list ends it, after the number of its entries. */
struct kind {
    uint8_t tag, ids, others; /* what its fixed part has: IDs, and bytes besides */
    bool has_list;
    uint8_t entry_ids, entry_others;
};

/* A record whose length is that of its kind, and the bits that it counts. */
static inline unsigned put_small_record(struct bytes *b, const struct known *k, uint32_t time)
{
    static const struct kind kinds[] = {
        {.tag = 0x01, .ids = 1},
        {.tag = 0x02, .ids = 2, .others = 8},
        {.tag = 0x03, .others = 4},
        {.tag = 0x04, .ids = 4, .others = 8},
        {.tag = 0x05, .others = 12, .has_list = true, .entry_ids = 1},
        {.tag = 0x06, .others = 34, .has_list = true, .entry_others = 25},
        {.tag = 0x07, .others = 24},
        {.tag = 0x0a, .ids = 4, .others = 8},
        {.tag = 0x0b, .others = 4},
        {.tag = 0x0d, .others = 8, .has_list = true, .entry_others = 8},
        {.tag = 0x0e, .others = 6},
        {.tag = 0x2c},
    };
    const struct kind *kind = &kinds[below(sizeof kinds / sizeof *kinds)];
    const size_t id_size = k->file.id_size, entries = kind->has_list ? below(3) : 0, record = open_record(b, kind->tag);

    put_at(b->at + record - 8, 4, time);
    put_junk(b, kind->ids * id_size + kind->others - (kind->has_list ? 4 : 0));
    if (kind->has_list)
        put(b, 4, entries);
    put_junk(b, entries * (kind->entry_ids * id_size + kind->entry_others));
    if (kind->tag == 0x01)
        put_junk(b, below(6));
    close_record(b, record);
    return kind->tag == 0x01 ? 12 : kind->tag == 0x2c ? 64 : 36;
}

static inline void put_records(struct bytes *b, const struct known *k, size_t count, struct chain *c)
{
    for (c->count = 0; c->count < count; c->count++) {
        struct item *item = &c->items[c->count];

        item->at = b->size;
        item->bits = put_small_record(b, k, 0);
        item->end = b->size;
    }
}

#endif
