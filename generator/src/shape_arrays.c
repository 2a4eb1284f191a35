/* Big arrays of all types. In rows of sixteen: the first is an Object[] that names the next row and the other fifteen. */
#include "lengths.h"
#include "parts.h"

/* The longest are about 100 times the mean, and there are few of them. */
static const struct length_table table = {
    {{0, 16},        {16, 64},        {64, 128},        {128, 192},      {192, 256},     {256, 320},     {320, 384},
     {384, 448},     {448, 512},      {512, 576},       {576, 640},      {640, 704},     {704, 768},     {768, 832},
     {832, 896},     {896, 960},      {960, 1024},      {1024, 1152},    {1152, 1280},   {1280, 1408},   {1408, 1536},
     {1536, 1792},   {1792, 2048},    {2048, 2304},     {2304, 2560},    {2560, 2816},   {2816, 3072},   {3072, 4096},
     {4096, 5120},   {5120, 6144},    {6144, 8192},     {8192, 16384},   {16384, 24576}, {24576, 32768}, {32768, 65536},
     {65536, 98304}, {98304, 131072}, {131072, 196608}, {196608, 262144}}};

enum { ROW = 16, LONGEST_OF_LONGEST = 8 };

static const uint8_t types[ROW] = {TYPE_OBJECT, TYPE_BYTE,   TYPE_INT,     TYPE_OBJECT, TYPE_CHAR,  TYPE_LONG,
                                   TYPE_OBJECT, TYPE_DOUBLE, TYPE_BYTE,    TYPE_INT,    TYPE_SHORT, TYPE_OBJECT,
                                   TYPE_FLOAT,  TYPE_BYTE,   TYPE_BOOLEAN, TYPE_CHAR};

static bool prepare(struct model *m)
{
    struct lengths *lengths = shape_memory(m, sizeof *lengths);

    m->of_shape = lengths;
    if (!lengths)
        return false;
    if (!option_within(m, &m->options.array_length, 4096 * (uint64_t)MODEL_UNIT, 0, 100000000 * (uint64_t)MODEL_UNIT,
                       "--array-length: up to 100,000,000 on average"))
        return false;
    *lengths = lengths_scaled(&table, m->options.array_length, length_table_mean(&table));
    longest_is(m, lengths_longest(lengths) * LONGEST_OF_LONGEST);
    return true;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    uint64_t at = index - shape_first(m);
    uint8_t type = types[at % ROW];
    uint64_t elements = lengths_draw(m->of_shape, even(key_of(m), at));

    if (type == TYPE_OBJECT)
        be_object_array(o, CORE_OBJECT_ARRAY, elements);
    else
        be_primitive_array(o, type, elements);
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    uint64_t named = slot == 0 ? index + ROW : index + slot;

    (void)o;
    if ((index - shape_first(m)) % ROW != 0 || slot >= ROW)
        return any_or_null(m, index, slot);
    return named < m->options.objects ? named : MODEL_NULL;
}

static void references(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                       uint64_t *out)
{
    any_or_nulls(m, index, first, count, out);
    for (uint64_t i = 0; first + i < ROW && i < count; i++)
        out[i] = reference(m, index, o, first + i);
}

const struct shape shape_arrays = {
    .name = "arrays",
    .about = "big arrays of all types, a few of them very long; --array-length is the mean",
    .takes = SHAPE_TAKES_ARRAY_LENGTH,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
    .references = references,
};
