/* An idle VM of JDK 21, a heap_data. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/idle_21.def"
#include "heap/idle_rows.h"

const struct heap_data idle_21 = IDLE_OF_ROWS("java/util/SequencedCollection", true);
