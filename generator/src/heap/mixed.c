/* See mixed.h. */
#include "heap/mixed.h"

#include <stdlib.h>

enum row_kind { ROW_KNOWN, ROW_CLASS, ROW_OBJECT_ARRAYS, ROW_PRIMITIVE_ARRAYS, ROW_SLOT, ROW_TARGET };

struct mixed_row {
    enum row_kind row;
    uint32_t kind; /* the symbol */
    uint32_t class
        ; /* KNOWN: the class; CLASS: its superclass; OBJECT_ARRAYS: the class of the elements; PRIMITIVE_ARRAYS: their type */
    uint32_t share; /* SLOT: the share of nulls */
    uint32_t nonnull;
    uint32_t array;
    const char *name, *fields, *statics;
};

/* clang-format off */
static const struct mixed_row rows[] = {
#define KNOWN(symbol, is, objects) {.row = ROW_KNOWN, .kind = of_##symbol, .class = is, .share = objects},
#define CLASS(symbol, super, text, objects, own, shared) \
    {.row = ROW_CLASS, .kind = of_##symbol, .class = super, .share = objects, .name = text, .fields = own, .statics = shared},
#define OBJECT_ARRAYS(symbol, of, objects, thousandths, lengths) \
    {.row = ROW_OBJECT_ARRAYS, .kind = of_##symbol, .class = of, .share = objects, .nonnull = thousandths, .array = array_##symbol},
#define PRIMITIVE_ARRAYS(symbol, type, objects, lengths) \
    {.row = ROW_PRIMITIVE_ARRAYS, .kind = of_##symbol, .class = type, .share = objects, .array = array_##symbol},
#define SLOT(nulls) {.row = ROW_SLOT, .share = nulls},
#define TARGET(symbol, thousandths) {.row = ROW_TARGET, .kind = of_##symbol, .share = thousandths},
#include "heap/mixed.def"
#undef KNOWN
#undef CLASS
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS
#undef SLOT
#undef TARGET
};

#define LENGTHS(...) {__VA_ARGS__}
static const struct length_table tables[MIXED_ARRAYS] = {
#define KNOWN NOTHING
#define CLASS NOTHING
#define OBJECT_ARRAYS(symbol, of, objects, thousandths, lengths) [array_##symbol] = {lengths},
#define PRIMITIVE_ARRAYS(symbol, type, objects, lengths) [array_##symbol] = {lengths},
#define SLOT NOTHING
#define TARGET NOTHING
#include "heap/mixed.def"
};
/* clang-format on */

enum {
    ROWS = sizeof rows / sizeof *rows,
    ALL_NAMED = 990 /* from this many thousandths on, the rest was too rare to be recorded, and is like the last one */
};

const struct length_table *mixed_lengths(enum mixed_array array)
{
    return &tables[array];
}

static const struct mixed_row *next_slot(const struct mixed_row *row)
{
    do
        row++;
    while (row < rows + ROWS && row->row == ROW_TARGET);
    return row;
}

const struct mixed_row *mixed_slot(const struct mixed_row *slots, uint32_t n)
{
    while (n-- > 0)
        slots = next_slot(slots);
    return slots;
}

uint32_t mixed_slot_number(const struct mixed_row *slot)
{
    return (uint32_t)(slot - rows);
}

uint32_t mixed_slot_numbers(void)
{
    return ROWS;
}

uint32_t mixed_target(const struct mixed_row *slot, uint64_t bits)
{
    uint32_t at = (uint32_t)below(bits, MIXED_THOUSAND), sum = slot->share;
    const struct mixed_row *end = next_slot(slot);

    if (at < sum)
        return TARGET_NULL;
    for (const struct mixed_row *target = slot + 1; target < end; target++) {
        sum += target->share;
        if (at < sum)
            return target->kind;
    }
    if (sum < ALL_NAMED)
        return KIND_RARE;
    return end == slot + 1 ? TARGET_NULL : end[-1].kind;
}

static void load_slots(struct mixed_kind_row *kind, const struct mixed_row *row)
{
    const struct mixed_row *slot = row + 1;

    kind->slots = slot;
    for (; slot < rows + ROWS && slot->row == ROW_SLOT; slot = next_slot(slot))
        kind->slot_count++;
}

bool mixed_load(struct model *m, struct mixed_kind_row kinds[KINDS])
{
    for (const struct mixed_row *row = rows; row < rows + ROWS; row++) {
        struct mixed_kind_row *kind = &kinds[row->kind];

        if (row->row == ROW_SLOT || row->row == ROW_TARGET)
            continue;
        *kind = (struct mixed_kind_row){.share = row->share, .nonnull = row->nonnull, .array = row->array};
        switch (row->row) {
        case ROW_KNOWN:
            kind->class = row->class;
            break;
        case ROW_CLASS:
            kind->class = class_add(m, row->name, row->class, row->fields, row->statics);
            break;
        case ROW_OBJECT_ARRAYS:
            kind->form = FORM_OBJECT_ARRAY;
            kind->type = TYPE_OBJECT;
            kind->class = row->class == CORE_OBJECT ? CORE_OBJECT_ARRAY : class_add_array(m, row->class);
            break;
        case ROW_PRIMITIVE_ARRAYS:
            kind->form = FORM_PRIMITIVE_ARRAY;
            kind->type = (uint8_t)row->class;
            kind->class = CORE_BOOLEAN_ARRAY + row->class - TYPE_BOOLEAN;
            break;
        case ROW_SLOT:
        case ROW_TARGET:
            break;
        }
        if (kind->class == MODEL_NONE)
            return false;
        load_slots(kind, row);
    }
    return true;
}

/* ---- Other numbers of references ---- */

struct refit {
    uint32_t *before, *now; /* references of its own that a class has */
    uint64_t *share;        /* of the objects of this class and its subclasses */
};

static void weigh(const struct model *m, const struct mixed_kind_row kinds[KINDS], struct refit *r)
{
    for (uint32_t c = 0; c < m->class_count; c++)
        for (uint32_t f = 0; f < m->classes[c].fields; f++)
            r->before[c] += m->fields[m->classes[c].first_field + f].type == TYPE_OBJECT;
    for (uint32_t k = 0; k < KIND_RARE; k++)
        if (kinds[k].form == FORM_INSTANCE)
            for (uint32_t c = kinds[k].class; c != MODEL_NONE; c = m->classes[c].super)
                r->share[c] += kinds[k].share;
}

/* In proportion, and rounded so that the running total is right. */
static void choose(const struct model *m, struct refit *r, uint64_t wanted)
{
    uint64_t all = 0, passed = 0, given = 0;

    for (uint32_t c = CORE_CLASSES; c < m->class_count; c++)
        all += r->before[c] * r->share[c];
    for (uint32_t c = 0; c < m->class_count; c++) {
        uint64_t due;

        r->now[c] = r->before[c];
        if (c < CORE_CLASSES || !r->before[c] || !r->share[c])
            continue;
        passed += r->before[c] * r->share[c];
        due = wanted * passed / all;
        r->now[c] = due > given ? (uint32_t)((due - given + r->share[c] / 2) / r->share[c]) : 0;
        given += r->now[c] * r->share[c];
    }
}

static bool map_slots(struct model *m, struct mixed_kind_row *kind, const struct refit *r)
{
    uint32_t count = 0, first = 0, slot = 0;
    uint16_t *at;

    for (uint32_t c = kind->class; c != MODEL_NONE; c = m->classes[c].super)
        count += r->now[c];
    kind->slot_at = at = shape_memory(m, (count + 1) * sizeof *at);
    if (!at)
        return false;
    for (uint32_t c = kind->class; c != MODEL_NONE; first += r->before[c], c = m->classes[c].super)
        for (uint32_t i = 0; i < r->now[c]; i++)
            at[slot++] = i < r->before[c] ? (uint16_t)(first + i) : MIXED_SLOT_MORE;
    kind->slot_count = count;
    return true;
}

bool mixed_refit(struct model *m, struct mixed_kind_row kinds[KINDS], uint64_t wanted)
{
    struct refit r = {.before = calloc(m->class_count, sizeof *r.before),
                      .now = calloc(m->class_count, sizeof *r.now),
                      .share = calloc(m->class_count, sizeof *r.share)};
    bool done = r.before && r.now && r.share;

    if (done) {
        weigh(m, kinds, &r);
        choose(m, &r, wanted);
        done = references_refit(m, CORE_CLASSES, r.now);
    }
    for (uint32_t k = 0; k < KIND_RARE && done; k++)
        if (kinds[k].form == FORM_INSTANCE)
            done = map_slots(m, &kinds[k], &r);
    free(r.before);
    free(r.now);
    free(r.share);
    return done;
}
