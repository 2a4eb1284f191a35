/* See file.h. */
#include "state/file.h"

void file_init(struct file *file, struct memory *memory, const struct hash_key *key)
{
    id_set_init(&file->class_serials, memory, key, sizeof(uint32_t));
    id_set_init(&file->unloaded_serials, memory, key, sizeof(uint32_t));
    id_set_init(&file->rooted_threads, memory, key, sizeof(uint32_t));
    keymap_init(&file->traces, memory, key, sizeof(uint32_t), sizeof(uint32_t));
    keymap_init(&file->threads, memory, key, sizeof(uint32_t), sizeof(uint64_t));
    chunks_init(&file->trace_list, memory, sizeof(struct trace));
    byte_log_init(&file->frame_roots, memory);
    jumps_init(&file->jumps, memory);
    jumps_init(&file->regained, memory);
    heap_index_init(&file->heap_index, memory);
}

void file_begin(struct file *file, struct memory *memory, const struct hash_key *key)
{
    strings_init(&file->strings, memory, key, file->id_size);
    keymap_init(&file->frames, memory, key, file->id_size, sizeof(uint64_t));
    classes_init(&file->classes, memory, key, file->id_size);
    pending_uses_init(&file->string_uses, memory, file->id_size);
    pending_uses_init(&file->frame_uses, memory, file->id_size);
    pending_uses_init(&file->class_uses, memory, file->id_size);
    pending_uses_init(&file->class_serial_uses, memory, sizeof(uint32_t));
    pending_uses_init(&file->trace_uses, memory, sizeof(uint32_t));
    pending_uses_init(&file->thread_uses, memory, sizeof(uint32_t));
}

void file_clear(struct file *file)
{
    pending_uses_clear(&file->string_uses);
    pending_uses_clear(&file->frame_uses);
    pending_uses_clear(&file->class_uses);
    pending_uses_clear(&file->class_serial_uses);
    pending_uses_clear(&file->trace_uses);
    pending_uses_clear(&file->thread_uses);
    classes_clear(&file->classes);
    strings_clear(&file->strings);
    id_set_clear(&file->class_serials);
    id_set_clear(&file->unloaded_serials);
    id_set_clear(&file->rooted_threads);
    keymap_clear(&file->frames);
    keymap_clear(&file->traces);
    keymap_clear(&file->threads);
    chunks_clear(&file->trace_list);
    byte_log_clear(&file->frame_roots);
    jumps_clear(&file->jumps);
    jumps_clear(&file->regained);
    heap_index_clear(&file->heap_index);
}
