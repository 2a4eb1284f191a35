/* See census.h. */
#include "census.h"

#include <stdlib.h>

#include "hash.h"
#include "keymap.h"
#include "memory.h"

enum { KNOWN = 1024 };

/* Of a class in a file: how many fields of type object its instances have, its CLASS_DUMP tells, which may stand behind them. */
struct own_fields {
    uint64_t instances;         /* whose references are not known yet: */
    uint64_t shortest, longest; /* so many bytes their values take */
    uint32_t references, bytes; /* its own fields of type object, and what all of its own take */
    bool unsure;                /* dumped again with other fields, or not as a CLASS_DUMP should be */
};

struct census {
    struct stage stage;
    struct truth *truth;
    struct memory memory;
    struct keymap by_id;       /* class ID to index in truth.classes */
    struct own_fields *fields; /* of truth.classes */
    size_t capacity;           /* of both */
    /* The classes seen last, by some bits of their IDs: most instances need no look into the map. */
    struct known {
        uint64_t id;
        size_t class; /* plus 1 */
    } known[KNOWN];
    bool in_series;       /* of segments */
    bool in_object_array; /* whose elements come in parts */
    bool ended;           /* within something: what comes is not written */
    uint8_t open;         /* the heap dump record at hand, 0 for none */
    bool no_memory;
};

static bool add_class(struct census *c, uint64_t id)
{
    struct truth *t = c->truth;

    if (t->class_count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 1024;
        struct truth_class *classes = realloc(t->classes, capacity * sizeof *classes);
        struct own_fields *fields = classes ? realloc(c->fields, capacity * sizeof *fields) : NULL;

        t->classes = classes ? classes : t->classes;
        if (!fields)
            return false;
        c->fields = fields;
        c->capacity = capacity;
    }
    if (!keymap_put(&c->by_id, id, t->class_count))
        return false;
    c->fields[t->class_count] = (struct own_fields){.shortest = UINT64_MAX};
    t->classes[t->class_count++] = (struct truth_class){.id = id};
    return true;
}

/* The class of that ID, known from now on; NULL when memory ran out. */
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

/* The IDs among the values of a list of constants or static fields (SPEC.md 6.3.3, 6.3.4), whose count stands at p. */
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

/* The list of instance fields (SPEC.md 6.3.5), whose count stands at p: what an instance has of this class alone. */
static struct own_fields read_own_fields(const struct census *c, const uint8_t *p, const uint8_t *end)
{
    const size_t entry = SIZE_OF(INSTANCE_FIELD, c->stage.id_size);
    struct own_fields own = {.unsure = !p || end - p < 2 || (size_t)(end - p) != 2 + get_u2(p) * entry};

    if (own.unsure)
        return own;
    for (p += 2; p < end; p += entry) {
        own.references += p[entry - 1] == TYPE_OBJECT;
        own.bytes += type_size(p[entry - 1], c->stage.id_size);
    }
    return own;
}

static void count_class_dump(struct census *c, const struct event *e)
{
    const uint8_t *end = e->body + e->body_size, *p = e->body;
    struct truth_class *class = class_of(c, e->fields.CLASS_DUMP.class_id);
    uint64_t super_id = e->fields.CLASS_DUMP.super_id;

    p = count_values(c, p, end, SIZE_OF(CONSTANT, c->stage.id_size));
    p = count_values(c, p, end, SIZE_OF(STATIC_FIELD, c->stage.id_size));
    if (class && e->references == UNKNOWN_REFERENCES) {
        struct own_fields *known = &c->fields[class - c->truth->classes], own = read_own_fields(c, p, end);

        known->unsure |= own.unsure || (class->dumped && (class->super_id != super_id || known->references != own.references ||
                                                          known->bytes != own.bytes));
        known->references = own.references;
        known->bytes = own.bytes;
    }
    if (class && !class->dumped) {
        class->dumped = true;
        class->super_id = super_id;
    }
}

static void count_instance(struct census *c, const struct event *e)
{
    struct truth_class *class = class_of(c, e->fields.INSTANCE_DUMP.class_id);

    if (class) {
        class->instances++;
        class->instance_bytes += e->body_size;
    }
    if (e->references != UNKNOWN_REFERENCES) {
        c->truth->references += e->references;
        c->truth->nulls += e->nulls;
    } else if (class) {
        struct own_fields *fields = &c->fields[class - c->truth->classes];

        c->truth->nulls_known = false;
        fields->instances++;
        if (fields->shortest > e->body_size)
            fields->shortest = e->body_size;
        if (fields->longest < e->body_size)
            fields->longest = e->body_size;
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

static void count_object_array(struct census *c, const struct event *e)
{
    struct truth_class *class = class_of(c, e->fields.OBJECT_ARRAY_DUMP.class_id);
    uint64_t elements = e->body_size / c->stage.id_size;

    if (class) {
        class->arrays++;
        class->elements += elements;
    }
    c->truth->arrays[TYPE_OBJECT]++;
    c->truth->array_elements[TYPE_OBJECT] += elements;
    if (e->body)
        count_elements(c, e->body, e->body_size);
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
        count_object_array(c, e);
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

static void count_record(struct census *c, const struct event *e)
{
    c->truth->records[e->tag]++;
    c->in_object_array = false;
    c->open = 0;
    if (e->tag == TAG_HEAP_DUMP_END)
        c->in_series = false;
    if (e->layout == LAYOUT_ID_LOAD_CLASS && e->fields.LOAD_CLASS.class_id) {
        struct truth_class *class = class_of(c, e->fields.LOAD_CLASS.class_id);

        if (class && e->class_name && !class->name) {
            size_t size = strlen(e->class_name) + 1;

            class->name = malloc(size);
            if (class->name)
                memcpy(class->name, e->class_name, size);
            else
                c->no_memory = true;
        }
    }
}

/* A HEAP_DUMP is a heap dump; so are all segments up to their HEAP_DUMP_END. */
static void count_open(struct census *c, const struct event *e)
{
    c->truth->records[e->tag]++;
    if (e->tag == TAG_HEAP_DUMP || !c->in_series)
        c->truth->heap_dumps++;
    c->in_series = e->tag == TAG_HEAP_DUMP_SEGMENT;
    c->open = e->tag;
}

/* The dump ends within this event: neither that nor the heap dump record around it is there whole. */
static void count_end(struct census *c)
{
    c->ended = true;
    c->truth->records[c->open] -= c->open != 0;
}

static void count(struct census *c, const struct event *e)
{
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
    case EVENT_RAW:
    case EVENT_END:
        break;
    }
    if (e->habit != NO_RULE)
        c->truth->habits[e->habit] += e->habit_findings;
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

/* ---- Superclasses ---- */

enum { NO_CLASS = -1 };

/* Where the class's superclass stands among the classes, if it is dumped. */
static int64_t super_of(const struct census *c, const struct truth_class *class)
{
    uint64_t index;

    if (!class->super_id || !keymap_get(&c->by_id, class->super_id, &index) || !c->truth->classes[index].dumped)
        return NO_CLASS;
    return (int64_t)index;
}

/* What a class has with all above it. */
enum chain_state { NOT_COUNTED, AT_WORK, ENDLESS, COUNTED };
struct chain {
    enum chain_state state;
    uint64_t classes, references, bytes;
    bool unsure;
};

static struct chain with_own(struct chain above, const struct own_fields *own)
{
    above.classes++;
    above.references += own->references;
    above.bytes += own->bytes;
    above.unsure |= own->unsure;
    return above;
}

/* The chain from a class on, filled in for all of its classes: each is walked once. One that comes back to itself has no end, and
 * counts for nothing. */
static void count_chain(struct census *c, struct chain *chains, int64_t *walked, int64_t first)
{
    struct chain chain = {.state = COUNTED};
    size_t length = 0;
    int64_t at = first;

    for (; at != NO_CLASS && chains[at].state == NOT_COUNTED; at = super_of(c, &c->truth->classes[at])) {
        chains[at].state = AT_WORK;
        walked[length++] = at;
    }
    if (at != NO_CLASS)
        chain = chains[at];
    if (chain.state == AT_WORK)
        chain = (struct chain){.state = ENDLESS};
    while (length) {
        at = walked[--length];
        if (chain.state == COUNTED)
            chain = with_own(chain, &c->fields[at]);
        chains[at] = chain;
    }
    if (chain.state == COUNTED && chain.classes > c->truth->deepest_chain)
        c->truth->deepest_chain = chain.classes;
}

/* What the instances of a class have whose references were not known when they went by. Those of other lengths than their class
 * says, or of no class, have nobody knows what. */
static void count_references(struct census *c, const struct own_fields *of, const struct chain *chain)
{
    bool known = chain->state == COUNTED && !chain->unsure && of->shortest == chain->bytes && of->longest == chain->bytes;

    if (known)
        c->truth->references += of->instances * chain->references;
    else if (of->instances)
        c->truth->references_known = false;
}

static void count_chains(struct census *c)
{
    struct truth *t = c->truth;
    struct chain *chains = calloc(t->class_count + 1, sizeof *chains);
    int64_t *walked = calloc(t->class_count + 1, sizeof *walked);

    for (size_t i = 0; chains && walked && i < t->class_count; i++) {
        if (t->classes[i].dumped)
            count_chain(c, chains, walked, (int64_t)i);
        count_references(c, &c->fields[i], &chains[i]);
    }
    c->no_memory |= !chains || !walked;
    free(chains);
    free(walked);
}

bool census_finish(struct census *c)
{
    count_chains(c);
    return !c->no_memory;
}

void census_free(struct census *c)
{
    if (!c)
        return;
    keymap_clear(&c->by_id);
    free(c->fields);
    free(c);
}
