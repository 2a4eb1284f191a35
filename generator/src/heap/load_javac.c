/* A load of heap_data.h: a compiler at work. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/load_javac.def"
#include "heap/data_rows.h"

const struct heap_data load_javac = {DATA_OF_ROWS, .name = "javac", .about = "a compiler at work: nearly all instances",
                                     .shares = DATA_SHARES, .classes = 2464};
