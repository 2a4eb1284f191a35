/* The second look at the object arrays of a heap dump: which of them name objects that are missing, as far as elements of Object[]
 * alone, or these too, name the objects. */
#include <string.h>

#include "format/subrecord.h"
#include "reread/reread.h"

/* The missing objects that elements of Object[] name. Few others pass the range and the filter. */
struct missing {
    unsigned id_size;
    uint64_t lowest, span;
    uint64_t filter[1024];
    struct page_filter pages;
    bool any;
};

static void add_missing(void *context, uint64_t id, unsigned flags)
{
    struct missing *missing = context;

    if (!(flags & ID_ELEMENT))
        return;
    if (!missing->any) /* zeroed here, because most heap dumps, of which a file may have many, have none */
        memset(missing->filter, 0, sizeof missing->filter);
    missing->filter[id >> 9 & 1023] |= UINT64_C(1) << (id >> 3 & 63);
    page_filter_add(&missing->pages, id_to_key(id, missing->id_size) >> PAGE_BITS);
    if (!missing->any || id < missing->lowest) {
        missing->span += missing->any ? missing->lowest - id : 0;
        missing->lowest = id;
    } else if (id - missing->lowest > missing->span) {
        missing->span = id - missing->lowest;
    }
    missing->any = true;
}

static inline bool may_be_missing(const struct missing *missing, uint64_t id)
{
    return id - missing->lowest <= missing->span && missing->filter[id >> 9 & 1023] >> (id >> 3 & 63) & 1;
}

/* n elements of an array. */
static void look_at_elements(struct checker *ck, const struct missing *missing, const struct OBJECT_ARRAY_DUMP *array,
                             const uint8_t *p, size_t n)
{
    unsigned id_size = ck->file->id_size;

    for (size_t i = 0; i < n; i++) {
        uint64_t id = get_id(p + i * id_size, id_size);

        if (may_be_missing(missing, id) && id && id != array->object_id &&
            (id_set_get(&ck->heap->objects, id) & (ID_DEFINED | ID_ELEMENT)) == ID_ELEMENT)
            meet_naming_array(ck, array->object_id, array->class_id, id);
    }
}

/* Begins at the tag of an object array of `size` bytes, with the fixed part in the window. False if the dump ends within it. */
static bool look_at_array(struct checker *ck, const struct missing *missing, uint64_t size)
{
    unsigned id_size = ck->file->id_size;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    struct OBJECT_ARRAY_DUMP array;

    if (!read_OBJECT_ARRAY_DUMP(&c, id_size, &array))
        return false;
    input_advance(ck->in, head);
    for (uint64_t left = (size - head) / id_size * id_size; left;) {
        size_t wanted = left < ck->run->sizes.piece ? (size_t)left : ck->run->sizes.piece;

        if (input_need(ck->in, wanted) < wanted)
            return false;
        look_at_elements(ck, missing, &array, ck->in->at, wanted / id_size);
        input_advance(ck->in, wanted);
        left -= wanted;
    }
    return true;
}

static bool look_at_subrecord(struct checker *ck, void *context, uint64_t size)
{
    uint64_t end = ck->in->offset + size, rest;

    if (*ck->in->at == SUB_OBJECT_ARRAY_DUMP && !look_at_array(ck, context, size))
        return false;
    rest = end - ck->in->offset;
    return input_skip(ck->in, rest) == rest;
}

/* The objects and arrays that are complete in the window. */
static size_t look_at_many(struct checker *ck, void *context, size_t n)
{
    const uint8_t *p = ck->in->at, *const end = p + n;
    unsigned id_size = ck->file->id_size;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
    struct measure m;

    while (is_whole_object(p, end, id_size, &m)) {
        if (*p == SUB_OBJECT_ARRAY_DUMP) {
            struct cursor c = {p + 1, p + head};
            struct OBJECT_ARRAY_DUMP array;

            if (read_OBJECT_ARRAY_DUMP(&c, id_size, &array))
                look_at_elements(ck, context, &array, p + head, (size_t)(m.size - head) / id_size);
        }
        p += m.size;
    }
    return (size_t)(p - ck->in->at);
}

/* In the order of the file, up to an offset. Leaves the input where it is. */
static void look_at_arrays(struct checker *ck, struct missing *missing, uint64_t end)
{
    const struct visitor visitor = {.subrecord = look_at_subrecord, .many = look_at_many, .context = missing};
    const struct stretches *stretches = &ck->heap->stretches;
    uint64_t back = ck->in->offset;

    for (size_t i = 0; i < stretches->list.count; i++) {
        const struct stretch *s = stretches_at(stretches, i);
        uint64_t stretch_end = i + 1 < stretches->list.count ? stretches_at(stretches, i + 1)->at : end;

        if (page_filters_meet(&s->elements, &missing->pages))
            read_again(ck, s->at, s->record_end, stretch_end, &visitor);
    }
    input_seek(ck->in, back);
}

void find_arrays(struct checker *ck, uint64_t end)
{
    struct missing missing;

    if (ck->run->memory.exhausted || ck->in->error)
        return;
    if (!input_can_reread(ck->in)) {
        meet_logged_arrays(ck);
        return;
    }
    missing.id_size = ck->file->id_size;
    missing.span = 0;
    missing.pages = (struct page_filter){0};
    missing.any = false;
    id_set_sweep(&ck->heap->objects, add_missing, &missing);
    if (missing.any)
        look_at_arrays(ck, &missing, end);
}
