/* Which array is the list of roots of the archive of class data sharing (PRODUCERS.md A.1): an Object[] that nothing names but
 * itself and, in dumps of HotSpot, one ROOT_JNI_GLOBAL. Decided at the end of a heap dump, because roots may come last. */
#include "checks/checker.h"
#include "checks/heap.h"

/* A ROOT_STICKY_CLASS names a class, and these are as many as the classes. */
void root_object(struct heap *heap, unsigned tag, uint64_t id)
{
    uint64_t earlier, flags = tag == SUB_ROOT_JNI_GLOBAL ? ROOTED_BY_GLOBAL : ROOTED_OTHERWISE;

    if (tag != SUB_ROOT_STICKY_CLASS && !keymap_add(&heap->archive.rooted, id, flags, &earlier) && earlier == ROOTED_BY_GLOBAL)
        keymap_put(&heap->archive.rooted, id, ROOTED_OTHERWISE);
}

/* enum rooted_flag of an object; 0 if no root names it. */
static uint64_t roots_of(const struct heap *heap, uint64_t id)
{
    uint64_t flags;

    return keymap_get(&heap->archive.rooted, id, &flags) ? flags : 0;
}

/* Without the roots of a heap dump that is not complete, an array without a root may be the list, too. */
static bool array_fits(struct checker *ck, uint64_t array_id, uint64_t class_id)
{
    struct heap *heap = ck->heap;
    uint64_t roots = roots_of(heap, array_id);

    if (id_set_get(&heap->objects, array_id) & (ID_REFERENCED | ID_ELEMENT) || !is_object_array(ck->file, class_id) ||
        roots == ROOTED_OTHERWISE)
        return false;
    heap->archive.fitting++;
    heap->archive.is_rooted = roots == ROOTED_BY_GLOBAL;
    return true;
}

void meet_naming_array(struct checker *ck, uint64_t array_id, uint64_t class_id, uint64_t missing)
{
    struct archive *archive = &ck->heap->archive;
    uint64_t key = id_to_key(missing, ck->file->id_size);

    if (archive->last_array != array_id)
        archive->last_fits = array_fits(ck, array_id, class_id);
    archive->last_array = array_id;
    id_set_set(&archive->named, key, archive->last_fits ? ID_ELEMENT : ID_REFERENCED);
    if (archive->last_fits)
        archive->spoiled |= (id_set_get(&ck->heap->objects, missing) & ID_REFERENCED) || roots_of(ck->heap, missing);
}

void meet_logged_arrays(struct checker *ck)
{
    struct archive *archive = &ck->heap->archive;
    struct logged_array array;
    uint64_t id;

    array_log_end(&archive->arrays, &ck->heap->objects, ck->in->offset);
    archive->undecided = archive->arrays.overflowed;
    for (uint64_t next = 0; !ck->run->memory.exhausted && array_log_next(&archive->arrays, &next, &array);)
        while (array_log_element(&archive->arrays, &next, &array, &id))
            if (!(id_set_get(&ck->heap->objects, id) & ID_DEFINED))
                meet_naming_array(ck, array.array_id, array.class_id, id);
}

static void look_for_both(void *context, uint64_t id, unsigned flags)
{
    struct archive *archive = context;

    (void)id;
    archive->spoiled |= flags == (ID_ELEMENT | ID_REFERENCED);
}

enum finding_shape archive_shape(struct checker *ck)
{
    struct archive *archive = &ck->heap->archive;

    if (archive->fitting != 1)
        return SHAPE_ANY;
    id_set_sweep(&archive->named, look_for_both, archive);
    if (archive->spoiled)
        return SHAPE_ANY;
    return archive->is_rooted ? SHAPE_ARCHIVED : SHAPE_ARCHIVED_WITHOUT_ROOT;
}
