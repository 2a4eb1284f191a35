/* See hot_classes.h. */
#include "state/hot_classes.h"

#include <string.h>

enum { WIDE_FIELDS = USUAL_OR_SMALL(1 << 18, 128) /* of all wide classes: 1 MiB */ };

static size_t hot_bytes(unsigned bits)
{
    return sizeof(struct hot_class) << bits;
}

void hot_classes_fit(struct hot_classes *hot, struct memory *memory, const struct hash_key *key, uint64_t classes)
{
    enum { SLOTS_A_CLASS = 8 }; /* or classes that share one take turns */
    unsigned bits = HOT_BITS_LEAST;
    struct hot_class *slots;

    while (bits < HOT_BITS_MOST && UINT64_C(1) << bits < classes * SLOTS_A_CLASS)
        bits++;
    if (hot->slots && bits <= hot->bits)
        return;
    slots = memory_get_zeroed(memory, hot_bytes(bits));
    if (!slots)
        return;
    hot_classes_clear(hot, memory);
    *hot = (struct hot_classes){slots, key->multiply ^ 0x9E3779B97F4A7C14U, bits};
}

bool hot_classes_like(struct hot_classes *hot, const struct hot_classes *other, struct memory *memory)
{
    if (!other->slots)
        return false;
    if (hot->slots && hot->bits == other->bits)
        return true;
    hot_classes_clear(hot, memory);
    *hot = *other;
    hot->slots = memory_try(memory, hot_bytes(hot->bits));
    if (!hot->slots)
        return false;
    hot_classes_forget(hot);
    return true;
}

void hot_classes_forget(struct hot_classes *hot)
{
    memset(hot->slots, 0, hot_bytes(hot->bits));
}

void hot_classes_clear(struct hot_classes *hot, struct memory *memory)
{
    memory_put(memory, hot->slots, hot_bytes(hot->bits));
    hot->slots = NULL;
}

/* Only classes with few references and booleans, at small offsets, fit, so that no class costs more than its cache line. Classes
 * whose instances are noted are wide, too, so that others cost nothing more. */
bool describe_class(const struct classes *classes, uint32_t index, struct hot_class *hot)
{
    const struct layout *l = classes_layout(classes, index);
    unsigned references = 0, total = 0;

    if (l->total >= UINT32_MAX || l->special)
        return false;
    hot->bytes = (uint32_t)l->total;
    for (int booleans = 0; booleans < 2; booleans++) {
        unsigned parts = 0;

        for (uint32_t i = index; i != LAYOUT_NONE; i = classes_above(classes, i)) {
            const struct layout *part = classes_layout(classes, i);
            uint64_t base = l->total - part->total;

            if (++parts > HOT_FIELDS + 1) /* keeps walks short: all classes of the chain but the first have checked fields */
                return false;
            for (struct checked_field field = checked_fields_begin(classes, part); checked_fields_next(classes, &field);) {
                if ((field.type == TYPE_BOOLEAN) != booleans)
                    continue;
                if (total == HOT_FIELDS || base + field.at > UINT16_MAX)
                    return false;
                hot->fields[total++] = (uint16_t)(base + field.at);
            }
        }
        if (!booleans)
            references = total;
    }
    hot->references = (uint8_t)references;
    hot->booleans = (uint8_t)(total - references);
    return true;
}

/* ---- Wide classes ---- */

void wide_classes_init(struct wide_classes *wide, struct memory *memory, const struct hash_key *key)
{
    *wide = (struct wide_classes){0};
    keymap_init(&wide->first, memory, key, sizeof(uint32_t), sizeof(uint32_t));
}

void wide_classes_clear(struct wide_classes *wide)
{
    memory_put(wide->first.memory, wide->fields, wide->capacity * sizeof *wide->fields);
    keymap_clear(&wide->first);
    wide->fields = NULL;
    wide->capacity = wide->count = 0;
}

static bool add_number(struct wide_classes *wide, uint32_t number)
{
    void *fields = wide->fields;

    if (wide->count == WIDE_FIELDS ||
        !memory_grow(wide->first.memory, &fields, &wide->capacity, wide->count + 1, sizeof *wide->fields))
        return false;
    wide->fields = fields;
    wide->fields[wide->count++] = number;
    return true;
}

/* Adds the fields of one type of a class and its superclasses, and writes their number at an index. */
static bool add_fields(struct wide_classes *wide, const struct classes *classes, uint32_t index, uint8_t type,
                       uint64_t number_at)
{
    uint64_t total = classes_layout(classes, index)->total;

    for (uint32_t i = index; i != LAYOUT_NONE; i = classes_above(classes, i)) {
        const struct layout *part = classes_layout(classes, i);

        for (struct checked_field field = checked_fields_begin(classes, part); checked_fields_next(classes, &field);)
            if (field.type == type) {
                if (!add_number(wide, (uint32_t)(total - part->total + field.at)))
                    return false;
                wide->fields[number_at]++;
            }
    }
    return true;
}

bool describe_wide(struct wide_classes *wide, const struct classes *classes, uint32_t index, struct hot_class *hot)
{
    const struct layout *l = classes_layout(classes, index);
    uint64_t first = wide->count;
    bool there_is_room;

    if (l->total >= UINT32_MAX)
        return false;
    if (!keymap_get(&wide->first, index, &first)) {
        there_is_room = add_number(wide, 0) && add_number(wide, 0) && add_fields(wide, classes, index, TYPE_OBJECT, first) &&
                        add_fields(wide, classes, index, TYPE_BOOLEAN, first + 1);
        if (!there_is_room) {
            wide->count = (size_t)first;
            first = UINT32_MAX;
        }
        keymap_put(&wide->first, index, first);
    }
    if (first == UINT32_MAX)
        return false;
    hot->is_wide = true;
    hot->bytes = (uint32_t)l->total;
    hot->references = hot->booleans = 0;
    hot->first_wide = (uint32_t)first;
    hot->special = l->special;
    return true;
}
