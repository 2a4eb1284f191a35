/* Arrays whose count is too large (RULES.md M.2): the sub-records after them are taken for their elements. Where such an array
 * ends, another sub-record may begin by chance; then lengths lead on, and the check reports only that objects are missing. Who
 * reads the dump after the check gets them back: an array that holds lost objects ends where they begin. */
#include "engine/evidence.h"
#include "engine/go_to_way.h"
#include "reread/reread.h"

enum { LONG_ARRAY_STEP = WAY_SIGHT / 2 };

/* The array that is looked at, in terms of what is in sight. */
struct suspect {
    struct engine *e;
    struct sight sight;
    uint8_t tag;
    uint64_t first; /* where an element begins, */
    unsigned width; /* and its size */
};

static bool is_object(uint8_t tag)
{
    return tag >= SUB_CLASS_DUMP && tag <= SUB_PRIMITIVE_ARRAY_DUMP;
}

/* Whether an element begins at an offset, and what may be an object that is dumped nowhere else. */
static bool may_begin(const void *context, uint64_t at)
{
    const struct suspect *s = context;
    uint64_t id;

    if (!is_object(s->sight.at[at]) || (at - s->first) % s->width != 0 || s->sight.size - at <= s->sight.id_size)
        return false;
    id = get_id(s->sight.at + at + 1, s->sight.id_size);
    return is_near_classes(&s->e->file, id) && !(id_set_get(&s->e->heap.objects, id) & ID_DEFINED);
}

/* Whether the objects that seem to be dumped from an offset on, up to another, are dumped nowhere else. The payload of a primitive
 * array may be a dump, too: of the same heap, then its objects are dumped; or of another one, then nothing names them. */
static bool are_lost(const struct suspect *s, uint64_t at, uint64_t until)
{
    uint64_t missing = 0, defined = 0;
    struct walk_item item;

    while (at < until && s->sight.size - at > s->sight.id_size &&
           walk_subrecord(&s->sight, at, UINT64_MAX, &item) == FRAME_RIGHT) {
        unsigned flags = 0;

        if (is_object(item.tag))
            flags = id_set_get(&s->e->heap.objects, get_id(s->sight.at + at + 1, s->sight.id_size));
        defined += (flags & ID_DEFINED) != 0;
        missing += !(flags & ID_DEFINED) && (flags || s->tag == SUB_OBJECT_ARRAY_DUMP);
        at += item.size;
    }
    return missing > defined;
}

/* Where, in the array whose elements begin here and take n bytes, lost objects are dumped; 0 if nowhere. Moves the input. */
static uint64_t find_lost(struct engine *e, uint8_t tag, uint64_t n, unsigned width)
{
    uint64_t first = e->in.offset, end = first + n;

    while (e->in.offset < end) {
        uint64_t here = e->in.offset, left = end - here;
        size_t size = look_at(&e->in, WAY_SIGHT, UINT64_MAX);
        struct suspect s = {.e = e,
                            .sight = {e->in.at, size, size < WAY_SIGHT, e->file.id_size, e->file.version},
                            .tag = tag,
                            .first = (width - (here - first) % width) % width,
                            .width = width};
        struct search search = {.sight = &s.sight,
                                .file = &e->file,
                                .end = UINT64_MAX,
                                .past = left < size ? left : 0,
                                .times = &e->framing.times,
                                .may_begin = may_begin,
                                .context = &s};
        uint64_t there = left < size ? left : size;
        struct way way = find_way(&search, 0, there < LONG_ARRAY_STEP ? there : LONG_ARRAY_STEP);

        if (way.kind == WAY_SUBRECORD && are_lost(&s, way.at, there))
            return here + way.at;
        if (input_skip(&e->in, way.kind == WAY_NONE ? way.at : way.at + 1) == 0)
            break;
    }
    return 0;
}

/* The size of the head of an array and of its elements. False if the tag is of no array. */
static bool array_layout(const uint8_t *p, unsigned id_size, size_t *head, unsigned *width)
{
    if (*p == SUB_OBJECT_ARRAY_DUMP) {
        *head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
        *width = id_size;
        return true;
    }
    if (*p != SUB_PRIMITIVE_ARRAY_DUMP)
        return false;
    *head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size);
    *width = type_size(p[*head - 1], id_size);
    return *width > 0;
}

static bool look_into_subrecord(struct checker *ck, void *context, uint64_t size)
{
    struct engine *e = context;
    uint64_t at = ck->in->offset, end = at + size, found = 0, rest;
    struct jump jump = jumps_at(&ck->file->jumps, jumps_find(&ck->file->jumps, at));
    uint8_t tag = *ck->in->at;
    unsigned width;
    size_t head;

    if (array_layout(ck->in->at, ck->file->id_size, &head, &width) && size > head && jump.from != at) { /* no part of others */
        input_advance(ck->in, head);
        found = find_lost(e, tag, size - head, width);
    }
    if (found)
        jumps_note(&ck->file->long_arrays, at, found, 0, false);
    rest = end - ck->in->offset;
    return input_skip(ck->in, rest) == rest;
}

/* Passes what is no array that may hold a lost object. */
static size_t pass_others(struct checker *ck, void *context, size_t n)
{
    struct suspect s = {.e = context, .sight = {ck->in->at, n, false, ck->file->id_size, ck->file->version}};
    uint64_t at = 0;
    struct measure m;
    size_t head;

    while (at < n && measure_object(s.sight.at + at, n - at, s.sight.id_size, &m) == MEASURED && m.size <= n - at) {
        if (array_layout(s.sight.at + at, s.sight.id_size, &head, &s.width)) {
            s.first = at + head;
            for (uint64_t i = s.first; i < at + m.size; i += s.width)
                if (may_begin(&s, i))
                    return at;
        }
        at += m.size;
    }
    return at;
}

void find_long_arrays(struct engine *e, uint64_t end)
{
    const struct visitor visitor = {.subrecord = look_into_subrecord, .many = pass_others, .context = e};
    uint64_t back = e->in.offset;

    if (!e->is_followed || !e->run.missing[SHAPE_ANY] || e->run.memory.exhausted || e->in.error || !input_can_reread(&e->in) ||
        !e->heap.stretches.list.count)
        return;
    read_again(&e->ck, stretches_at(&e->heap.stretches, 0)->at, stretches_at(&e->heap.stretches, 0)->record_end, end, &visitor);
    input_seek(&e->in, back);
}
