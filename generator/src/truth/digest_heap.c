/* See digest_heap.h. */
#include "truth/digest_heap.h"

#include "format/subrecord.h"
#include "stream/encode.h"

enum { WIDTH_OF_ID = 8 /* in an item */ };

void heap_dump_init(struct heap_dump *h, struct memory *memory, unsigned id_size, const struct hash_key *key,
                    uint64_t meanings_ended)
{
    *h = (struct heap_dump){.memory = memory, .id_size = id_size, .meanings_ended = meanings_ended};
    keymap_init(&h->class_at, memory, key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&h->targets, memory, key, sizeof(uint64_t), sizeof(uint64_t));
}

static void clear_class(struct memory *memory, struct heap_class *class)
{
    memory_put(memory, class->body, class->body_size);
    memory_put(memory, class->layout.slots, class->layout.capacity * sizeof *class->layout.slots);
    for (unsigned form = 0; form < ITEM_FORMS; form++)
        item_clear(&class->layout.literals[form]);
}

void heap_dump_clear(struct heap_dump *h)
{
    for (size_t i = 0; i < h->class_count; i++)
        clear_class(h->memory, &h->classes[i]);
    memory_put(h->memory, h->classes, h->class_capacity * sizeof *h->classes);
    keymap_clear(&h->class_at);
    keymap_clear(&h->targets);
}

/* ---- What is defined ---- */

bool is_root(const struct event *e, uint64_t *id)
{
    switch (e->layout) {
#define ROOT(name) \
    case LAYOUT_ID_##name: \
        *id = e->fields.name.object_id; \
        return true;
        ROOT(ROOT_OBJECT)
        ROOT(ROOT_JNI_GLOBAL)
        ROOT(ROOT_FRAME)
        ROOT(ROOT_THREAD)
        ROOT(ROOT_THREAD_OBJECT)
        ROOT(ROOT_JNI_MONITOR)
#undef ROOT
    default:
        return false;
    }
}

struct heap_class *heap_dump_class_of(struct heap_dump *h, uint64_t id)
{
    void *classes = h->classes;
    struct heap_class *class;
    uint64_t index;

    if (keymap_get(&h->class_at, id, &index))
        return &h->classes[index];
    if (!memory_grow(h->memory, &classes, &h->class_capacity, h->class_count + 1, sizeof *h->classes))
        return NULL;
    h->classes = classes;
    if (!keymap_put(&h->class_at, id, h->class_count))
        return NULL;
    class = &h->classes[h->class_count++];
    *class = (struct heap_class){.id = id};
    for (unsigned form = 0; form < ITEM_FORMS; form++)
        item_init(&class->layout.literals[form], h->memory);
    return class;
}

/* Moves past a list of constants or static fields, whose heads take `head` bytes. */
static const uint8_t *skip_entries(const uint8_t *p, size_t head, unsigned id_size)
{
    struct entry entry;

    for (unsigned n = read_count(&p); n; n--)
        read_entry(&p, head, id_size, &entry);
    return p;
}

bool heap_dump_add_class(struct heap_dump *h, const struct CLASS_DUMP *fields, const uint8_t *body, size_t size)
{
    struct heap_class *class;
    const uint8_t *p;

    /* The superclass first: to add a class may move the others. */
    if (fields->super_id && !heap_dump_class_of(h, fields->super_id))
        return false;
    class = heap_dump_class_of(h, fields->class_id);
    if (!class || keymap_get(&h->targets, class->id, NULL))
        return false;
    class->body = memory_get(h->memory, size);
    if (!class->body || !keymap_put(&h->targets, class->id, (uint64_t)(class - h->classes) << 1 | 1))
        return false;
    memcpy(class->body, body, size);
    class->body_size = size;
    class->dumped = true;
    class->super_id = fields->super_id;
    class->loader_id = fields->loader_id;
    p = skip_entries(class->body, SIZE_OF(CONSTANT, h->id_size), h->id_size);
    p = skip_entries(p, SIZE_OF(STATIC_FIELD, h->id_size), h->id_size);
    class->fields_at = (size_t)(p - class->body);
    return true;
}

bool heap_dump_add_object(struct heap_dump *h, uint64_t id, uint64_t number)
{
    return !keymap_get(&h->targets, id, NULL) && keymap_put(&h->targets, id, number << 1);
}

enum target heap_dump_target(const struct heap_dump *h, uint64_t id, uint64_t *number)
{
    uint64_t target;

    if (!keymap_get(&h->targets, id, &target))
        return TARGET_NOTHING;
    *number = target >> 1;
    return target & 1 ? TARGET_CLASS : TARGET_OBJECT;
}

void heap_dump_name_classes(struct heap_dump *h, struct texts *texts, struct hasher *hasher, struct item *scratch)
{
    for (size_t i = 0; i < h->class_count && !h->memory->exhausted; i++) {
        struct heap_class *class = &h->classes[i];

        class->name = texts_class_name(texts, class->id, h->meanings_ended);
        scratch->size = 0;
        item_word(scratch, "class reference");
        texts_put(texts, scratch, class->name);
        class->reference = hash_item(hasher, scratch);
    }
}

/* ---- Layouts ---- */

static struct heap_class *dumped_class(struct heap_dump *h, uint64_t id)
{
    uint64_t index;

    return keymap_get(&h->class_at, id, &index) && h->classes[index].dumped ? &h->classes[index] : NULL;
}

/* Where a String has the fields that make its text. */
static void note_string_field(struct layout *layout, const struct texts *texts, struct text name, uint8_t type, uint64_t at)
{
    if (type == TYPE_OBJECT && texts_is(texts, name, "value"))
        layout->value_at = at;
    else if (type == TYPE_BYTE && texts_is(texts, name, "coder"))
        layout->coder_at = at;
    else if (type == TYPE_INT && texts_is(texts, name, "offset"))
        layout->offset_at = at;
    else if (type == TYPE_INT && texts_is(texts, name, "count"))
        layout->count_at = at;
}

static bool add_field(struct layout *layout, const struct texts *texts, const struct heap_class *by, struct text name,
                      uint8_t type, unsigned id_size)
{
    unsigned width = type_size(type, id_size);
    struct item *identity = &layout->literals[ITEM_IDENTITY], *content = &layout->literals[ITEM_CONTENT];
    void *slots = layout->slots;

    if (!width || !memory_grow(identity->memory, &slots, &layout->capacity, layout->count + 1, sizeof *layout->slots))
        return false;
    layout->slots = slots;
    item_number(identity, by->id);
    texts_put(texts, content, by->name);
    for (unsigned form = 0; form < ITEM_FORMS; form++) {
        texts_put(texts, &layout->literals[form], name);
        item_type(&layout->literals[form], type);
    }
    item_length(identity, type == TYPE_OBJECT ? WIDTH_OF_ID : width);
    item_length(content, type == TYPE_OBJECT ? HASH_SIZE : width);
    layout->slots[layout->count++] = (struct slot){.ends = {identity->size, content->size}, .at = layout->bytes, .type = type};
    layout->has_references |= type == TYPE_OBJECT;
    layout->bytes += width;
    return true;
}

/* The fields that `by` declares, the class itself or one of its superclasses. */
static bool add_fields(const struct heap_dump *h, struct heap_class *class, const struct texts *texts,
                       const struct heap_class *by)
{
    const uint8_t *p = by->body + by->fields_at;
    struct layout *layout = &class->layout;

    for (unsigned n = read_count(&p); n; n--) {
        struct text name = texts_find(texts, get_id(p, h->id_size));
        uint8_t type = p[h->id_size];

        if (layout->is_string && by == class)
            note_string_field(layout, texts, name, type, layout->bytes);
        if (!add_field(layout, texts, by, name, type, h->id_size))
            return false;
        p += SIZE_OF(INSTANCE_FIELD, h->id_size);
    }
    return true;
}

static void make_layout(struct heap_dump *h, const struct texts *texts, struct heap_class *class)
{
    struct layout *layout = &class->layout;
    const struct heap_class *by = dumped_class(h, class->id);
    size_t length = 0;

    layout->state = LAYOUT_UNKNOWN;
    layout->value_at = layout->coder_at = layout->offset_at = layout->count_at = NO_FIELD;
    layout->is_string = texts_is(texts, class->name, "java/lang/String");
    /* More classes than there are: the chain is a cycle. */
    for (; by && add_fields(h, class, texts, by) && length < h->class_count; length++) {
        if (!by->super_id) {
            layout->state = LAYOUT_KNOWN;
            return;
        }
        by = dumped_class(h, by->super_id);
    }
}

const struct layout *heap_dump_layout(struct heap_dump *h, const struct texts *texts, struct heap_class *class)
{
    if (class->layout.state == LAYOUT_NOT_MADE)
        make_layout(h, texts, class);
    return &class->layout;
}
