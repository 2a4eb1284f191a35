/* An idle VM of JDK 25, a heap_data. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/idle_25.def"
#include "heap/idle_rows.h"

const struct heap_data idle_25 = IDLE_OF_ROWS("java/lang/ClassFrameInfo", true);
