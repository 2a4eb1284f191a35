/* What a VM holds before the program does anything: classes, symbols, threads, objects. In a small heap, in proportion fewer. */
#include <stdlib.h>

#include "heap/cells.h"

/* The load has at least one of this many objects. */
enum { LOAD_EACH = 8 };

/* A heap without room for objects of an idle VM has the class of the mark. */
static bool mark_only(struct model *m, const struct heap_data *data)
{
    struct data_kind *kinds = malloc((data->kind_count + 1) * sizeof *kinds);
    bool good = kinds;

    if (good) {
        data_kinds(data, kinds, 0);
        good = data_classes(m, data, kinds, 0, 1);
    }
    free(kinds);
    return good;
}

bool idle_prepare(struct model *m)
{
    static const struct cells_wanted as_measured = {MODEL_UNSET, MODEL_UNSET, MODEL_UNSET};
    const struct heap_data *data = m->options.idle;
    struct parts *parts = (struct parts *)m;
    uint64_t left = m->options.objects > parts->core_objects ? m->options.objects - parts->core_objects : 0, size, strings;

    if (!data)
        return true;
    if (!m->options.load || !load_is_none(m->options.load))
        left -= left / LOAD_EACH;
    size = left < data->shares ? left : data->shares;
    if (!size)
        return mark_only(m, data);
    parts->idle = shape_memory(m, sizeof *parts->idle);
    if (!parts->idle || !cells_prepare(m, parts->idle, data, (uint32_t)size, &as_measured, size, data->shares))
        return false;
    cells_place(parts->idle, parts->core_objects, size);
    parts->shape_from += size;
    strings = data->strings * size / data->shares;
    if (strings > parts->names.count)
        string_add(m, NAME_SYMBOL, NULL, 0, (uint32_t)strings - parts->names.count);
    return true;
}

uint64_t model_idle_objects(const struct model *m)
{
    return parts_of(m)->shape_from;
}

uint64_t model_share_of_idle(const struct model *m, uint64_t value)
{
    uint64_t all, objects = parts_of(m)->shape_from - parts_of(m)->core_objects;

    if (!m->options.idle)
        return value;
    all = m->options.idle->shares;
    return (value * objects + all - 1) / all;
}

bool model_is_utf16(const struct model *m, uint64_t index, const struct object *o)
{
    const struct parts *parts = parts_of(m);

    if (!parts->idle || index < parts->core_objects || index >= parts->shape_from)
        return false;
    if (o->class == CORE_STRING)
        index = cells_reference(parts->idle, index, parts->slots.string_value);
    return index != MODEL_NULL && cells_is_utf16(parts->idle, index);
}

uint64_t idle_threads(const struct model *m)
{
    uint64_t count = 0;

    while (m->options.idle && m->options.idle->threads[count])
        count++;
    return count;
}
