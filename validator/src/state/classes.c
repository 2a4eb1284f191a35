/* See classes.h. */
#include "state/classes.h"

#include "format/native.h"

void classes_init(struct classes *c, struct memory *memory, const struct hash_key *key, unsigned id_size)
{
    *c = (struct classes){.memory = memory, .id_size = id_size};
    keymap_init(&c->loaded_by_id, memory, key, id_size, sizeof(uint32_t));
    chunks_init(&c->loaded, memory, sizeof(struct class));
    keymap_init(&c->dumped_by_id, memory, key, id_size, sizeof(uint32_t));
    keymap_init(&c->other_sizes, memory, key, id_size, sizeof(uint64_t));
    chunks_init(&c->layouts, memory, sizeof(struct layout));
    chunks_init(&c->ids, memory, 2 * (size_t)id_size);
    byte_log_init(&c->types, memory);
    chunks_init(&c->path, memory, sizeof(uint32_t));
}

void classes_clear(struct classes *c)
{
    classes_end_dump(c);
    keymap_clear(&c->loaded_by_id);
    chunks_clear(&c->loaded);
}

void classes_begin_dump(struct classes *c)
{
    c->dump++;
    c->complete = false;
    c->special = 0;
}

void classes_end_dump(struct classes *c)
{
    keymap_clear(&c->dumped_by_id);
    keymap_clear(&c->other_sizes);
    chunks_clear(&c->layouts);
    chunks_clear(&c->ids);
    byte_log_clear(&c->types);
    chunks_clear(&c->path);
}

struct class *classes_find(const struct classes *c, uint64_t id)
{
    uint64_t index;

    return keymap_get(&c->loaded_by_id, id, &index) ? chunks_at(&c->loaded, (size_t)index) : NULL;
}

static void note_id(struct classes *c, uint64_t id)
{
    if (id && (!c->lowest_id || id < c->lowest_id))
        c->lowest_id = id;
    if (id > c->highest_id)
        c->highest_id = id;
}

struct class *classes_add(struct classes *c, uint64_t id)
{
    struct class *class;

    if (c->loaded.count >= UINT32_MAX) {
        c->memory->exhausted = true;
        return NULL;
    }
    class = chunks_add(&c->loaded);
    if (!class)
        return NULL;
    *class = (struct class){0};
    note_id(c, id);
    return keymap_put(&c->loaded_by_id, id, c->loaded.count - 1) ? class : NULL;
}

uint32_t classes_find_layout(const struct classes *c, uint64_t class_id)
{
    uint64_t index;

    return keymap_get(&c->dumped_by_id, class_id, &index) ? (uint32_t)index : LAYOUT_NONE;
}

/* ---- IDs ---- */

enum { ID_OWN, ID_ABOVE };

static uint64_t load_id(const struct classes *c, uint32_t index, unsigned which)
{
    return native_load((const uint8_t *)chunks_at(&c->ids, index) + which * c->id_size, c->id_size);
}

static void store_id(struct classes *c, uint32_t index, unsigned which, uint64_t id)
{
    native_store((uint8_t *)chunks_at(&c->ids, index) + which * c->id_size, c->id_size, id);
}

uint64_t classes_id(const struct classes *c, uint32_t index)
{
    return load_id(c, index, ID_OWN);
}

/* ID_ABOVE holds the ID of the superclass until the layout is resolved, and the index of a layout from then on. */
uint32_t classes_above(const struct classes *c, uint32_t index)
{
    return (uint32_t)load_id(c, index, ID_ABOVE);
}

/* ---- Fields ---- */

/* Keeps the types of the fields up to the last checked one. */
static bool keep_types(struct classes *c, struct layout *l, const uint8_t *type, uint16_t count)
{
    static const uint8_t padding[TYPES_UNIT] = {0};
    size_t step = SIZE_OF(INSTANCE_FIELD, c->id_size), over = (size_t)(c->types.size % TYPES_UNIT);
    bool kept = byte_log_append(&c->types, padding, over ? TYPES_UNIT - over : 0);

    if (c->types.size / TYPES_UNIT > UINT32_MAX) {
        c->memory->exhausted = true;
        return false;
    }
    l->types = (uint32_t)(c->types.size / TYPES_UNIT);
    kept = kept && byte_log_append(&c->types, &count, sizeof count);
    for (unsigned i = 0; kept && i < count; i++)
        kept = byte_log_append(&c->types, type + i * step, 1);
    return kept;
}

struct checked_field checked_fields_begin(const struct classes *c, const struct layout *l)
{
    struct checked_field field = {.next = (uint64_t)l->types * TYPES_UNIT};

    if (l->has_checked_fields) {
        byte_log_read(&c->types, field.next, &field.left, sizeof field.left);
        field.next += sizeof field.left;
    }
    return field;
}

uint32_t classes_add_layout(struct classes *c, const struct CLASS_DUMP *r, uint64_t at, const uint8_t *fields,
                            uint16_t field_count)
{
    const uint8_t *type = fields + OFFSET_OF(INSTANCE_FIELD, type, c->id_size);
    uint32_t index = (uint32_t)c->layouts.count;
    struct layout *l;
    uint16_t up_to_checked = 0;

    if (c->layouts.count >= LAYOUT_NONE) {
        c->memory->exhausted = true;
        return LAYOUT_NONE;
    }
    l = chunks_add(&c->ids) ? chunks_add(&c->layouts) : NULL;
    if (!l)
        return LAYOUT_NONE;
    *l = (struct layout){.at = at & ((UINT64_C(1) << 48) - 1),
                         .instance_size = r->instance_size,
                         .has_fields = field_count != 0,
                         .nearest_open = index,
                         .has_no_superclass = !r->super_id};
    note_id(c, r->class_id);
    store_id(c, index, ID_OWN, r->class_id);
    store_id(c, index, ID_ABOVE, r->super_id);

    for (unsigned i = 0; i < field_count; i++) {
        unsigned t = type[i * SIZE_OF(INSTANCE_FIELD, c->id_size)];

        l->total += type_size(t, c->id_size);
        l->bad_type |= type_size(t, c->id_size) == 0;
        if (t == TYPE_OBJECT || t == TYPE_BOOLEAN)
            up_to_checked = (uint16_t)(i + 1);
    }
    if (up_to_checked && keep_types(c, l, type, up_to_checked))
        l->has_checked_fields = true;
    return keymap_put(&c->dumped_by_id, r->class_id, index) ? index : LAYOUT_NONE;
}

void classes_set_special(struct classes *c, uint32_t index, enum special special)
{
    classes_layout(c, index)->special = special;
    c->special |= special;
}

/* ---- Chains ---- */

static void set_invalid(struct classes *c, uint32_t index, uint32_t super)
{
    classes_layout(c, index)->state = LAYOUT_INVALID;
    store_id(c, index, ID_ABOVE, super);
}

/* Resolves a layout whose superclass is resolved, or that has none. */
static void resolve_one(struct classes *c, uint32_t index, uint32_t super)
{
    const struct layout *above = super == LAYOUT_NONE ? NULL : classes_layout(c, super);
    struct layout *l = classes_layout(c, index);

    if (l->bad_type || (above && above->state != LAYOUT_VALID)) {
        set_invalid(c, index, super);
        return;
    }
    l->state = LAYOUT_VALID;
    l->total += above ? above->total : 0;
    l->is_far_from_root = above && !above->has_no_superclass;
    l->special |= above ? above->special : 0U;
    store_id(c, index, ID_ABOVE, !above || above->has_checked_fields ? super : classes_above(c, super));
}

/* Whether the chain of an open layout leads to a missing superclass that may still follow. The end of the chain is kept in
 * nearest_open, so that the next call takes one step (path compression, as in union-find). */
static bool is_incomplete(struct classes *c, uint32_t index)
{
    uint32_t at = index, open;
    size_t steps = 0;
    bool missing = false;

    chunks_shrink(&c->path, 0);
    while (at != LAYOUT_NONE && classes_layout(c, at)->state == LAYOUT_OPEN) {
        struct layout *l = classes_layout(c, at);
        uint32_t *step = chunks_add(&c->path);
        uint64_t super_id = load_id(c, at, ID_ABOVE);

        if (!step)
            break;
        *step = at;
        steps++;
        l->state = LAYOUT_ENTERED; /* ends the loop on a cycle */
        open = l->nearest_open;
        if (open != at && classes_layout(c, open)->state == LAYOUT_OPEN) {
            at = open;
            continue;
        }
        at = super_id ? classes_find_layout(c, super_id) : LAYOUT_NONE;
        missing = super_id && at == LAYOUT_NONE;
    }
    open = steps ? *(const uint32_t *)chunks_at(&c->path, steps - 1) : index;
    while (steps--) {
        struct layout *l = classes_layout(c, *(const uint32_t *)chunks_at(&c->path, steps));

        l->state = LAYOUT_OPEN;
        l->nearest_open = open;
    }
    return missing;
}

enum layout_state classes_resolve(struct classes *c, uint32_t index)
{
    const struct layout *l = classes_layout(c, index);
    enum layout_state found = LAYOUT_OPEN;
    uint32_t super = LAYOUT_NONE;
    size_t length = 0;

    if (l->state != LAYOUT_OPEN || (!c->complete && is_incomplete(c, index)))
        return l->state;

    /* Up the chain, to a layout that is resolved, has no superclass, was entered before (a cycle), or whose superclass is
     * missing. The path is a list, since a chain of a million classes would overflow the stack. */
    chunks_shrink(&c->path, 0);
    for (;;) {
        uint32_t *step = chunks_add(&c->path);
        uint64_t super_id = load_id(c, index, ID_ABOVE);

        super = LAYOUT_NONE;
        if (!step)
            break;
        *step = index;
        length++;
        classes_layout(c, index)->state = LAYOUT_ENTERED;
        if (!super_id) {
            found = LAYOUT_VALID;
            break;
        }
        super = classes_find_layout(c, super_id);
        if (super == LAYOUT_NONE) {
            found = c->complete ? LAYOUT_INVALID : LAYOUT_OPEN;
            break;
        }
        if (classes_layout(c, super)->state != LAYOUT_OPEN) {
            found = classes_layout(c, super)->state == LAYOUT_ENTERED ? LAYOUT_INVALID : LAYOUT_VALID;
            break;
        }
        index = super;
    }

    /* Down again, resolving each layout. */
    while (length--) {
        index = *(const uint32_t *)chunks_at(&c->path, length);
        if (found == LAYOUT_VALID)
            resolve_one(c, index, super);
        else if (found == LAYOUT_INVALID)
            set_invalid(c, index, super);
        else
            classes_layout(c, index)->state = LAYOUT_OPEN;
        super = index;
    }
    return l->state;
}

/* ---- Other sizes ---- */

/* The size in the low half; above it a part of the offset, since what is read again is no second instance; whether two agree. */
static const uint64_t SIZES_AGREE = UINT64_C(1) << 63;

void classes_note_other_size(struct classes *c, uint64_t class_id, uint32_t bytes, uint64_t at)
{
    const uint64_t other = bytes | (at << 32 & ~SIZES_AGREE);
    uint64_t before;

    if (!keymap_add(&c->other_sizes, class_id, other, &before) && !(before & SIZES_AGREE) && before != other)
        keymap_put(&c->other_sizes, class_id, other | ((uint32_t)before == bytes ? SIZES_AGREE : 0));
}

enum size_of_class classes_check_size(struct classes *c, uint64_t class_id, uint32_t bytes)
{
    const struct layout *l = classes_valid_layout(c, class_id);
    uint64_t other;

    if (!l)
        return SIZE_UNKNOWN;
    if (l->total == bytes)
        return SIZE_RIGHT;
    return keymap_get(&c->other_sizes, class_id, &other) && other & SIZES_AGREE && (uint32_t)other == bytes ? SIZE_RIGHT
                                                                                                            : SIZE_WRONG;
}
