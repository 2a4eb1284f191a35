/* See pattern.h. */
#include "heap/pattern.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPINE_MOST = 48,
    SPINE_OF = 8,      /* the spine can name one of this many objects */
    FAR_EACH = 16,     /* one of this many free references leads to another cell */
    MORE_NOT_NULL = 3, /* one of this many references that the rows does not have is null, as among all references */
    TRIES = 8          /* to find a kind of which one is already named */
};
#define NO_EDGE UINT32_MAX

struct growth {
    struct pattern *p;
    const struct heap_data *data;
    const struct data_kind *kinds;
    uint64_t key, draws;
    uint32_t size, object_count, edge_count;
    uint32_t *left, left_in_all; /* by kind */
    uint32_t *open;              /* the newest edge to an object of each kind; kind_rare(): to any object; */
    uint32_t *older;             /* and for each edge, the next edge to the same kind */
    uint32_t *drawn;             /* by row: how often its target was drawn */
};

static uint64_t draw(struct growth *g, uint64_t n)
{
    return below(mix_of(g->key, g->draws++, 50), n);
}

static uint32_t edges_each(const struct pattern *p, const struct data_kind *kind)
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
    if (kind != target_null(g->data)) {
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
    open_edge(g, target_null(g->data)); /* the next spine */
    for (uint32_t i = 1; i < elements; i++)
        open_edge(g, kind_rare(g->data));
}

/* The targets of a slot are taken in turn, so that even a few objects have the right shares. */
static uint32_t draw_target(struct growth *g, const struct data_row *slot)
{
    uint32_t number = (uint32_t)(slot - g->data->rows);

    return data_target(g->data, slot, even(mix_of(g->key, number, 51), g->drawn[number]++));
}

/* Evenly among all texts. */
static bool is_utf16(const struct growth *g, uint32_t k, uint32_t rank)
{
    uint64_t count = g->p->kinds[k].count,
             wanted = ((uint64_t)g->data->utf16 * g->size + g->data->shares - 1) / g->data->shares;

    wanted = wanted < count ? wanted : count;
    return k == g->data->text && (rank + 1) * wanted / count != rank * wanted / count;
}

static void add_object(struct growth *g, uint32_t k)
{
    const struct data_kind *kind = &g->kinds[k];
    struct pattern_kind *counted = &g->p->kinds[k];
    uint32_t rank = counted->count - g->left[k], edges = edges_each(g->p, kind);

    g->p->members[counted->first + rank] = g->object_count;
    g->p->objects[g->object_count++] = (struct pattern_object){.edges = g->edge_count,
                                                               .class = kind->class,
                                                               .rank = rank,
                                                               .form = kind->form & 63U,
                                                               .is_utf16 = is_utf16(g, k, rank),
                                                               .type = kind->type,
                                                               .kind = k & UINT16_MAX};
    g->left[k]--;
    g->left_in_all--;
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t at = kind->form != FORM_INSTANCE ? 0 : kind->slot_at ? kind->slot_at[i] : i;
        const struct data_row *slot = at == DATA_SLOT_MORE ? NULL : data_slot(g->data, kind->slots, at);
        uint32_t target = slot ? draw_target(g, slot) : draw(g, MORE_NOT_NULL) ? kind_rare(g->data) : target_null(g->data);

        /* The elements of an array that are edges are not null. */
        while (kind->form == FORM_OBJECT_ARRAY && target == target_null(g->data))
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
    uint32_t k = kind_rare(g->data);

    for (unsigned i = 0; i < TRIES; i++) {
        k = draw_kind(g);
        if (g->open[k] != NO_EDGE)
            return k;
    }
    if (g->open[kind_rare(g->data)] != NO_EDGE)
        return k;
    for (uint32_t other = 0; other <= kind_rare(g->data); other++)
        if (g->left[other] > 0 && g->open[other] != NO_EDGE)
            return other;
    return k;
}

static void grow(struct growth *g)
{
    add_spine(g);
    while (g->left_in_all > 0) {
        uint32_t k = next_kind(g), wanted = g->open[k] != NO_EDGE ? k : kind_rare(g->data), edge = g->open[wanted];

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
    for (uint32_t k = 0; k <= kind_rare(g->data); k++) {
        const struct pattern_kind *counted = &g->p->kinds[k];
        bool lone = g->kinds[k].share > 0 && g->kinds[k].share < g->data->shares / g->size;

        for (uint32_t edge = g->open[k]; edge != NO_EDGE; edge = g->older[edge]) {
            uint32_t mode = lone ? EDGE_HOME : draw(g, FAR_EACH) == 0 ? EDGE_FAR : EDGE_NEAR, to;

            if (k == kind_rare(g->data))
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

static unsigned shift_of(uint32_t size)
{
    unsigned shift = 0;

    while ((uint64_t)1 << shift < size)
        shift++;
    return shift;
}

static bool allocate(struct model *m, struct growth *g, uint32_t edges)
{
    struct pattern *p = g->p;
    uint32_t kinds = kind_rare(g->data) + 1;

    p->objects = shape_memory(m, g->size * sizeof *p->objects);
    p->edges = shape_memory(m, (edges + MODEL_IDS_STEP) * sizeof *p->edges);
    p->members = shape_memory(m, g->size * sizeof *p->members);
    g->older = malloc(edges * sizeof *g->older);
    g->drawn = calloc(g->data->row_count, sizeof *g->drawn);
    g->left = malloc(kinds * sizeof *g->left);
    g->open = malloc(kinds * sizeof *g->open);
    return p->objects && p->edges && p->members && g->older && g->drawn && g->left && g->open;
}

struct pattern *pattern_new(struct model *m, const struct heap_data *data, uint32_t size, const struct data_kind *kinds,
                            const struct pattern_array *arrays)
{
    uint32_t edges = spine_length(size), all = kind_rare(data) + 1, first = 0;
    struct growth g = {.data = data, .kinds = kinds, .key = key_of(m), .size = size, .left_in_all = size - 1};
    struct pattern *p = shape_memory(m, sizeof *p);
    bool good;

    if (!p)
        return NULL;
    *p = (struct pattern){.data = data, .shift = shift_of(size), .size = size, .arrays = arrays};
    p->mask = ((uint64_t)1 << p->shift) - 1;
    p->kinds = shape_memory(m, all * sizeof *p->kinds);
    if (!p->kinds)
        return NULL;
    for (uint32_t k = 0; k < all; first += kinds[k++].count) {
        p->kinds[k] = (struct pattern_kind){.count = kinds[k].count, .first = first, .array = (uint16_t)kinds[k].array};
        edges += kinds[k].count * edges_each(p, &kinds[k]);
    }
    g.p = p;
    good = allocate(m, &g, edges);
    if (good) {
        for (uint32_t k = 0; k < all; k++) {
            g.left[k] = kinds[k].count;
            g.open[k] = NO_EDGE;
        }
        grow(&g);
        close_open(&g);
        note_far(&g);
        memset(p->edges + g.edge_count, 0, MODEL_IDS_STEP * sizeof *p->edges);
    }
    free(g.older);
    free(g.drawn);
    free(g.left);
    free(g.open);
    return good ? p : NULL;
}
