/* In what the two objects of a pair differ. Both are read again. */
#include <inttypes.h>
#include <string.h>

#include "content.h"

struct describing {
    struct content *content;
    const struct shape *shapes[SIDES];
    uint64_t found, most;
    void (*visit)(void *context, const struct part *part);
    void *context;
};

static void add(struct describing *d, const struct part *part)
{
    if (d->found++ < d->most)
        d->visit(d->context, part);
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static bool read_value(struct describing *d, unsigned side, const struct slot *slot, struct hprof_value *value)
{
    const struct shape *shape = d->shapes[side];
    struct hprof_field field;
    struct hprof_class class;

    hprof_field_init(&field);
    hprof_class_init(&class);
    hprof_value_init(value);
    if (shape->class_number == UINT32_MAX || hprof_class_at(d->content->graphs[side].reader, shape->class_number, &class) != 1)
        return false;
    field.class_id = class.id;
    field.name_id = slot->name_id;
    field.type = slot->type;
    field.is_static = shape->kind == SHAPE_CLASS;
    field.offset = slot->at;
    return hprof_field_value(d->content->graphs[side].reader, &field, value) == 1;
}

static void describe_values(struct describing *d)
{
    uint32_t at[SIDES] = {0, 0}, counts[SIDES] = {d->shapes[0]->value_count, d->shapes[1]->value_count};

    while (at[0] < counts[0] || at[1] < counts[1]) {
        const struct slot *slots[SIDES] = {&d->shapes[0]->values[at[0]], &d->shapes[1]->values[at[1]]};
        bool has[SIDES] = {at[0] < counts[0] && (at[1] == counts[1] || slots[0]->name <= slots[1]->name),
                           at[1] < counts[1] && (at[0] == counts[0] || slots[1]->name <= slots[0]->name)};
        struct hprof_value values[SIDES];
        struct part part = {.texts = {"absent", "absent"}};

        for (unsigned side = 0; side < SIDES; side++) {
            if (!has[side])
                continue;
            at[side]++;
            slot_name(&d->content->graphs[side].shapes, slots[side], part.what, sizeof part.what);
            if (read_value(d, side, slots[side], &values[side]))
                format_value(&values[side], part.texts[side]);
            else
                has[side] = false;
        }
        if (!has[0] || !has[1] || values[0].type != values[1].type || values[0].bits != values[1].bits)
            add(d, &part);
    }
}

static void describe_elements(struct describing *d, const struct hprof_item items[SIDES])
{
    struct hprof_value values[SIDES];
    struct part part;

    for (uint32_t i = 0; i < items[0].elements && i < items[1].elements; i++) {
        for (unsigned side = 0; side < SIDES; side++) {
            hprof_value_init(&values[side]);
            if (hprof_element(d->content->graphs[side].reader, i, &values[side]) != 1)
                return;
        }
        if (values[0].bits == values[1].bits)
            continue;
        snprintf(part.what, sizeof part.what, "[%" PRIu32 "]", i);
        for (unsigned side = 0; side < SIDES; side++)
            format_value(&values[side], part.texts[side]);
        add(d, &part);
    }
}

/* The text of the string that the array belongs to says more than its elements. */
static bool describe_text(struct describing *d, const struct pair *pair)
{
    uint32_t parent = d->content->steps[pair->objects[0]].parent;
    uint32_t strings[SIDES] = {parent, parent != NO_OBJECT ? d->content->steps[parent].partner : NO_OBJECT};
    struct part part = {.what = "text"};

    if (!d->shapes[0]->has_payload)
        return false;
    for (unsigned side = 0; side < SIDES; side++)
        if (!graph_text(&d->content->graphs[side], strings[side], part.texts[side], PART_SIZE))
            return false;
    if (strcmp(part.texts[0], part.texts[1]) == 0)
        return false;
    add(d, &part);
    return true;
}

/* ---- References --------------------------------------------------------------------------------------------------- */

static void describe_child(void *context, const struct child *child)
{
    struct describing *d = context;
    struct part part;

    if (child_is_same(d->content, child))
        return;
    if (d->found >= d->most) { /* nobody asks for the names */
        d->found++;
        return;
    }
    if (child->slot != NULL)
        slot_name(&d->content->graphs[child->slot_side].shapes, child->slot, part.what, sizeof part.what);
    else if (child->is_entry)
        snprintf(part.what, sizeof part.what, "{entry}");
    else
        snprintf(part.what, sizeof part.what, "[%" PRIu32 "]", child->index[child->objects[0] != REFERENCE_NULL ? 0 : 1]);
    for (unsigned side = 0; side < SIDES; side++)
        object_name(d->content, side, child->objects[side], part.texts[side]);
    add(d, &part);
}

/* ---- All ---------------------------------------------------------------------------------------------------------- */

static void describe_items(struct describing *d, const struct pair *pair)
{
    struct hprof_item items[SIDES];
    struct part part = {.what = "number of elements"};
    bool is_array = d->shapes[0]->kind == SHAPE_PRIMITIVE_ARRAY, has_text = is_array && describe_text(d, pair);

    for (unsigned side = 0; side < SIDES; side++)
        if (!graph_item(&d->content->graphs[side], pair->objects[side], &items[side]))
            return;
    if (items[0].elements != items[1].elements) {
        for (unsigned side = 0; side < SIDES; side++)
            snprintf(part.texts[side], PART_SIZE, "%" PRIu32, items[side].elements);
        add(d, &part);
    }
    if (d->shapes[0]->kind == SHAPE_OPAQUE) {
        snprintf(part.what, sizeof part.what, "bytes of fields that are not known");
        for (unsigned side = 0; side < SIDES; side++)
            snprintf(part.texts[side], PART_SIZE, "%" PRIu64, items[side].body);
        add(d, &part);
    }
    if (!is_array)
        describe_values(d);
    else if (d->shapes[0]->has_payload && !has_text)
        describe_elements(d, items);
}

uint64_t pair_describe(struct content *content, const struct pair *pair, uint64_t most,
                       void (*visit)(void *context, const struct part *part), void *context)
{
    struct describing d = {.content = content, .most = most, .visit = visit, .context = context};

    for (unsigned side = 0; side < SIDES; side++)
        d.shapes[side] = graph_shape(&content->graphs[side], pair->objects[side]);
    describe_items(&d, pair);
    children_each(content, pair->objects[0], pair->objects[1], describe_child, &d);
    return d.found;
}
