#include "content.h"

#include <stdlib.h>

#include "mix.h"
#include "parallel.h"

struct reading {
    struct content *content;
    uint64_t seed;
};

static void read_side(void *context, size_t side)
{
    struct reading *reading = context;
    struct content *content = reading->content;

    graph_read(&content->graphs[side], content->heap_dumps[side], content->ignored, reading->seed);
}

static bool read_graphs(struct content *content)
{
    struct reading reading = {content, draw()};

    for (unsigned side = 0; side < SIDES; side++)
        content->graphs[side].reader = content->diff->sides[side].reader;
    parallel(content->jobs, SIDES, read_side, &reading);
    for (unsigned side = 0; side < SIDES; side++) {
        struct graph *graph = &content->graphs[side];

        content->diff->sides[side].damage = graph->damage;
        if (graph->failure[0] == '\0' && graph->heap_dumps < content->heap_dumps[side])
            snprintf(graph->failure, sizeof graph->failure, "it has no heap dump %llu",
                     (unsigned long long)content->heap_dumps[side]);
        if (graph->failure[0] != '\0') {
            content->failed_side = side;
            snprintf(content->failure, sizeof content->failure, "%s", graph->failure);
            return false;
        }
    }
    return true;
}

bool content_compare(struct content *content)
{
    content->pairs = malloc((content->most + 1) * sizeof *content->pairs);
    content->lone_roots = malloc((content->most + 1) * sizeof *content->lone_roots);
    content->out_of_memory = content->pairs == NULL || content->lone_roots == NULL;
    if (!content->out_of_memory && !read_graphs(content))
        return false;
    if (!content->out_of_memory)
        rounds_run(content);
    if (!content->out_of_memory)
        multisets_compare(content);
    if (!content->out_of_memory)
        roots_compare(content);
    if (!content->out_of_memory && content->most > 0 && content_is_different(content))
        walk(content);
    if (content->out_of_memory)
        snprintf(content->failure, sizeof content->failure, "out of memory");
    return !content->out_of_memory;
}

bool content_is_different(const struct content *content)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (content->diff->kinds[kind].only[0] + content->diff->kinds[kind].only[1] > 0)
            return true;
    return false;
}

void content_free(struct content *content)
{
    for (unsigned side = 0; side < SIDES; side++)
        graph_free(&content->graphs[side]);
    free(content->groups);
    free(content->starts);
    free(content->steps);
    free(content->pairs);
    free(content->lone_roots);
}
