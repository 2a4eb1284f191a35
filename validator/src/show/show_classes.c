/* See show.h. The classes of the instances that are shown, with their superclasses: they say what the fields of an instance are. */
#include <string.h>

#include "show/show.h"

static const uint64_t class_search_limit = UINT64_C(256) << 20; /* bytes of the heap dump */

struct pending {
    uint64_t *ids; /* classes that are not found yet: of instances, or superclasses of classes that are found */
    size_t count;
};

/* Replaces each class by the first class of its superclass chain that is not found yet. */
static void follow_superclasses(struct show *s, struct pending *p)
{
    enum { DEPTH_MAX = 1 << 16 };
    unsigned id_size = s->replay.id_size;

    for (size_t i = 0; i < p->count;) {
        uint64_t copy;
        unsigned steps = 0;

        while (p->ids[i] && steps++ < DEPTH_MAX && keymap_get(&s->classes, p->ids[i], &copy))
            p->ids[i] = get_id((const uint8_t *)(uintptr_t)copy + 1 + OFFSET_OF(CLASS_DUMP, super_id, id_size), id_size);
        if (p->ids[i] && steps <= DEPTH_MAX)
            i++;
        else
            p->ids[i] = p->ids[--p->count];
    }
}

static bool is_pending(const struct pending *p, uint64_t id)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->ids[i] == id)
            return true;
    return false;
}

static void keep_class(struct show *s, struct pending *p, const struct item *item)
{
    size_t there = input_need(&s->in, (size_t)item->size);
    uint64_t id;
    uint8_t *copy;

    if (there < item->size)
        return;
    id = get_id(s->in.at + 1, s->replay.id_size);
    if (keymap_get(&s->classes, id, NULL))
        return;
    copy = arena_get(&s->copies, (size_t)item->size);
    if (!copy)
        return;
    memcpy(copy, s->in.at, (size_t)item->size);
    if (keymap_put(&s->classes, id, (uintptr_t)copy) && is_pending(p, id))
        follow_superclasses(s, p);
}

/* The classes of the instances among the items. */
static struct pending classes_of(struct show *s, const struct item *items, size_t count, uint64_t *ids)
{
    struct pending p = {.ids = ids};

    for (size_t i = 0; i < count; i++) {
        struct cursor c = show_bytes(s, items[i].offset, 1 + SIZE_OF(INSTANCE_DUMP, s->replay.id_size));
        struct INSTANCE_DUMP r;

        if (items[i].kind == ITEM_SUBRECORD && cursor_take(&c, 1) && c.at[-1] == SUB_INSTANCE_DUMP &&
            read_INSTANCE_DUMP(&c, s->replay.id_size, &r) && !is_pending(&p, r.class_id))
            p.ids[p.count++] = r.class_id;
    }
    return p;
}

void show_find_classes(struct show *s, uint64_t heap_start, const struct item *items, size_t count, uint64_t *ids)
{
    struct pending p = classes_of(s, items, count, ids);
    bool goes_on = heap_start && p.count && show_seek(s, heap_start, 0);

    /* Most producers write all classes before the first instance. */
    while (goes_on && p.count && !s->memory.exhausted && s->in.offset - heap_start < class_search_limit) {
        struct replay_item read;
        struct item item;
        bool is_suspect;

        if (!show_next(s, &item, &read, &is_suspect))
            return;
        s->is_damaged |= is_suspect;
        if (item.kind == ITEM_SUBRECORD && *s->in.at == SUB_CLASS_DUMP)
            keep_class(s, &p, &item);
        goes_on = show_pass(s, &item, &read);
    }
}
