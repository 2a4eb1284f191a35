/* See classes.h. */
#include "classes.h"

#include <string.h>

void classes_init(struct classes *c, struct memory *memory, const struct hash_key *key)
{
    c->memory = memory;
    keymap_init(&c->by_id, memory, key);
    chunks_init(&c->all, memory, sizeof(struct class));
    chunks_init(&c->layouts, memory, sizeof(struct layout));
    chunks_init(&c->path, memory, sizeof(uint32_t));
    arena_init(&c->parts, memory);
    c->dump = 0;
    c->complete = c->waiting = c->any_in_turn = false;
}

void classes_clear(struct classes *c)
{
    keymap_clear(&c->by_id);
    chunks_clear(&c->all);
    chunks_clear(&c->layouts);
    chunks_clear(&c->path);
    arena_clear(&c->parts);
}

void classes_begin_dump(struct classes *c)
{
    c->dump++;
    c->complete = c->waiting = c->any_in_turn = false;
    chunks_clear(&c->layouts);
    chunks_clear(&c->path);
    arena_clear(&c->parts);
}

struct class *classes_find(const struct classes *c, uint64_t id)
{
    const uint64_t *index = keymap_find(&c->by_id, id);

    return index ? chunks_at(&c->all, (size_t)*index - 1) : NULL;
}

struct class *classes_add(struct classes *c, uint64_t id)
{
    uint64_t *index = keymap_add(&c->by_id, id);
    struct class *class;

    if (!index)
        return NULL;
    if (*index)
        return chunks_at(&c->all, (size_t)*index - 1);
    *index = c->all.count + 1; /* also if it cannot be added: then the run ends */
    class = chunks_add(&c->all);
    if (class)
        *class = (struct class){0};
    return class;
}

/* Notes where in the own part of an instance the fields of a type are. */
static uint32_t *mark_fields(const uint8_t *field, unsigned count, unsigned type, unsigned id_size, uint32_t *mark)
{
    uint32_t at = 0;

    for (unsigned i = 0; i < count; i++, field += SIZE_OF(INSTANCE_FIELD, id_size)) {
        unsigned field_type = field[OFFSET_OF(INSTANCE_FIELD, type, id_size)];

        if (field_type == type)
            *mark++ = at;
        at += type_size(field_type, id_size);
    }
    return mark;
}

struct layout *classes_add_layout(struct classes *c, struct class *class, const struct CLASS_DUMP *r, uint64_t at,
                                  const uint8_t *fields, uint16_t field_count, unsigned id_size)
{
    size_t index = c->layouts.count, marks;
    struct layout *l;

    l = index < LAYOUT_NONE ? chunks_add(&c->layouts) : NULL;
    if (!l)
        return NULL;
    *l = (struct layout){.class_id = r->class_id,
                         .super_id = r->super_id,
                         .at = at,
                         .instance_size = r->instance_size,
                         .super = LAYOUT_NONE,
                         .marked = LAYOUT_NONE,
                         .field_count = field_count};
    class->dump = c->dump;
    class->layout = (uint32_t)index;

    for (unsigned i = 0; i < field_count; i++) {
        unsigned type = fields[i * SIZE_OF(INSTANCE_FIELD, id_size) + OFFSET_OF(INSTANCE_FIELD, type, id_size)];

        l->own_bytes += type_size(type, id_size);
        l->references = (uint16_t)(l->references + (type == TYPE_OBJECT));
        l->booleans = (uint16_t)(l->booleans + (type == TYPE_BOOLEAN));
        l->bad_type |= type_size(type, id_size) == 0;
    }
    marks = (size_t)l->references + l->booleans;
    if (marks) {
        uint32_t *mark = arena_get(&c->parts, marks * sizeof *mark);

        if (!mark) {
            l->references = l->booleans = 0; /* memory ran out: the run ends */
            return NULL;
        }
        l->marks = mark;
        mark = mark_fields(fields, field_count, TYPE_OBJECT, id_size, mark);
        mark_fields(fields, field_count, TYPE_BOOLEAN, id_size, mark);
    }
    return l;
}

/* A layout of which the superclass is settled, or which has none, is settled itself. */
static void settle(struct classes *c, struct layout *l)
{
    const struct layout *super;

    l->in_turn = !c->waiting;
    c->any_in_turn |= l->in_turn;

    if (l->bad_type) {
        l->state = LAYOUT_BROKEN;
        return;
    }
    l->total = l->own_bytes;
    l->state = LAYOUT_SOUND;
    if (l->super == LAYOUT_NONE)
        return;
    super = chunks_at(&c->layouts, l->super);
    if (super->state != LAYOUT_SOUND) {
        l->state = LAYOUT_BROKEN;
        return;
    }
    l->total += super->total;
    l->marked = super->references + super->booleans ? l->super : super->marked;
}

enum layout_state classes_resolve(struct classes *c, struct layout *l)
{
    struct layout *top = l;
    enum layout_state found = LAYOUT_OPEN;
    size_t length = 0;
    uint32_t index;

    if (l->state != LAYOUT_OPEN)
        return l->state;
    index = classes_find(c, l->class_id)->layout;

    /* Up, to a layout that is settled, that has no superclass, that was entered before (a cycle), or whose superclass is
     * missing. The path is kept, so that a chain of a million classes needs no stack. */
    chunks_shrink(&c->path, 0);
    for (;;) {
        uint32_t *step = chunks_add(&c->path);
        const struct class *super;
        struct layout *next;

        if (!step)
            break;
        *step = index;
        length++;
        top->state = LAYOUT_ENTERED;
        if (!top->super_id) {
            found = LAYOUT_SOUND;
            break;
        }
        super = classes_find(c, top->super_id);
        next = classes_layout(c, super);
        if (!next) {
            found = c->complete ? LAYOUT_BROKEN : LAYOUT_OPEN;
            break;
        }
        index = top->super = super->layout;
        if (next->state != LAYOUT_OPEN) {
            found = next->state == LAYOUT_ENTERED ? LAYOUT_BROKEN : LAYOUT_SOUND;
            break;
        }
        top = next;
    }

    /* Down again. */
    while (length--) {
        struct layout *on_path = chunks_at(&c->layouts, *(uint32_t *)chunks_at(&c->path, length));

        if (found == LAYOUT_SOUND)
            settle(c, on_path);
        else
            on_path->state = found;
    }
    return l->state;
}
