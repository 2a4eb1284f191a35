#include "report.h"

#include <stdlib.h>

static uint64_t differences_of(const struct group *group)
{
    return group->counts.only[0] + group->counts.only[1];
}

/* The key is a hash of the name, so that the order is always the same. */
static int compare_groups(const void *a, const void *b)
{
    const struct group *one = *(const struct group *const *)a, *other = *(const struct group *const *)b;
    uint64_t of_one = differences_of(one), of_other = differences_of(other);

    return of_one != of_other ? (of_one > of_other ? -1 : 1) : one->key < other->key ? -1 : one->key > other->key;
}

const struct group **differing_groups(const struct content *content, size_t *count)
{
    const struct group **list = malloc((content->group_count + 1) * sizeof *list);

    *count = 0;
    for (size_t i = 0; i < content->group_count && list != NULL; i++)
        if (differences_of(&content->groups[i]) > 0)
            list[(*count)++] = &content->groups[i];
    if (*count > 1)
        qsort(list, *count, sizeof *list, compare_groups);
    return list;
}

void group_name(struct content *content, const struct group *group, char name[PART_SIZE])
{
    struct shapes *shapes = &content->graphs[group->side].shapes;

    if (group->kind == KIND_CLASSES)
        snprintf(name, PART_SIZE, "java.lang.Class");
    else
        shape_name(shapes, &shapes->list[group->shape], name, PART_SIZE);
}
