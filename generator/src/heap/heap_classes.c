/* See heap_data.h: the classes of its rows, in a model. */
#include <stdlib.h>
#include <string.h>

#include "heap/heap_data.h"

/* Which classes of the rows are needed, by their number: those of objects, their superclasses, and the classes of elements; and
 * `part` of `whole` of the others. Superclasses precede their subclasses. */
static bool *needed(const struct heap_data *data, const struct data_kind *kinds, uint64_t part, uint64_t whole, bool with_added)
{
    bool *needs = calloc(data->class_count + 1, sizeof *needs);
    uint32_t class = data->class_count;

    if (!needs)
        return NULL;
    for (uint32_t k = 0; k < data->kind_count; k++)
        if (kinds[k].form == FORM_OBJECT_ARRAY && kinds[k].count > 0)
            needs[kinds[k].row->class] = true;
    for (uint32_t k = data->kind_count; k-- > 0;)
        if (is_class_row(kinds[k].row)) {
            class --;
            if (kinds[k].row->row == ROW_ADDED && !with_added)
                continue;
            needs[class] |= kinds[k].count > 0 || (class + 1) * part / whole > class * part / whole ||
                            (data->mark && strcmp(kinds[k].row->name, data->mark) == 0);
            if (needs[class])
                needs[kinds[k].row->class] = true;
        }
    return needs;
}

/* The row of a class of the rows, by its number; of one of every heap, where its fields are. NULL for none. */
static const struct data_row *row_of_class(const struct heap_data *data, uint32_t class)
{
    uint32_t next = CORE_CLASSES;

    for (const struct data_row *row = data->rows; row < data->rows + data->row_count; row++)
        if ((row->row == ROW_CORE && row->class == class) || (is_class_row(row) && next++ == class))
            return row;
    return NULL;
}

/* The number of a reference among those of the row, by its name. */
static uint32_t find_slot(const struct heap_data *data, const struct data_row *row, const char *name, size_t length)
{
    for (uint32_t slot = 0; row; row = row->row == ROW_CORE ? NULL : row_of_class(data, row->class))
        for (const char *spec = row->fields; *spec;) {
            struct field_text field = field_next(&spec);

            if (field.type == TYPE_OBJECT && field.length == length && memcmp(field.name, name, length) == 0)
                return slot;
            slot += field.type == TYPE_OBJECT;
        }
    return DATA_SLOT_MORE;
}

/* The class may have other references than the rows, or in another order: it was there before, or is that of few objects, whose
 * references have no rows. */
static bool fit_slots(struct model *m, const struct heap_data *data, struct data_kind *kind)
{
    char name[MODEL_STRING_MOST];
    uint32_t count = 0, slot = 0;
    uint16_t *at;

    for (uint32_t c = kind->class; c != MODEL_NONE; c = m->classes[c].super)
        for (uint32_t f = 0; f < m->classes[c].fields; f++)
            count += m->fields[m->classes[c].first_field + f].type == TYPE_OBJECT;
    kind->slot_at = at = shape_memory(m, (count + 1) * sizeof *at);
    if (!at)
        return false;
    for (uint32_t c = kind->class; c != MODEL_NONE; c = m->classes[c].super)
        for (uint32_t f = 0; f < m->classes[c].fields; f++) {
            const struct model_field *field = &m->fields[m->classes[c].first_field + f];
            uint32_t found;

            if (field->type != TYPE_OBJECT)
                continue;
            found = find_slot(data, kind->row, name, model_string(m, field->name, name));
            at[slot++] = found < kind->slot_count ? (uint16_t)found : DATA_SLOT_MORE;
        }
    kind->slot_count = count;
    return true;
}

bool data_classes(struct model *m, const struct heap_data *data, struct data_kind *kinds, uint64_t part, uint64_t whole)
{
    bool *needs = needed(data, kinds, part, whole, has_program(m)), good = needs;
    uint32_t *classes = malloc((data->class_count + 1) * sizeof *classes), next = CORE_CLASSES;

    good &= classes != NULL;
    for (uint32_t c = 0; c < data->class_count && good; c++)
        classes[c] = c;
    for (uint32_t k = 0; k < data->kind_count && good; k++) {
        const struct data_row *row = kinds[k].row;

        switch (row->row) {
        case ROW_KNOWN:
            kinds[k].class = row->class;
            break;
        case ROW_CLASS:
        case ROW_ADDED:
            if (needs[next]) {
                kinds[k].class = class_find(m, row->name);
                if (kinds[k].class == MODEL_NONE)
                    kinds[k].class = (data_is_turned(m, data) ? class_add_turned : class_add)(m, row->name, classes[row->class],
                                                                                              row->fields, row->statics);
                good = kinds[k].class != MODEL_NONE;
            }
            classes[next++] = kinds[k].class;
            break;
        case ROW_OBJECT_ARRAYS:
            if (needs[row->class] || row->class < CORE_CLASSES) {
                kinds[k].class = class_add_array(m, classes[row->class]);
                good = kinds[k].class != MODEL_NONE;
            }
            break;
        case ROW_PRIMITIVE_ARRAYS:
            if (k == data->text)
                kinds[k].type = parts_of(m)->text_type;
            kinds[k].class = CORE_BOOLEAN_ARRAY + kinds[k].type - (uint32_t)TYPE_BOOLEAN;
            break;
        case ROW_SLOT:
        case ROW_TARGET:
        case ROW_CORE:
            break;
        }
        if (good && row->row == ROW_CLASS && kinds[k].count > 0 && m->options.idle)
            good = fit_slots(m, data, &kinds[k]);
    }
    free(needs);
    free(classes);
    return good;
}

/* ---- Other numbers of references ---- */

struct refit {
    uint32_t *before, *now; /* references of its own that a class has */
    uint64_t *share;        /* of the objects of this class and its subclasses */
};

static void weigh(const struct model *m, const struct heap_data *data, const struct data_kind *kinds, struct refit *r)
{
    for (uint32_t c = 0; c < m->class_count; c++)
        for (uint32_t f = 0; f < m->classes[c].fields; f++)
            r->before[c] += m->fields[m->classes[c].first_field + f].type == TYPE_OBJECT;
    for (uint32_t k = 0; k < data->kind_count; k++)
        if (kinds[k].form == FORM_INSTANCE)
            for (uint32_t c = kinds[k].class; c != MODEL_NONE; c = m->classes[c].super)
                r->share[c] += kinds[k].share;
}

/* In proportion, and rounded so that the running total is right. */
static void choose(const struct model *m, struct refit *r, uint64_t wanted)
{
    uint64_t all = 0, passed = 0, given = 0;

    for (uint32_t c = first_class_of_shape(m); c < m->class_count; c++)
        all += r->before[c] * r->share[c];
    for (uint32_t c = 0; c < m->class_count; c++) {
        uint64_t due;

        r->now[c] = r->before[c];
        if (c < first_class_of_shape(m) || !r->before[c] || !r->share[c])
            continue;
        passed += r->before[c] * r->share[c];
        due = wanted * passed / all;
        r->now[c] = due > given ? (uint32_t)((due - given + r->share[c] / 2) / r->share[c]) : 0;
        given += r->now[c] * r->share[c];
    }
}

static bool map_slots(struct model *m, struct data_kind *kind, const struct refit *r)
{
    uint32_t count = 0, first = 0, slot = 0;
    const uint16_t *before = kind->slot_at;
    uint16_t *at;

    for (uint32_t c = kind->class; c != MODEL_NONE; c = m->classes[c].super)
        count += r->now[c];
    kind->slot_at = at = shape_memory(m, (count + 1) * sizeof *at);
    if (!at)
        return false;
    for (uint32_t c = kind->class; c != MODEL_NONE; first += r->before[c], c = m->classes[c].super)
        for (uint32_t i = 0; i < r->now[c]; i++)
            at[slot++] = i >= r->before[c] ? DATA_SLOT_MORE : before ? before[first + i] : (uint16_t)(first + i);
    kind->slot_count = count;
    return true;
}

bool data_refit(struct model *m, const struct heap_data *data, struct data_kind *kinds, uint64_t wanted)
{
    struct refit r = {.before = calloc(m->class_count, sizeof *r.before),
                      .now = calloc(m->class_count, sizeof *r.now),
                      .share = calloc(m->class_count, sizeof *r.share)};
    bool done = r.before && r.now && r.share;

    if (done) {
        weigh(m, data, kinds, &r);
        choose(m, &r, wanted);
        done = references_refit(m, first_class_of_shape(m), r.now);
    }
    for (uint32_t k = 0; k < data->kind_count && done; k++)
        if (kinds[k].form == FORM_INSTANCE)
            done = map_slots(m, &kinds[k], &r);
    free(r.before);
    free(r.now);
    free(r.share);
    return done;
}
