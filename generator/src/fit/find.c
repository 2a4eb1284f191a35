/* See gathered.h: the first reading of a dump, which finds the objects that are counted by ID in the second. */
#include <stdlib.h>
#include <string.h>

#include "fit/gathered.h"
#include "format/format.h"

enum { INSTANCES_KNOWN = 4 /* of each class: what they name is counted by ID */ };

static void count_reference(struct gathered *g, uint32_t slot, uint64_t id)
{
    (void)slot;
    if (id)
        hubs_count(&g->hubs, id);
}

static void count_of_few(struct gathered *g, uint32_t slot, uint64_t id)
{
    count_reference(g, slot, id);
    if (id)
        hubs_name(&g->hubs, id);
}

/* So many classes. */
static bool make_room(struct gathered *g, uint32_t count)
{
    uint32_t wanted = count > 2 * g->class_count ? count : 2 * g->class_count;
    struct gathered_class *grown;

    if (count <= g->class_count)
        return true;
    grown = realloc(g->classes, wanted * sizeof *grown);
    g->no_memory |= !grown;
    if (!grown)
        return false;
    memset(grown + g->class_count, 0, (wanted - g->class_count) * sizeof *grown);
    g->classes = grown;
    g->class_count = wanted;
    return true;
}

static bool add_object(struct gathered *g, const struct hprof_item *item, uint64_t position)
{
    if (!sample_selects(&g->sample, item->id))
        return true;
    if (is_primitive_array(item->tag))
        return sample_add(&g->sample, item->id, position, 0, (uint32_t)item->element_type - FIRST_PRIMITIVE);
    return sample_add(&g->sample, item->id, position, item->class_id, CLASS_UNKNOWN);
}

/* Those of an instance as far as its class is known, which in HotSpot's dumps precedes it. Below 0: reading failed. */
static int64_t count_references(struct gathered *g, const struct hprof_item *item)
{
    uint32_t number = is_primitive_array(item->tag) ? CLASS_UNKNOWN : class_of(g, item);

    if (number == CLASS_UNKNOWN || !make_room(g, number + 1))
        return 0;
    if (item->tag == SUB_OBJECT_ARRAY_DUMP)
        return references_of_elements(g, item, number, count_reference);
    return references_of_instance(g, item, number,
                                  g->classes[number].instances++ < INSTANCES_KNOWN ? count_of_few : count_reference);
}

static void count_statics(struct gathered *g, const struct hprof_item *item)
{
    struct hprof_field field;
    struct hprof_value value;

    hprof_field_init(&field);
    hprof_value_init(&value);
    for (size_t i = 0; hprof_field_at(g->reader, item->id, true, i, &field) == 1; i++)
        if (field.type == TYPE_OBJECT && hprof_field_value(g->reader, &field, &value) == 1 && value.id)
            hubs_name(&g->hubs, value.id);
}

void gathered_find(struct gathered *g, const struct hprof_item *item, uint64_t *position, int64_t *got)
{
    if (item->kind == HPROF_ITEM_RECORD) {
        if (item->tag == TAG_UTF8)
            tally_add(&g->tally, TALLY_TEXT, 0, (uint32_t)item->body, 1);
        return;
    }
    if (item->heap_dump != g->heap_dumps) {
        g->heap_dumps = item->heap_dump;
        *position = 0;
        sample_clear(&g->sample);
        hubs_clear(&g->hubs);
    }
    if (item->tag == SUB_CLASS_DUMP) {
        g->no_memory |= !sample_add(&g->sample, item->id, NO_POSITION, 0, CLASS_OF_CLASSES);
        count_statics(g, item);
    } else if (is_object(item->tag)) {
        g->no_memory |= !add_object(g, item, (*position)++);
        *got = count_references(g, item);
    }
}
