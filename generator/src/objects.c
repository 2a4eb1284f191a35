/* The objects of a heap dump: nearly all of it, so the one place where every instruction counts. Events are used again and
 * again: what a filter may have changed is set anew, the rest is not touched. */
#include <stdlib.h>

#include "encode.h"
#include "walk.h"

/* Of 64 bits, as they lie in memory there: the same values on every machine. */
#define FROM_LITTLE_ENDIAN(v) FROM_BIG_ENDIAN(64, __builtin_bswap64(v))

#define HOT static inline __attribute__((always_inline))

enum { TARGETS = 512 };

/* What is the same for all objects of a dump. */
struct loop {
    struct walk *w;
    const struct model *m;
    struct event instance, object_array, primitive_array;
    unsigned archived_left, sevens_left, without_left;
    uint64_t targets[TARGETS]; /* of an instance's references, or some elements */
};

/* A filter that was given the event before may have changed it. */
HOT struct event *again(struct event *e, uint8_t tag, enum layout_id layout)
{
    e->kind = EVENT_SUBRECORD;
    e->layout = layout;
    e->tag = tag;
    e->length_stated = false;
    e->rule = NO_RULE;
    e->rule_at = 0;
    e->keep = KEEP_ALL;
    e->habit_count = 0;
    return e;
}

static void give_part(struct walk *w, const uint8_t *body, uint64_t size)
{
    struct event part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);

    part.body = body;
    part.body_size = size;
    give(w->to, &part);
}

/* ---- Patterns ---- */

/* Of a class whose instances are small: for each 8 bytes of them the bits that are random, and where references stand. How many
 * of each there are cannot be foretold from object to object, so they are gone through by steps: up to STEP of them cost no
 * branch. Behind the last there are words without a bit, and references that stand where nothing is. */
enum {
    WORD = 8,
    STEP = 4,
    PATTERN_BYTES_MOST = 512,
    PATTERN_WORDS_MOST = PATTERN_BYTES_MOST / WORD,
    PATTERN_REFERENCES_MOST = PATTERN_BYTES_MOST / 4,
    NOWHERE = PATTERN_BYTES_MOST + STEP * WORD, /* in the room */
    PATTERNS_SIZE = 8 << 20,
    PLACES_A_WORD = WORD / sizeof(uint16_t)
};
_Static_assert((int)STEP == (int)PLACES_A_WORD, "a step of places is a word");

static inline size_t steps(size_t n)
{
    return (n + STEP - 1) / STEP * STEP;
}

static inline size_t words_of(const struct hot_class *hot)
{
    return steps((hot->bytes + WORD - 1u) / WORD);
}

static const uint8_t type_sizes[12] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8};

/* Which bits of a value of each form and type are random. */
static const uint64_t type_masks[3][12] = {
    [VALUE_ANY] = {0, 0, 0, 0, 1, UINT16_MAX, UINT32_MAX, UINT64_MAX, UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX},
    [VALUE_SMALL] = {0, 0, 0, 0, 1, 127, 127, 127, 127, 127, 127, 127}};

HOT uint8_t *put_primitive(uint8_t *p, const struct model_field *f, uint64_t bits)
{
    unsigned size = type_sizes[f->type];

    put_u8(p, (bits & type_masks[f->form][f->type]) << (64 - 8 * size)); /* there is room behind */
    return p + size;
}

/* Lays out the instances of a class. */
static void make_pattern(const struct walk *w, uint32_t class, uint64_t *masks)
{
    const struct model *m = w->model;
    const struct model_class *c = &m->classes[class];
    struct hot_class *hot = &w->hot[class];
    uint8_t bytes[PATTERN_BYTES_MOST + STEP * WORD] = {0}, *p = bytes;
    uint16_t places[PATTERN_REFERENCES_MOST + STEP];

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        places[i] = NOWHERE;
    hot->references = 0;
    for (;; c = &m->classes[c->next_with_fields]) {
        const struct model_field *f = m->fields + c->first_field;

        for (unsigned i = 0; i < c->fields; i++, f++) {
            if (f->type == TYPE_OBJECT) {
                places[hot->references++] = (uint16_t)(p - bytes);
                p += w->id_size;
            } else {
                p = put_primitive(p, f, UINT64_MAX);
            }
        }
        if (c->next_with_fields == MODEL_NONE)
            break;
    }
    memcpy(masks, bytes, words_of(hot) * WORD);
    memcpy(masks + words_of(hot), places, steps(hot->references) * sizeof *places);
    hot->patterned = true;
}

bool prepare_objects(struct walk *w)
{
    const struct model *m = w->model;
    size_t used = 0, most = PATTERNS_SIZE / WORD;
    size_t largest = PATTERN_WORDS_MOST + PATTERN_REFERENCES_MOST / PLACES_A_WORD + 2 * STEP;

    w->hot = calloc(m->class_count, sizeof *w->hot);
    w->patterns = malloc(PATTERNS_SIZE);
    if (!w->hot || !w->patterns)
        return false;
    for (uint32_t c = 0; c < m->class_count; c++) {
        struct hot_class *hot = &w->hot[c];

        *hot = (struct hot_class){.id = class_id(w, c), .trace = w->traces[c], .bytes = m->classes[c].instance_bytes};
        if (hot->bytes <= PATTERN_BYTES_MOST && most - used >= largest) {
            hot->pattern = (uint32_t)used;
            make_pattern(w, c, w->patterns + used);
            used += words_of(hot) + steps(hot->references) / PLACES_A_WORD;
        }
    }
    return true;
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

/* The values of fields: those of one class. */
HOT uint8_t *put_values(const struct loop *l, uint8_t *p, const struct model_field *f, const struct model_field *end,
                        uint64_t index, const struct object *o, struct values *v, unsigned id_size)
{
    for (; f < end; f++) {
        if (f->type == TYPE_OBJECT) {
            uint64_t to = model_reference(l->m, index, o, v->slot++);

            v->nulls += to == MODEL_NULL;
            p = put_id(p, object_id(l->w, to), id_size);
        } else {
            p = put_primitive(p, f, v->bits >> 17 ^ v->bits);
            v->bits = next_bits(v->bits);
        }
    }
    return p;
}

/* Its values in pieces, when they do not fit one; all in one, which is left in the room, if they do. */
HOT void walk_values(const struct loop *l, uint64_t index, const struct object *o, struct values *v, bool in_parts,
                     unsigned id_size)
{
    enum { FIELDS_AT_A_TIME = PIECE_SIZE / 16 };
    const struct model *m = l->m;
    const struct model_class *c = &m->classes[o->class];
    uint8_t *p = l->w->room;

    for (;;) {
        const struct model_field *f = m->fields + c->first_field, *end = f + c->fields;

        while (in_parts && end - f > FIELDS_AT_A_TIME) {
            p = put_values(l, p, f, f + FIELDS_AT_A_TIME, index, o, v, id_size);
            give_part(l->w, l->w->room, (uint64_t)(p - l->w->room));
            p = l->w->room;
            f += FIELDS_AT_A_TIME;
        }
        p = put_values(l, p, f, end, index, o, v, id_size);
        if (in_parts && p - l->w->room > PIECE_SIZE / 2) {
            give_part(l->w, l->w->room, (uint64_t)(p - l->w->room));
            p = l->w->room;
        }
        if (c->next_with_fields == MODEL_NONE)
            break;
        c = &m->classes[c->next_with_fields];
    }
    if (in_parts && p > l->w->room)
        give_part(l->w, l->w->room, (uint64_t)(p - l->w->room));
}

/* How many references an instance has, and how many are null, when that must be known before its values. */
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

HOT struct event *instance_event(struct loop *l, uint64_t index, const struct hot_class *class)
{
    struct event *e = again(&l->instance, SUB_INSTANCE_DUMP, LAYOUT_ID_INSTANCE_DUMP);
    struct INSTANCE_DUMP *r = &e->fields.INSTANCE_DUMP;

    r->object_id = object_id(l->w, index);
    r->trace_serial = class->trace;
    r->class_id = class->id;
    r->bytes = class->bytes;
    e->body = l->w->room;
    e->body_size = class->bytes;
    return e;
}

/* One of a class without a pattern. */
static void give_large_instance(struct loop *l, uint64_t index, const struct object *o, unsigned id_size)
{
    const struct hot_class *class = &l->w->hot[o->class];
    struct event *e = instance_event(l, index, class);
    struct values v = {.bits = model_random(l->m, index, 0)};
    bool in_parts = class->bytes > PIECE_SIZE;

    if (in_parts)
        count_references(l, index, o, &v);
    else
        walk_values(l, index, o, &v, false, id_size);
    e->body = in_parts ? NULL : l->w->room;
    e->references = (uint32_t)v.slot;
    e->nulls = v.nulls;
    give(l->w->to, e);
    if (in_parts) {
        v = (struct values){.bits = v.bits};
        walk_values(l, index, o, &v, true, id_size);
    }
}

HOT void put_words(uint8_t *p, const uint64_t *masks, size_t n, uint64_t bits)
{
    for (size_t i = 0; i < n; i += STEP)
        for (size_t j = i; j < i + STEP; j++) {
            uint64_t word = bits * (2 * j + UINT64_C(0x9E3779B97F4A7C15));

            word = masks[j] & FROM_LITTLE_ENDIAN(word ^ word >> 29);
            memcpy(p + j * WORD, &word, WORD);
        }
}

/* How many of them are null. */
HOT uint32_t put_references(const struct walk *w, const uint16_t *places, unsigned n, const uint64_t *targets, unsigned id_size)
{
    uint32_t nulls = 0;

    for (unsigned i = 0; i < n; i += STEP)
        for (unsigned j = i; j < i + STEP; j++) {
            uint64_t null = (uint64_t)0 - (targets[j] == MODEL_NULL);

            nulls += (targets[j] == MODEL_NULL) & (j < n);
            put_id(w->room + places[j], (w->first_object + targets[j] * w->ids.objects.stride) & ~null, id_size);
        }
    return nulls;
}

HOT void give_instance(struct loop *l, uint64_t index, const struct object *o, unsigned id_size)
{
    struct walk *w = l->w;
    struct hot_class *class = &w->hot[o->class];
    const uint64_t *masks = w->patterns + class->pattern;
    size_t words = words_of(class);
    struct event *e;

    class->objects++;
    if (w->sizes_alone) {
        give(w->to, instance_event(l, index, class));
        return;
    }
    if (__builtin_expect(!class->patterned, 0)) {
        give_large_instance(l, index, o, id_size);
        return;
    }
    put_words(w->room, masks, words, model_random(l->m, index, 0));
    model_references(l->m, index, o, 0, class->references, l->targets);
    e = instance_event(l, index, class);
    e->references = class->references;
    e->nulls = put_references(w, (const uint16_t *)(masks + words), class->references, l->targets, id_size);
    give(w->to, e);
}

/* ---- Arrays ---- */

HOT void count_array(struct walk *w, uint32_t class, uint64_t bytes)
{
    w->hot[class].objects++;
    w->hot[class].array_bytes += bytes;
}

HOT uint8_t *put_elements(struct loop *l, uint8_t *p, uint64_t index, const struct object *o, uint64_t from, uint64_t to,
                          unsigned id_size)
{
    while (from < to) {
        uint64_t n = to - from < TARGETS ? to - from : TARGETS;

        model_references(l->m, index, o, from, n, l->targets);
        for (uint64_t i = 0; i < n; i++)
            p = put_id(p, object_id(l->w, l->targets[i]), id_size);
        from += n;
    }
    return p;
}

HOT void give_object_array(struct loop *l, uint64_t index, struct object *o, unsigned id_size)
{
    struct walk *w = l->w;
    struct event *e = again(&l->object_array, SUB_OBJECT_ARRAY_DUMP, LAYOUT_ID_OBJECT_ARRAY_DUMP);
    const uint64_t per_piece = PIECE_SIZE / id_size;
    uint64_t size;
    bool archived;

    if (w->like->cuts_nulls)
        while (o->elements && model_reference(l->m, index, o, o->elements - 1) == MODEL_NULL)
            o->elements--;
    size = o->elements * id_size;
    e->fields.OBJECT_ARRAY_DUMP = (struct OBJECT_ARRAY_DUMP){.object_id = object_id(w, index),
                                                             .trace_serial = w->traces[o->class],
                                                             .elements = (uint32_t)o->elements,
                                                             .class_id = class_id(w, o->class)};
    e->body_size = size;
    count_array(w, o->class, size);
    if (w->sizes_alone) {
        give(w->to, e);
        return;
    }
    if (size > PIECE_SIZE) {
        e->body = NULL;
        give(w->to, e);
        for (uint64_t from = 0; from < o->elements && !*w->stop; from += per_piece) {
            uint64_t to = o->elements - from < per_piece ? o->elements : from + per_piece;

            put_elements(l, w->room, index, o, from, to, id_size);
            give_part(w, w->room, (to - from) * id_size);
        }
        return;
    }
    put_elements(l, w->room, index, o, 0, o->elements, id_size);
    archived = l->archived_left && o->elements && o->class == CORE_OBJECT_ARRAY;
    if (__builtin_expect(archived, 0)) {
        put_id(w->room + size - id_size, missing_id(w, l->archived_left--), id_size);
        habit(e, RULE_REF_002, 1);
    }
    e->body = w->room;
    give(w->to, e);
}

static void give_without_elements(struct walk *w, uint64_t index, const struct object *o)
{
    struct event e = SUBRECORD_EVENT(PRIMITIVE_ARRAY_NODATA, PRIMITIVE_ARRAY_NODATA);

    e.fields.PRIMITIVE_ARRAY_NODATA = (struct PRIMITIVE_ARRAY_NODATA){.object_id = object_id(w, index),
                                                                      .trace_serial = w->traces[o->class],
                                                                      .elements = (uint32_t)o->elements,
                                                                      .type = o->type};
    give(w->to, &e);
}

HOT void give_primitive_array(struct loop *l, uint64_t index, const struct object *o)
{
    struct walk *w = l->w;
    struct event *e = again(&l->primitive_array, SUB_PRIMITIVE_ARRAY_DUMP, LAYOUT_ID_PRIMITIVE_ARRAY_DUMP);
    unsigned width = type_size(o->type, 8);
    uint64_t size = o->elements * width;

    count_array(w, o->class, size);
    if (__builtin_expect(l->without_left, 0)) {
        l->without_left--;
        give_without_elements(w, index, o);
        return;
    }
    e->fields.PRIMITIVE_ARRAY_DUMP = (struct PRIMITIVE_ARRAY_DUMP){.object_id = object_id(w, index),
                                                                   .trace_serial = w->traces[o->class],
                                                                   .elements = (uint32_t)o->elements,
                                                                   .type = o->type};
    e->body_size = size;
    if (w->sizes_alone) {
        give(w->to, e);
        return;
    }
    if (size > PIECE_SIZE) {
        e->body = NULL;
        give(w->to, e);
        for (uint64_t done = 0; done < size && !*w->stop; done += PIECE_SIZE) {
            size_t n = size - done < PIECE_SIZE ? (size_t)(size - done) : PIECE_SIZE;

            model_elements(l->m, index, o, done / width, w->room, n);
            give_part(w, w->room, n);
        }
        return;
    }
    model_elements(l->m, index, o, 0, w->room, (size_t)size);
    if (__builtin_expect(o->type == TYPE_BOOLEAN, 0) && l->sevens_left && size) {
        l->sevens_left--;
        w->room[size - 1] = 7;
        habit(e, RULE_OBJ_009, 1);
    }
    e->body = w->room;
    give(w->to, e);
}

/* ---- The loop ---- */

HOT void give_objects(struct loop *l, const unsigned id_size)
{
    uint64_t n = l->m->options.objects;
    const bool *stop = l->w->stop;

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
            give_primitive_array(l, i, &o);
            break;
        }
    }
}

void part_objects(struct walk *w)
{
    struct loop l = {.w = w,
                     .m = w->model,
                     .instance = SUBRECORD_EVENT(INSTANCE_DUMP, INSTANCE_DUMP),
                     .object_array = SUBRECORD_EVENT(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP),
                     .primitive_array = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP),
                     .archived_left = w->like->archived_mirrors,
                     .sevens_left = w->like->sevens,
                     .without_left = w->version == V103 && w->like->leaves_out_elements};

    for (uint32_t c = 0; c < w->model->class_count; c++)
        w->hot[c].objects = w->hot[c].array_bytes = 0;
    if (w->id_size == 8)
        give_objects(&l, 8);
    else
        give_objects(&l, 4);
}
