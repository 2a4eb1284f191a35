/* A load of heap_data.h: one map of many entries. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/load_map.def"
#include "heap/data_rows.h"

const struct heap_data load_map = {DATA_OF_ROWS, .name = "map", .about = "a map of many entries, numbers and strings",
                                   .shares = DATA_SHARES, .declared_order = true};
