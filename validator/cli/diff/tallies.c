#include "tallies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct counts *counts_of_number(struct tallies *t, unsigned side, uint32_t number)
{
    struct by_class *classes = &t->classes[side];

    if (number >= classes->capacity) {
        size_t capacity = number < 512 ? 1024 : 2 * (size_t)number;
        struct counts *grown = realloc(classes->at, capacity * sizeof *grown);

        if (grown == NULL) {
            t->out_of_memory = true;
            return NULL;
        }
        memset(grown + classes->capacity, 0, (capacity - classes->capacity) * sizeof *grown);
        classes->at = grown;
        classes->capacity = capacity;
    }
    return &classes->at[number];
}

/* ---- Classes that are not known yet ------------------------------------------------------------------------------ */

/* Where the class is, or would be. */
static struct late_class *late_class_of(const struct tallies *t, const struct late_classes *late, uint64_t id)
{
    uint64_t h = (id ^ t->key) * 0x9e3779b97f4a7c15U;
    size_t i = (size_t)(h >> 32) & (late->capacity - 1);

    while (late->at[i].is_used && late->at[i].id != id)
        i = (i + 1) & (late->capacity - 1);
    return &late->at[i];
}

static bool grow_late(const struct tallies *t, struct late_classes *late)
{
    struct late_classes grown = {.count = late->count, .capacity = late->capacity ? 2 * late->capacity : 64};

    grown.at = calloc(grown.capacity, sizeof *grown.at);
    if (grown.at == NULL)
        return false;
    for (size_t i = 0; i < late->capacity; i++)
        if (late->at[i].is_used)
            *late_class_of(t, &grown, late->at[i].id) = late->at[i];
    free(late->at);
    *late = grown;
    return true;
}

static struct counts *counts_of_late(struct tallies *t, unsigned side, uint64_t id)
{
    struct late_classes *late = &t->late[side];
    struct late_class *class;

    if (2 * late->count >= late->capacity && !grow_late(t, late)) {
        t->out_of_memory = true;
        return NULL;
    }
    class = late_class_of(t, late, id);
    late->count += !class->is_used;
    class->id = id;
    class->is_used = true;
    return &class->counts;
}

static void add_counts(struct counts *to, const struct counts *from)
{
    to->same += from->same;
    to->changed += from->changed;
    to->only[0] += from->only[0];
    to->only[1] += from->only[1];
}

static void settle_late(struct tallies *t, const struct diff *diff, unsigned side)
{
    const struct late_classes *late = &t->late[side];

    for (size_t i = 0; i < late->capacity; i++) {
        uint32_t number = late->at[i].is_used ? hprof_class_number(diff->sides[side].reader, late->at[i].id) : UINT32_MAX;
        struct counts *to = number == UINT32_MAX ? &t->unknown : counts_of_number(t, side, number);

        if (to != NULL)
            add_counts(to, &late->at[i].counts);
    }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

struct counts *counts_of_class(struct tallies *t, const struct diff *diff, unsigned side, const struct entry *e)
{
    uint32_t number;

    if (e->kind == KIND_PRIMITIVE_ARRAYS)
        return &t->arrays[e->class_id % PRIMITIVE_TYPES];
    if (e->kind != KIND_INSTANCES && e->kind != KIND_OBJECT_ARRAYS)
        return NULL;
    number = hprof_class_number(diff->sides[side].reader, e->class_id);
    return number == UINT32_MAX ? counts_of_late(t, side, e->class_id) : counts_of_number(t, side, number);
}

/* ---- Classes with differences ------------------------------------------------------------------------------------ */

static bool differs(const struct counts *c)
{
    return c->changed + c->only[0] + c->only[1] > 0;
}

static uint64_t differences_of(const struct counts *c)
{
    return c->changed + c->only[0] + c->only[1];
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct class_counts *)a)->name, ((const struct class_counts *)b)->name);
}

static int compare_counts(const void *a, const void *b)
{
    uint64_t one = differences_of(&((const struct class_counts *)a)->counts);
    uint64_t other = differences_of(&((const struct class_counts *)b)->counts);

    return one != other ? (one < other ? 1 : -1) : compare_names(a, b);
}

static void keep_class(struct tallies *t, struct diff *d, const char *name, const struct counts *counts, size_t *capacity)
{
    if (!differs(counts))
        return;
    if (d->class_count == *capacity) {
        struct class_counts *grown = realloc(d->classes, (2 * *capacity + 16) * sizeof *grown);

        if (grown == NULL) {
            t->out_of_memory = true;
            return;
        }
        d->classes = grown;
        *capacity = 2 * *capacity + 16;
    }
    d->classes[d->class_count].counts = *counts;
    d->classes[d->class_count].name = strdup(name);
    if (d->classes[d->class_count].name == NULL)
        t->out_of_memory = true;
    else
        d->class_count++;
}

/* Classes of both sides with the same name are one line. */
static void merge_classes(struct diff *d)
{
    size_t kept = 0;

    if (d->class_count == 0)
        return;
    qsort(d->classes, d->class_count, sizeof *d->classes, compare_names);
    for (size_t i = 1; i < d->class_count; i++) {
        struct counts *to = &d->classes[kept].counts, *from = &d->classes[i].counts;

        if (strcmp(d->classes[kept].name, d->classes[i].name) != 0) {
            d->classes[++kept] = d->classes[i];
            continue;
        }
        add_counts(to, from);
        free(d->classes[i].name);
    }
    d->class_count = kept + 1;
    qsort(d->classes, d->class_count, sizeof *d->classes, compare_counts);
}

bool tallies_finish(struct tallies *t, struct diff *diff)
{
    static const char *const types[PRIMITIVE_TYPES] = {[4] = "boolean[]", [5] = "char[]",  [6] = "float[]", [7] = "double[]",
                                                       [8] = "byte[]",    [9] = "short[]", [10] = "int[]",  [11] = "long[]"};
    size_t capacity = 0;
    struct hprof_class class;
    char unknown[64];

    hprof_class_init(&class);
    for (unsigned side = 0; side < SIDES; side++) {
        settle_late(t, diff, side);
        for (size_t i = 0; i < t->classes[side].capacity; i++) {
            if (!differs(&t->classes[side].at[i]) || hprof_class_at(diff->sides[side].reader, (uint32_t)i, &class) != 1)
                continue;
            snprintf(unknown, sizeof unknown, "class 0x%" PRIx64 " without a name", class.id);
            keep_class(t, diff, class.name[0] != '\0' ? class.name : unknown, &t->classes[side].at[i], &capacity);
        }
    }
    for (unsigned type = 0; type < PRIMITIVE_TYPES; type++)
        keep_class(t, diff, types[type] != NULL ? types[type] : "arrays of an undefined type", &t->arrays[type], &capacity);
    keep_class(t, diff, "classes that are not defined", &t->unknown, &capacity);
    merge_classes(diff);
    return !t->out_of_memory;
}

void tallies_free(struct tallies *t)
{
    for (unsigned side = 0; side < SIDES; side++) {
        free(t->classes[side].at);
        free(t->late[side].at);
    }
}
