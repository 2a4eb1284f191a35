/* See answers.h. The first pass finds what each ID names, the second the references and where texts are, the third the texts. */
#include "truth/answers.h"

#include <stdlib.h>

#include "base/sort.h"
#include "format/subrecord.h"
#include "truth/asker.h"

static void refuse(struct asker *a, const char *why)
{
    if (!a->failure)
        a->failure = why;
    a->stop = true;
}

static bool grow(struct asker *a, void *array, size_t *capacity, size_t count, size_t size)
{
    void *block;

    memcpy(&block, array, sizeof block);
    if (!memory_grow(&a->memory, &block, capacity, count + 1, size))
        return false;
    memcpy(array, &block, sizeof block);
    return true;
}

static void add_edge(struct asker *a, uint32_t from, uint64_t id)
{
    uint64_t number;
    enum target target = id ? heap_dump_target(&a->heap, id, &number) : TARGET_NOTHING;

    if (target == TARGET_NOTHING || !grow(a, &a->edges, &a->edge_capacity, a->edge_count, sizeof *a->edges))
        return;
    a->edges[a->edge_count++] =
        (struct edge){from, target == TARGET_CLASS ? class_node(a, (size_t)number) : object_node((size_t)number)};
}

/* ---- What each ID names ---- */

static void collect_object(struct asker *a, uint64_t id, uint64_t class_id, uint32_t class, uint64_t elements, bool is_array)
{
    if (class < PRIMITIVE) {
        const struct heap_class *found = heap_dump_class_of(&a->heap, class_id);

        class = found ? (uint32_t)(found - a->heap.classes) : 0;
    }
    if (!grow(a, &a->objects, &a->object_capacity, a->object_count, sizeof *a->objects))
        return;
    a->objects[a->object_count] = (struct object){id, class, (uint32_t)elements, is_array};
    if (!heap_dump_add_object(&a->heap, id, a->object_count++))
        refuse(a, "--answers: the heap dump defines an ID twice, so its graph is not defined");
    else if (node_count(a) >= PRIMITIVE)
        refuse(a, "--answers: the heap dump has more than 4 billion objects");
}

static void collect(struct asker *a)
{
    const union fields *f = &a->fields;

    switch (a->layout) {
    case LAYOUT_ID_INSTANCE_DUMP:
        collect_object(a, f->INSTANCE_DUMP.object_id, f->INSTANCE_DUMP.class_id, 0, a->body_left, false);
        break;
    case LAYOUT_ID_OBJECT_ARRAY_DUMP:
        collect_object(a, f->OBJECT_ARRAY_DUMP.object_id, f->OBJECT_ARRAY_DUMP.class_id, 0, f->OBJECT_ARRAY_DUMP.elements,
                       true);
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_DUMP:
        collect_object(a, f->PRIMITIVE_ARRAY_DUMP.object_id, 0, PRIMITIVE | f->PRIMITIVE_ARRAY_DUMP.type,
                       f->PRIMITIVE_ARRAY_DUMP.elements, true);
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_NODATA:
        collect_object(a, f->PRIMITIVE_ARRAY_NODATA.object_id, 0, PRIMITIVE | f->PRIMITIVE_ARRAY_NODATA.type,
                       f->PRIMITIVE_ARRAY_NODATA.elements, true);
        break;
    default:
        break;
    }
}

/* ROOT_UNREACHABLE names an object that no root keeps. */
static void collect_root(struct asker *a, const struct event *e)
{
    uint64_t id;

    if (is_root(e, &id) && e->tag != SUB_ROOT_UNREACHABLE &&
        grow(a, &a->roots, &a->root_capacity, a->root_count, sizeof *a->roots))
        a->roots[a->root_count++] = id;
}

/* ---- References ---- */

static uint64_t field_of(const uint8_t *values, size_t size, uint64_t at, unsigned width)
{
    if (at == NO_FIELD || at + width > size)
        return 0;
    return width == 1 ? values[at] : width == 8 ? get_u8(values + at) : get_u4(values + at);
}

/* JDK 6 and earlier have parts of an array as texts. */
static void find_text(struct asker *a, const struct layout *layout, const uint8_t *values, size_t size)
{
    uint64_t array, id = field_of(values, size, layout->value_at, a->stage.id_size);
    bool is_utf16 = field_of(values, size, layout->coder_at, 1) != 0, is_part = layout->count_at != NO_FIELD;
    const struct object *object;

    if (!id || heap_dump_target(&a->heap, id, &array) != TARGET_OBJECT) {
        a->answers->without_text++;
        return;
    }
    object = &a->objects[array];
    if (object->class != (PRIMITIVE | TYPE_BYTE) && object->class != (PRIMITIVE | TYPE_CHAR)) {
        a->answers->without_text++;
        return;
    }
    if (object->class == (PRIMITIVE | TYPE_CHAR))
        a->answers->chars++;
    else if (is_utf16)
        a->answers->utf16++;
    else
        a->answers->latin1++;
    if (grow(a, &a->uses, &a->use_capacity, a->use_count, sizeof *a->uses))
        a->uses[a->use_count++] =
            (struct text_use){(uint32_t)array, is_part ? (uint32_t)field_of(values, size, layout->offset_at, 4) : 0,
                              is_part ? (uint32_t)field_of(values, size, layout->count_at, 4) : UINT32_MAX, is_utf16};
}

static void take_instance(struct asker *a, const uint8_t *values, size_t size)
{
    struct heap_class *class = class_of(a, &a->objects[a->node - 1]);
    const struct layout *layout = heap_dump_layout(&a->heap, &a->names, class);

    add_edge(a, a->node, class->id);
    if (layout->state != LAYOUT_KNOWN || layout->bytes != size)
        return;
    for (size_t i = 0; layout->has_references && i < layout->count; i++)
        if (layout->slots[i].type == TYPE_OBJECT)
            add_edge(a, a->node, get_id(values + layout->slots[i].at, a->stage.id_size));
    if (layout->is_string)
        find_text(a, layout, values, size);
}

static const uint8_t *take_values(struct asker *a, const uint8_t *p, size_t head)
{
    struct entry entry;

    for (unsigned n = read_count(&p); n; n--) {
        read_entry(&p, head, a->stage.id_size, &entry);
        if (entry.type == TYPE_OBJECT)
            add_edge(a, a->node, get_id(entry.value, a->stage.id_size));
    }
    return p;
}

/* A class keeps its superclass, its loader, and what its constants and static fields name. */
static void take_class(struct asker *a, const uint8_t *body)
{
    const struct CLASS_DUMP *class = &a->fields.CLASS_DUMP;
    const uint64_t ids[] = {class->super_id, class->loader_id, class->signers_id, class->domain_id};
    uint64_t index;

    if (heap_dump_target(&a->heap, class->class_id, &index) != TARGET_CLASS)
        return;
    a->node = class_node(a, (size_t)index);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        add_edge(a, a->node, ids[i]);
    take_values(a, take_values(a, body, SIZE_OF(CONSTANT, a->stage.id_size)), SIZE_OF(STATIC_FIELD, a->stage.id_size));
}

/* ---- Texts ---- */

static bool use_is_less(const void *a, const void *b)
{
    return ((const struct text_use *)a)->array < ((const struct text_use *)b)->array;
}

static bool is_text(const struct asker *a)
{
    return a->uses_seen < a->use_count && object_node(a->uses[a->uses_seen].array) == a->node;
}

static void take_text(struct asker *a, const uint8_t *bytes, size_t size)
{
    bool is_chars = a->fields.PRIMITIVE_ARRAY_DUMP.type == TYPE_CHAR;

    for (; is_text(a); a->uses_seen++) {
        const struct text_use *use = &a->uses[a->uses_seen];
        size_t width = is_chars ? 2 : 1, first = (size_t)use->first * width, length = (size_t)use->count * width;

        first = first < size ? first : size;
        string_texts_add(&a->texts,
                         is_chars        ? CODER_CHARS
                         : use->is_utf16 ? CODER_UTF16
                                         : CODER_LATIN1,
                         bytes + first, length < size - first ? length : size - first);
    }
}

/* ---- Events ---- */

static bool is_wanted(const struct asker *a)
{
    switch (a->layout) {
    case LAYOUT_ID_UTF8:
        return a->pass == PASS_COLLECT;
    case LAYOUT_ID_CLASS_DUMP:
        return a->pass != PASS_TEXTS;
    case LAYOUT_ID_INSTANCE_DUMP:
    case LAYOUT_ID_OBJECT_ARRAY_DUMP:
        return a->pass == PASS_REFERENCES;
    case LAYOUT_ID_PRIMITIVE_ARRAY_DUMP:
        return a->pass == PASS_TEXTS && is_text(a);
    default:
        return false;
    }
}

static void take_whole(struct asker *a, const uint8_t *p, size_t size)
{
    if (a->layout == LAYOUT_ID_UTF8)
        texts_add(&a->names, a->fields.UTF8.id, p, size);
    else if (a->layout == LAYOUT_ID_PRIMITIVE_ARRAY_DUMP)
        take_text(a, p, size);
    else if (a->layout == LAYOUT_ID_INSTANCE_DUMP)
        take_instance(a, p, size);
    else if (a->pass == PASS_REFERENCES)
        take_class(a, p);
    else if (!heap_dump_add_class(&a->heap, &a->fields.CLASS_DUMP, p, size))
        refuse(a, "--answers: the heap dump defines an ID twice, so its graph is not defined");
}

/* The body, or a part of it. An object array comes in parts of whole elements. */
static void take_body(struct asker *a, const uint8_t *p, size_t size)
{
    if (a->layout == LAYOUT_ID_NONE)
        return;
    if (a->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP) {
        for (size_t at = 0; at + a->stage.id_size <= size; at += a->stage.id_size)
            add_edge(a, a->node, get_id(p + at, a->stage.id_size));
        return;
    }
    if (size != a->body_left || a->body.size) {
        item_put(&a->body, p, size);
        p = a->body.bytes;
    }
    a->body_left -= size;
    if (!a->body_left && !a->memory.exhausted)
        take_whole(a, p, a->body.size ? a->body.size : size);
}

static void begin(struct asker *a, const struct event *e)
{
    bool is_dumped = e->layout == LAYOUT_ID_INSTANCE_DUMP || e->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP ||
                     e->layout == LAYOUT_ID_PRIMITIVE_ARRAY_DUMP || e->layout == LAYOUT_ID_PRIMITIVE_ARRAY_NODATA;

    a->layout = e->layout;
    a->fields = e->fields;
    a->body_left = e->body_size;
    a->body.size = 0;
    if (a->pass == PASS_COLLECT) {
        collect(a);
        collect_root(a, e);
    } else if (is_dumped) {
        if (a->objects_seen == a->object_count) {
            refuse(a, "the file was changed while it was read");
            a->layout = LAYOUT_ID_NONE;
            return;
        }
        a->node = object_node(a->objects_seen++);
    }
    if (a->pass == PASS_REFERENCES && e->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP)
        add_edge(a, a->node, e->fields.OBJECT_ARRAY_DUMP.class_id);
    if (!is_wanted(a))
        a->layout = LAYOUT_ID_NONE;
    else if (e->body || !e->body_size)
        take_body(a, e->body ? e->body : (const uint8_t *)"", e->body_size);
}

static void take_record(struct asker *a, const struct event *e)
{
    const struct LOAD_CLASS *load = &e->fields.LOAD_CLASS;

    begin(a, e);
    if (e->tag == TAG_HEAP_DUMP_END)
        a->in_series = false;
    if (a->pass == PASS_COLLECT && e->layout == LAYOUT_ID_LOAD_CLASS)
        texts_load(&a->names, load->class_serial, load->class_id, load->name);
}

static void open_heap(struct asker *a, uint8_t tag)
{
    bool goes_on = tag == TAG_HEAP_DUMP_SEGMENT && a->in_series;

    if (a->pass == PASS_COLLECT && a->has_heap && !goes_on)
        refuse(a, "--answers: the dump has more than one heap dump");
    a->has_heap = true;
    a->in_series = tag == TAG_HEAP_DUMP_SEGMENT;
}

static void take(struct stage *stage, struct event *e)
{
    struct asker *a = (struct asker *)stage;

    if (a->stop)
        return;
    switch (e->kind) {
    case EVENT_RECORD:
        take_record(a, e);
        break;
    case EVENT_OPEN:
        open_heap(a, e->tag);
        break;
    case EVENT_SUBRECORD:
        begin(a, e);
        break;
    case EVENT_PART:
        take_body(a, e->body, e->body_size);
        break;
    case EVENT_HEADER:
    case EVENT_BATCH:
    case EVENT_RAW:
    case EVENT_CLOSE:
    case EVENT_END:
        break;
    }
    a->stop |= a->memory.exhausted;
}

/* Between the passes. */
static void prepare(struct asker *a, struct hasher *hasher)
{
    if (a->pass == PASS_COLLECT)
        heap_dump_name_classes(&a->heap, &a->names, hasher, &a->body);
    else if (a->pass == PASS_REFERENCES)
        sort_in_place(a->uses, a->use_count, sizeof *a->uses, use_is_less);
}

static enum answer_status run_passes(struct asker *a, struct source *source, struct hasher *hasher)
{
    for (a->pass = PASS_COLLECT; a->pass < PASSES; a->pass++) {
        bool good;

        a->objects_seen = 0;
        a->layout = LAYOUT_ID_NONE;
        a->in_series = false;
        good = source->run(source, &a->stage, &a->stop);
        if (a->memory.exhausted)
            return ANSWERS_NO_MEMORY;
        if (a->failure)
            return ANSWERS_REFUSED;
        if (!good)
            return ANSWERS_SOURCE_FAILED;
        prepare(a, hasher);
    }
    for (size_t i = 0; i < a->root_count; i++)
        add_edge(a, 0, a->roots[i]);
    return find_answers(a) ? ANSWERED : ANSWERS_NO_MEMORY;
}

enum answer_status answers_find(struct source *source, struct answers *answers, const char **failure)
{
    struct asker a = {.stage = {.take = take, .id_size = source->id_size}, .answers = answers, .key = hash_key_draw()};
    struct hasher *hasher = hasher_new();
    enum answer_status status = ANSWERS_NO_MEMORY;

    memset(answers, 0, sizeof *answers);
    memory_init(&a.memory, NULL, 0);
    texts_init(&a.names, &a.memory, &a.key);
    heap_dump_init(&a.heap, &a.memory, source->id_size, &a.key, 0);
    string_texts_init(&a.texts, &a.memory);
    item_init(&a.body, &a.memory);
    source->detail = DETAIL_FIELDS;
    if (hasher)
        status = run_passes(&a, source, hasher);
    *failure = a.failure;
    hasher_free(hasher);
    item_clear(&a.body);
    string_texts_clear(&a.texts);
    heap_dump_clear(&a.heap);
    texts_clear(&a.names);
    memory_put(&a.memory, a.objects, a.object_capacity * sizeof *a.objects);
    memory_put(&a.memory, a.edges, a.edge_capacity * sizeof *a.edges);
    memory_put(&a.memory, a.roots, a.root_capacity * sizeof *a.roots);
    memory_put(&a.memory, a.uses, a.use_capacity * sizeof *a.uses);
    return status;
}

void answers_clear(struct answers *answers)
{
    for (size_t i = 0; answers->classes && i < answers->class_count; i++)
        free(answers->classes[i].name);
    for (size_t i = 0; answers->texts && i < answers->text_count; i++)
        free(answers->texts[i].text);
    free(answers->classes);
    free(answers->texts);
    free(answers->objects);
    memset(answers, 0, sizeof *answers);
}
