/* What two objects of the same class refer to, in pairs: by field; by index, after and before what is the same at both ends, so
 * that one element more is one difference; and where a map or set has no order, by digest, then by key. */
#include <stdlib.h>

#include "content.h"
#include "mix.h"

struct pairing {
    const struct content *content;
    uint32_t objects[SIDES];
    uint32_t *references[SIDES], counts[SIDES];
    void (*each)(void *context, const struct child *child);
    void *context;
};

bool have_same_class(const struct content *content, uint32_t a, uint32_t b)
{
    const struct shape *one = graph_shape(&content->graphs[0], a), *other = graph_shape(&content->graphs[1], b);

    return one->key == other->key && one->kind == other->kind;
}

bool child_is_same(const struct content *content, const struct child *child)
{
    const uint32_t a = child->objects[0], b = child->objects[1];

    if (a >= REFERENCE_DANGLING || b >= REFERENCE_DANGLING)
        return a == b;
    return content->steps[a].partner == b || content->graphs[0].digests[a] == content->graphs[1].digests[b];
}

/* ---- Fields ------------------------------------------------------------------------------------------------------- */

static void pair_fields(struct pairing *p)
{
    const struct shape *shapes[SIDES] = {graph_shape(&p->content->graphs[0], p->objects[0]),
                                         graph_shape(&p->content->graphs[1], p->objects[1])};
    uint32_t at[SIDES] = {0, 0};

    while (at[0] < p->counts[0] || at[1] < p->counts[1]) {
        const struct slot *a = &shapes[0]->references[at[0]], *b = &shapes[1]->references[at[1]];
        bool has[SIDES] = {at[0] < p->counts[0] && (at[1] == p->counts[1] || a->name <= b->name),
                           at[1] < p->counts[1] && (at[0] == p->counts[0] || b->name <= a->name)};
        struct child child = {.slot = has[0] ? a : b, .slot_side = has[0] ? 0 : 1};
        bool is_link = false;

        for (unsigned side = 0; side < SIDES; side++) {
            child.objects[side] = has[side] ? p->references[side][at[side]] : REFERENCE_NULL;
            is_link |= has[side] && at[side] == shapes[side]->link;
            at[side] += has[side];
        }
        if (!is_link)
            p->each(p->context, &child);
    }
}

/* ---- Elements in order -------------------------------------------------------------------------------------------- */

static void pair_elements(struct pairing *p, const uint32_t index[SIDES], const bool has[SIDES])
{
    struct child child = {.slot = NULL};

    for (unsigned side = 0; side < SIDES; side++) {
        child.index[side] = index[side];
        child.objects[side] = has[side] ? p->references[side][index[side]] : REFERENCE_NULL;
    }
    p->each(p->context, &child);
}

static bool have_same_digest(const struct pairing *p, uint32_t a, uint32_t b)
{
    return a >= REFERENCE_DANGLING || b >= REFERENCE_DANGLING
               ? a == b
               : p->content->graphs[0].digests[a] == p->content->graphs[1].digests[b];
}

static void pair_in_order(struct pairing *p)
{
    const uint32_t *a = p->references[0], *b = p->references[1];
    const bool both[SIDES] = {true, true};
    uint32_t ends[SIDES] = {p->counts[0], p->counts[1]}, first = 0, last = 0;

    for (unsigned side = 0; side < SIDES; side++)
        while (ends[side] > 0 && p->references[side][ends[side] - 1] == REFERENCE_NULL)
            ends[side]--;
    while (first < ends[0] && first < ends[1] && have_same_digest(p, a[first], b[first]))
        first++;
    while (first + last < ends[0] && first + last < ends[1] &&
           have_same_digest(p, a[ends[0] - 1 - last], b[ends[1] - 1 - last]))
        last++;
    for (uint32_t i = 0; i < first; i++)
        pair_elements(p, (const uint32_t[]){i, i}, both);
    for (uint32_t i = first; i + last < ends[0] || i + last < ends[1]; i++)
        pair_elements(p, (const uint32_t[]){i, i}, (const bool[]){i + last < ends[0], i + last < ends[1]});
    for (uint32_t i = last; i > 0; i--)
        pair_elements(p, (const uint32_t[]){ends[0] - i, ends[1] - i}, both);
}

/* ---- Entries of maps ---------------------------------------------------------------------------------------------- */

struct map_entry {
    uint64_t digest, key;
    uint32_t objects[2]; /* an entry or element; or key and value */
};

static int compare_digests(const void *a, const void *b)
{
    const struct map_entry *one = a, *other = b;

    return one->digest != other->digest ? (one->digest < other->digest ? -1 : 1) : 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct map_entry *one = a, *other = b;

    return one->key != other->key ? (one->key < other->key ? -1 : 1) : 0;
}

static uint64_t digest_of(const struct graph *graph, uint32_t object)
{
    return object == REFERENCE_NULL ? 0 : object == REFERENCE_DANGLING ? 1 : graph->digests[object];
}

static struct map_entry entry_of(const struct graph *graph, uint32_t object)
{
    uint32_t slot = graph_shape(graph, object)->entry_key, count, *references = graph_references(graph, object, &count);

    return (struct map_entry){.digest = graph->digests[object],
                              .key = slot != NO_SLOT ? digest_of(graph, references[slot]) : graph->digests[object],
                              .objects = {object, REFERENCE_NULL}};
}

/* At most chain_steps() entries, for which there is room. */
static size_t list_entries(const struct graph *graph, enum shape_order order, const uint32_t *elements, uint32_t count,
                           struct map_entry *list)
{
    uint64_t left = chain_steps(count);
    size_t n = 0;

    if (order == AS_PAIRS) {
        for (uint32_t i = 0; i + 1 < count; i += 2)
            if (elements[i] != REFERENCE_NULL || elements[i + 1] != REFERENCE_NULL)
                list[n++] = (struct map_entry){mix_two(digest_of(graph, elements[i]), digest_of(graph, elements[i + 1])),
                                               digest_of(graph, elements[i]),
                                               {elements[i], elements[i + 1]}};
        return n;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = elements[i]; at < REFERENCE_DANGLING && left > 0; left--) {
            list[n++] = entry_of(graph, at);
            at = order == AS_CHAINS ? next_in_chain(graph, at) : REFERENCE_NULL;
        }
    return n;
}

static void give_entry(struct pairing *p, bool is_pair, const struct map_entry *a, const struct map_entry *b)
{
    for (unsigned part = 0; part < (is_pair ? 2U : 1U); part++) {
        struct child child = {
            .is_entry = true,
            .objects = {a != NULL ? a->objects[part] : REFERENCE_NULL, b != NULL ? b->objects[part] : REFERENCE_NULL}};

        p->each(p->context, &child);
    }
}

/* Gives those that compare as equal, and leaves the others. */
static void match_entries(struct pairing *p, bool is_pair, struct map_entry *lists[SIDES], size_t counts[SIDES],
                          int (*compare)(const void *, const void *))
{
    size_t at[SIDES] = {0, 0}, left[SIDES] = {0, 0};

    for (unsigned side = 0; side < SIDES; side++)
        if (counts[side] > 1)
            qsort(lists[side], counts[side], sizeof **lists, compare);
    while (at[0] < counts[0] || at[1] < counts[1]) {
        int order = at[0] == counts[0] ? 1 : at[1] == counts[1] ? -1 : compare(&lists[0][at[0]], &lists[1][at[1]]);

        if (order == 0) {
            give_entry(p, is_pair, &lists[0][at[0]++], &lists[1][at[1]++]);
        } else {
            unsigned side = order < 0 ? 0 : 1;

            lists[side][left[side]++] = lists[side][at[side]++];
        }
    }
    counts[0] = left[0];
    counts[1] = left[1];
}

static void pair_entries(struct pairing *p, enum shape_order order)
{
    struct map_entry *lists[SIDES];
    size_t counts[SIDES];
    const bool is_pair = order == AS_PAIRS;

    for (unsigned side = 0; side < SIDES; side++)
        lists[side] = malloc((size_t)chain_steps(p->counts[side]) * sizeof **lists);
    if (lists[0] != NULL && lists[1] != NULL) {
        for (unsigned side = 0; side < SIDES; side++)
            counts[side] = list_entries(&p->content->graphs[side], order, p->references[side], p->counts[side], lists[side]);
        match_entries(p, is_pair, lists, counts, compare_digests);
        match_entries(p, is_pair, lists, counts, compare_keys);
        for (unsigned side = 0; side < SIDES; side++)
            for (size_t i = 0; i < counts[side]; i++)
                give_entry(p, is_pair, side == 0 ? &lists[0][i] : NULL, side == 1 ? &lists[1][i] : NULL);
    }
    free(lists[0]);
    free(lists[1]);
}

void children_each(struct content *content, uint32_t a, uint32_t b, void (*each)(void *context, const struct child *child),
                   void *context)
{
    struct pairing p = {.content = content, .objects = {a, b}, .each = each, .context = context};
    const struct shape *shape = graph_shape(&content->graphs[0], a);

    for (unsigned side = 0; side < SIDES; side++)
        p.references[side] = graph_references(&content->graphs[side], p.objects[side], &p.counts[side]);
    if (shape->kind != SHAPE_OBJECT_ARRAY)
        pair_fields(&p);
    else if (shape->order == IN_ORDER)
        pair_in_order(&p);
    else
        pair_entries(&p, shape->order);
}
