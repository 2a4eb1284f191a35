/* From the roots and the classes on, breadth first, what two objects refer to in the same way are pairs. An object has one partner:
 * the first one. */
#include <stdlib.h>

#include "content.h"

struct walking {
    struct content *content;
    uint32_t *queue; /* of objects of A */
    size_t head, tail;
    uint64_t *taken; /* a bit for each object of B that is in a pair */
    uint32_t parent;
    bool differs;
};

/* Makes two objects a pair, unless one of them is in another pair. */
static void join(struct walking *w, uint32_t a, uint32_t b)
{
    struct step *step = &w->content->steps[a];
    uint64_t bit = (uint64_t)1 << (b % 64);

    if (step->partner != NO_OBJECT || (w->taken[b / 64] & bit) != 0)
        return;
    *step = (struct step){w->parent, b};
    w->taken[b / 64] |= bit;
    w->queue[w->tail++] = a;
}

static void see_child(void *context, const struct child *child)
{
    struct walking *w = context;

    const uint32_t a = child->objects[0], b = child->objects[1];

    if (a < REFERENCE_DANGLING && b < REFERENCE_DANGLING && have_same_class(w->content, a, b))
        join(w, a, b);
    w->differs |= !child_is_same(w->content, child);
}

static void visit(struct walking *w, uint32_t a, uint32_t b)
{
    struct content *content = w->content;

    w->parent = a;
    w->differs = ((content->graphs[0].digests[a] ^ content->graphs[1].digests[b]) & OWN_BITS) != 0;
    children_each(content, a, b, see_child, w);
    content->pairs_found += w->differs;
    if (w->differs && content->pair_count < content->most)
        content->pairs[content->pair_count++] = (struct pair){{a, b}};
}

static void walk_from(struct walking *w)
{
    struct content *content = w->content;

    w->parent = NO_OBJECT;
    for (size_t i = 0; i < content->start_count; i++) {
        const struct start *start = &content->starts[i];

        if (have_same_class(content, start->objects[0], start->objects[1]))
            join(w, start->objects[0], start->objects[1]);
    }
    while (w->head < w->tail) {
        uint32_t a = w->queue[w->head++];

        visit(w, a, content->steps[a].partner);
    }
}

void walk(struct content *content)
{
    const size_t count = content->graphs[0].count;
    struct walking w = {.content = content};

    content->steps = malloc((count + 1) * sizeof *content->steps);
    w.queue = malloc((count + 1) * sizeof *w.queue);
    w.taken = calloc(content->graphs[1].count / 64 + 1, sizeof *w.taken);
    if (content->steps != NULL && w.queue != NULL && w.taken != NULL) {
        for (size_t i = 0; i < count; i++)
            content->steps[i] = (struct step){NO_OBJECT, NO_OBJECT};
        walk_from(&w);
    } else {
        content->out_of_memory = true;
    }
    free(w.queue);
    free(w.taken);
}
