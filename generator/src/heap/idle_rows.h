/* Makes the struct heap_data of an idle VM of the rows of DATA_DEF: as data_rows.h. */
#include "heap/data_rows.h"

/* clang-format off */
#undef IDLE
#undef CORE
#undef KNOWN
#undef CLASS
#undef ADDED
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS
#undef SLOT
#undef TARGET
#define CORE NOTHING
#define KNOWN NOTHING
#define CLASS NOTHING
#define ADDED NOTHING
#define OBJECT_ARRAYS NOTHING
#define PRIMITIVE_ARRAYS NOTHING
#define SLOT NOTHING
#define TARGET NOTHING

#define IDLE(objects, strings, globals, utf16) \
    IDLE_OBJECTS = objects, IDLE_STRINGS = strings, IDLE_GLOBALS = globals, IDLE_UTF16 = utf16
enum {
#include DATA_DEF
};

#undef IDLE
#undef IDLE_THREAD
#define IDLE NOTHING
#define IDLE_THREAD(name) name,
static const char *const thread_names[] = {
#include DATA_DEF
    NULL};

#define IDLE_OF_ROWS(class, declared) \
    {DATA_OF_ROWS, .mark = class, .declared_order = declared, .shares = IDLE_OBJECTS, .strings = IDLE_STRINGS, \
     .globals = IDLE_GLOBALS, .utf16 = IDLE_UTF16, .threads = thread_names}
/* clang-format on */
