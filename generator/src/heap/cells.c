/* See cells.h. */
#include "heap/cells.h"

#include <stdlib.h>
#include <string.h>

#include "heap/pattern.h"

enum {
    FEW_PARTS = 3,    /* of 32 arrays, those that are shorter than most */
    RARE_NULLS = 352, /* thousandths of the references of the rare classes, */
    RARE_EACH = 3     /* each of which has this many */
};

/* ---- Preparing ---- */

/* Fields have what elements and the fixed classes leave of the requested mean. */
static bool refit(struct model *m, const struct heap_data *data, struct data_kind *kinds, const struct pattern_array *arrays,
                  uint64_t references)
{
    uint64_t wanted = references * (data->shares / MODEL_UNIT), others = 0, known = 0;

    for (uint32_t k = 0; k < data->kind_count; k++) {
        known += kinds[k].share;
        if (kinds[k].form == FORM_OBJECT_ARRAY)
            others += (lengths_mean(&arrays[kinds[k].array].lengths) * kinds[k].share) >> 16;
        else if (kinds[k].form == FORM_INSTANCE && kinds[k].class < first_class_of_shape(m))
            others += (uint64_t)kinds[k].slot_count * kinds[k].share;
    }
    others += (data->shares - known) * RARE_EACH;
    if (wanted < others)
        return fail(m, "--references of mixed: the arrays alone have more: see --array-length");
    return data_refit(m, data, kinds, wanted - others);
}

/* The mean length of arrays other than text, in 2^32ths. */
static uint64_t mean_array(const struct heap_data *data, const struct data_kind *kinds)
{
    uint64_t arrays = 0, sum = 0;

    for (uint32_t k = 0; k < data->kind_count; k++)
        if (kinds[k].form != FORM_INSTANCE && k != data->text) {
            arrays += kinds[k].share;
            sum += (length_table_mean(&data->lengths[kinds[k].array]) >> 16) * kinds[k].share;
        }
    return sum / arrays << 16;
}

static void prepare_array(struct model *m, const struct data_kind *kind, struct pattern_array *array)
{
    uint64_t mean, edges;

    longest_is(m, lengths_longest(&array->lengths) * type_size(kind->type, m->options.id_size));
    if (kind->form != FORM_OBJECT_ARRAY)
        return;
    /* As many elements as a short array has that are not null. The share of nulls among the random ones, in 2^16ths, makes up
     * for the mean. */
    array->elements = kind->slots;
    edges = (lengths_draw(&array->lengths, (uint64_t)FEW_PARTS << 59) * kind->nonnull + DATA_THOUSAND - 1) / DATA_THOUSAND;
    array->edges = edges < 64 ? (uint32_t)edges : 64;
    mean = lengths_mean(&array->lengths);
    edges = (uint64_t)array->edges << 16;
    if (mean > edges && mean / DATA_THOUSAND * kind->nonnull > edges)
        array->nonnull = (uint32_t)(((mean / DATA_THOUSAND * kind->nonnull - edges) << 16) / (mean - edges));
}

static void prepare_arrays(struct model *m, const struct heap_data *data, const struct data_kind *kinds,
                           struct pattern_array *arrays, const struct cells_wanted *wanted)
{
    for (uint32_t k = 0; k < data->kind_count; k++) {
        struct pattern_array *array = &arrays[kinds[k].array];
        uint64_t length = k == data->text ? wanted->string_length : wanted->array_length;

        if (kinds[k].form == FORM_INSTANCE)
            continue;
        array->lengths = lengths_of(&data->lengths[kinds[k].array]);
        if (length != MODEL_UNSET)
            array->lengths =
                lengths_scaled(array->lengths.table, length,
                               k == data->text ? length_table_mean(array->lengths.table) : mean_array(data, kinds));
        prepare_array(m, &kinds[k], array);
    }
}

bool cells_prepare(struct model *m, struct cells *x, const struct heap_data *data, uint32_t size,
                   const struct cells_wanted *wanted, uint64_t part, uint64_t whole)
{
    struct data_kind *kinds = malloc((data->kind_count + 1) * sizeof *kinds);
    struct pattern_array *arrays = shape_memory(m, (data->array_count + 1) * sizeof *arrays);
    bool good = kinds && arrays;

    if (good) {
        memset(arrays, 0, (data->array_count + 1) * sizeof *arrays);
        data_kinds(data, kinds, size);
        good = data_classes(m, data, kinds, part, whole);
    }
    if (good) {
        prepare_arrays(m, data, kinds, arrays, wanted);
        good = wanted->references == MODEL_UNSET || refit(m, data, kinds, arrays, wanted->references);
    }
    if (good) {
        *x = (struct cells){.key = key_of(m), .pattern = pattern_new(m, data, size, kinds, arrays)};
        good = x->pattern != NULL;
    }
    free(kinds);
    return good;
}

void cells_place(struct cells *x, uint64_t first, uint64_t count)
{
    x->first = first;
    x->count = count;
    x->cells = count >> x->pattern->shift;
}

/* ---- Asking ---- */

static inline void object_of(const struct model *m, const struct cells *x, uint64_t index, struct object *o)
{
    const struct pattern *p = x->pattern;
    uint64_t at = index - x->first;
    const struct pattern_object *is = &p->objects[at & p->mask];

    switch ((enum data_form)is->form) {
    case FORM_INSTANCE:
        be_instance(o, is->class);
        break;
    case FORM_OBJECT_ARRAY:
    case FORM_PRIMITIVE_ARRAY: {
        const struct pattern_kind *kind = &p->kinds[is->kind];
        uint64_t rank = (at >> p->shift) * kind->count + is->rank;

        o->kind = is->form == FORM_OBJECT_ARRAY ? OBJECT_OBJECT_ARRAY : OBJECT_PRIMITIVE_ARRAY;
        o->class = is->class;
        o->type = is->type;
        o->elements = lengths_draw(&p->arrays[kind->array].lengths, even(x->key + is->kind, rank));
        o->elements = (o->elements | 2 * (uint64_t)is->is_utf16) & ~(uint64_t)is->is_utf16; /* whole characters, at least one */
        break;
    }
    case FORM_RARE:
        rare_classes_object(m, &x->rare, mix_of(x->key, at, 60), o);
        break;
    case FORM_SPINE:
        be_object_array(o, CORE_OBJECT_ARRAY, is->rank);
        break;
    }
}

/* All ones if true: arithmetic in place of a branch that could not be predicted. */
static inline uint64_t ones_if(bool so)
{
    return (uint64_t)0 - so;
}

/* An object of the cell that begins there, or of the preceding cell if the last cell is cut short. */
static inline uint64_t within(const struct cells *x, uint64_t cell, uint64_t slot)
{
    uint64_t at = cell + slot;

    return x->first + at - ((x->pattern->mask + 1) & ones_if(at >= x->count));
}

/* The few references to other cells: a function of their own, so that the others take a few instructions. */
static __attribute__((noinline)) uint64_t far_target(const struct cells *x, uint64_t at, uint32_t edge, uint64_t slot)
{
    return within(x, below(mix_of(x->key, at, slot), x->cells) << x->pattern->shift, edge & EDGE_SLOT);
}

static inline uint64_t edge_target(const struct cells *x, uint64_t at, uint32_t edge, uint64_t slot)
{
    uint32_t mode = edge >> EDGE_SLOT_BITS;
    uint64_t cell = at & ~x->pattern->mask & ~ones_if(mode == EDGE_HOME);

    if (mode == EDGE_FAR)
        return far_target(x, at, edge, slot);
    return within(x, cell, edge & EDGE_SLOT) | ones_if(mode == EDGE_TO_NULL);
}

/* A cell that is not full is the only one. */
static inline uint64_t any_slot(const struct pattern *p, uint64_t bits)
{
    uint64_t slot = bits & p->mask;

    return slot - (p->size & ones_if(slot >= p->size));
}

/* Elements after the edges. */
static uint64_t drawn_element(const struct cells *x, const struct pattern_array *array, uint64_t at, uint64_t slot)
{
    const struct pattern *p = x->pattern;
    uint64_t bits = mix_of(x->key, at, slot), cell = at & ~p->mask;
    const struct pattern_kind *kind;
    uint32_t target;

    if ((bits & 0xFFFF) >= array->nonnull)
        return MODEL_NULL;
    bits = mix(bits);
    target = data_target(p->data, array->elements, bits);
    if (target == kind_rare(p->data))
        return within(x, cell, any_slot(p, bits));
    kind = &p->kinds[target];
    if (target == target_null(p->data) || kind->count == 0)
        return MODEL_NULL;
    return within(x, cell, p->members[kind->first + below(bits << 32, kind->count)]);
}

static uint64_t rest_reference(const struct cells *x, uint64_t at, uint64_t slot)
{
    uint64_t bits = mix_of(x->key, at, slot);

    if (below(bits, DATA_THOUSAND) < RARE_NULLS)
        return MODEL_NULL;
    return within(x, at & ~x->pattern->mask, any_slot(x->pattern, bits));
}

/* Of objects other than instances. */
static __attribute__((noinline)) uint64_t other_reference(const struct cells *x, uint64_t at, uint64_t slot)
{
    const struct pattern *p = x->pattern;
    const struct pattern_object *is = &p->objects[at & p->mask];
    const struct pattern_array *array = &p->arrays[p->kinds[is->kind].array];

    switch ((enum data_form)is->form) {
    case FORM_OBJECT_ARRAY:
        if (slot < array->edges)
            return edge_target(x, at, p->edges[is->edges + slot], slot);
        return drawn_element(x, array, at, slot);
    case FORM_SPINE:
        if (slot == 0)
            return at + p->mask + 1 < x->count ? x->first + at + p->mask + 1 : MODEL_NULL;
        return edge_target(x, at, p->edges[slot], slot);
    case FORM_RARE:
        return rest_reference(x, at, slot);
    case FORM_INSTANCE:
    case FORM_PRIMITIVE_ARRAY:
        break;
    }
    return MODEL_NULL;
}

static inline uint64_t reference_of(const struct cells *x, uint64_t index, uint64_t slot)
{
    const struct pattern *p = x->pattern;
    uint64_t at = index - x->first;
    const struct pattern_object *is = &p->objects[at & p->mask];

    if (is->form == FORM_INSTANCE)
        return edge_target(x, at, p->edges[is->edges + slot], slot);
    return other_reference(x, at, slot);
}

/* The number of references to other cells, or of all. */
static __attribute__((noinline)) void correct_ids(const struct model *m, const struct cells *x, uint64_t at,
                                                  const uint32_t *edges, uint64_t first, uint64_t count, bool all,
                                                  uint64_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        if (all || edges[i] >> EDGE_SLOT_BITS == EDGE_FAR)
            out[i] = model_object_id(m, edge_target(x, at, edges[i], first + i));
}

/* Like edge_target(), for many references. Targets come from a table and in fixed steps, without branches that could not be
 * predicted. The few references to other cells are corrected afterwards. */
static inline void edge_ids(const struct model *m, const struct cells *x, uint64_t at, const struct pattern_object *is,
                            uint64_t first, uint64_t count, uint64_t *out)
{
    const uint32_t *edges = x->pattern->edges + is->edges + first;
    uint64_t cell = at & ~x->pattern->mask, home = model_object_id(m, x->first), stride = m->id_stride;
    const uint64_t from[EDGE_MODES] = {
        [EDGE_NEAR] = home + cell * stride, [EDGE_FAR] = 0, [EDGE_HOME] = home, [EDGE_TO_NULL] = 0};
    bool whole = x->count - cell > x->pattern->mask;

    for (uint64_t i = 0; i < count; i += MODEL_IDS_STEP)
        for (uint64_t j = i; j < i + MODEL_IDS_STEP; j++)
            out[j] = from[edges[j] >> EDGE_SLOT_BITS] + (edges[j] & EDGE_SLOT) * stride;
    if (!whole || is->leads_far)
        correct_ids(m, x, at, edges, first, count, !whole, out);
}

static __attribute__((noinline)) void other_ids(const struct model *m, const struct cells *x, uint64_t at, uint64_t first,
                                                uint64_t count, uint64_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = model_object_id(m, other_reference(x, at, first + i));
}

static inline void ids_of(const struct model *m, const struct cells *x, uint64_t index, uint64_t first, uint64_t count,
                          uint64_t *out)
{
    const struct pattern *p = x->pattern;
    uint64_t at = index - x->first;
    const struct pattern_object *is = &p->objects[at & p->mask];

    if (is->form == FORM_INSTANCE)
        edge_ids(m, x, at, is, first, count, out);
    else
        other_ids(m, x, at, first, count, out);
}

void cells_object(const struct model *m, const struct cells *cells, uint64_t index, struct object *o)
{
    object_of(m, cells, index, o);
}

uint64_t cells_reference(const struct cells *cells, uint64_t index, uint64_t slot)
{
    return reference_of(cells, index, slot);
}

bool cells_is_utf16(const struct cells *cells, uint64_t index)
{
    return cells->pattern->objects[(index - cells->first) & cells->pattern->mask].is_utf16;
}

void cells_shape_object(const struct model *m, uint64_t index, struct object *o)
{
    object_of(m, m->of_shape, index, o);
}

uint64_t cells_shape_reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    (void)o;
    return reference_of(m->of_shape, index, slot);
}

void cells_shape_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                     uint64_t *out)
{
    (void)o;
    ids_of(m, m->of_shape, index, first, count, out);
}
