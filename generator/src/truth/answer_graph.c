/* See answer_graph.h. Lengauer and Tarjan 1979, with path compression alone: O(m log n). Nothing is recursive, because a list is as
 * deep as it has nodes. */
#include "truth/answer_graph.h"

/* Edges by one of their ends: those of i are to[first[i]] up to to[first[i + 1]]. */
struct lists {
    size_t *first;
    uint32_t *to;
    size_t nodes, edges;
};

/* All arrays but `place` are by place, and have places. */
struct search {
    struct memory *memory;
    struct dominators *d;
    uint32_t *place; /* by node; NO_NODE if the node is not reachable */
    uint32_t *parent, *semi, *label, *ancestor;
    uint32_t *bucket, *next_in_bucket; /* the nodes of which a node is the semidominator */
    uint32_t *path;
    size_t *next_edge;
};

enum end { END_FROM, END_TO };

static uint32_t end_of(const struct search *s, const struct edge *edge, enum end end)
{
    uint32_t node = end == END_FROM ? edge->from : edge->to;

    return s ? s->place[node] : node;
}

/* With `s`, by places, of the edges whose nodes are reachable; else by nodes. */
static bool lists_make(struct lists *lists, struct memory *memory, const struct search *s, size_t nodes,
                       const struct edge *edges, size_t count, enum end by)
{
    enum end other = by == END_FROM ? END_TO : END_FROM;
    size_t *at;

    *lists = (struct lists){.nodes = nodes, .edges = count};
    lists->first = memory_get_zeroed(memory, (nodes + 2) * sizeof *lists->first);
    lists->to = memory_get(memory, count * sizeof *lists->to);
    if (!lists->first || !lists->to)
        return false;
    at = lists->first + 1;
    for (size_t i = 0; i < count; i++)
        if (end_of(s, &edges[i], by) != NO_NODE && end_of(s, &edges[i], other) != NO_NODE)
            at[end_of(s, &edges[i], by) + 1]++;
    for (size_t i = 1; i <= nodes; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < count; i++)
        if (end_of(s, &edges[i], by) != NO_NODE && end_of(s, &edges[i], other) != NO_NODE)
            lists->to[at[end_of(s, &edges[i], by)]++] = end_of(s, &edges[i], other);
    return true;
}

static void lists_clear(struct lists *lists, struct memory *memory)
{
    memory_put(memory, lists->first, (lists->nodes + 2) * sizeof *lists->first);
    memory_put(memory, lists->to, lists->edges * sizeof *lists->to);
}

/* ---- The search ---- */

static void reach(struct search *s, const struct lists *out, uint32_t node, uint32_t parent)
{
    uint32_t place = (uint32_t)s->d->count++;

    s->d->node[place] = node;
    s->d->above[place] = NO_NODE;
    s->place[node] = place;
    s->parent[place] = parent;
    s->semi[place] = s->label[place] = place;
    s->ancestor[place] = s->bucket[place] = s->next_in_bucket[place] = NO_NODE;
    s->next_edge[place] = out->first[node];
}

/* Depth first. */
static void search(struct search *s, const struct lists *out)
{
    uint32_t at = 0;

    memset(s->place, 0xFF, s->d->nodes * sizeof *s->place);
    reach(s, out, 0, NO_NODE);
    while (at != NO_NODE) {
        if (s->next_edge[at] == out->first[s->d->node[at] + 1]) {
            at = s->parent[at];
        } else {
            uint32_t to = out->to[s->next_edge[at]++];

            if (s->place[to] == NO_NODE) {
                reach(s, out, to, at);
                at = s->place[to];
            }
        }
    }
}

/* ---- Dominators ---- */

/* The place with the least semidominator on the path in the forest up to `v`, without the root of its tree. */
static uint32_t evaluate(struct search *s, uint32_t v)
{
    size_t length = 0;

    if (s->ancestor[v] == NO_NODE)
        return v;
    for (uint32_t at = v; s->ancestor[s->ancestor[at]] != NO_NODE; at = s->ancestor[at])
        s->path[length++] = at;
    while (length) {
        uint32_t at = s->path[--length], up = s->ancestor[at];

        if (s->semi[s->label[up]] < s->semi[s->label[at]])
            s->label[at] = s->label[up];
        s->ancestor[at] = s->ancestor[up];
    }
    return s->label[v];
}

static void find_semidominators(struct search *s, const struct lists *in)
{
    uint32_t *above = s->d->above;

    for (uint32_t w = (uint32_t)s->d->count - 1; w > 0; w--) {
        uint32_t parent = s->parent[w];

        for (size_t i = in->first[w]; i < in->first[w + 1]; i++) {
            uint32_t u = evaluate(s, in->to[i]);

            if (s->semi[u] < s->semi[w])
                s->semi[w] = s->semi[u];
        }
        s->next_in_bucket[w] = s->bucket[s->semi[w]];
        s->bucket[s->semi[w]] = w;
        s->ancestor[w] = parent;
        for (uint32_t v = s->bucket[parent]; v != NO_NODE; v = s->next_in_bucket[v]) {
            uint32_t u = evaluate(s, v);

            above[v] = s->semi[u] < s->semi[v] ? u : parent;
        }
        s->bucket[parent] = NO_NODE;
    }
}

static void find_dominators(struct search *s)
{
    uint32_t *above = s->d->above;

    for (uint32_t w = 1; w < s->d->count; w++)
        if (above[w] != s->semi[w])
            above[w] = above[above[w]];
}

static bool search_init(struct search *s, struct dominators *d, struct memory *memory)
{
    uint32_t **arrays[] = {&d->node,  &d->above,    &s->place,  &s->parent,         &s->semi,
                           &s->label, &s->ancestor, &s->bucket, &s->next_in_bucket, &s->path};

    *s = (struct search){.memory = memory, .d = d};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = memory_get(memory, d->nodes * sizeof **arrays[i]);
    s->next_edge = memory_get(memory, d->nodes * sizeof *s->next_edge);
    return !memory->exhausted;
}

static void search_clear(struct search *s)
{
    uint32_t *arrays[] = {s->place, s->parent, s->semi, s->label, s->ancestor, s->bucket, s->next_in_bucket, s->path};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        memory_put(s->memory, arrays[i], s->d->nodes * sizeof *arrays[i]);
    memory_put(s->memory, s->next_edge, s->d->nodes * sizeof *s->next_edge);
}

bool dominators_find(struct dominators *d, struct memory *memory, size_t nodes, const struct edge *edges, size_t edge_count)
{
    struct lists out = {0}, in = {0};
    struct search s;
    bool good;

    *d = (struct dominators){.nodes = nodes};
    good = search_init(&s, d, memory) && lists_make(&out, memory, NULL, nodes, edges, edge_count, END_FROM);
    if (good)
        search(&s, &out);
    lists_clear(&out, memory);
    good = good && lists_make(&in, memory, &s, d->count, edges, edge_count, END_TO);
    if (good) {
        find_semidominators(&s, &in);
        find_dominators(&s);
    }
    lists_clear(&in, memory);
    search_clear(&s);
    return good;
}

void dominators_clear(struct dominators *d, struct memory *memory)
{
    memory_put(memory, d->node, d->nodes * sizeof *d->node);
    memory_put(memory, d->above, d->nodes * sizeof *d->above);
}
