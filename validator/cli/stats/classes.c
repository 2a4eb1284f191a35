/* The classes that text.c and page.c show. */
#include <inttypes.h>
#include <stdio.h>

#include "stats.h"

uint64_t class_objects(const struct class_stats *class)
{
    return class->instances + class->arrays;
}

uint64_t class_bytes(const struct class_stats *class)
{
    return class->instance_bytes + class->array_bytes;
}

const char *class_label(const struct class_stats *class, char text[CLASS_LABEL_SIZE])
{
    if (class->name != NULL)
        return class->name;
    if (class->id == 0)
        return "classes that are not defined";
    snprintf(text, CLASS_LABEL_SIZE, "class 0x%" PRIx64 " without a name", class->id);
    return text;
}

size_t stats_most_bytes(const struct stats *stats, const struct class_stats *top[], size_t most)
{
    const struct class_stats *classes = stats->classes.at;
    size_t count = 0;

    while (count < most && count < stats->classes.count && class_objects(&classes[count]) > 0) {
        top[count] = &classes[count];
        count++;
    }
    return count;
}

size_t stats_most_objects(const struct stats *stats, const struct class_stats *top[], size_t most)
{
    const struct class_stats *classes = stats->classes.at;
    size_t count = 0;

    for (size_t i = 0; i < stats->classes.count; i++) {
        size_t at = count;

        while (at > 0 && class_objects(&classes[i]) > class_objects(top[at - 1]))
            at--;
        if (at == most || class_objects(&classes[i]) == 0)
            continue;
        count += count < most;
        for (size_t moved = count - 1; moved > at; moved--)
            top[moved] = top[moved - 1];
        top[at] = &classes[i];
    }
    return count;
}
