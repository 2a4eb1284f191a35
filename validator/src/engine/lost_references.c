/* References of what is left out after it was checked: an object that nothing else names may not have been there. */
#include "engine/engine.h"

static void lose_reference(struct engine *e, const uint8_t *p)
{
    struct heap *heap = &e->heap;
    uint64_t id = get_id(p, e->file.id_size);

    if (!id || heap->lost_references == LOST_REFERENCES_MOST || keymap_get(&heap->lost, id, NULL))
        return;
    heap->lost_references++;
    keymap_put(&heap->lost, id, LOST_REFERENCE);
}

/* Constants or static fields, whose type is the last of `head` bytes before each value. Returns the first byte after them. */
static const uint8_t *lose_values(struct engine *e, const uint8_t *p, size_t head)
{
    struct entry entry;

    for (uint16_t n = read_count(&p); n; n--) {
        read_entry(&p, head, e->file.id_size, &entry);
        if (entry.type == TYPE_OBJECT)
            lose_reference(e, entry.value);
    }
    return p;
}

/* p follows the tag. */
static void lose_class(struct engine *e, const uint8_t *p)
{
    const unsigned id = e->file.id_size;

    lose_reference(e, p + OFFSET_OF(CLASS_DUMP, super_id, id));
    lose_reference(e, p + OFFSET_OF(CLASS_DUMP, loader_id, id));
    lose_reference(e, p + OFFSET_OF(CLASS_DUMP, signers_id, id));
    lose_reference(e, p + OFFSET_OF(CLASS_DUMP, domain_id, id));
    lose_values(e, lose_values(e, p + SIZE_OF(CLASS_DUMP, id), SIZE_OF(CONSTANT, id)), SIZE_OF(STATIC_FIELD, id));
}

static void lose_instance(struct engine *e, const uint8_t *p)
{
    const struct classes *classes = &e->file.classes;
    struct cursor c = {p, p + SIZE_OF(INSTANCE_DUMP, e->file.id_size)};
    struct INSTANCE_DUMP r;
    const struct layout *leaf =
        read_INSTANCE_DUMP(&c, e->file.id_size, &r) ? classes_valid_layout(&e->file.classes, r.class_id) : NULL;

    lose_reference(e, p + OFFSET_OF(INSTANCE_DUMP, class_id, e->file.id_size));
    if (!leaf || leaf->total != r.bytes)
        return;
    for (uint32_t i = classes_find_layout(classes, r.class_id); i != LAYOUT_NONE; i = classes_above(classes, i)) {
        const struct layout *part = classes_layout(classes, i);

        for (struct checked_field field = checked_fields_begin(classes, part); checked_fields_next(classes, &field);)
            if (field.type == TYPE_OBJECT)
                lose_reference(e, c.at + (leaf->total - part->total) + field.at);
    }
}

void lose_references(struct engine *e, uint64_t size)
{
    const unsigned id = e->file.id_size;
    size_t seen = look_at(&e->in, size < WAY_SIGHT ? (size_t)size : WAY_SIGHT, UINT64_MAX);

    if (seen > 0 && *e->in.at == SUB_OBJECT_ARRAY_DUMP) /* its class precedes the elements */
        for (size_t at = 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, id); at + id <= seen; at += id)
            lose_reference(e, e->in.at + at);
    else if (seen == size && *e->in.at == SUB_CLASS_DUMP)
        lose_class(e, e->in.at + 1);
    else if (seen == size && *e->in.at == SUB_INSTANCE_DUMP)
        lose_instance(e, e->in.at + 1);
}
