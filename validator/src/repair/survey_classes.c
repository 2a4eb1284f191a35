/* The classes that a survey has seen, and IDs for new ones. */
#include "repair/repair_survey.h"

struct seen_class *survey_class(struct survey *v, uint64_t id)
{
    size_t *latest = &v->latest[(id >> 3 ^ id >> 11) % LATEST_CLASSES];
    uint64_t index;

    if (*latest < v->class_count && v->classes[*latest].id == id)
        return &v->classes[*latest];
    if (!keymap_get(&v->class_index, id, &index))
        return NULL;
    *latest = (size_t)index;
    return &v->classes[index];
}

uint64_t survey_primitive_arrays(const struct survey *v, uint64_t class_id)
{
    for (uint8_t type = TYPE_BOOLEAN; type <= TYPE_LONG; type++)
        if (v->array_classes[type] == class_id)
            return v->primitive_arrays[type];
    return 0;
}

/* No object is in the last page of addresses that a process may have, but with probability. */
static uint64_t page_start(const struct survey *v)
{
    return v->r->id_size == 8 ? UINT64_C(0x7ffffffff000) : UINT64_C(0xfffff000);
}

void survey_note_id(struct survey *v, uint64_t id)
{
    uint64_t at = id - page_start(v);

    if (at < 8 * sizeof v->page)
        v->page[at / 8] = 1;
}

uint64_t survey_new_class(struct survey *v)
{
    for (size_t i = 0; i < sizeof v->page; i++) {
        uint64_t id = page_start(v) + 8 * i;

        if (!v->page[i]) {
            v->page[i] = 1;
            return id;
        }
    }
    return 0;
}

struct seen_class *survey_find_class(struct survey *v, uint64_t id)
{
    struct seen_class *c = survey_class(v, id);

    if (c)
        return c;
    if (!memory_grow(&v->r->memory, (void **)&v->classes, &v->class_capacity, v->class_count + 1, sizeof *v->classes) ||
        !keymap_put(&v->class_index, id, v->class_count))
        return NULL;
    c = &v->classes[v->class_count++];
    *c = (struct seen_class){.id = id};
    survey_note_id(v, id);
    return c;
}

struct seen_class *survey_touch_class(struct survey *v, uint64_t id)
{
    struct seen_class *c = id ? survey_find_class(v, id) : NULL;

    if (!c || c->heap_dump == v->r->heap_dump)
        return c;
    if (!memory_grow(&v->r->memory, (void **)&v->touched, &v->touched_capacity, v->touched_count + 1, sizeof *v->touched))
        return NULL;
    v->touched[v->touched_count++] = (size_t)(c - v->classes);
    c->heap_dump = v->r->heap_dump;
    c->size = (struct vote){0};
    c->is_here = c->is_used = c->has_instances = c->is_resolved = c->is_doubted = c->is_left_out = false;
    c->walk = c->chain = 0;
    return c;
}
