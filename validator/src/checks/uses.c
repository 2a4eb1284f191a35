/* Uses of serials that a later record may define. */
#include "checks/checker.h"
#include "checks/heap.h"

void use_trace(struct checker *ck, uint32_t serial, enum trace_role role, uint64_t offset)
{
    if (serial && !keymap_get(&ck->file->traces, serial, NULL))
        pending_uses_add(&ck->file->trace_uses, serial, role, offset);
}

bool class_is_loaded(const struct checker *ck, uint32_t serial)
{
    return id_set_get(&ck->file->class_serials, serial) & ID_DEFINED;
}

void use_class_serial(struct checker *ck, uint32_t serial, enum class_serial_role role, uint64_t offset)
{
    if (!class_is_loaded(ck, serial))
        pending_uses_add(&ck->file->class_serial_uses, serial, role, offset);
}

void discard_uses(struct checker *ck, uint64_t from)
{
    struct file *file = ck->file;
    struct heap *heap = ck->heap;
    struct pending_uses *const all[] = {
        &file->string_uses, &file->class_serial_uses, &file->frame_uses,       &file->trace_uses,      &file->thread_uses,
        &file->class_uses,  &heap->object_uses,       &heap->root_thread_uses, &heap->component_types, &heap->loader_uses};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pending_uses_discard(all[i], from);
}
