/* Which array is the list of roots of the archive of class data sharing (PRODUCERS.md A.1): an Object[] that nothing names but
 * itself and, in dumps of HotSpot, one ROOT_JNI_GLOBAL. Decided at the end of a heap dump, because roots may come last. */
#include "checks/checker.h"
#include "checks/heap.h"

/* A ROOT_STICKY_CLASS names a class, and these are as many as the classes. */
void root_object(struct heap *heap, unsigned tag, uint64_t id)
{
    uint64_t earlier, flags = tag == SUB_ROOT_JNI_GLOBAL ? ROOTED_BY_GLOBAL : ROOTED_OTHERWISE;

    if (tag != SUB_ROOT_STICKY_CLASS && !keymap_add(&heap->archive.rooted, id, flags, &earlier))
        keymap_put(&heap->archive.rooted, id, ROOTED_OTHERWISE);
}

/* enum rooted_flag of an object; 0 if no root names it. */
static uint64_t roots_of(const struct heap *heap, uint64_t id)
{
    uint64_t flags;

    return keymap_get(&heap->archive.rooted, id, &flags) ? flags : 0;
}

/* Flags of an ID, of those asked for. What recovery left out names nothing. */
static unsigned uses_of(struct heap *heap, uint64_t id, unsigned flags)
{
    return is_lost_reference(heap, id) ? 0 : id_set_get(&heap->objects, id) & flags;
}

bool is_array_named(void *heap, uint64_t array_id)
{
    return uses_of(heap, array_id, ID_REFERENCED | ID_ELEMENT);
}

/* Without the roots of a heap dump that is not complete, an array without a root may be the list of a HotSpot, too. */
static enum list_kind kind_of_array(const struct checker *ck, uint64_t array_id, uint64_t class_id)
{
    uint64_t roots = roots_of(ck->heap, array_id);

    if (is_array_named(ck->heap, array_id) || !is_object_array(ck->file, class_id) || roots == ROOTED_OTHERWISE)
        return NO_LIST;
    return roots == ROOTED_BY_GLOBAL ? ROOTED_LIST : UNROOTED_LIST;
}

void meet_naming_array(struct checker *ck, uint64_t array_id, uint64_t class_id, uint64_t missing)
{
    struct archive *archive = &ck->heap->archive;
    unsigned kinds = id_set_get(&archive->named, missing);
    bool spoils = uses_of(ck->heap, missing, ID_REFERENCED) || roots_of(ck->heap, missing);

    if (archive->last_array != array_id) {
        archive->last_kind = kind_of_array(ck, array_id, class_id);
        archive->rooted_lists.fitting += archive->last_kind == ROOTED_LIST;
        archive->unrooted_lists.fitting += archive->last_kind == UNROOTED_LIST;
    }
    archive->last_array = array_id;
    id_set_set(&archive->named, id_to_key(missing, ck->file->id_size), (enum id_set_flag)archive->last_kind);
    kinds |= archive->last_kind;
    archive->rooted_lists.spoiled |= kinds & ROOTED_LIST && (spoils || kinds != ROOTED_LIST);
    archive->unrooted_lists.spoiled |= kinds & UNROOTED_LIST && (spoils || kinds != UNROOTED_LIST);
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

static bool explain(const struct lists *lists)
{
    return lists->fitting == 1 && !lists->spoiled;
}

enum finding_shape archive_shape(struct checker *ck, uint64_t id)
{
    struct archive *archive = &ck->heap->archive;
    unsigned kinds = id_set_get(&archive->named, id);

    if (kinds == ROOTED_LIST && explain(&archive->rooted_lists))
        return SHAPE_ARCHIVED;
    return kinds == UNROOTED_LIST && explain(&archive->unrooted_lists) ? SHAPE_ARCHIVED_WITHOUT_ROOT : SHAPE_ANY;
}
