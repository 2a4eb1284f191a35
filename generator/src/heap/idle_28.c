/* An idle VM of JDK 28, a heap_data. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/idle_28.def"
#include "heap/idle_rows.h"

const struct heap_data idle_28 = IDLE_OF_ROWS("jdk/internal/value/ValueClass", true);
