/* An idle VM of JDK 17, a heap_data. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/idle_17.def"
#include "heap/idle_rows.h"

const struct heap_data idle_17 = IDLE_OF_ROWS("java/util/HexFormat", false);
