/* A load of heap_data.h: the sessions and pages of a server. */
#include "heap/heap_data.h"

#define DATA_DEF "heap/load_web.def"
#include "heap/data_rows.h"

const struct heap_data load_web = {
    DATA_OF_ROWS,          .name = "web",   .about = "a server with sessions: a third of the objects are texts",
    .shares = DATA_SHARES, .classes = 1659, .thread_count = 26,
    .declared_order = true};
