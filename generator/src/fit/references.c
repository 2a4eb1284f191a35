/* See gathered.h: the references of instances and arrays, by the slots that they are in. */
#include <stdlib.h>
#include <string.h>

#include "fit/gathered.h"
#include "format/format.h"

enum { BODY_AT_ONCE = 1 << 20 };

uint32_t gathered_add_slot(struct gathered *g)
{
    if (g->slot_count == g->slot_capacity) {
        size_t capacity = 2 * g->slot_capacity + 1024;
        struct slot *grown = realloc(g->slots, capacity * sizeof *grown);

        if (!grown) {
            g->no_memory = true;
            return 0;
        }
        g->slots = grown;
        g->slot_capacity = capacity;
    }
    g->slots[g->slot_count] = (struct slot){0};
    return (uint32_t)g->slot_count++;
}

static void lay_out(struct gathered *g, struct gathered_class *class, uint64_t class_id)
{
    struct hprof_field field;

    hprof_field_init(&field);
    class->is_laid_out = true;
    class->first_slot = (uint32_t)g->slot_count;
    for (size_t i = 0; hprof_field_at(g->reader, class_id, false, i, &field) == 1; i++) {
        if (field.type == TYPE_OBJECT) {
            uint32_t slot = gathered_add_slot(g);

            if (g->no_memory)
                return;
            g->slots[slot].offset = field.offset;
            class->slots++;
        }
    }
}

int64_t references_of_instance(struct gathered *g, const struct hprof_item *item, uint32_t number, see_slot *see)
{
    struct gathered_class *class = &g->classes[number];
    unsigned id_size = g->header.id_size;
    const uint8_t *bytes;
    int64_t size;

    if (!class->is_laid_out)
        lay_out(g, class, item->class_id);
    if (g->no_memory || !class->slots)
        return 0;
    size = hprof_body(g->reader, 0, BODY_AT_ONCE, &bytes);
    for (uint32_t i = 0; size > 0 && i < class->slots; i++) {
        uint64_t offset = g->slots[class->first_slot + i].offset;

        if (offset + id_size <= (uint64_t)size)
            see(g, class->first_slot + i, get_id(bytes + offset, id_size));
    }
    return size;
}

int64_t references_of_elements(struct gathered *g, const struct hprof_item *item, uint32_t number, see_slot *see)
{
    struct gathered_class *class = &g->classes[number];
    unsigned id_size = g->header.id_size;

    if (!class->has_elements) {
        class->element_slot = gathered_add_slot(g);
        class->has_elements = true;
    }
    for (uint64_t at = 0; !g->no_memory && at < item->body;) {
        const uint8_t *bytes;
        int64_t size = hprof_body(g->reader, at, BODY_AT_ONCE, &bytes);

        if (size < (int64_t)id_size)
            return size;
        for (int64_t i = 0; i + id_size <= size; i += id_size)
            see(g, class->element_slot, get_id(bytes + i, id_size));
        at += (uint64_t)size / id_size * id_size;
    }
    return 0;
}
