/* See repair_survey.h. What a heap dump lacks is known at its end. */
#include "repair/repair_survey.h"

/* Finds out for a class which superclass, or the class itself, is missing, and how many bytes of fields lie below that. */
static void resolve(struct survey *v, size_t index)
{
    uint64_t below = 0, missing = NOT_MISSING;
    size_t at = index;

    for (;;) {
        struct seen_class *c = &v->classes[at];
        uint64_t above;

        if (c->chain == index + 1) /* a cycle */
            break;
        c->chain = index + 1;
        if (c->is_resolved) {
            missing = c->missing;
            below += c->below;
            break;
        }
        if (!c->is_here) {
            missing = at;
            break;
        }
        below += c->own;
        if (!c->super || !keymap_get(&v->class_index, c->super, &above))
            break;
        at = (size_t)above;
    }
    for (at = index; !v->classes[at].is_resolved;) {
        struct seen_class *c = &v->classes[at];
        uint64_t above;

        c->is_resolved = true;
        c->missing = missing;
        c->below = below;
        below -= c->is_here ? c->own : 0;
        if (!c->is_here || !c->super || !keymap_get(&v->class_index, c->super, &above))
            break;
        at = (size_t)above;
    }
}

bool survey_fields_of(struct survey *v, size_t index, uint64_t *bytes)
{
    resolve(v, index);
    *bytes = v->classes[index].below;
    return v->classes[index].missing == NOT_MISSING;
}

/* Where a missing class has no instances of its own, those of its subclasses say how large it is, or else the sizes that the
 * subclasses declare. */
static void weigh(struct survey *v)
{
    for (size_t i = 0; i < v->touched_count; i++) {
        const struct seen_class *c = &v->classes[v->touched[i]];
        struct vote size = c->size.weight ? c->size : (struct vote){c->declared, c->declared != 0};

        if (!c->is_here || !size.weight)
            continue;
        resolve(v, v->touched[i]);
        if (c->missing != NOT_MISSING && !v->classes[c->missing].has_instances && size.value >= c->below)
            vote(&v->classes[c->missing].size, size.value - c->below, size.weight);
    }
}

/* The class of all classes. If it is lost, it is made. */
static uint64_t find_object_class(struct survey *v, uint64_t *fields)
{
    struct seen_class *c = survey_class(v, v->object_class);

    *fields = 0;
    if (!v->object_class || v->is_object_new) {
        for (size_t i = 0; i < v->touched_count && (!c || !c->is_here); i++)
            if (v->classes[v->touched[i]].is_here && !v->classes[v->touched[i]].super)
                c = &v->classes[v->touched[i]];
        if (c && c->is_here && !c->super) {
            v->object_class = c->id;
            v->is_object_new |= !c->is_loaded;
        }
    }
    if (!v->object_class) {
        v->object_class = survey_new_class(v);
        v->is_object_new = true;
    }
    c = survey_touch_class(v, v->object_class);
    if (!c)
        return 0;
    c->is_used = true;
    if (c->is_here)
        *fields = c->own;
    else if (c->size.weight)
        *fields = c->size.value;
    return v->object_class;
}

/* False for the second time. */
static bool may_make_class(struct survey *v, const struct seen_class *c)
{
    return keymap_add(&v->r->stood_in, stand_in_key(v->r, c->id), v->r->pass + 1, &(uint64_t){0});
}

static void make_class(struct survey *v, struct seen_class *c, uint64_t object, uint64_t object_fields)
{
    uint64_t own = is_of_arrays(c) ? 0 : c->size.value, super = c->id == object ? 0 : object;

    if (!may_make_class(v, c))
        return;
    if (super && !is_of_arrays(c))
        own = own > object_fields ? own - object_fields : 0;
    c->is_dumped |= survey_make_class(v, c, super, super ? object_fields : 0, own);
    if (!c->is_counted)
        v->r->result.stand_in_objects += c->instances + c->arrays;
    c->is_counted = true;
}

/* Classes of primitive arrays: readers look them up by name. */
static void use_array_classes(struct survey *v)
{
    for (uint8_t type = TYPE_BOOLEAN; type <= TYPE_LONG; type++) {
        struct seen_class *c;
        bool is_new = !v->array_classes[type];

        if (!(v->array_types & 1U << type))
            continue;
        if (is_new)
            v->array_classes[type] = survey_new_class(v);
        c = survey_touch_class(v, v->array_classes[type]);
        if (!c)
            continue;
        c->is_used = true;
        c->array_type = is_new ? type : c->array_type;
    }
}

/* Whether the heap dump uses the class and lacks it; not if its objects get another one, because an object has its ID. */
static bool is_lacking(const struct survey *v, const struct seen_class *c)
{
    return !c->is_here && c->is_used && !keymap_get(&v->r->misfits[MISFIT_INSTANCE].found, c->id, NULL) &&
           !keymap_get(&v->r->misfits[MISFIT_ARRAY].found, c->id, NULL);
}

static bool lacks_class(const struct survey *v)
{
    size_t i = 0;

    while (i < v->touched_count && !is_lacking(v, &v->classes[v->touched[i]]))
        i++;
    return i < v->touched_count;
}

/* The threads that only other roots name. */
static void make_threads(struct survey *v)
{
    for (size_t i = 0; i < v->dump_threads.count; i++) {
        uint64_t serial = v->dump_threads.at[i], defined_in = 0;

        if (!keymap_get(&v->threads, serial, &defined_in) || defined_in != v->r->heap_dump)
            survey_make_thread(v, (uint32_t)serial);
    }
}

void survey_end_heap_dump(struct survey *v)
{
    struct stand_ins *s = &v->r->stand_ins;
    size_t from = s->subrecords_size;
    uint64_t object, object_fields;

    use_array_classes(v);
    if (lacks_class(v)) {
        weigh(v);
        object = find_object_class(v, &object_fields);
        for (size_t i = 0; i < v->touched_count; i++) {
            struct seen_class *c = &v->classes[v->touched[i]];

            if (is_lacking(v, c))
                make_class(v, c, object, object_fields);
        }
    }
    make_threads(v);
    if (s->subrecords_size > from &&
        memory_grow(&v->r->memory, (void **)&s->dumps, &s->dump_capacity, s->dump_count + 1, sizeof *s->dumps))
        s->dumps[s->dump_count++] = (struct stand_ins_of_dump){v->r->heap_dump, from, s->subrecords_size - from};
}
