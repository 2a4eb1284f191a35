/* Undefined IDs at the end of a heap dump (SPEC.md 6.4.3, 6.3.2, 7): each is reported once, under the gravest rule. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks/checker.h"
#include "checks/heap.h"

/* Defines the ID, so that the sweep for dangling references does not report it again. */
static void settle(struct checker *ck, uint64_t id)
{
    if (id && id_set_get(&ck->heap->objects, id))
        id_set_define(&ck->heap->objects, &ck->heap->segment.defined, id_to_key(id, ck->file->id_size));
}

/* The class whose superclass ID is at an offset; LAYOUT_NONE if it is unknown. */
static uint32_t layout_with_super_at(const struct checker *ck, uint64_t offset)
{
    uint64_t at = offset - OFFSET_OF(CLASS_DUMP, super_id, ck->file->id_size);
    uint32_t low = 0, high = (uint32_t)ck->file->classes.layouts.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct layout *l = classes_layout(&ck->file->classes, middle);

        if (l->at == at)
            return middle;
        if (l->at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return LAYOUT_NONE;
}

/* The event classes of the JDK are loaded before they are linked, and only linked classes are dumped. */
static enum finding_shape shape_of_sticky_class(const struct checker *ck, uint64_t id)
{
    static const char package[] = "jdk/internal/event/";
    const struct class *class = classes_find(&ck->file->classes, id);
    struct string_text name;

    if (class && strings_text(&ck->file->strings, class->name, &name) && name.kept > sizeof package - 1 &&
        memcmp(name.bytes, package, sizeof package - 1) == 0)
        return SHAPE_EVENT_CLASS;
    return SHAPE_STICKY_CLASS;
}

/* Counts an object that is referred to and not dumped. Returns what it is a case of. */
static enum finding_shape note_missing(struct checker *ck, uint64_t id, unsigned flags)
{
    bool by_elements = !(flags & ID_REFERENCED);
    enum finding_shape shape = by_elements ? archive_shape(ck, id) : SHAPE_ANY;

    if (by_elements && ck->heap->archive.undecided)
        ck->run->undecided = true;
    else
        ck->run->missing[shape]++;
    return shape;
}

/* No quirk of roots excuses an object that others refer to. But HotSpot's quirk of event classes is one of dumps that may have the
 * list of the archive, which names mirrors of all classes. */
static void report_missing_root(struct checker *ck, uint64_t id, const uint64_t first[USE_ROLES], unsigned flags)
{
    unsigned role = OBJECT_AS_STICKY_CLASS;
    uint64_t offset = uses_first(first, OBJECT_AS_JNI_GLOBAL, OBJECT_AS_OTHER_ROOT, &role);
    bool is_named = flags & (ID_REFERENCED | ID_ELEMENT) && note_missing(ck, id, flags) != SHAPE_ARCHIVED;
    enum finding_shape shape = is_named                         ? SHAPE_ANY
                               : role == OBJECT_AS_STICKY_CLASS ? shape_of_sticky_class(ck, id)
                                                                : SHAPE_ONLY_ROOT;
    char within[NAME_SIZE], name[NAME_SIZE];

    if (offset == NEVER_USED)
        offset = first[OBJECT_AS_STICKY_CLASS];
    snprintf(within, sizeof within, "%s 0x%" PRIx64, root_name(role), id);
    report_within(ck, RULE_REF_001, shape, offset, within, "the ID of an object in this heap dump",
                  "0x%" PRIx64 "%s, not dumped%s", id, show_class_after(ck->file, id, name, sizeof name),
                  is_named ? "; others refer to it, too" : "");
}

/* The next dumped class that neither a LOAD_CLASS nor anything else names; LAYOUT_NONE if there is none. */
static uint32_t next_stray_class(struct checker *ck)
{
    while (ck->heap->next_stray < ck->file->classes.layouts.count) {
        uint32_t index = ck->heap->next_stray++;
        const struct layout *l = classes_layout(&ck->file->classes, index);
        uint64_t id = classes_id(&ck->file->classes, index);

        if (!l->has_instances && !l->array_kind && !classes_find(&ck->file->classes, id) &&
            !(id_set_get(&ck->heap->objects, id) & (ID_REFERENCED | ID_ELEMENT)))
            return index;
    }
    return LAYOUT_NONE;
}

/* If a loaded class is named but not dumped, and another class is dumped but neither loaded nor named, they are one class,
 * dumped under a wrong ID. The finding about the undefined class says so, and there is no other. Returns " ..." or "". */
static const char *show_stray_class(struct checker *ck, uint64_t missing, char *to)
{
    uint32_t stray = classes_find(&ck->file->classes, missing) ? next_stray_class(ck) : LAYOUT_NONE;

    to[0] = '\0';
    if (stray != LAYOUT_NONE) {
        struct layout *l = classes_layout(&ck->file->classes, stray);

        l->is_stray = true;
        snprintf(to, NAME_SIZE, ", unless as 0x%" PRIx64 " at 0x%" PRIx64 ", which has no LOAD_CLASS",
                 classes_id(&ck->file->classes, stray), jumps_offset(&ck->file->jumps, l->at));
    }
    return to;
}

/* Writes "INSTANCE_DUMP 0x7ff0a8", without the ID if it was not kept. */
static void show_instance(const struct checker *ck, uint64_t offset, char *to)
{
    unsigned i = 0;

    while (i < ck->heap->first_instance_count && ck->heap->first_instances[i].offset != offset)
        i++;
    snprintf(to, NAME_SIZE, "INSTANCE_DUMP");
    if (i < ck->heap->first_instance_count)
        snprintf(to, NAME_SIZE, "INSTANCE_DUMP 0x%" PRIx64, ck->heap->first_instances[i].object_id);
}

static void report_missing_class(struct checker *ck, uint64_t id, unsigned role, uint64_t offset, bool defined)
{
    static const enum rule rules[] = {
        [OBJECT_AS_CLASS] = RULE_OBJ_002,
        [OBJECT_AS_ARRAY_CLASS] = RULE_OBJ_003,
        [OBJECT_AS_SUPERCLASS] = RULE_CLS_010,
    };
    uint32_t subclass = role == OBJECT_AS_SUPERCLASS ? layout_with_super_at(ck, offset) : LAYOUT_NONE;
    char within[NAME_SIZE], name[NAME_SIZE], instead[NAME_SIZE];

    if (subclass != LAYOUT_NONE)
        show_class_dump(ck->file, classes_id(&ck->file->classes, subclass), within, sizeof within);
    else if (role == OBJECT_AS_CLASS)
        show_instance(ck, offset, within);
    else
        snprintf(within, sizeof within, role == OBJECT_AS_ARRAY_CLASS ? "OBJECT_ARRAY_DUMP" : "CLASS_DUMP");
    report_within(ck, rules[role], role == OBJECT_AS_ARRAY_CLASS && !id ? SHAPE_CLASS_ZERO : SHAPE_ANY, offset, within,
                  "the ID of a class in this heap dump", "0x%" PRIx64 "%s, %s%s", id,
                  show_class_after(ck->file, id, name, sizeof name), defined ? IS_NO_CLASS : "not dumped",
                  defined ? "" : show_stray_class(ck, id, instead));
}

/* Whether an object that is dumped is no instance of the class java.lang.Thread, ClassLoader or Class, or of a subclass. Where that
 * class is not dumped, or its name is not known, it is believed to be one. */
static bool is_other_than(struct checker *ck, uint64_t id, enum special special)
{
    return ck->file->classes.special & special && id_set_get(&ck->heap->objects, id) & ID_DEFINED &&
           !(id_set_get(&ck->heap->special, id) & special);
}

/* SPEC.md 6.2.8: what a thread names, whatever else it is. */
static void check_thread_use(struct checker *ck, uint64_t id, bool is_class, uint64_t offset)
{
    char name[NAME_SIZE];

    if (is_class)
        report_within(ck, RULE_ROOT_008, SHAPE_ANY, offset, "ROOT_THREAD_OBJECT", "the ID of a thread object",
                      "0x%" PRIx64 "%s, a class", id, show_class_after(ck->file, id, name, sizeof name));
    else if (is_other_than(ck, id, SPECIAL_THREAD))
        report_within(ck, RULE_ROOT_009, SHAPE_ANY, offset, "ROOT_THREAD_OBJECT", "the ID of a thread object",
                      "0x%" PRIx64 ", no instance of java.lang.Thread", id);
}

/* SPEC.md 6.2.6 */
static void check_sticky_use(struct checker *ck, uint64_t id, bool is_class, uint64_t offset)
{
    if (!is_class && is_other_than(ck, id, SPECIAL_CLASS))
        report_within(ck, RULE_ROOT_010, SHAPE_ANY, offset, "ROOT_STICKY_CLASS", "the ID of a class",
                      "0x%" PRIx64 ", no class and no instance of java.lang.Class", id);
}

static void report_object_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    unsigned flags = id ? id_set_get(&ck->heap->objects, id) : 0, role = OBJECT_AS_CLASS;
    bool defined = flags & ID_DEFINED, is_class = id && classes_layout_of(&ck->file->classes, id);

    if (first[OBJECT_AS_THREAD_OBJECT] != NEVER_USED)
        check_thread_use(ck, id, is_class, first[OBJECT_AS_THREAD_OBJECT]);
    if (first[OBJECT_AS_STICKY_CLASS] != NEVER_USED)
        check_sticky_use(ck, id, is_class, first[OBJECT_AS_STICKY_CLASS]);
    while (role <= OBJECT_AS_SUPERCLASS && first[role] == NEVER_USED)
        role++;
    if (role > OBJECT_AS_SUPERCLASS ? defined : is_class)
        return;
    if (role > OBJECT_AS_SUPERCLASS) {
        report_missing_root(ck, id, first, flags);
    } else {
        report_missing_class(ck, id, role, first[role], defined);
        ck->run->missing[SHAPE_ANY] += id && !defined;
    }
    settle(ck, id);
}

/* SPEC.md 6.3.1: what is not dumped is reported as such. */
static void report_loader_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    char name[NAME_SIZE];

    if (classes_layout_of(&ck->file->classes, id))
        report_within(ck, RULE_CLS_022, SHAPE_ANY, first[0], "CLASS_DUMP", "the ID of a class loader, or 0",
                      "0x%" PRIx64 "%s, a class", id, show_class_after(ck->file, id, name, sizeof name));
    else if (is_other_than(ck, id, SPECIAL_LOADER))
        report_within(ck, RULE_CLS_023, SHAPE_ANY, first[0], "CLASS_DUMP", "the ID of a class loader, or 0",
                      "0x%" PRIx64 ", no instance of java.lang.ClassLoader", id);
}

/* Ordered by ID, because on a pipe the offset is unknown and the findings must be the same. The second look adds what names it. */
static void report_dangling(struct checker *ck, uint64_t id, enum finding_shape shape, enum wanted_kind kind)
{
    char name[NAME_SIZE];
    struct finding *f = report_late(ck, RULE_REF_002, shape, id, NULL, "the ID of an object in this heap dump",
                                    "0x%" PRIx64 "%s, not dumped", id, show_class_after(ck->file, id, name, sizeof name));

    if (f) {
        f->offset = HPROF_NO_OFFSET;
        findings_want_offset(&ck->run->findings, f, kind, id);
    }
}

static void report_missing(void *context, uint64_t id, unsigned flags)
{
    struct checker *ck = context;

    report_dangling(ck, id, note_missing(ck, id, flags), flags & ID_REFERENCED ? WANTED_REFERENCE : WANTED_ELEMENT);
}

/* ---- Where not all of the heap dump was read ---- */

enum { FEW = 256 /* objects: their IDs say little of those of others */ };

struct missing_count {
    struct checker *ck;
    bool has_read_on; /* after damage */
    struct defined_ids defined;
};

/* Whether an ID may be that of an object: it is near the classes, and objects with the same remainder are dumped, from which it
 * is no farther than these are from each other. Where bytes were inserted or lost within references, what is there instead rarely
 * is. */
static bool may_be_object(const struct missing_count *m, uint64_t id)
{
    const struct classes *classes = &m->ck->file->classes;
    const uint64_t lowest = m->defined.by_remainder[id % 8].lowest, highest = m->defined.by_remainder[id % 8].highest,
                   span = highest - lowest;

    if (!m->has_read_on || m->defined.count < FEW)
        return true;
    if (lowest > highest || (classes->highest_id && !classes_are_near(classes, id)))
        return false;
    return id < lowest ? lowest - id <= span : id <= highest || id - highest <= span;
}

/* Perhaps what names the list of the archive was not read: only what something else names, too, is certain to be missing. The log
 * of arrays has those that recovery left out. */
static void count_missing(void *context, uint64_t id, unsigned flags)
{
    const struct missing_count *m = context;
    struct checker *ck = m->ck;

    if (is_lost_reference(ck->heap, id) || !may_be_object(m, id))
        return;
    if (flags & ID_REFERENCED || (!ck->file->losses.heap.array && id_set_get(&ck->heap->archive.named, id) & NO_LIST))
        ck->run->missing[SHAPE_ANY]++;
}

/* An object that is lost although its ID counts as defined. It was dumped, so that its absence is no quirk. */
static void count_lost(void *context, uint64_t id, uint64_t lost)
{
    struct checker *ck = context;
    unsigned flags = id_set_get(&ck->heap->objects, id);

    ck->run->missing[SHAPE_ANY] += lost == LOST_OBJECT && flags & ID_DEFINED && flags & (ID_REFERENCED | ID_ELEMENT);
}

static void count_missing_objects(struct checker *ck)
{
    const struct jump first = jumps_at(&ck->file->jumps, 0);
    struct missing_count m = {.ck = ck,
                              .has_read_on = first.from != NO_JUMP && first.to != UINT64_MAX,
                              .defined = id_set_defined(&ck->heap->objects)};

    id_set_sweep(&ck->heap->objects, count_missing, &m);
    keymap_each(&ck->heap->lost, count_lost, ck);
}

/* ---- All ---- */

/* The class of an array's elements, by Android's static field. check_class_dump.c marks it like an element of Object[]. */
static void report_missing_component(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    unsigned flags = id_set_get(&ck->heap->objects, id);
    enum finding_shape shape;

    (void)first;
    if (flags & ID_DEFINED)
        return;
    shape = flags & ID_REFERENCED ? SHAPE_ANY : SHAPE_COMPONENT_TYPE;
    ck->run->missing[shape]++;
    report_dangling(ck, id, shape, flags & ID_REFERENCED ? WANTED_REFERENCE : WANTED_ELEMENT);
    settle(ck, id);
}

void finish_objects(struct checker *ck, bool counts)
{
    if (ck->file->losses.heap.part && counts)
        count_missing_objects(ck);
    if (ck->file->losses.heap.part)
        return;
    pending_uses_finish(&ck->heap->loader_uses, report_loader_use, ck); /* before what is undefined is settled */
    pending_uses_finish(&ck->heap->object_uses, report_object_use, ck);
    pending_uses_finish(&ck->heap->component_types, report_missing_component, ck);
    id_set_sweep(&ck->heap->objects, report_missing, ck);
}
