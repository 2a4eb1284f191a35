/* A header that is damaged or lost. */
#include "engine/go_to_way.h"
#include "format/header.h"
#include "input/transfer.h"

/* Whether records or sub-records with IDs of a size follow; not the header of another dump. */
static bool items_follow(struct engine *e, unsigned id_size)
{
    size_t size = look_at(&e->in, TRANSFER_SIGHT, UINT64_MAX);
    struct sight s = {e->in.at, size, size < TRANSFER_SIGHT, id_size, V102};
    struct search search = search_in(e, &s, UINT64_MAX);
    struct way way;

    e->file.id_size = id_size;
    e->file.version = V102;
    file_begin(&e->file, &e->run.memory, &e->run.key);
    way = size ? find_way(&search, 1, size) : (struct way){.kind = WAY_NONE}; /* after what may have been a header */
    e->file.id_size = 0;                                                      /* none is known */
    return way.kind != WAY_NONE && s.at[way.at] != *HEADER_MAGIC;
}

bool dump_follows(struct engine *e)
{
    return !e->run.sum.transfer && !e->run.sum.is_part && (items_follow(e, 8) || items_follow(e, 4));
}
