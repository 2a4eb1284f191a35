/* See graph_parts.h: the properties of the system, which readers of dumps look up. VisualVM opens no dump of JDK 9 or later in
 * which the map of these has no table. A VM always has one. The map of a twin is drawn, and a third of the maps in most heaps
 * are empty and have none: this one is not. */
#include "twin/graph_parts.h"

/* The slot of a field of the instances of a class, those of superclasses included; NOTHING for none. */
static uint32_t slot_named(const struct heap_profile *p, uint32_t class, const char *name)
{
    uint32_t slot = p->classes[class].first_slot, end = slot + p->classes[class].slots;

    for (int32_t c = (int32_t) class; c != CLASS_NONE_INDEX && slot < end; c = p->classes[c].super)
        for (uint32_t f = p->classes[c].first_field; f < p->classes[c].first_field + p->classes[c].fields && slot < end; f++) {
            if (p->fields[f].type != TYPE_OBJECT)
                continue;
            if (p->fields[f].name && strcmp(p->fields[f].name, name) == 0)
                return slot;
            slot++;
        }
    return NOTHING;
}

static uint32_t static_slot_named(const struct profile_class *class, const struct heap_profile *p, const char *name)
{
    uint32_t slot = class->first_static_slot;

    for (uint32_t f = class->first_static; f < class->first_static + class->statics; f++) {
        if (p->fields[f].type != TYPE_OBJECT || slot >= class->first_static_slot + class->static_slots)
            continue;
        if (p->fields[f].name && strcmp(p->fields[f].name, name) == 0)
            return slot;
        slot++;
    }
    return NOTHING;
}

/* The class that most references of a slot name, if it has objects; NOTHING for none. */
static uint32_t class_named_by(const struct graph *g, uint32_t slot)
{
    struct profile_range to = g->p->slots[slot].to;
    int64_t class = to.count ? value_at(g, to.first) : TO_REST;

    return class >= 0 && members_of(g, (uint32_t) class) ? (uint32_t) class : NOTHING;
}

/* The shortest array of a class that is not empty; NOTHING for none. */
static uint32_t short_array(const struct graph *g, uint32_t class)
{
    uint64_t length, best = UINT64_MAX, n = 0;
    uint32_t found = NOTHING, first = g->fixed[class].first_member;

    for (uint64_t m = first; m < first + members_of(g, class); m++) {
        if (g->entity[g->members[m]] % 2 == 0)
            continue;
        length = graph_length(g, class, n++);
        if (length && length < best) {
            best = length;
            found = g->members[m];
        }
    }
    return found;
}

static void choose_map(struct graph *g, uint32_t properties)
{
    struct system_properties *s = &g->properties;
    uint32_t owner = g->entity[properties] / 2, slot, map_class, table, table_class;

    if (g->entity[properties] % 2 || (slot = slot_named(g->p, owner, "map")) == NOTHING ||
        (map_class = class_named_by(g, slot)) == NOTHING || !g->fixed[map_class].counts[0] ||
        (table = slot_named(g->p, map_class, "table")) == NOTHING || (table_class = class_named_by(g, table)) == NOTHING)
        return;
    *s = (struct system_properties){.object = properties, .map_slot = slot, .table_slot = table};
    s->map = g->members[g->fixed[map_class].first_member];
    s->table = short_array(g, table_class);
    if (g->entity[s->map] % 2 || s->table == NOTHING)
        s->object = s->map = NOTHING;
}

void graph_prepare_system(struct graph *g)
{
    g->properties.object = g->properties.map = NOTHING;
    for (uint32_t c = 0; c < g->p->class_count; c++) {
        const struct profile_class *class = &g->p->classes[c];
        uint32_t slot = strcmp(class->label, "java.lang.System") == 0 ? static_slot_named(class, g->p, "props") : NOTHING;

        if (slot != NOTHING && g->statics[slot].kind == TARGET_OBJECT) {
            choose_map(g, (uint32_t)g->statics[slot].number);
            return;
        }
    }
}
