/* Makes a struct heap_data of the rows of DATA_DEF, a .def file. To be included once, in a file that has defined DATA_DEF and
 * includes heap/heap_data.h, and then defines its heap_data by DATA_OF_ROWS. */

/* clang-format off */
#define NOTHING(...)
#define LENGTHS(...) {__VA_ARGS__}

#define IDLE NOTHING
#define IDLE_THREAD NOTHING
#define CORE NOTHING
#define KNOWN(symbol, class, share) of_##symbol,
#define CLASS(symbol, super, name, share, fields, statics) of_##symbol,
#define ADDED CLASS
#define OBJECT_ARRAYS(symbol, of, share, nonnull, lengths) of_##symbol,
#define PRIMITIVE_ARRAYS(symbol, type, share, lengths) of_##symbol,
#define SLOT NOTHING
#define TARGET NOTHING
enum {
#include DATA_DEF
    KIND_COUNT
};
#undef KNOWN
#undef CLASS
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS

#define KNOWN NOTHING
#define CLASS(symbol, super, name, share, fields, statics) class_##symbol,
#define OBJECT_ARRAYS NOTHING
#define PRIMITIVE_ARRAYS NOTHING
enum {
    CLASS_BEFORE = CORE_CLASSES - 1,
#include DATA_DEF
    CLASS_COUNT
};
#undef CLASS
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS

#define CLASS NOTHING
#define OBJECT_ARRAYS(symbol, of, share, nonnull, lengths) array_##symbol,
#define PRIMITIVE_ARRAYS(symbol, type, share, lengths) array_##symbol,
enum {
#include DATA_DEF
    ARRAY_COUNT
};
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS

#define OBJECT_ARRAYS(symbol, of, share, nonnull, lengths) [array_##symbol] = {lengths},
#define PRIMITIVE_ARRAYS(symbol, type, share, lengths) [array_##symbol] = {lengths},
static const struct length_table tables[ARRAY_COUNT] = {
#include DATA_DEF
};
#undef CORE
#undef KNOWN
#undef CLASS
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS
#undef SLOT
#undef TARGET

#define CORE(is, own, shared) {.row = ROW_CORE, .class = is, .fields = own, .statics = shared},
#define KNOWN(symbol, is, objects) {.row = ROW_KNOWN, .kind = of_##symbol, .class = is, .share = objects},
#define CLASS(symbol, super, text, objects, own, shared) \
    {.row = ROW_CLASS, .kind = of_##symbol, .class = super, .share = objects, .name = text, .fields = own, .statics = shared},
#undef ADDED
#define ADDED(symbol, super, text, objects, own, shared) \
    {.row = ROW_ADDED, .kind = of_##symbol, .class = super, .share = objects, .name = text, .fields = own, .statics = shared},
#define OBJECT_ARRAYS(symbol, of, objects, thousandths, lengths) \
    {.row = ROW_OBJECT_ARRAYS, .kind = of_##symbol, .class = of, .share = objects, .nonnull = thousandths, .array = array_##symbol},
#define PRIMITIVE_ARRAYS(symbol, type, objects, lengths) \
    {.row = ROW_PRIMITIVE_ARRAYS, .kind = of_##symbol, .class = type, .share = objects, .array = array_##symbol},
#define SLOT(nulls) {.row = ROW_SLOT, .share = nulls},
#define TARGET(symbol, thousandths) {.row = ROW_TARGET, .kind = of_##symbol, .share = thousandths},
static const struct data_row rows[] = {
#include DATA_DEF
};

#define DATA_OF_ROWS \
    .rows = rows, .row_count = sizeof rows / sizeof *rows, .lengths = tables, .array_count = ARRAY_COUNT, \
    .kind_count = KIND_COUNT, .class_count = CLASS_COUNT, .text = of_TEXT
/* clang-format on */
