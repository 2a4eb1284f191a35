/* An idle VM of JDK 8, a heap_data. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/idle_8.def"
#include "heap/idle_rows.h"

const struct heap_data idle_8 = IDLE_OF_ROWS("java/lang/reflect/Executable", false);
