/* Many Strings, each with a byte[] for its text, and many unused symbols. In rows: an Object[] (or, with --classes, an
 * instance) refers to the next row and to the Strings of its row. */
#include "heap/lengths.h"
#include "heap/stand_in_classes.h"

/* From the same dump as the tables of shape_mixed. */
static const struct length_table table = {
    {{0, 2},   {2, 3},   {3, 5},   {5, 6},    {6, 7},     {7, 8},     {8, 9},     {9, 10},     {10, 11},    {11, 12},
     {12, 14}, {14, 15}, {15, 16}, {16, 18},  {18, 20},   {20, 22},   {22, 24},   {24, 27},    {27, 31},    {31, 34},
     {34, 38}, {38, 42}, {42, 46}, {46, 50},  {50, 53},   {53, 56},   {56, 58},   {58, 61},    {61, 65},    {65, 70},
     {70, 77}, {77, 82}, {82, 92}, {92, 120}, {120, 190}, {190, 300}, {300, 700}, {700, 1500}, {1500, 6000}}};

enum { STRINGS_IN_ROW = 31, ROW = 1 + 2 * STRINGS_IN_ROW };

#define PAGE "com/example/strings/Page"

struct strings {
    struct lengths lengths; /* first, because each text needs it */
    struct stand_in_classes pages;
};

static bool prepare(struct model *m)
{
    struct strings *x = shape_memory(m, sizeof *x);
    uint64_t symbols = m->options.objects / 4;
    uint32_t page;

    m->of_shape = x;
    if (!x)
        return false;
    if (!option_within(m, &m->options.string_length, 40 * (uint64_t)MODEL_UNIT, 0, 100000000 * (uint64_t)MODEL_UNIT,
                       "--string-length: up to 100,000,000 characters on average"))
        return false;
    if (!option_within(m, &m->options.classes, CORE_CLASSES, CORE_CLASSES, CLASSES_MOST,
                       "--classes of strings: 17 to 10,000,000"))
        return false;
    *x = (struct strings){.lengths = lengths_scaled(&table, m->options.string_length, length_table_mean(&table))};
    if (m->options.classes > CORE_CLASSES) {
        page = class_add_wider(m, PAGE, CORE_OBJECT, "L:next", STRINGS_IN_ROW, "");
        if (page == MODEL_NONE || !stand_in_classes_add(m, &x->pages, PAGE, page, 0, m->options.classes))
            return false;
    }
    longest_is(m, lengths_longest(&x->lengths) * type_size(parts_of(m)->text_type, 0));
    longest_is(m, (uint64_t)(STRINGS_IN_ROW + 1) * m->options.id_size);
    string_add(m, NAME_SYMBOL, NULL, 0, symbols < 1000000000 ? (uint32_t)symbols : 1000000000);
    return true;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    const struct strings *x = m->of_shape;
    uint64_t at = index - shape_first(m), in_row = at % ROW;

    if (in_row == 0 && x->pages.narrow)
        be_instance(o, stand_in_classes_class(m, &x->pages, at / ROW));
    else if (in_row == 0)
        be_object_array(o, CORE_OBJECT_ARRAY, STRINGS_IN_ROW + 1);
    else if (in_row % 2)
        be_instance(o, CORE_STRING);
    else
        be_primitive_array(o, parts_of(m)->text_type,
                           lengths_draw(&x->lengths, even(key_of(m), at / ROW * STRINGS_IN_ROW + in_row / 2)));
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    uint64_t named = o->class == CORE_STRING ? index + 1 : slot == 0 ? index + ROW : index + 2 * slot - 1;

    return named < m->options.objects ? named : MODEL_NULL;
}

const struct shape shape_strings = {
    .name = "strings",
    .about = "Strings and their texts, and symbols that nothing names",
    .takes = SHAPE_TAKES_STRING_LENGTH,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
