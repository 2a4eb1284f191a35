/* Big arrays of all types, in rows of sixteen. The first of a row is an Object[] (or, with --classes, an instance) that refers
 * to the next row and to the other fifteen. */
#include "heap/lengths.h"
#include "heap/stand_in_classes.h"

/* A few are about 100 times as long as the mean. */
static const struct length_table table = {
    {{0, 16},        {16, 64},        {64, 128},        {128, 192},      {192, 256},     {256, 320},     {320, 384},
     {384, 448},     {448, 512},      {512, 576},       {576, 640},      {640, 704},     {704, 768},     {768, 832},
     {832, 896},     {896, 960},      {960, 1024},      {1024, 1152},    {1152, 1280},   {1280, 1408},   {1408, 1536},
     {1536, 1792},   {1792, 2048},    {2048, 2304},     {2304, 2560},    {2560, 2816},   {2816, 3072},   {3072, 4096},
     {4096, 5120},   {5120, 6144},    {6144, 8192},     {8192, 16384},   {16384, 24576}, {24576, 32768}, {32768, 65536},
     {65536, 98304}, {98304, 131072}, {131072, 196608}, {196608, 262144}}};

enum { ROW = 16, LONGEST_OF_LONGEST = 8, OBJECT_ARRAYS = 4 /* in a row */, SAMPLES = 4096 };

#define RACK "com/example/arrays/Rack"

static const uint8_t types[ROW] = {TYPE_OBJECT, TYPE_BYTE,   TYPE_INT,     TYPE_OBJECT, TYPE_CHAR,  TYPE_LONG,
                                   TYPE_OBJECT, TYPE_DOUBLE, TYPE_BYTE,    TYPE_INT,    TYPE_SHORT, TYPE_OBJECT,
                                   TYPE_FLOAT,  TYPE_BYTE,   TYPE_BOOLEAN, TYPE_CHAR};

struct arrays {
    struct lengths lengths;
    struct stand_in_classes racks;
    bool asked;         /* the elements that are not null: */
    uint64_t not_nulls; /* share of those that do not refer to a row, in 2^32ths */
};

/* References to rows are not null, so other elements make up for the mean. */
static bool prepare_nulls(struct model *m, struct arrays *x)
{
    uint64_t wanted = m->options.references, all = 0, rows = 0;

    x->asked = wanted != MODEL_UNSET;
    if (!x->asked)
        return true;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t elements = lengths_draw(&x->lengths, even(key_of(m), i));

        all += elements;
        rows += elements < ROW ? elements : ROW;
    }
    rows = x->racks.narrow ? 0 : rows / OBJECT_ARRAYS;
    wanted = wanted * SAMPLES / MODEL_UNIT;
    /* Lengths so near to the mean are not scaled. */
    if (wanted > all && wanted - all <= all / 100)
        wanted = all;
    if (m->options.references > m->options.array_length || wanted < rows || wanted > all)
        return fail(m, "--references of arrays: on average, 4 to --array-length elements of an Object[] are not null");
    all -= rows;
    wanted -= rows;
    for (; all > UINT32_MAX; all >>= 1)
        wanted >>= 1;
    x->not_nulls = all ? (wanted << 32) / all : 0;
    return true;
}

static bool prepare(struct model *m)
{
    struct arrays *x = shape_memory(m, sizeof *x);
    uint32_t rack;

    m->of_shape = x;
    if (!x ||
        !option_within(m, &m->options.array_length, 4096 * (uint64_t)MODEL_UNIT, 0, 100000000 * (uint64_t)MODEL_UNIT,
                       "--array-length: up to 100,000,000 on average") ||
        !option_within(m, &m->options.classes, CORE_CLASSES, CORE_CLASSES, CLASSES_MOST,
                       "--classes of arrays: 17 to 10,000,000"))
        return false;
    *x = (struct arrays){.lengths = lengths_scaled(&table, m->options.array_length, length_table_mean(&table))};
    if (m->options.classes > CORE_CLASSES) {
        rack = class_add_wider(m, RACK, CORE_OBJECT, "L:next", ROW - 1, "");
        if (rack == MODEL_NONE || !stand_in_classes_add(m, &x->racks, RACK, rack, 0, m->options.classes))
            return false;
    }
    longest_is(m, lengths_longest(&x->lengths) * LONGEST_OF_LONGEST);
    return prepare_nulls(m, x);
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    const struct arrays *x = m->of_shape;
    uint64_t at = index - shape_first(m);
    uint8_t type = types[at % ROW];
    uint64_t elements = lengths_draw(&x->lengths, even(key_of(m), at));

    if (at % ROW == 0 && x->racks.narrow)
        be_instance(o, stand_in_classes_class(m, &x->racks, at / ROW));
    else if (type == TYPE_OBJECT)
        be_object_array(o, CORE_OBJECT_ARRAY, elements);
    else
        be_primitive_array(o, type, elements);
}

static uint64_t asked_or_null(const struct model *m, const struct arrays *x, uint64_t index, uint64_t slot)
{
    uint64_t bits = mix_of(key_of(m), index, slot);

    return (uint32_t)bits < x->not_nulls ? shape_first(m) + below(bits, shape_count(m)) : MODEL_NULL;
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    const struct arrays *x = m->of_shape;
    uint64_t named = slot == 0 ? index + ROW : index + slot;

    (void)o;
    if ((index - shape_first(m)) % ROW != 0 || slot >= ROW)
        return x->asked ? asked_or_null(m, x, index, slot) : any_or_null(m, index, slot);
    return named < m->options.objects ? named : MODEL_NULL;
}

static void reference_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                          uint64_t *out)
{
    const struct arrays *x = m->of_shape;

    if (x->asked)
        for (uint64_t i = 0; i < count; i++)
            out[i] = model_object_id(m, asked_or_null(m, x, index, first + i));
    else
        any_or_null_ids(m, index, first, count, out);
    for (uint64_t i = 0; first + i < ROW && i < count; i++)
        out[i] = model_object_id(m, reference(m, index, o, first + i));
}

const struct shape shape_arrays = {
    .name = "arrays",
    .about = "large arrays of all types, a few of them very long",
    .takes = SHAPE_TAKES_REFERENCES | SHAPE_TAKES_ARRAY_LENGTH,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
    .reference_ids = reference_ids,
};
