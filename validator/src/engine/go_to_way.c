/* See go_to_way.h. */
#include "engine/go_to_way.h"

struct sight look_far(struct engine *e)
{
    size_t size = look_at(&e->in, WAY_SIGHT, UINT64_MAX);

    return (struct sight){e->in.at, size, size < WAY_SIGHT, e->file.id_size, e->file.version};
}

bool end_is_credible(const struct sight *s, uint64_t end)
{
    return end <= s->size ? records_follow(s, end, 2) : !s->ended;
}

struct search search_in(struct engine *e, const struct sight *s, uint64_t end)
{
    return (struct search){.sight = s, .file = &e->file, .end = end, .times = &e->framing.times};
}

enum way_kind go_to_way(struct engine *e, uint64_t *record_end, uint64_t until, uint64_t past)
{
    bool in_dump = false;

    for (;;) {
        uint64_t here = e->in.offset, end = *record_end - here, most;
        struct sight s = look_far(e);
        bool bounded = *record_end != UINT64_MAX && *record_end >= here && end_is_credible(&s, end);
        struct search search = search_in(e, &s, bounded ? end : UINT64_MAX);
        struct way way;

        if (past != UINT64_MAX && past >= here)
            search.past = past - here < s.size ? past - here + 1 : s.size;
        search.in_dump = in_dump && bounded;
        most = s.ended ? s.size : WAY_STEP;
        if (bounded && most > end)
            most = end;
        if (most > until - here)
            most = until - here;
        way = find_way(&search, 0, most);
        if (way.kind != WAY_NONE) {
            if (!bounded)
                *record_end = UINT64_MAX;
            input_advance(&e->in, (size_t)way.at);
            return way.kind;
        }
        if (bounded && way.at >= end) {
            input_skip(&e->in, end);
            return WAY_RECORD;
        }
        if (s.ended || way.at >= until - here || e->run.memory.exhausted)
            return WAY_NONE;
        in_dump = way.in_dump;
        input_skip(&e->in, way.at);
    }
}

bool go_to(struct engine *e, uint64_t offset)
{
    if (offset <= e->in.offset)
        return input_go_back(&e->in, offset);
    input_skip(&e->in, offset - e->in.offset);
    return e->in.offset == offset;
}
