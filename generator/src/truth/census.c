/* See census.h. */
#include "truth/census.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/keymap.h"
#include "base/memory.h"

enum { KNOWN = 1024 };

/* What a CLASS_DUMP says about the class itself, without its superclasses. */
struct own {
    uint64_t super_id;
    uint32_t references, bytes; /* fields of type object; bytes of all fields */
};

/* A class in one heap dump. The CLASS_DUMP says how many references an instance has, and may follow the instance. */
struct in_heap {
    uint64_t heap_dump; /* the number of the heap dump, from 1 */
    struct own own;
    bool dumped, unsure;        /* by a CLASS_DUMP; or the CLASS_DUMP is malformed */
    uint64_t instances;         /* instances whose references are not counted yet: */
    uint64_t shortest, longest; /* the bytes of their values */

    /* With all superclasses, at the end of the heap dump. */
    enum { NOT_COUNTED, AT_WORK, ENDLESS, COUNTED } chain;
    bool chain_unsure;
    uint64_t chain_classes, chain_references, chain_bytes;
};

struct census {
    struct stage stage;
    struct truth *truth;
    struct memory memory;
    struct keymap by_id;     /* class ID to index in truth.classes */
    struct in_heap *in_heap; /* of truth.classes, */
    size_t *touched;         /* those of the present heap dump, by index, */
    size_t touched_count;
    size_t *walked;  /* capacity, */
    size_t capacity; /* of all four */
    /* The classes met last, by some bits of their IDs: most instances need no look-up in the map. */
    struct known {
        uint64_t id;
        size_t class; /* plus 1 */
    } known[KNOWN];
    bool in_series;       /* of segments */
    bool in_object_array; /* its elements come in parts */
    bool ended;           /* the dump ended within an event: what follows is not written */
    uint8_t open;         /* the present heap dump record, 0 for none */
    bool no_memory;
};

static bool add_class(struct census *c, uint64_t id)
{
    struct truth *t = c->truth;

    if (t->class_count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 1024;
        struct truth_class *classes = realloc(t->classes, capacity * sizeof *classes);
        struct in_heap *in_heap = realloc(c->in_heap, capacity * sizeof *in_heap);
        size_t *touched = realloc(c->touched, capacity * sizeof *touched);
        size_t *walked = realloc(c->walked, capacity * sizeof *walked);

        t->classes = classes ? classes : t->classes;
        c->in_heap = in_heap ? in_heap : c->in_heap;
        c->touched = touched ? touched : c->touched;
        c->walked = walked ? walked : c->walked;
        if (!classes || !in_heap || !touched || !walked)
            return false;
        c->capacity = capacity;
    }
    if (!keymap_put(&c->by_id, id, t->class_count))
        return false;
    c->in_heap[t->class_count].heap_dump = 0;
    t->classes[t->class_count++] = (struct truth_class){.id = id};
    return true;
}

/* The class with this ID, added if it is new. NULL if memory ran out. */
static struct truth_class *class_of(struct census *c, uint64_t id)
{
    struct known *known = &c->known[(id ^ id >> 10) % KNOWN];
    struct truth *t = c->truth;
    uint64_t index = t->class_count;

    if (known->class && known->id == id)
        return &t->classes[known->class - 1];
    if (!keymap_get(&c->by_id, id, &index) && !add_class(c, id)) {
        c->no_memory = true;
        return NULL;
    }
    *known = (struct known){id, (size_t)index + 1};
    return &t->classes[index];
}

/* The class in the present heap dump. */
static struct in_heap *in_this_heap(struct census *c, const struct truth_class *class)
{
    size_t index = (size_t)(class - c->truth->classes);
    struct in_heap *h = &c->in_heap[index];

    if (h->heap_dump != c->truth->heap_dumps) {
        *h = (struct in_heap){.heap_dump = c->truth->heap_dumps, .unsure = !class->id, .shortest = UINT64_MAX};
        c->touched[c->touched_count++] = index;
    }
    return h;
}

/* The IDs among the values of a list of constants or static fields (SPEC.md 6.3.3, 6.3.4), whose count is at p. */
static const uint8_t *count_values(struct census *c, const uint8_t *p, const uint8_t *end, size_t head)
{
    unsigned id_size = c->stage.id_size, n;

    if (!p || end - p < 2)
        return NULL;
    n = get_u2(p);
    p += 2;
    for (; n; n--) {
        unsigned size = (size_t)(end - p) < head ? 0 : type_size(p[head - 1], id_size);

        if (!size || (size_t)(end - p) < head + size)
            return NULL;
        if (p[head - 1] == TYPE_OBJECT) {
            c->truth->references++;
            c->truth->nulls += !get_id(p + head, id_size);
        }
        p += head + size;
    }
    return p;
}

/* The list of instance fields (SPEC.md 6.3.5), whose count is at p: those of this class, without its superclasses. False if the
 * list is malformed. */
static bool count_own_fields(const struct census *c, const uint8_t *p, const uint8_t *end, struct own *own)
{
    const size_t entry = SIZE_OF(INSTANCE_FIELD, c->stage.id_size);
    bool good = p && end - p >= 2 && (size_t)(end - p) == 2 + get_u2(p) * entry;

    if (!good)
        return false;
    for (p += 2; p < end; p += entry) {
        unsigned size = type_size(p[entry - 1], c->stage.id_size);

        own->references += p[entry - 1] == TYPE_OBJECT;
        own->bytes += size;
        good &= size != 0;
    }
    return good;
}

static bool is_same(const struct own *a, const struct own *b)
{
    return a->super_id == b->super_id && a->references == b->references && a->bytes == b->bytes;
}

static void count_class_dump(struct census *c, const struct event *e)
{
    const uint8_t *end = e->body + e->body_size, *p = e->body;
    struct truth_class *class = class_of(c, e->fields.CLASS_DUMP.class_id);
    struct own own = {.super_id = e->fields.CLASS_DUMP.super_id};
    struct in_heap *h;

    p = count_values(c, p, end, SIZE_OF(CONSTANT, c->stage.id_size));
    p = count_values(c, p, end, SIZE_OF(STATIC_FIELD, c->stage.id_size));
    if (!class)
        return;
    h = in_this_heap(c, class);
    h->unsure |= !count_own_fields(c, p, end, &own) || (h->dumped && !is_same(&h->own, &own));
    h->dumped = true;
    h->own = own;
}

/* Its class. */
static struct truth_class *count_body(struct census *c, uint64_t class_id, uint64_t bytes)
{
    struct truth_class *class = class_of(c, class_id);

    if (class) {
        class->instances++;
        class->instance_bytes += bytes;
    }
    return class;
}

static void count_instance(struct census *c, const struct event *e)
{
    struct truth_class *class = count_body(c, e->fields.INSTANCE_DUMP.class_id, e->body_size);

    if (e->references != UNKNOWN_REFERENCES) {
        c->truth->references += e->references;
        c->truth->nulls += e->nulls;
    } else if (class) {
        struct in_heap *h = in_this_heap(c, class);

        c->truth->nulls_known = false;
        h->instances++;
        if (h->shortest > e->body_size)
            h->shortest = e->body_size;
        if (h->longest < e->body_size)
            h->longest = e->body_size;
    }
}

/* Elements of an object array, whole or in parts of whole elements. */
static void count_elements(struct census *c, const uint8_t *p, uint64_t size)
{
    unsigned id_size = c->stage.id_size;

    c->truth->references += size / id_size;
    for (const uint8_t *end = p + size / id_size * id_size; p < end; p += id_size)
        c->truth->nulls += !get_id(p, id_size);
}

/* `body` is NULL if the body comes in parts. */
static void count_object_array(struct census *c, uint64_t class_id, const uint8_t *body, uint64_t size)
{
    struct truth_class *class = class_of(c, class_id);
    uint64_t elements = size / c->stage.id_size;

    if (class) {
        class->arrays++;
        class->elements += elements;
    }
    c->truth->arrays[TYPE_OBJECT]++;
    c->truth->array_elements[TYPE_OBJECT] += elements;
    if (body)
        count_elements(c, body, size);
}

static void count_primitive_array(struct truth *t, uint8_t type, uint32_t elements)
{
    if (type_is_primitive(type)) {
        t->arrays[type]++;
        t->array_elements[type] += elements;
    }
}

static void count_subrecord(struct census *c, const struct event *e)
{
    struct truth *t = c->truth;

    t->subrecords[e->tag]++;
    switch (e->layout) {
    case LAYOUT_ID_CLASS_DUMP:
        count_class_dump(c, e);
        break;
    case LAYOUT_ID_INSTANCE_DUMP:
        count_instance(c, e);
        break;
    case LAYOUT_ID_OBJECT_ARRAY_DUMP:
        count_object_array(c, e->fields.OBJECT_ARRAY_DUMP.class_id, e->body, e->body_size);
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_DUMP:
        count_primitive_array(t, e->fields.PRIMITIVE_ARRAY_DUMP.type, e->fields.PRIMITIVE_ARRAY_DUMP.elements);
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_NODATA:
        count_primitive_array(t, e->fields.PRIMITIVE_ARRAY_NODATA.type, e->fields.PRIMITIVE_ARRAY_NODATA.elements);
        break;
    default:
        break;
    }
    c->in_object_array = e->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP;
}

/* Sub-records of objects as bytes, with a known number of references. */
static void count_batch(struct census *c, const struct event *e)
{
    const unsigned id_size = c->stage.id_size;
    const uint8_t *at = e->body;

    for (uint32_t i = 0; i < e->count; at += e->sizes[i++]) {
        struct cursor fields = {at + 1, at + e->sizes[i]};
        struct INSTANCE_DUMP instance;
        struct OBJECT_ARRAY_DUMP objects;
        struct PRIMITIVE_ARRAY_DUMP values;

        c->truth->subrecords[*at]++;
        if (*at == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&fields, id_size, &instance))
            count_body(c, instance.class_id, cursor_left(&fields));
        else if (*at == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&fields, id_size, &objects))
            count_object_array(c, objects.class_id, fields.at, cursor_left(&fields));
        else if (*at == SUB_PRIMITIVE_ARRAY_DUMP && read_PRIMITIVE_ARRAY_DUMP(&fields, id_size, &values))
            count_primitive_array(c->truth, values.type, values.elements);
    }
    c->truth->references += e->references;
    c->truth->nulls += e->nulls;
    c->in_object_array = false;
}

/* ---- The end of a heap dump: superclasses ---- */

enum { NO_CLASS = -1 };

/* The index of the superclass, if it is dumped. */
static int64_t super_of(const struct census *c, const struct in_heap *h)
{
    uint64_t index;

    if (!h->own.super_id || !keymap_get(&c->by_id, h->own.super_id, &index))
        return NO_CLASS;
    return c->in_heap[index].heap_dump == h->heap_dump && c->in_heap[index].dumped ? (int64_t)index : NO_CLASS;
}

/* The totals of a class with its superclasses: `above` is that of the superclass, or NULL. */
static void add_to_chain(struct in_heap *h, const struct in_heap *above)
{
    h->chain = above ? above->chain : COUNTED;
    h->chain_unsure = h->unsure || (above ? above->chain_unsure : h->own.super_id != 0);
    h->chain_classes = 1 + (above ? above->chain_classes : 0);
    h->chain_references = h->own.references + (above ? above->chain_references : 0);
    h->chain_bytes = h->own.bytes + (above ? above->chain_bytes : 0);
}

/* Totals for all classes of the chain from a class on. Each class is visited once. A cycle counts nothing. */
static void count_chain(struct census *c, size_t first)
{
    struct in_heap *h = &c->in_heap[first], *above = NULL;
    size_t length = 0;

    for (int64_t at = (int64_t)first; at != NO_CLASS; at = super_of(c, h)) {
        h = &c->in_heap[at];
        if (h->chain != NOT_COUNTED) {
            above = h;
            break;
        }
        h->chain = AT_WORK;
        c->walked[length++] = (size_t)at;
    }
    if (above && above->chain == AT_WORK)
        above->chain = ENDLESS;
    while (length) {
        h = &c->in_heap[c->walked[--length]];
        add_to_chain(h, above);
        above = h;
    }
    if (h->chain == COUNTED && h->chain_classes > c->truth->deepest_chain)
        c->truth->deepest_chain = h->chain_classes;
}

/* Counts the references of instances that preceded their class. Those of instances without a class, or of a wrong length, stay
 * unknown. */
static void count_references(struct census *c, const struct in_heap *h)
{
    if (!h->instances)
        return;
    if (h->chain == COUNTED && !h->chain_unsure && h->shortest == h->chain_bytes && h->longest == h->chain_bytes)
        c->truth->references += h->instances * h->chain_references;
    else
        c->truth->references_known = false;
}

static void end_heap_dump(struct census *c)
{
    for (size_t i = 0; i < c->touched_count; i++) {
        if (c->in_heap[c->touched[i]].dumped)
            count_chain(c, c->touched[i]);
        count_references(c, &c->in_heap[c->touched[i]]);
    }
    c->touched_count = 0;
}

/* ---- Records ---- */

static void count_load_class(struct census *c, const struct event *e)
{
    struct truth_class *class = class_of(c, e->fields.LOAD_CLASS.class_id);

    if (!class || class->loaded)
        return;
    class->loaded = true;
    class->name_id = e->fields.LOAD_CLASS.name;
    if (e->class_name)
        c->no_memory |= !truth_name_class(class, e->class_name, strlen(e->class_name));
}

static void count_record(struct census *c, const struct event *e)
{
    c->truth->records[e->tag]++;
    c->in_object_array = false;
    c->open = 0;
    if (e->tag == TAG_HEAP_DUMP_END) {
        c->in_series = false;
        end_heap_dump(c);
    }
    if (e->layout == LAYOUT_ID_LOAD_CLASS)
        count_load_class(c, e);
}

/* A HEAP_DUMP is a heap dump. So are all segments up to the next HEAP_DUMP_END. */
static void count_open(struct census *c, const struct event *e)
{
    c->truth->records[e->tag]++;
    if (e->tag == TAG_HEAP_DUMP || !c->in_series) {
        end_heap_dump(c);
        c->truth->heap_dumps++;
    }
    c->in_series = e->tag == TAG_HEAP_DUMP_SEGMENT;
    c->open = e->tag;
}

/* The dump ends within this event, so neither the event nor its heap dump record is complete. */
static void count_end(struct census *c)
{
    c->ended = true;
    c->truth->records[c->open] -= c->open != 0;
}

static void count(struct census *c, const struct event *e)
{
    enum version version;

    switch (e->kind) {
    case EVENT_SUBRECORD:
        count_subrecord(c, e);
        break;
    case EVENT_RECORD:
        count_record(c, e);
        break;
    case EVENT_OPEN:
        count_open(c, e);
        break;
    case EVENT_PART:
        if (c->in_object_array)
            count_elements(c, e->body, e->body_size);
        break;
    case EVENT_CLOSE:
        c->open = 0;
        break;
    case EVENT_HEADER:
        c->truth->version = header_version(&e->header, &version) ? version_name(version) : NULL;
        break;
    case EVENT_BATCH:
        count_batch(c, e);
        break;
    case EVENT_RAW:
    case EVENT_END:
        break;
    }
    for (unsigned i = 0; i < e->quirk_count; i++)
        c->truth->quirks[e->quirks[i].rule] += e->quirks[i].findings;
}

static void take(struct stage *stage, struct event *e)
{
    struct census *c = (struct census *)stage;

    if (!c->ended && e->keep != KEEP_ALL)
        count_end(c);
    if (!c->ended)
        count(c, e);
    give(stage->next, e);
}

struct census *census_new(struct stage *next, struct truth *truth)
{
    struct census *c = calloc(1, sizeof *c);
    struct hash_key key = hash_key_draw();

    if (!c)
        return NULL;
    c->stage = (struct stage){.take = take, .next = next, .id_size = next->id_size};
    c->truth = truth;
    truth->references_known = truth->nulls_known = true;
    memory_init(&c->memory, NULL, 0);
    keymap_init(&c->by_id, &c->memory, &key, sizeof(uint64_t), sizeof(uint64_t));
    return c;
}

struct stage *census_stage(struct census *c)
{
    return &c->stage;
}

bool census_finish(struct census *c)
{
    end_heap_dump(c);
    return !c->no_memory;
}

void census_free(struct census *c)
{
    if (!c)
        return;
    keymap_clear(&c->by_id);
    free(c->in_heap);
    free(c->touched);
    free(c->walked);
    free(c);
}
