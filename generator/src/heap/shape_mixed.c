/* A realistic heap: mixed.def as a pattern that is repeated. */
#include "heap/mixed.h"
#include "heap/pattern.h"
#include "heap/rare_classes.h"

enum {
    DEFAULT_CLASSES = 2464,
    LEAST_CLASSES = 200,
    OBJECTS_FOR_A_CLASS = 40,
    CELL_SHIFT = 14,
    FEW_PARTS = 3,    /* of 32 arrays, those that are shorter than most */
    RARE_NULLS = 352, /* thousandths of the references of the rare classes, */
    RARE_EACH = 3     /* each of which has this many */
};
_Static_assert((int)LEAST_CLASSES >= (int)MIXED_FIRST_ARRAY_CLASS + MIXED_ARRAYS + RARE_CLASSES_LEAST, "room for all");

struct mixed {
    uint64_t first, count; /* of the shape's objects */
    uint64_t key;
    uint64_t cells; /* whole ones */
    struct rare_classes rare;
    const struct pattern *pattern;
};

/* ---- Preparing ---- */

/* Fields have what elements and the fixed classes leave of the requested mean. */
static bool refit(struct model *m, struct mixed_kind_row kinds[KINDS], const struct pattern_array arrays[MIXED_ARRAYS])
{
    uint64_t wanted = m->options.references * (MIXED_SHARES / MODEL_UNIT), others = 0, known = 0;

    for (uint32_t k = 0; k < KIND_RARE; k++) {
        known += kinds[k].share;
        if (kinds[k].form == FORM_OBJECT_ARRAY)
            others += (lengths_mean(&arrays[kinds[k].array].lengths) * kinds[k].share) >> 16;
        else if (kinds[k].form == FORM_INSTANCE && kinds[k].class < CORE_CLASSES)
            others += (uint64_t)kinds[k].slot_count * kinds[k].share;
    }
    others += (MIXED_SHARES - known) * RARE_EACH;
    if (wanted < others)
        return fail(m, "--references of mixed: the arrays alone have more: see --array-length");
    return mixed_refit(m, kinds, wanted - others);
}

/* The mean length of arrays other than text, in 2^32ths. */
static uint64_t mean_array(const struct mixed_kind_row kinds[KINDS])
{
    uint64_t arrays = 0, sum = 0;

    for (uint32_t k = 0; k < KIND_RARE; k++)
        if (kinds[k].form != FORM_INSTANCE && k != of_TEXT) {
            arrays += kinds[k].share;
            sum += (length_table_mean(mixed_lengths(kinds[k].array)) >> 16) * kinds[k].share;
        }
    return sum / arrays << 16;
}

static void prepare_array(struct model *m, const struct mixed_kind_row *kind, struct pattern_array *array)
{
    uint64_t mean, edges;

    longest_is(m, lengths_longest(&array->lengths) * type_size(kind->type, m->options.id_size));
    if (kind->form != FORM_OBJECT_ARRAY)
        return;
    /* As many elements as a short array has that are not null. The share of nulls among the random ones, in 2^16ths, makes up
     * for the mean. */
    array->elements = kind->slots;
    edges = (lengths_draw(&array->lengths, (uint64_t)FEW_PARTS << 59) * kind->nonnull + MIXED_THOUSAND - 1) / MIXED_THOUSAND;
    array->edges = edges < 64 ? (uint32_t)edges : 64;
    mean = lengths_mean(&array->lengths);
    edges = (uint64_t)array->edges << 16;
    if (mean > edges && mean / MIXED_THOUSAND * kind->nonnull > edges)
        array->nonnull = (uint32_t)(((mean / MIXED_THOUSAND * kind->nonnull - edges) << 16) / (mean - edges));
}

static void resize(struct model *m)
{
    struct mixed *x = m->of_shape;

    x->first = shape_first(m);
    x->count = shape_count(m);
    x->cells = x->count >> x->pattern->shift;
}

static bool prepare(struct model *m)
{
    struct mixed_kind_row kinds[KINDS] = {0};
    struct pattern_array arrays[MIXED_ARRAYS] = {0};
    struct mixed *x = shape_memory(m, sizeof *x);
    struct model_options *options = &m->options;
    uint64_t most = 100000000 * (uint64_t)MODEL_UNIT;
    uint64_t few = LEAST_CLASSES + options->objects / OBJECTS_FOR_A_CLASS; /* a small heap has loaded only some of them */
    unsigned shift = 0;

    if (!x ||
        !option_within(m, &options->classes, few < DEFAULT_CLASSES ? few : DEFAULT_CLASSES, LEAST_CLASSES, CLASSES_MOST,
                       "--classes of mixed: 200 to 10,000,000") ||
        (options->array_length != MODEL_UNSET && options->array_length > most &&
         !fail(m, "--array-length: up to 100,000,000 on average")) ||
        (options->string_length != MODEL_UNSET && options->string_length > most &&
         !fail(m, "--string-length: up to 100,000,000 characters on average")) ||
        (options->references != MODEL_UNSET && !option_within(m, &options->references, 0, MODEL_UNIT / 2, 100 * MODEL_UNIT,
                                                              "--references of mixed: 0.5 to 100 of an object on average")) ||
        !mixed_load(m, kinds))
        return false;
    kinds[KIND_RARE].form = FORM_RARE;
    for (uint32_t k = 0; k < KIND_RARE; k++) {
        struct pattern_array *array = &arrays[kinds[k].array];
        uint64_t wanted = k == of_TEXT ? options->string_length : options->array_length;

        if (kinds[k].form == FORM_INSTANCE)
            continue;
        array->lengths = lengths_of(mixed_lengths(kinds[k].array));
        if (wanted != MODEL_UNSET)
            array->lengths = lengths_scaled(array->lengths.table, wanted,
                                            k == of_TEXT ? length_table_mean(array->lengths.table) : mean_array(kinds));
        prepare_array(m, &kinds[k], array);
    }
    if (options->references != MODEL_UNSET && !refit(m, kinds, arrays))
        return false;
    *x = (struct mixed){.key = key_of(m)};
    while (shift < CELL_SHIFT && shape_count(m) >> (shift + 1) > 0)
        shift++;
    x->pattern = pattern_new(m, shift, kinds, arrays);
    m->of_shape = x;
    if (!x->pattern)
        return false;
    resize(m);
    return rare_classes_add(m, &x->rare, options->classes);
}

/* ---- Asking ---- */

static void object(const struct model *m, uint64_t index, struct object *o)
{
    const struct mixed *x = m->of_shape;
    const struct pattern *p = x->pattern;
    uint64_t at = index - x->first;
    const struct pattern_object *is = &p->objects[at & p->mask];

    switch ((enum mixed_form)is->form) {
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
static inline uint64_t within(const struct mixed *x, uint64_t cell, uint64_t slot)
{
    uint64_t at = cell + slot;

    return x->first + at - ((x->pattern->mask + 1) & ones_if(at >= x->count));
}

/* The few references to other cells: a function of their own, so that the others take a few instructions. */
static __attribute__((noinline)) uint64_t far_target(const struct mixed *x, uint64_t at, uint32_t edge, uint64_t slot)
{
    return within(x, below(mix_of(x->key, at, slot), x->cells) << x->pattern->shift, edge & EDGE_SLOT);
}

static inline uint64_t edge_target(const struct mixed *x, uint64_t at, uint32_t edge, uint64_t slot)
{
    uint32_t mode = edge >> EDGE_SLOT_BITS;
    uint64_t cell = at & ~x->pattern->mask & ~ones_if(mode == EDGE_HOME);

    if (mode == EDGE_FAR)
        return far_target(x, at, edge, slot);
    return within(x, cell, edge & EDGE_SLOT) | ones_if(mode == EDGE_TO_NULL);
}

/* Elements after the edges. */
static uint64_t drawn_element(const struct mixed *x, const struct pattern_array *array, uint64_t at, uint64_t slot)
{
    const struct pattern *p = x->pattern;
    uint64_t bits = mix_of(x->key, at, slot), cell = at & ~p->mask;
    const struct pattern_kind *kind;
    uint32_t target;

    if ((bits & 0xFFFF) >= array->nonnull)
        return MODEL_NULL;
    bits = mix(bits);
    target = mixed_target(array->elements, bits);
    if (target == KIND_RARE)
        return within(x, cell, bits & p->mask);
    kind = &p->kinds[target];
    if (target == TARGET_NULL || kind->count == 0)
        return MODEL_NULL;
    return within(x, cell, p->members[kind->first + below(bits << 32, kind->count)]);
}

static uint64_t rest_reference(const struct mixed *x, uint64_t at, uint64_t slot)
{
    uint64_t bits = mix_of(x->key, at, slot);

    if (below(bits, MIXED_THOUSAND) < RARE_NULLS)
        return MODEL_NULL;
    return within(x, at & ~x->pattern->mask, bits & x->pattern->mask);
}

/* Of objects other than instances. */
static __attribute__((noinline)) uint64_t other_reference(const struct mixed *x, uint64_t at, uint64_t slot)
{
    const struct pattern *p = x->pattern;
    const struct pattern_object *is = &p->objects[at & p->mask];
    const struct pattern_array *array = &p->arrays[p->kinds[is->kind].array];

    switch ((enum mixed_form)is->form) {
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

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    const struct mixed *x = m->of_shape;
    const struct pattern *p = x->pattern;
    uint64_t at = index - x->first;
    const struct pattern_object *is = &p->objects[at & p->mask];

    (void)o;
    if (is->form == FORM_INSTANCE)
        return edge_target(x, at, p->edges[is->edges + slot], slot);
    return other_reference(x, at, slot);
}

/* The number of references to other cells, or of all. */
static __attribute__((noinline)) void correct_ids(const struct model *m, uint64_t at, const uint32_t *edges, uint64_t first,
                                                  uint64_t count, bool all, uint64_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        if (all || edges[i] >> EDGE_SLOT_BITS == EDGE_FAR)
            out[i] = model_object_id(m, edge_target(m->of_shape, at, edges[i], first + i));
}

/* Like edge_target(), for many references. Targets come from a table and in fixed steps, without branches that could not be
 * predicted. The few references to other cells are corrected afterwards. */
static void edge_ids(const struct model *m, uint64_t at, const struct pattern_object *is, uint64_t first, uint64_t count,
                     uint64_t *out)
{
    const struct mixed *x = m->of_shape;
    const uint32_t *edges = x->pattern->edges + is->edges + first;
    uint64_t cell = at & ~x->pattern->mask, home = model_object_id(m, x->first), stride = m->id_stride;
    const uint64_t from[EDGE_MODES] = {
        [EDGE_NEAR] = home + cell * stride, [EDGE_FAR] = 0, [EDGE_HOME] = home, [EDGE_TO_NULL] = 0};
    bool whole = x->count - cell > x->pattern->mask;

    for (uint64_t i = 0; i < count; i += MODEL_IDS_STEP)
        for (uint64_t j = i; j < i + MODEL_IDS_STEP; j++)
            out[j] = from[edges[j] >> EDGE_SLOT_BITS] + (edges[j] & EDGE_SLOT) * stride;
    if (!whole || is->leads_far)
        correct_ids(m, at, edges, first, count, !whole, out);
}

static __attribute__((noinline)) void other_ids(const struct model *m, uint64_t at, uint64_t first, uint64_t count,
                                                uint64_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = model_object_id(m, other_reference(m->of_shape, at, first + i));
}

static void reference_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                          uint64_t *out)
{
    const struct mixed *x = m->of_shape;
    const struct pattern *p = x->pattern;
    uint64_t at = index - x->first;
    const struct pattern_object *is = &p->objects[at & p->mask];

    (void)o;
    if (is->form == FORM_INSTANCE)
        edge_ids(m, at, is, first, count, out);
    else
        other_ids(m, at, first, count, out);
}

const struct shape shape_mixed = {
    .name = "mixed",
    .about = "like the heap of a real program",
    .takes = SHAPE_TAKES_REFERENCES | SHAPE_TAKES_ARRAY_LENGTH | SHAPE_TAKES_STRING_LENGTH,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .resize = resize,
    .object = object,
    .reference = reference,
    .reference_ids = reference_ids,
};
