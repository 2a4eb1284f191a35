/* Memory for what is counted. */
#include <stdlib.h>
#include <string.h>

#include "stats.h"

void *list_add(struct stats *stats, struct list *list, size_t size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        void *grown = realloc(list->at, capacity * size);

        if (grown == NULL) {
            stats->out_of_memory = true;
            return NULL;
        }
        list->at = grown;
        list->capacity = capacity;
    }
    return memset((char *)list->at + list->count++ * size, 0, size);
}

const char *keep_text(struct stats *stats, struct text_block **texts, const char *text, size_t size)
{
    struct text_block *block = *texts;
    char *copy;

    if (block == NULL || sizeof block->bytes - block->used <= size) {
        block = malloc(sizeof *block);
        if (block == NULL || size >= sizeof block->bytes) {
            free(block);
            stats->out_of_memory = true;
            return NULL;
        }
        block->before = *texts;
        block->used = 0;
        *texts = block;
    }
    copy = memcpy(block->bytes + block->used, text, size);
    copy[size] = '\0';
    block->used += size + 1;
    return copy;
}

static void free_texts(struct text_block *block)
{
    while (block != NULL) {
        struct text_block *before = block->before;

        free(block);
        block = before;
    }
}

void stats_free(struct stats *stats)
{
    struct list *lists[] = {&stats->classes, &stats->heap_dumps, &stats->damaged, &stats->findings, &stats->frames,
                            &stats->traces,  &stats->frame_ids,  &stats->threads, &stats->serials,  &stats->stretches};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        free(lists[i]->at);
    free_texts(stats->texts);
    free_texts(stats->finding_texts);
}
