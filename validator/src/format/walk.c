/* See walk.h. */
#include "format/walk.h"

enum frame walk_subrecord(const struct sight *s, uint64_t at, uint64_t left, struct walk_item *item)
{
    uint64_t there = s->size - at;
    struct measure m = {0};
    enum measured result = measure_subrecord(s->at + at, (size_t)(there < left ? there : left), s->id_size, s->version, &m);

    *item = (struct walk_item){.tag = there ? s->at[at] : 0, .head = 1};
    switch (result) {
    case MEASURED:
        item->size = m.size;
        return m.size <= left ? FRAME_RIGHT : FRAME_CROSSES;
    case MEASURE_MORE:
        return there >= left ? FRAME_CROSSES : s->ended ? FRAME_TRUNCATED : FRAME_UNSEEN;
    case MEASURE_TAG:
        return FRAME_TAG;
    case MEASURE_TYPE:
        break;
    }
    item->bad_at = m.bad_at;
    item->in_constant_pool = m.in_constant_pool;
    return FRAME_TYPE;
}

uint64_t walk_over(const uint8_t *p, size_t n, uint64_t wanted, uint64_t left, unsigned id_size, enum version version)
{
    uint64_t passed = 0;

    while (passed < wanted && passed < n) {
        struct measure m = {0};
        enum measured result = measure_object(p + passed, n - (size_t)passed, id_size, &m);

        if (result == MEASURE_TAG)
            result = measure_subrecord(p + passed, n - (size_t)passed, id_size, version, &m);
        if (result != MEASURED || m.size > left - passed)
            break;
        passed += m.size;
    }
    return passed;
}
