/* The objects of a heap dump. They are nearly all of a dump, so every instruction counts here. An object is made in place. It
 * is given as an event of its own, which is reused: only fields that a filter may have changed are set again. If no filter
 * looks at objects, many of them are given as one batch. */
#include <stdlib.h>

#include "producers/patterns.h"
#include "stream/encode.h"

/* Of 64 bits, by their order in memory: the same values on every machine. */
#define FROM_LITTLE_ENDIAN(v) FROM_BIG_ENDIAN(64, __builtin_bswap64(v))

#define HOT static inline __attribute__((always_inline))

enum { IDS = 512, BATCH_MOST = 256, BATCH_BYTES = 16 << 10 };

/* What all objects of a dump have in common. */
struct loop {
    struct emitter *em;
    const struct model *m;
    struct event instance, object_array, primitive_array, batch;
    uint8_t *at; /* in the buffer: where the next sub-record is made */
    unsigned bad_booleans_left, without_left;
    uint64_t valued_before;     /* instances before this object have values that are not random */
    uint64_t ids[IDS];          /* of the references of an instance, or of some elements */
    uint32_t sizes[BATCH_MOST]; /* of the sub-records of the batch */
};

/* A filter may have changed the preceding event. */
HOT struct event *again(struct event *e, uint8_t tag, enum layout_id layout)
{
    e->kind = EVENT_SUBRECORD;
    e->layout = layout;
    e->tag = tag;
    e->length_stated = false;
    e->rule = NO_RULE;
    e->rule_at = 0;
    e->keep = KEEP_ALL;
    e->quirk_count = 0;
    return e;
}

/* ---- Batches ---- */

static void give_batch(struct loop *l)
{
    if (!l->batch.count)
        return;
    l->batch.body = l->em->run.detail == DETAIL_SIZES ? NULL : l->em->room;
    give(l->em->run.to, &l->batch);
    l->batch.count = l->batch.references = l->batch.nulls = 0;
    l->batch.body_size = 0;
    l->at = l->em->room;
}

/* Where the body of the next sub-record is made, after its fixed part. It has up to PIECE_SIZE bytes. */
HOT uint8_t *body_place(struct loop *l, size_t fixed, uint64_t size)
{
    if (__builtin_expect(l->batch.body_size + fixed + size > PIECE_SIZE, 0))
        give_batch(l);
    return l->at + fixed;
}

/* A sub-record that is complete in the buffer. */
HOT void add_to_batch(struct loop *l, uint64_t size)
{
    if (l->em->run.detail != DETAIL_SIZES)
        l->at += size;
    l->sizes[l->batch.count++] = (uint32_t)size;
    l->batch.body_size += size;
    if (l->batch.count == BATCH_MOST || l->batch.body_size >= BATCH_BYTES)
        give_batch(l);
}

/* A sub-record that is not part of a batch. */
static void give_alone(struct loop *l, struct event *e)
{
    give_batch(l);
    give(l->em->run.to, e);
}

/* ---- Parts ---- */

static void give_part(struct emitter *em, const uint8_t *body, uint64_t size)
{
    struct event part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);

    part.body = body;
    part.body_size = size;
    give(em->run.to, &part);
}

HOT uint64_t next_bits(uint64_t bits)
{
    return bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

/* ---- Instances ---- */

struct values {
    uint64_t bits; /* the next random ones */
    uint64_t slot;
    uint32_t nulls;
};

/* The values of the fields of one class. */
HOT uint8_t *put_values(const struct loop *l, uint8_t *p, const struct model_field *f, const struct model_field *end,
                        uint64_t index, const struct object *o, struct values *v, unsigned id_size)
{
    for (; f < end; f++) {
        if (f->type == TYPE_OBJECT) {
            uint64_t to = model_reference(l->m, index, o, v->slot++);

            v->nulls += to == MODEL_NULL;
            p = put_id(p, object_id(l->em, to), id_size);
        } else {
            p = put_primitive(p, f, v->bits >> 17 ^ v->bits);
            v->bits = next_bits(v->bits);
        }
    }
    return p;
}

/* Writes its values at `p`; or in pieces, with the buffer `p`, if they do not fit in one. */
HOT void walk_values(const struct loop *l, uint8_t *p, uint64_t index, const struct object *o, struct values *v, bool in_parts,
                     unsigned id_size)
{
    enum { FIELDS_AT_A_TIME = PIECE_SIZE / 16 };
    const struct model *m = l->m;
    const struct model_class *c = &m->classes[o->class];

    for (;;) {
        const struct model_field *f = m->fields + c->first_field, *end = f + c->fields;

        while (in_parts && end - f > FIELDS_AT_A_TIME) {
            p = put_values(l, p, f, f + FIELDS_AT_A_TIME, index, o, v, id_size);
            give_part(l->em, l->em->room, (uint64_t)(p - l->em->room));
            p = l->em->room;
            f += FIELDS_AT_A_TIME;
        }
        p = put_values(l, p, f, end, index, o, v, id_size);
        if (in_parts && p - l->em->room > PIECE_SIZE / 2) {
            give_part(l->em, l->em->room, (uint64_t)(p - l->em->room));
            p = l->em->room;
        }
        if (c->next_with_fields == MODEL_NONE)
            break;
        c = &m->classes[c->next_with_fields];
    }
    if (in_parts && p > l->em->room)
        give_part(l->em, l->em->room, (uint64_t)(p - l->em->room));
}

/* The number of references of an instance, and of nulls, if they must be known before its values. */
static void count_references(const struct loop *l, uint64_t index, const struct object *o, struct values *v)
{
    for (const struct model_class *c = &l->m->classes[o->class];; c = &l->m->classes[c->next_with_fields]) {
        for (unsigned i = 0; i < c->fields; i++)
            if (l->m->fields[c->first_field + i].type == TYPE_OBJECT)
                v->nulls += model_reference(l->m, index, o, v->slot++) == MODEL_NULL;
        if (c->next_with_fields == MODEL_NONE)
            return;
    }
}

static struct INSTANCE_DUMP instance_fields(const struct emitter *em, uint64_t index, const struct hot_class *class)
{
    return (struct INSTANCE_DUMP){
        .object_id = object_id(em, index), .trace_serial = class->trace, .class_id = class->id, .bytes = class->bytes};
}

HOT struct event *instance_event(struct loop *l, const struct INSTANCE_DUMP *r, const uint8_t *body, uint64_t references,
                                 uint32_t nulls)
{
    struct event *e = again(&l->instance, SUB_INSTANCE_DUMP, LAYOUT_ID_INSTANCE_DUMP);

    e->fields.INSTANCE_DUMP = *r;
    e->body = body;
    e->body_size = r->bytes;
    e->references = (uint32_t)references;
    e->nulls = nulls;
    return e;
}

/* An instance whose body is in the buffer. */
HOT void give_whole_instance(struct loop *l, const struct INSTANCE_DUMP *r, const uint8_t *body, uint64_t references,
                             uint32_t nulls, unsigned id_size)
{
    if (l->em->run.detail == DETAIL_FIELDS) {
        give(l->em->run.to, instance_event(l, r, body, references, nulls));
        return;
    }
    put_INSTANCE_DUMP(put_u1(l->at, SUB_INSTANCE_DUMP), r, id_size);
    l->batch.references += (uint32_t)references;
    l->batch.nulls += nulls;
    add_to_batch(l, 1 + SIZE_OF(INSTANCE_DUMP, id_size) + r->bytes);
}

/* An instance of a class without a pattern. */
static void give_large_instance(struct loop *l, uint64_t index, const struct object *o, unsigned id_size)
{
    const struct INSTANCE_DUMP r = instance_fields(l->em, index, &l->em->hot[o->class]);
    struct values v = {.bits = model_random(l->m, index, 0)};
    uint8_t *body;

    if (r.bytes <= PIECE_SIZE) {
        body = body_place(l, 1 + SIZE_OF(INSTANCE_DUMP, id_size), r.bytes);
        if (l->em->run.detail != DETAIL_SIZES)
            walk_values(l, body, index, o, &v, false, id_size);
        give_whole_instance(l, &r, body, v.slot, v.nulls, id_size);
        return;
    }
    if (l->em->run.detail <= DETAIL_COUNTS)
        count_references(l, index, o, &v);
    give_alone(l, instance_event(l, &r, NULL, v.slot, v.nulls));
    v = (struct values){.bits = v.bits};
    if (l->em->run.detail != DETAIL_SIZES)
        walk_values(l, l->em->room, index, o, &v, true, id_size);
}

HOT void put_words(uint8_t *p, const uint64_t *masks, const uint16_t *places, unsigned n, uint64_t bits)
{
    for (unsigned i = 0; i < n; i += STEP)
        for (unsigned j = i; j < i + STEP; j++) {
            uint64_t word = bits * (places[j] / 4 + UINT64_C(0x9E3779B97F4A7C15)); /* another odd number for each */

            word = masks[j] & FROM_LITTLE_ENDIAN(word ^ word >> 29);
            memcpy(p + places[j], &word, WORD);
        }
}

HOT void put_references(uint8_t *p, const uint16_t *places, unsigned n, const uint64_t *ids, unsigned id_size)
{
    for (unsigned i = 0; i < n; i += STEP)
        for (unsigned j = i; j < i + STEP; j++)
            put_id(p + places[j], ids[j], id_size);
}

HOT uint32_t count_nulls(const uint64_t *ids, unsigned n)
{
    uint32_t nulls = 0;

    for (unsigned i = 0; i < n; i++)
        nulls += !ids[i];
    return nulls;
}

HOT void give_instance(struct loop *l, uint64_t index, const struct object *o, unsigned id_size)
{
    struct emitter *em = l->em;
    struct hot_class *class = &em->hot[o->class];
    const struct INSTANCE_DUMP r = instance_fields(em, index, class);
    size_t words = in_steps(class->words);
    const uint64_t *masks = em->patterns + class->pattern;
    const uint16_t *places = (const uint16_t *)(masks + words);
    uint32_t nulls = 0;
    uint8_t *body;

    class->objects++;
    if (__builtin_expect(!class->patterned, 0)) {
        give_large_instance(l, index, o, id_size);
        return;
    }
    body = body_place(l, 1 + SIZE_OF(INSTANCE_DUMP, id_size), PATTERN_BYTES_MOST);
    if (em->run.detail != DETAIL_SIZES) {
        put_words(body, masks, places, class->words, model_random(l->m, index, 0));
        model_reference_ids(l->m, index, o, 0, class->references, l->ids);
        put_references(body, places + words, class->references, l->ids, id_size);
        if (__builtin_expect(index < l->valued_before, 0))
            model_values(l->m, index, o, body);
    }
    if (em->run.detail <= DETAIL_COUNTS)
        nulls = count_nulls(l->ids, class->references);
    give_whole_instance(l, &r, body, class->references, nulls, id_size);
}

/* ---- Arrays ---- */

HOT void count_array(struct emitter *em, uint32_t class, uint64_t bytes)
{
    em->hot[class].objects++;
    em->hot[class].array_bytes += bytes;
}

/* An array whose elements are in the buffer. */
HOT void give_whole_array(struct loop *l, struct event *e, size_t fixed, unsigned id_size)
{
    if (l->em->run.detail == DETAIL_FIELDS || e->quirk_count) {
        give_alone(l, e);
        return;
    }
    put_fixed_part(l->at, e, 0, id_size);
    add_to_batch(l, fixed + e->body_size);
}

HOT uint8_t *put_elements(struct loop *l, uint8_t *p, uint64_t index, const struct object *o, uint64_t from, uint64_t to,
                          unsigned id_size)
{
    while (from < to) {
        uint64_t n = to - from < IDS ? to - from : IDS;

        model_reference_ids(l->m, index, o, from, n, l->ids);
        for (uint64_t i = 0; i < n; i++)
            p = put_id(p, l->ids[i], id_size);
        from += n;
    }
    return p;
}

/* JVMPI gives the class of the elements, not that of the array. That is one finding for each class in a file; for class 0, one
 * in each heap dump. */
static uint64_t element_class_id(const struct emitter *em, uint32_t class, struct event *e)
{
    uint32_t of = em->model->classes[class].element_class;
    bool first = em->hot[class].objects == 0;

    if (of == CORE_OBJECT) {
        if (first)
            quirk(e, RULE_OBJ_003, 1);
        return 0;
    }
    if (first && !em->hot[class].in_dump_before)
        quirk(e, RULE_OBJ_007, 1);
    return class_id(em, of);
}

/* One Object[] of the file, not the first, is written as an int[][] of nulls: no shape has such a class. */
static inline bool becomes_ints(const struct emitter *em, uint32_t class, uint64_t size)
{
    return em->producer->heap.element_classes && class == CORE_OBJECT_ARRAY && em->hot[class].objects && !em->run.has_ints &&
           size <= PIECE_SIZE;
}

HOT void give_object_array(struct loop *l, uint64_t index, struct object *o, unsigned id_size)
{
    struct emitter *em = l->em;
    struct event *e = again(&l->object_array, SUB_OBJECT_ARRAY_DUMP, LAYOUT_ID_OBJECT_ARRAY_DUMP);
    const uint64_t per_piece = PIECE_SIZE / id_size;
    size_t fixed = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
    uint64_t size;
    uint8_t *body;
    bool is_ints;

    if (em->producer->heap.cuts_nulls)
        while (o->elements && model_reference(l->m, index, o, o->elements - 1) == MODEL_NULL)
            o->elements--;
    size = o->elements * id_size;
    is_ints = becomes_ints(em, o->class, size);
    e->fields.OBJECT_ARRAY_DUMP = (struct OBJECT_ARRAY_DUMP){.object_id = object_id(em, index),
                                                             .trace_serial = em->traces[o->class],
                                                             .elements = (uint32_t)o->elements,
                                                             .class_id = class_id(em, o->class)};
    if (__builtin_expect(is_ints, 0)) {
        e->fields.OBJECT_ARRAY_DUMP.class_id = class_id(em, CORE_INT_ARRAY);
        quirk(e, RULE_OBJ_012, 1);
        em->run.has_ints = true;
    } else if (__builtin_expect(em->producer->heap.element_classes, 0)) {
        e->fields.OBJECT_ARRAY_DUMP.class_id = element_class_id(em, o->class, e);
    }
    e->body_size = size;
    count_array(em, o->class, size);
    if (size > PIECE_SIZE) {
        e->body = NULL;
        give_alone(l, e);
        for (uint64_t from = 0; em->run.detail != DETAIL_SIZES && from < o->elements && !*em->run.stop; from += per_piece) {
            uint64_t to = o->elements - from < per_piece ? o->elements : from + per_piece;

            put_elements(l, em->room, index, o, from, to, id_size);
            give_part(em, em->room, (to - from) * id_size);
        }
        return;
    }
    e->body = body = body_place(l, fixed, size);
    if (__builtin_expect(is_ints, 0))
        memset(body, 0, size);
    else if (em->run.detail != DETAIL_SIZES)
        put_elements(l, body, index, o, 0, o->elements, id_size);
    give_whole_array(l, e, fixed, id_size);
}

static void give_without_elements(struct loop *l, uint64_t index, const struct object *o)
{
    const struct emitter *em = l->em;
    struct event e = SUBRECORD_EVENT(PRIMITIVE_ARRAY_NODATA, PRIMITIVE_ARRAY_NODATA);

    e.fields.PRIMITIVE_ARRAY_NODATA = (struct PRIMITIVE_ARRAY_NODATA){.object_id = object_id(em, index),
                                                                      .trace_serial = em->traces[o->class],
                                                                      .elements = (uint32_t)o->elements,
                                                                      .type = o->type};
    give_alone(l, &e);
}

HOT void give_primitive_array(struct loop *l, uint64_t index, const struct object *o, unsigned id_size)
{
    struct emitter *em = l->em;
    struct event *e = again(&l->primitive_array, SUB_PRIMITIVE_ARRAY_DUMP, LAYOUT_ID_PRIMITIVE_ARRAY_DUMP);
    unsigned width = type_size(o->type, 8);
    size_t fixed = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size);
    uint64_t size = o->elements * width;
    uint8_t *body;

    count_array(em, o->class, size);
    if (__builtin_expect(l->without_left, 0)) {
        l->without_left--;
        give_without_elements(l, index, o);
        return;
    }
    e->fields.PRIMITIVE_ARRAY_DUMP = (struct PRIMITIVE_ARRAY_DUMP){.object_id = object_id(em, index),
                                                                   .trace_serial = em->traces[o->class],
                                                                   .elements = (uint32_t)o->elements,
                                                                   .type = o->type};
    e->body_size = size;
    if (size > PIECE_SIZE) {
        e->body = NULL;
        give_alone(l, e);
        for (uint64_t done = 0; em->run.detail != DETAIL_SIZES && done < size && !*em->run.stop; done += PIECE_SIZE) {
            size_t n = size - done < PIECE_SIZE ? (size_t)(size - done) : PIECE_SIZE;

            model_elements(l->m, index, o, done / width, em->room, n);
            give_part(em, em->room, n);
        }
        return;
    }
    e->body = body = body_place(l, fixed, size);
    if (em->run.detail != DETAIL_SIZES)
        model_elements(l->m, index, o, 0, body, (size_t)size);
    if (__builtin_expect(o->type == TYPE_BOOLEAN, 0) && l->bad_booleans_left && size) {
        l->bad_booleans_left--;
        body[size - 1] = 7;
        quirk(e, RULE_OBJ_009, 1);
    }
    give_whole_array(l, e, fixed, id_size);
}

/* ---- The loop ---- */

HOT void give_objects(struct loop *l, const unsigned id_size)
{
    uint64_t n = l->m->options.objects;
    const bool *stop = l->em->run.stop;

    for (uint64_t i = 0; i < n && !*stop; i++) {
        struct object o;

        model_object(l->m, i, &o);
        switch (o.kind) {
        case OBJECT_INSTANCE:
            give_instance(l, i, &o, id_size);
            break;
        case OBJECT_OBJECT_ARRAY:
            give_object_array(l, i, &o, id_size);
            break;
        case OBJECT_PRIMITIVE_ARRAY:
            give_primitive_array(l, i, &o, id_size);
            break;
        }
    }
    give_batch(l);
}

void part_objects(struct emitter *em)
{
    struct loop l = {.em = em,
                     .m = em->model,
                     .instance = SUBRECORD_EVENT(INSTANCE_DUMP, INSTANCE_DUMP),
                     .object_array = SUBRECORD_EVENT(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP),
                     .primitive_array = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP),
                     .batch = event_of(EVENT_BATCH, 0, LAYOUT_ID_NONE),
                     .at = em->room,
                     .valued_before = model_idle_objects(em->model),
                     .bad_booleans_left = em->producer->heap.bad_booleans,
                     .without_left = em->version == V103 && em->producer->heap.leaves_out_elements};

    l.batch.sizes = l.sizes;
    for (uint32_t c = 0; c < em->model->class_count; c++) {
        struct hot_class *class = &em->hot[c];

        class->in_dump_before = em->run.dump > 0 && (class->in_dump_before || class->objects > 0);
        class->objects = class->array_bytes = 0;
    }
    if (em->id_size == 8)
        give_objects(&l, 8);
    else
        give_objects(&l, 4);
}
