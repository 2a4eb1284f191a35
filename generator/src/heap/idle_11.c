/* An idle VM of JDK 11, a heap_data. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/idle_11.def"
#include "heap/idle_rows.h"

const struct heap_data idle_11 = IDLE_OF_ROWS("java/lang/Module", false);
