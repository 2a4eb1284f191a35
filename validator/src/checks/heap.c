/* See heap.h: the state of a heap dump (SPEC.md 5) from its first record to its end. */
#include "checks/heap.h"

#include <string.h>

#include "checks/checker.h"

static void archive_init(struct checker *ck)
{
    struct archive *archive = &ck->heap->archive;

    *archive = (struct archive){0};
    keymap_init(&archive->rooted, &ck->run->memory, &ck->run->key, ck->file->id_size, sizeof(uint32_t));
    id_set_init(&archive->named, &ck->run->memory, &ck->run->key, ck->file->id_size);
    array_log_init(&archive->arrays, &ck->run->memory, &archive->named, is_array_named, ck->heap);
}

static void archive_clear(struct archive *archive)
{
    keymap_clear(&archive->rooted);
    id_set_clear(&archive->named);
    array_log_clear(&archive->arrays);
}

void heap_init(struct checker *ck)
{
    struct heap *heap = ck->heap;

    id_set_init(&heap->objects, &ck->run->memory, &ck->run->key, ck->file->id_size);
    id_set_init(&heap->twice, &ck->run->memory, &ck->run->key, ck->file->id_size);
    id_set_init(&heap->special, &ck->run->memory, &ck->run->key, ck->file->id_size);
    archive_init(ck);
    heap->segment = (struct segment){.meet = &meetings_in_order,
                                     .context = ck,
                                     .id_size = ck->file->id_size,
                                     .objects = &heap->objects,
                                     .special = &heap->special,
                                     .arrays = input_can_reread(ck->in) ? NULL : &heap->archive.arrays,
                                     .counted = ck->run->counted,
                                     .waiting = {.next = UINT64_MAX}};
    enter_stretch(heap, NULL);
}

void heap_begin(struct checker *ck)
{
    struct heap *heap = ck->heap;
    struct memory *m = &ck->run->memory;
    const struct hash_key *key = &ck->run->key;

    hot_classes_fit(&heap->segment.hot, m, key, ck->run->sum.record_counts[TAG_LOAD_CLASS]);
    classes_begin_dump(&ck->file->classes);
    ck->run->findings.dump = ck->file->classes.dump;
    heap->begin = ck->position->record_at;
    heap->begun = true;
    heap->records_within = 0;
    heap->wrong.held = false;
    memset(heap->segment.known_traces, 0, sizeof heap->segment.known_traces);
    heap->segment.dump = ck->file->classes.dump;
    heap->reports_twice_later = heap->must_begin_again = false;
    heap->last_frame_root = 0;
    heap->next_stray = heap->first_instance_count = 0;
    heap->first_wanted = ck->run->findings.wanted.count;
    pending_uses_init(&heap->object_uses, m, ck->file->id_size);
    pending_uses_init(&heap->root_thread_uses, m, sizeof(uint32_t));
    pending_uses_init(&heap->component_types, m, ck->file->id_size);
    pending_uses_init(&heap->loader_uses, m, ck->file->id_size);
    keymap_init(&heap->thread_roots, m, key, sizeof(uint32_t), sizeof(uint32_t));
    byte_log_init(&heap->frame_roots, m);
    wide_classes_init(&heap->segment.wide, m, key);
    stretches_init(&heap->stretches, m, ck->run->sizes.stretch);
    heap->waiting = (struct waiting){0};
    byte_log_init(&heap->waiting.log, m);
    archive_init(ck);
    keymap_init(&heap->lost, m, key, ck->file->id_size, sizeof(uint32_t));
    heap->lost_references = 0;
    input_keep(ck->in, heap->begin);
    if (!input_can_reread(ck->in))
        heap->stretches.due = UINT64_MAX;
}

void heap_clear(struct checker *ck)
{
    struct heap *heap = ck->heap;

    id_set_empty(&heap->objects);
    id_set_clear(&heap->twice);
    id_set_clear(&heap->special);
    archive_clear(&heap->archive);
    keymap_clear(&heap->lost);
    enter_stretch(heap, NULL);
    pending_uses_clear(&heap->object_uses);
    pending_uses_clear(&heap->root_thread_uses);
    pending_uses_clear(&heap->component_types);
    pending_uses_clear(&heap->loader_uses);
    byte_log_clear(&heap->frame_roots);
    wide_classes_clear(&heap->segment.wide);
    stretches_clear(&heap->stretches);
    byte_log_clear(&heap->waiting.log);
    heap->segment.waiting = (struct waiting_run){.next = UINT64_MAX};
}

void heap_end(struct checker *ck)
{
    classes_end_dump(&ck->file->classes);
    keymap_clear(&ck->heap->thread_roots);
    ck->heap->begun = false;
}

void heap_drop(struct checker *ck)
{
    heap_clear(ck);
    heap_end(ck);
    ck->heap->open = ck->heap->is_pending = false;
}

void heap_free(struct checker *ck)
{
    if (!ck->heap->objects.memory)
        return;
    heap_clear(ck);
    id_set_clear(&ck->heap->objects);
    hot_classes_clear(&ck->heap->segment.hot, &ck->run->memory);
    keymap_clear(&ck->heap->thread_roots);
}

void enter_stretch(struct heap *heap, struct stretch *stretch)
{
    heap->stretch = stretch;
    heap->segment.defined = (struct recent_page){.page = NO_PAGE, .pages = stretch ? &stretch->defined : NULL};
    heap->segment.referenced = (struct recent_page){.page = NO_PAGE, .pages = stretch ? &stretch->referenced : NULL};
    heap->segment.element = (struct recent_page){.page = NO_PAGE, .pages = stretch ? &stretch->elements : NULL};
}
