/* Memory for what is counted. */
#include <stdlib.h>
#include <string.h>

#include "stats.h"

void *list_add(struct stats *stats, struct list *list, size_t size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity + list->capacity / 2 + 16;
        void *grown = allowance_resize(&stats->memory, list->at, list->capacity * size, capacity * size);

        if (grown == NULL) {
            stats->out_of_memory = true;
            return NULL;
        }
        list->at = grown;
        list->capacity = capacity;
    }
    return memset((char *)list->at + list->count++ * size, 0, size);
}

/* qsort() may take a copy. */
void list_sort(struct stats *stats, struct list *list, size_t size, int (*compare)(const void *, const void *))
{
    if (list->count < 2)
        return;
    if (!allowance_take(&stats->memory, list->count * size)) {
        stats->out_of_memory = true;
        return;
    }
    qsort(list->at, list->count, size, compare);
    allowance_give(&stats->memory, list->count * size);
}

void list_free(struct stats *stats, struct list *list, size_t size)
{
    allowance_put(&stats->memory, list->at, list->capacity * size);
    *list = (struct list){0};
}

const char *keep_text(struct stats *stats, struct text_block **texts, const char *text, size_t size)
{
    struct text_block *block = *texts;
    char *copy;

    if (block == NULL || sizeof block->bytes - block->used <= size) {
        block = size < sizeof block->bytes ? allowance_get(&stats->memory, sizeof *block) : NULL;
        if (block == NULL) {
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

static void free_texts(struct stats *stats, struct text_block *block)
{
    while (block != NULL) {
        struct text_block *before = block->before;

        allowance_put(&stats->memory, block, sizeof *block);
        block = before;
    }
}

void stats_free(struct stats *stats)
{
    list_free(stats, &stats->classes, sizeof(struct class_stats));
    list_free(stats, &stats->heap_dumps, sizeof(struct heap_dump_stats));
    list_free(stats, &stats->damaged, sizeof(struct damage_stats));
    list_free(stats, &stats->findings, sizeof(struct finding_stats));
    list_free(stats, &stats->frames, sizeof(struct frame_stats));
    list_free(stats, &stats->traces, sizeof(struct trace_stats));
    list_free(stats, &stats->frame_ids, sizeof(uint64_t));
    list_free(stats, &stats->threads, sizeof(struct thread_stats));
    list_free(stats, &stats->serials, sizeof(struct named_class));
    list_free(stats, &stats->stretches, sizeof(struct stretch));
    free_texts(stats, stats->texts);
    free_texts(stats, stats->finding_texts);
}
