/* See class_names.h. */
#include "truth/class_names.h"

#include <stdlib.h>

struct wanted {
    uint64_t name_id;
    size_t class;
};

struct class_names {
    struct stage stage;
    struct truth *truth;
    struct wanted *wanted; /* by ID of the name */
    size_t count;
    bool ended; /* the dump ends before the next event */
    bool no_memory;
};

/* An ID of 0 is that of no string, even where a dump defines one. */
static bool is_to_be_named(const struct truth_class *class)
{
    return class->loaded && !class->name && class->name_id;
}

static int by_name_id(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    return x->name_id != y->name_id ? (x->name_id < y->name_id ? -1 : 1) : 0;
}

/* The first entry with this ID or a higher one. */
static size_t find(const struct class_names *n, uint64_t name_id)
{
    size_t low = 0, high = n->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (n->wanted[middle].name_id < name_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first string with this ID is the name. A name with a NUL cannot be shown. */
static void name_classes(struct class_names *n, const struct event *e)
{
    uint64_t id = e->fields.UTF8.id;

    for (size_t i = find(n, id); i < n->count && n->wanted[i].name_id == id; i++) {
        struct truth_class *class = &n->truth->classes[n->wanted[i].class];

        if (!class->name && (!e->body_size || (e->body && !memchr(e->body, 0, e->body_size))))
            n->no_memory |= !truth_name_class(class, (const char *)e->body, e->body_size);
    }
}

static void take(struct stage *stage, struct event *e)
{
    struct class_names *n = (struct class_names *)stage;

    n->ended |= e->keep != KEEP_ALL;
    if (e->kind == EVENT_RECORD && e->layout == LAYOUT_ID_UTF8 && !n->ended)
        name_classes(n, e);
}

struct class_names *class_names_new(struct truth *truth, unsigned id_size, bool *needed)
{
    struct class_names *n;
    size_t count = 0;

    for (size_t i = 0; i < truth->class_count; i++)
        count += is_to_be_named(&truth->classes[i]);
    *needed = count != 0;
    n = count ? calloc(1, sizeof *n) : NULL;
    if (!n)
        return NULL;
    *n = (struct class_names){
        .stage = {.take = take, .id_size = id_size}, .truth = truth, .wanted = calloc(count, sizeof *n->wanted)};
    if (!n->wanted) {
        free(n);
        return NULL;
    }
    for (size_t i = 0; i < truth->class_count; i++)
        if (is_to_be_named(&truth->classes[i]))
            n->wanted[n->count++] = (struct wanted){truth->classes[i].name_id, i};
    qsort(n->wanted, n->count, sizeof *n->wanted, by_name_id);
    return n;
}

struct stage *class_names_stage(struct class_names *n)
{
    return &n->stage;
}

bool class_names_finish(struct class_names *n)
{
    return !n->no_memory;
}

void class_names_free(struct class_names *n)
{
    if (n)
        free(n->wanted);
    free(n);
}
