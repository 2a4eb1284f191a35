/* See rare_classes.h. The tables were made from the same dump as load_javac.def. */
#include "heap/rare_classes.h"

#include "heap/lengths.h"

/* The numbers of fields and static fields of the other classes of that dump. */
static const struct length_table own_fields = {
    {{0, 0}, {0, 0},   {0, 0},   {0, 0},   {0, 0},   {0, 0},   {0, 0},     {0, 0},     {0, 0},    {0, 0},
     {0, 0}, {0, 0},   {0, 0},   {0, 0},   {0, 0},   {0, 0},   {1, 1},     {1, 1},     {1, 1},    {1, 1},
     {1, 1}, {1, 1},   {1, 2},   {2, 2},   {2, 2},   {2, 2},   {3, 3},     {3, 4},     {4, 4},    {5, 6},
     {6, 9}, {10, 14}, {14, 23}, {25, 40}, {39, 49}, {52, 62}, {100, 100}, {137, 137}, {137, 137}}};
static const struct length_table own_statics = {
    {{0, 0},  {0, 0},   {0, 0},   {0, 0},   {0, 0},   {0, 0},     {0, 0},     {0, 0},     {0, 0},    {0, 0},
     {0, 0},  {0, 0},   {0, 0},   {0, 0},   {0, 0},   {0, 0},     {0, 0},     {0, 0},     {0, 0},    {0, 0},
     {0, 0},  {0, 1},   {1, 1},   {1, 1},   {1, 1},   {1, 1},     {1, 2},     {2, 3},     {3, 4},    {4, 5},
     {6, 12}, {15, 23}, {25, 36}, {38, 56}, {69, 95}, {115, 116}, {138, 138}, {213, 213}, {213, 213}}};
/* By depth below java/lang/Object: the number of classes, of 2042. */
static const uint16_t depths[] = {1193, 393, 262, 144, 43, 6, 1};
/* Per 128 fields. */
static const struct {
    uint8_t type, below, statics_below;
} types[] = {{TYPE_OBJECT, 100, 89}, {TYPE_INT, 113, 110},  {TYPE_BOOLEAN, 124, 115}, {TYPE_LONG, 126, 124},
             {TYPE_SHORT, 127, 124}, {TYPE_BYTE, 127, 127}, {TYPE_CHAR, 128, 128}};

enum {
    DEPTHS = sizeof depths / sizeof *depths,
    DEPTHS_SUM = 2042,
    FIELD_NAMES = 1024,
    ARRAY_EACH = 9,           /* one of this many classes is an array class, */
    ARRAY_CLASSES = 240,      /* up to this many */
    INTERFACE_EACH = 2,       /* one of this many classes without fields and superclass is an interface */
    WITH_OBJECTS = 27,        /* of 64 */
    STRINGS_PER_CLASS = 258,  /* in tenths; unused ones only as far as */
    OBJECTS_FOR_A_SYMBOL = 16 /* the heap is large enough */
};

static uint8_t type_of(uint64_t bits, bool is_static)
{
    size_t i = 0;

    while ((bits & 127) >= (is_static ? types[i].statics_below : types[i].below))
        i++;
    return types[i].type;
}

/* Unique names within the class: a sequence that repeats only after all names. */
static bool add_fields(struct model *m, uint64_t key, uint32_t names, uint64_t count, bool is_static)
{
    uint64_t from = key + (is_static ? FIELD_NAMES / 2 : 0);

    for (uint64_t f = from; f < from + count; f++) {
        uint32_t name = names + (uint32_t)(f * 67 % FIELD_NAMES);
        uint8_t type = type_of(mix(f), is_static);

        if (!(is_static ? static_add : field_add)(m, name, type, VALUE_ANY))
            return false;
    }
    return true;
}

static uint32_t depth_of(uint64_t bits)
{
    uint64_t at = below(bits, DEPTHS_SUM);
    uint32_t depth = 0;

    while (at >= depths[depth])
        at -= depths[depth++];
    return depth;
}

static bool add_class(struct model *m, uint32_t name, uint32_t field_names, uint32_t i, uint32_t last_at[DEPTHS])
{
    static const struct lengths fields = {&own_fields, (uint64_t)1 << 32}, statics = {&own_statics, (uint64_t)1 << 32};
    uint64_t key = mix_of(key_of(m), i, 40) >> 1;
    uint64_t field_count = lengths_draw(&fields, even(key_of(m), i));
    uint32_t depth = depth_of(mix(key)), class;

    while (depth > 0 && last_at[depth - 1] == MODEL_NONE)
        depth--;
    class = class_add_named(m, name, depth == 0 ? CORE_OBJECT : last_at[depth - 1]);
    if (class == MODEL_NONE)
        return false;
    if (i > 0 && depth == 0 && field_count == 0 && key % INTERFACE_EACH == 0)
        m->classes[class].interface = true;
    else if (depth == 0 || mix(key + 1) % 4 == 0)
        last_at[depth] = class;
    return add_fields(m, key, field_names, field_count, false) &&
           add_fields(m, key, field_names, lengths_draw(&statics, even(key_of(m) + 1, i)), true);
}

bool rare_classes_add(struct model *m, struct rare_classes *rare_classes, uint64_t classes)
{
    uint32_t left = classes_left(m, classes), arrays = left / ARRAY_EACH < ARRAY_CLASSES ? left / ARRAY_EACH : ARRAY_CLASSES;
    uint32_t last_at[DEPTHS], names, field_names;
    uint64_t strings = (classes + first_class_of_shape(m) - CORE_CLASSES) * STRINGS_PER_CLASS / 10;

    rare_classes->first = m->class_count;
    rare_classes->count = left - arrays;
    while ((rare_classes->count * (uint64_t)WITH_OBJECTS / 64 + 1) >> rare_classes->octaves)
        rare_classes->octaves++;
    for (size_t i = 0; i < DEPTHS; i++)
        last_at[i] = MODEL_NONE;
    field_names = string_add(m, NAME_FIELD, NULL, 0, FIELD_NAMES);
    names = string_add(m, NAME_CLASS, NULL, 0, rare_classes->count);
    for (uint32_t i = 0; i < rare_classes->count; i++)
        if (!add_class(m, names + i, field_names, i, last_at))
            return false;
    for (uint32_t i = 0; i < arrays; i++)
        if (class_add_array(m, rare_classes->first + i) == MODEL_NONE)
            return false;
    if (strings > parts_of(m)->names.count) {
        uint64_t symbols = strings - parts_of(m)->names.count, few = m->options.objects / OBJECTS_FOR_A_SYMBOL;

        string_add(m, NAME_SYMBOL, NULL, 0, (uint32_t)(symbols < few ? symbols : few));
    }
    return true;
}

void rare_classes_object(const struct model *m, const struct rare_classes *rare_classes, uint64_t bits, struct object *o)
{
    static const uint8_t rare[] = {TYPE_BOOLEAN, TYPE_SHORT, TYPE_FLOAT, TYPE_DOUBLE};
    enum { LONGEST = 32 };
    unsigned octave = (unsigned)below(bits, rare_classes->octaves);
    uint64_t more = mix(bits);
    uint32_t rank = ((uint32_t)1 << octave) - 1 + (uint32_t)(more & (((uint32_t)1 << octave) - 1));

    if (more >> 54 == 0) { /* one of 1024 */
        be_primitive_array(o, rare[more % sizeof rare], more / sizeof rare % (LONGEST + 1));
        return;
    }
    rank %= rare_classes->count;
    while (m->classes[rare_classes->first + rank].interface) /* the first is none */
        rank--;
    be_instance(o, rare_classes->first + rank);
}
