/* See pattern.h. */
#include "heap/pattern.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALL_KINDS_FROM = 2048, /* objects: a cell of this size has at least one of each kind */
    SPINE_MOST = 48,
    SPINE_OF = 8,      /* the spine can name one of this many objects */
    FAR_EACH = 16,     /* one of this many free references leads to another cell */
    MORE_NOT_NULL = 3, /* one of this many references that mixed.def does not have is null, as among all references */
    TRIES = 8          /* to find a kind of which one is already named */
};
#define NO_EDGE UINT32_MAX

struct growth {
    struct pattern *p;
    const struct mixed_kind_row *kinds;
    uint64_t key, draws;
    uint32_t size, object_count, edge_count;
    uint32_t left[KINDS], left_in_all;
    uint32_t open[KINDS]; /* the newest edge to an object of each kind; KIND_RARE: to any object; */
    uint32_t *older;      /* and for each edge, the next edge to the same kind */
    uint32_t *drawn;      /* by slot: how often its target was drawn */
};

static uint64_t draw(struct growth *g, uint64_t n)
{
    return below(mix_of(g->key, g->draws++, 50), n);
}

/* ---- How many of each ---- */

/* Rounded so that the sum is right. KIND_RARE gets the remainder. */
static void count_kinds(struct pattern *p, uint32_t size, const struct mixed_kind_row kinds[KINDS])
{
    uint64_t sum = 0;
    uint32_t counted = 1, most = 0; /* the spine is one of them */

    for (uint32_t k = 0; k < KIND_RARE; k++) {
        uint64_t before = sum * size / MIXED_SHARES;

        sum += kinds[k].share;
        p->kinds[k].count = (uint32_t)(sum * size / MIXED_SHARES - before);
        if (p->kinds[k].count == 0 && kinds[k].share > 0 && size >= ALL_KINDS_FROM)
            p->kinds[k].count = 1;
        counted += p->kinds[k].count;
        if (p->kinds[k].count > p->kinds[most].count)
            most = k;
    }
    if (counted > size) {
        p->kinds[most].count -= counted - size;
        counted = size;
    }
    p->kinds[KIND_RARE].count = size - counted;
    for (uint32_t k = 0, first = 0; k < KINDS; first += p->kinds[k++].count)
        p->kinds[k].first = first;
}

static uint32_t edges_each(const struct pattern *p, const struct mixed_kind_row *kind)
{
    if (kind->form == FORM_INSTANCE)
        return kind->slot_count;
    return kind->form == FORM_OBJECT_ARRAY ? p->arrays[kind->array].edges : 0;
}

static uint32_t spine_length(uint32_t size)
{
    return size / SPINE_OF < SPINE_MOST ? size / SPINE_OF + 1 : SPINE_MOST;
}

/* ---- Growing ---- */

static void open_edge(struct growth *g, uint32_t kind)
{
    g->p->edges[g->edge_count] = EDGE_NULL;
    if (kind != TARGET_NULL) {
        g->older[g->edge_count] = g->open[kind];
        g->open[kind] = g->edge_count;
    }
    g->edge_count++;
}

static void add_spine(struct growth *g)
{
    uint32_t elements = spine_length(g->size);

    g->p->objects[g->object_count++] =
        (struct pattern_object){.class = CORE_OBJECT_ARRAY, .rank = elements, .form = FORM_SPINE, .type = TYPE_OBJECT};
    open_edge(g, TARGET_NULL); /* the next spine */
    for (uint32_t i = 1; i < elements; i++)
        open_edge(g, KIND_RARE);
}

/* The targets of a slot are taken in turn, so that even a few objects have the right shares. */
static uint32_t draw_target(struct growth *g, const struct mixed_row *slot)
{
    uint32_t number = mixed_slot_number(slot);

    return mixed_target(slot, even(mix_of(g->key, number, 51), g->drawn[number]++));
}

static void add_object(struct growth *g, uint32_t k)
{
    const struct mixed_kind_row *kind = &g->kinds[k];
    struct pattern_kind *counted = &g->p->kinds[k];
    uint32_t rank = counted->count - g->left[k], edges = edges_each(g->p, kind);

    g->p->members[counted->first + rank] = g->object_count;
    g->p->objects[g->object_count++] = (struct pattern_object){.edges = g->edge_count,
                                                               .class = kind->class,
                                                               .rank = rank,
                                                               .form = (uint8_t)kind->form,
                                                               .type = kind->type,
                                                               .kind = (uint8_t)k};
    g->left[k]--;
    g->left_in_all--;
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t at = kind->form != FORM_INSTANCE ? 0 : kind->slot_at ? kind->slot_at[i] : i;
        const struct mixed_row *slot = at == MIXED_SLOT_MORE ? NULL : mixed_slot(kind->slots, at);
        uint32_t target = slot ? draw_target(g, slot) : draw(g, MORE_NOT_NULL) ? KIND_RARE : TARGET_NULL;

        /* The elements of an array that are edges are not null. */
        while (kind->form == FORM_OBJECT_ARRAY && target == TARGET_NULL)
            target = draw_target(g, slot);
        open_edge(g, target);
    }
}

static uint32_t draw_kind(struct growth *g)
{
    uint64_t at = draw(g, g->left_in_all);
    uint32_t k = 0;

    while (at >= g->left[k])
        at -= g->left[k++];
    return k;
}

/* The kind of the next object: by the shares, but preferably one that an edge leads to. */
static uint32_t next_kind(struct growth *g)
{
    uint32_t k = KIND_RARE;

    for (unsigned i = 0; i < TRIES; i++) {
        k = draw_kind(g);
        if (g->open[k] != NO_EDGE)
            return k;
    }
    if (g->open[KIND_RARE] != NO_EDGE)
        return k;
    for (uint32_t other = 0; other < KINDS; other++)
        if (g->left[other] > 0 && g->open[other] != NO_EDGE)
            return other;
    return k;
}

static void grow(struct growth *g)
{
    add_spine(g);
    while (g->left_in_all > 0) {
        uint32_t k = next_kind(g), wanted = g->open[k] != NO_EDGE ? k : KIND_RARE, edge = g->open[wanted];

        if (edge == NO_EDGE)
            g->p->orphans++;
        else {
            g->open[wanted] = g->older[edge];
            g->p->edges[edge] = g->object_count;
        }
        add_object(g, k);
    }
}

/* Edges that no new object was made for lead to an existing object of their kind. */
static void close_open(struct growth *g)
{
    for (uint32_t k = 0; k < KINDS; k++) {
        const struct pattern_kind *counted = &g->p->kinds[k];
        bool lone = g->kinds[k].share > 0 && g->kinds[k].share < MIXED_SHARES / g->size;

        for (uint32_t edge = g->open[k]; edge != NO_EDGE; edge = g->older[edge]) {
            uint32_t mode = lone ? EDGE_HOME : draw(g, FAR_EACH) == 0 ? EDGE_FAR : EDGE_NEAR, to;

            if (k == KIND_RARE)
                to = (uint32_t)draw(g, g->size);
            else if (counted->count > 0)
                to = g->p->members[counted->first + (uint32_t)draw(g, counted->count)];
            else
                continue; /* null: a small cell has no object of this kind */
            g->p->edges[edge] = mode << EDGE_SLOT_BITS | to;
        }
    }
}

static void note_far(struct growth *g)
{
    for (uint32_t i = 0; i < g->size; i++) {
        struct pattern_object *o = &g->p->objects[i];
        uint32_t edges = o->form == FORM_INSTANCE ? g->kinds[o->kind].slot_count : 0;

        for (uint32_t e = o->edges; e < o->edges + edges; e++)
            o->leads_far |= g->p->edges[e] >> EDGE_SLOT_BITS == EDGE_FAR;
    }
}

struct pattern *pattern_new(struct model *m, unsigned shift, const struct mixed_kind_row kinds[KINDS],
                            const struct pattern_array arrays[MIXED_ARRAYS])
{
    uint32_t size = (uint32_t)1 << shift, edges = spine_length(size);
    struct growth g = {.kinds = kinds, .key = key_of(m), .size = size, .left_in_all = size - 1};
    struct pattern *p = shape_memory(m, sizeof *p);

    if (!p)
        return NULL;
    *p = (struct pattern){.shift = shift, .mask = size - 1};
    memcpy(p->arrays, arrays, sizeof p->arrays);
    count_kinds(p, size, kinds);
    for (uint32_t k = 0; k < KINDS; k++) {
        p->kinds[k].array = (uint16_t)kinds[k].array;
        g.left[k] = p->kinds[k].count;
        g.open[k] = NO_EDGE;
        edges += p->kinds[k].count * edges_each(p, &kinds[k]);
    }
    p->objects = shape_memory(m, size * sizeof *p->objects);
    p->edges = shape_memory(m, (edges + MODEL_IDS_STEP) * sizeof *p->edges);
    p->members = shape_memory(m, size * sizeof *p->members);
    g.p = p;
    g.older = malloc(edges * sizeof *g.older);
    g.drawn = calloc(mixed_slot_numbers(), sizeof *g.drawn);
    if (p->objects && p->edges && p->members && g.older && g.drawn) {
        grow(&g);
        close_open(&g);
        note_far(&g);
        memset(p->edges + g.edge_count, 0, MODEL_IDS_STEP * sizeof *p->edges);
    } else {
        p = NULL;
    }
    free(g.older);
    free(g.drawn);
    return p;
}
