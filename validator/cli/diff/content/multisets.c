/* Objects with the same digest are the same; what one dump has more of is counted by class. To take little memory, digests are
 * counted in parts, by bits that the rounds change: many objects hold the same themselves. */
#include <pthread.h>
#include <stdlib.h>

#include "content.h"
#include "parallel.h"

/* A thread reads all digests once for each of its parts. All tables at once take up to 6 bytes an object, however many threads
 * there are: less than the digests of one dump, which rounds.c has no longer. */
enum { PART_OBJECTS = 1 << 14, PARTS_A_THREAD = 16, FIRST_CAPACITY = 1 << 12, AHEAD = 16 };

struct counted {
    uint64_t digest;
    uint32_t numbers[SIDES]; /* both 0: a free place */
    uint32_t group;
};

struct part_counts {
    struct counted *at;
    size_t count, capacity;
};

struct counting {
    struct content *content;
    size_t parts;
    pthread_mutex_t lock;
};

/* ---- Groups ------------------------------------------------------------------------------------------------------- */

struct member {
    uint64_t key;
    unsigned side;
    uint32_t shape;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *one = a, *other = b;

    return one->key != other->key      ? (one->key < other->key ? -1 : 1)
           : one->side != other->side  ? (one->side < other->side ? -1 : 1)
           : one->shape < other->shape ? -1
                                       : one->shape > other->shape;
}

static enum kind kind_of(const struct shape *shape)
{
    switch (shape->kind) {
    case SHAPE_CLASS:
        return KIND_CLASSES;
    case SHAPE_OBJECT_ARRAY:
        return KIND_OBJECT_ARRAYS;
    case SHAPE_PRIMITIVE_ARRAY:
        return KIND_PRIMITIVE_ARRAYS;
    case SHAPE_INSTANCE:
    case SHAPE_OPAQUE:
    case SHAPE_KINDS:
        break;
    }
    return KIND_INSTANCES;
}

/* All classes are one group: that of the instances of java.lang.Class. */
static bool make_groups(struct content *content)
{
    size_t count = 0;
    struct member *members =
        malloc((content->graphs[0].shapes.count + (size_t)content->graphs[1].shapes.count + 1) * sizeof *members);

    for (unsigned side = 0; side < SIDES && members != NULL; side++)
        for (uint32_t i = 0; i < content->graphs[side].shapes.count; i++) {
            const struct shape *shape = &content->graphs[side].shapes.list[i];

            members[count++] = (struct member){shape->kind == SHAPE_CLASS ? 0 : shape->key, side, i};
        }
    content->groups = malloc((count + 1) * sizeof *content->groups);
    if (members == NULL || content->groups == NULL) {
        free(members);
        return false;
    }
    if (count > 1)
        qsort(members, count, sizeof *members, compare_members);
    for (size_t i = 0; i < count; i++) {
        struct shape *shape = &content->graphs[members[i].side].shapes.list[members[i].shape];
        size_t last = content->group_count;

        if (i == 0 || members[i].key != members[i - 1].key)
            content->groups[content->group_count++] = (struct group){
                .key = members[i].key, .kind = kind_of(shape), .side = members[i].side, .shape = members[i].shape};
        else
            last--;
        shape->group = (uint32_t)last;
    }
    free(members);
    return true;
}

/* ---- Counting ----------------------------------------------------------------------------------------------------- */

static struct counted *place_of(const struct part_counts *counts, uint64_t digest)
{
    size_t i = (size_t)digest & (counts->capacity - 1); /* the digest is a keyed hash */

    while (counts->at[i].numbers[0] + counts->at[i].numbers[1] > 0 && counts->at[i].digest != digest)
        i = (i + 1) & (counts->capacity - 1);
    return &counts->at[i];
}

static bool grow(struct part_counts *counts)
{
    struct part_counts larger = {.count = counts->count, .capacity = counts->capacity ? 2 * counts->capacity : FIRST_CAPACITY};

    larger.at = calloc(larger.capacity, sizeof *larger.at);
    if (larger.at == NULL)
        return false;
    for (size_t i = 0; i < counts->capacity; i++)
        if (counts->at[i].numbers[0] + counts->at[i].numbers[1] > 0)
            *place_of(&larger, counts->at[i].digest) = counts->at[i];
    free(counts->at);
    *counts = larger;
    return true;
}

static bool count_object(struct part_counts *counts, const struct graph *graph, unsigned side, uint32_t object)
{
    struct counted *to;

    if (4 * (counts->count + 1) > 3 * counts->capacity && !grow(counts))
        return false;
    to = place_of(counts, graph->digests[object]);
    if (to->numbers[0] + to->numbers[1] == 0) {
        counts->count++;
        to->digest = graph->digests[object];
        to->group = graph_shape(graph, object)->group;
    }
    to->numbers[side]++;
    return true;
}

static void fetch_place(const struct part_counts *counts, uint64_t digest)
{
    if (counts->capacity > 0)
        __builtin_prefetch(&counts->at[(size_t)digest & (counts->capacity - 1)], 1);
}

/* An object is counted some objects after its place was asked for: it comes from memory meanwhile. */
static bool count_digests(struct counting *c, size_t part, struct part_counts *counts)
{
    uint32_t ahead[AHEAD];

    for (unsigned side = 0; side < SIDES; side++) {
        const struct graph *graph = &c->content->graphs[side];
        size_t n = 0;

        for (uint32_t i = 0; i < graph->count; i++) {
            if ((uint64_t)(uint32_t)(graph->digests[i] >> 8) * c->parts >> 32 != part)
                continue;
            fetch_place(counts, graph->digests[i]);
            if (n >= AHEAD && !count_object(counts, graph, side, ahead[n % AHEAD]))
                return false;
            ahead[n++ % AHEAD] = i;
        }
        for (size_t k = n > AHEAD ? n - AHEAD : 0; k < n; k++)
            if (!count_object(counts, graph, side, ahead[k % AHEAD]))
                return false;
    }
    return true;
}

static void take_over(struct content *content, const struct part_counts *counts)
{
    for (size_t i = 0; i < counts->capacity; i++) {
        const uint32_t *numbers = counts->at[i].numbers;
        uint32_t same = numbers[0] < numbers[1] ? numbers[0] : numbers[1];

        if (numbers[0] + numbers[1] == 0)
            continue;
        struct counts *group = &content->groups[counts->at[i].group].counts;

        group->same += same;
        for (unsigned side = 0; side < SIDES; side++)
            group->only[side] += numbers[side] - same;
    }
}

static void count_part(void *context, size_t part)
{
    struct counting *c = context;
    struct part_counts counts = {.count = 0};
    bool is_counted = count_digests(c, part, &counts);

    pthread_mutex_lock(&c->lock);
    if (is_counted)
        take_over(c->content, &counts);
    else
        c->content->out_of_memory = true;
    pthread_mutex_unlock(&c->lock);
    free(counts.at);
}

void multisets_compare(struct content *content)
{
    struct counting c = {.content = content};
    const size_t threads = content->jobs < THREADS_MOST ? content->jobs : THREADS_MOST;
    size_t objects = content->graphs[0].count + (size_t)content->graphs[1].count;

    if (!make_groups(content)) {
        content->out_of_memory = true;
        return;
    }
    c.parts = objects / PART_OBJECTS + 1;
    if (c.parts > PARTS_A_THREAD * threads)
        c.parts = PARTS_A_THREAD * threads;
    if (pthread_mutex_init(&c.lock, NULL) != 0) {
        content->out_of_memory = true;
        return;
    }
    parallel(content->jobs, c.parts, count_part, &c);
    pthread_mutex_destroy(&c.lock);
    for (size_t i = 0; i < content->group_count; i++) {
        struct counts *kind = &content->diff->kinds[content->groups[i].kind];

        kind->same += content->groups[i].counts.same;
        for (unsigned side = 0; side < SIDES; side++)
            kind->only[side] += content->groups[i].counts.only[side];
    }
}
