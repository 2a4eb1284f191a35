/* Digest k of an object has its digest k - 1, and the digests k - 1 of what it refers to. What it holds itself stays in the
 * digest, so that walk.c need not keep it beside: 4 bytes an object. */
#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "mix.h"
#include "parallel.h"

enum { OBJECTS_A_PART = 1 << 14 };

struct round {
    const struct graph *graph;
    uint64_t *next;
};

static uint64_t digest_of(const struct graph *graph, uint32_t object)
{
    return object == REFERENCE_NULL ? 0 : object == REFERENCE_DANGLING ? 1 : graph->digests[object];
}

/* A field that is null counts for nothing, so that a field which another version of the class lacks does not either. */
static uint64_t add_fields(const struct graph *graph, const struct shape *shape, const uint32_t *references)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < shape->reference_count; i++)
        if (references[i] != REFERENCE_NULL && i != shape->link)
            sum += mix_two(shape->references[i].name, digest_of(graph, references[i]));
    return sum;
}

/* A chain may be long, or a circle: of all chains together, no more is followed than a table of this length may have. */
static uint64_t add_chains(const struct graph *graph, const uint32_t *elements, uint32_t count)
{
    uint64_t sum = 0, left = chain_steps(count);

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = elements[i]; at < REFERENCE_DANGLING && left > 0; at = next_in_chain(graph, at), left--)
            sum += mix(graph->digests[at]);
    return sum;
}

static uint64_t add_elements(const struct graph *graph, const struct shape *shape, const uint32_t *elements, uint32_t count)
{
    uint64_t sum = 0;

    switch (shape->order) {
    case AS_CHAINS:
        return add_chains(graph, elements, count);
    case AS_PAIRS:
        for (uint32_t i = 0; i + 1 < count; i += 2)
            sum += elements[i] == REFERENCE_NULL && elements[i + 1] == REFERENCE_NULL
                       ? 0
                       : mix_two(digest_of(graph, elements[i]), digest_of(graph, elements[i + 1]));
        return sum;
    case AS_SET:
        for (uint32_t i = 0; i < count; i++)
            sum += elements[i] == REFERENCE_NULL ? 0 : mix(digest_of(graph, elements[i]));
        return sum;
    case IN_ORDER:
    case SHAPE_ORDERS:
        break;
    }
    for (uint32_t i = 0; i < count; i++)
        if (elements[i] != REFERENCE_NULL)
            sum += mix_two(i, digest_of(graph, elements[i]));
    return sum;
}

static void digest_part(void *context, size_t part)
{
    const struct round *round = context;
    const struct graph *graph = round->graph;
    uint32_t first = (uint32_t)(part * OBJECTS_A_PART), count;
    uint32_t end = graph->count - first < OBJECTS_A_PART ? graph->count : first + OBJECTS_A_PART;
    const uint32_t *references = graph_references(graph, first, &count);

    references -= graph_shape(graph, first)->kind == SHAPE_OBJECT_ARRAY;
    for (uint32_t i = first; i < end; i++) {
        const struct shape *shape = graph_shape(graph, i);
        uint64_t sum;

        if (shape->kind == SHAPE_OBJECT_ARRAY) {
            count = *references++;
            sum = add_elements(graph, shape, references, count);
        } else {
            count = shape->reference_count;
            sum = add_fields(graph, shape, references);
        }
        references += count;
        round->next[i] = (graph->digests[i] & OWN_BITS) | (mix_two(graph->digests[i], sum) & ~OWN_BITS);
    }
}

/* The spare array becomes that of the digests, and the other way round, in each round. */
static void run_rounds(struct content *content, struct graph *graph, uint64_t *spare)
{
    const size_t parts = (graph->count + (size_t)OBJECTS_A_PART - 1) / OBJECTS_A_PART;
    uint64_t *own = graph->digests;

    for (unsigned k = 0; k < content->rounds; k++) {
        struct round round = {graph, graph->digests == own ? spare : own};

        parallel(content->jobs, parts, digest_part, &round);
        graph->digests = round.next;
    }
    if (graph->digests != own)
        memcpy(own, spare, graph->count * sizeof *own);
    graph->digests = own;
}

void rounds_run(struct content *content)
{
    size_t most = content->graphs[0].count > content->graphs[1].count ? content->graphs[0].count : content->graphs[1].count;
    uint64_t *spare = malloc((most + 1) * sizeof *spare);

    content->out_of_memory |= spare == NULL;
    for (unsigned side = 0; side < SIDES && spare != NULL; side++)
        run_rounds(content, &content->graphs[side], spare);
    free(spare);
}
