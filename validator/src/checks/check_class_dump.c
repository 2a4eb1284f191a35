/* CLASS_DUMP (SPEC.md 6.3) and superclass chains. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks/checker.h"
#include "checks/heap.h"
#include "format/subrecord.h"

/* Checks the class ID and the superclass ID. */
static void check_class_object(struct checker *ck, const struct CLASS_DUMP *r, uint64_t at)
{
    unsigned id = ck->file->id_size;

    use_trace(ck, r->trace_serial, TRACE_OF_CLASS, at + OFFSET_OF(CLASS_DUMP, trace_serial, id));
    if (r->super_id && !classes_layout_of(&ck->file->classes, r->super_id))
        pending_uses_add(&ck->heap->object_uses, r->super_id, OBJECT_AS_SUPERCLASS, at + OFFSET_OF(CLASS_DUMP, super_id, id));
    refer(ck->heap, r->loader_id);
    if (r->loader_id)
        pending_uses_add(&ck->heap->loader_uses, r->loader_id, 0, at + OFFSET_OF(CLASS_DUMP, loader_id, id));
    refer(ck->heap, r->signers_id);
    refer(ck->heap, r->domain_id);
    if (r->reserved1)
        report(ck, RULE_CLS_013, at + OFFSET_OF(CLASS_DUMP, reserved1, id), "0", "0x%" PRIx64, r->reserved1);
    else if (r->reserved2)
        report(ck, RULE_CLS_013, at + OFFSET_OF(CLASS_DUMP, reserved2, id), "0", "0x%" PRIx64, r->reserved2);
}

/* SPEC.md 6.3.5: n fields at p. After a bad type only that type is reported, because a wrong number of fields gives many bad
 * types and names. */
static void check_instance_fields(struct checker *ck, const uint8_t *p, uint16_t n, uint64_t at)
{
    size_t size = SIZE_OF(INSTANCE_FIELD, ck->file->id_size), type_at = OFFSET_OF(INSTANCE_FIELD, type, ck->file->id_size);

    for (uint16_t i = 0; i < n; i++)
        if (!type_size(get_u1(p + i * size + type_at), ck->file->id_size)) {
            report(ck, RULE_CLS_016, at + i * size + type_at, "2 or 4 to 11", "%u", get_u1(p + i * size + type_at));
            return;
        }
    for (uint16_t i = 0; i < n; i++)
        use_name(ck, get_id(p + i * size, ck->file->id_size), NAME_OF_INSTANCE_FIELD, at + i * size);
}

/* SPEC.md 6.3.3: n constants at p. Returns the end of them. */
static const uint8_t *check_constants(struct checker *ck, const uint8_t *p, uint64_t at)
{
    const uint8_t *start = p;
    struct entry e;

    for (uint16_t n = read_count(&p); n; n--) {
        read_entry(&p, SIZE_OF(CONSTANT, ck->file->id_size), ck->file->id_size, &e);
        check_value(ck, e.type, e.value, at + (uint64_t)(e.value - start));
    }
    return p;
}

/* Android's static field for the class of an array's elements, which may not be dumped (PRODUCERS.md A.4). */
static bool names_component_type(const struct checker *ck, uint64_t name, unsigned type)
{
    struct string_text text;

    return type == TYPE_OBJECT && strings_text(&ck->file->strings, name, &text) && string_is(&text, "$class$componentType");
}

static void check_component_type(struct checker *ck, uint64_t id, uint64_t at)
{
    struct heap *heap = ck->heap;

    ck->run->sum.references++;
    if (!id)
        return;
    id_set_refer(&heap->objects, &heap->segment.element, id_to_key(id, ck->file->id_size), ID_ELEMENT);
    if (!(id_set_get(&heap->objects, id) & ID_DEFINED))
        pending_uses_add(&heap->component_types, id, 0, at);
}

/* SPEC.md 6.3.4: n static fields at p. Returns the end of them. */
static const uint8_t *check_static_fields(struct checker *ck, const uint8_t *p, uint64_t at)
{
    const uint8_t *start = p;
    struct entry e;

    for (uint16_t n = read_count(&p); n; n--) {
        read_entry(&p, SIZE_OF(STATIC_FIELD, ck->file->id_size), ck->file->id_size, &e);
        use_name(ck, get_id(e.head, ck->file->id_size), NAME_OF_STATIC_FIELD, at + (uint64_t)(e.head - start));
        if (names_component_type(ck, get_id(e.head, ck->file->id_size), e.type))
            check_component_type(ck, get_id(e.value, ck->file->id_size), at + (uint64_t)(e.value - start));
        else
            check_value(ck, e.type, e.value, at + (uint64_t)(e.value - start));
    }
    return p;
}

/* SPEC.md 6.4.2: a class is dumped once. */
static void report_repeated_class(struct checker *ck, const struct CLASS_DUMP *r, const struct layout *earlier, uint64_t at)
{
    struct finding *f;

    if (ck->file->losses.heap.end || is_subrecord_read_again(ck, at))
        return;
    f = report(ck, RULE_CLS_009, at, "a class not yet dumped in this heap dump", "0x%" PRIx64, r->class_id);
    if (f)
        f->related_offset = jumps_offset(&ck->file->jumps, earlier->at);
    if (!r->super_id)
        pending_uses_add(&ck->file->class_uses, r->class_id, CLASS_HAS_NO_SUPERCLASS,
                         at + OFFSET_OF(CLASS_DUMP, super_id, ck->file->id_size));
}

/* What the instances of a class are by its name, as it is known so far: instances follow, and are noted as they are met. */
static enum special special_by_name(const struct checker *ck, uint64_t class_id)
{
    const struct class *class = classes_find(&ck->file->classes, class_id);

    switch (class && !class->reused ? strings_name_kind(&ck->file->strings, class->name) : NAME_UNKNOWN) {
    case NAME_OF_JAVA_LANG_THREAD:
        return SPECIAL_THREAD;
    case NAME_OF_JAVA_LANG_CLASS_LOADER:
        return SPECIAL_LOADER;
    case NAME_OF_JAVA_LANG_CLASS:
        return SPECIAL_CLASS;
    default:
        return 0;
    }
}

static void add_layout(struct checker *ck, const struct CLASS_DUMP *r, uint64_t at, const uint8_t *fields, uint16_t count)
{
    uint32_t index = classes_add_layout(&ck->file->classes, r, at, fields, count);

    if (index != LAYOUT_NONE)
        classes_set_special(&ck->file->classes, index, special_by_name(ck, r->class_id));
}

/* SPEC.md 6.3. The `size` bytes at p follow the tag: a complete CLASS_DUMP whose constants and static fields have basic
 * types. */
void check_class_dump(struct checker *ck, const uint8_t *p, size_t size, uint64_t at)
{
    struct cursor c = {p, p + size};
    const struct layout *earlier;
    const uint8_t *statics, *fields;
    struct CLASS_DUMP r;
    uint16_t field_count;

    if (!read_CLASS_DUMP(&c, ck->file->id_size, &r))
        return;
    check_class_object(ck, &r, at);
    statics = check_constants(ck, c.at, at + (uint64_t)(c.at - p));
    fields = check_static_fields(ck, statics, at + (uint64_t)(statics - p));
    field_count = read_count(&fields);
    check_instance_fields(ck, fields, field_count, at + (uint64_t)(fields - p));

    earlier = classes_layout_of(&ck->file->classes, r.class_id);
    if (earlier) {
        report_repeated_class(ck, &r, earlier, at);
        return;
    }
    define_object(ck, r.class_id, true, at);
    if (r.class_id)
        add_layout(ck, &r, at, fields, field_count);
}

static struct layout *invalid_layout(const struct classes *c, uint32_t index)
{
    struct layout *l = index == LAYOUT_NONE ? NULL : classes_layout(c, index);

    return l && l->state == LAYOUT_INVALID ? l : NULL;
}

/* SPEC.md 6.3.2: one finding for each cycle, at its first class in the file. Only invalid layouts form cycles. */
static void find_cycle(struct checker *ck, uint32_t start)
{
    const struct classes *classes = &ck->file->classes;
    uint32_t meeting = start, first;
    char path[NAME_SIZE], name[NAME_SIZE];
    struct layout *l;

    while ((l = invalid_layout(classes, meeting)) && l->colour == 0) {
        l->colour = 1;
        meeting = classes_above(classes, meeting);
    }
    if (l && l->colour == 1) {
        first = meeting;
        for (uint32_t i = classes_above(classes, meeting); i != meeting; i = classes_above(classes, i))
            if (classes_layout(classes, i)->at < classes_layout(classes, first)->at)
                first = i;
        report_within(ck, RULE_CLS_011, SHAPE_ANY,
                      classes_layout(classes, first)->at + OFFSET_OF(CLASS_DUMP, super_id, ck->file->id_size),
                      show_class_dump(ck->file, classes_id(classes, first), path, sizeof path), "a superclass chain that ends",
                      "0x%" PRIx64 "%s is among its own superclasses", classes_id(classes, first),
                      show_class_after(ck->file, classes_id(classes, first), name, sizeof name));
    }
    for (uint32_t i = start; (l = invalid_layout(classes, i)) && l->colour == 1; i = classes_above(classes, i))
        l->colour = 2;
}

/* Checks sizes and superclass chains, once all classes of the heap dump are known. */
void finish_class_dumps(struct checker *ck)
{
    struct classes *classes = &ck->file->classes;

    for (uint32_t i = 0; i < classes->layouts.count; i++) {
        const struct layout *l = classes_layout(classes, i);
        enum layout_state state = classes_resolve(classes, i);
        char path[NAME_SIZE], expected[80];

        if (ck->run->memory.exhausted)
            return; /* a layout that could not be resolved has no total */
        if (state == LAYOUT_INVALID) {
            find_cycle(ck, i);
        } else if (l->total != l->instance_size) {
            snprintf(expected, sizeof expected, "%" PRIu64 " bytes, its fields and those of its superclasses",
                     (uint64_t)l->total);
            report_within(ck, RULE_CLS_017, !l->instance_size && !l->has_fields ? SHAPE_UNPREPARED_CLASS : SHAPE_ANY,
                          l->at + OFFSET_OF(CLASS_DUMP, instance_size, ck->file->id_size),
                          show_class_dump(ck->file, classes_id(classes, i), path, sizeof path), expected, "%" PRIu32,
                          l->instance_size);
        }
    }
}

/* Keeps what an array class must not have, if the class is one, or may turn out to be one. */
static void keep_array_class(struct checker *ck, uint64_t class_id, const struct layout *l)
{
    const struct class *class = classes_find(&ck->file->classes, class_id);
    enum name_kind kind = class ? strings_name_kind(&ck->file->strings, class->name) : NAME_UNKNOWN;

    if (kind != NAME_UNKNOWN && !is_array_name(kind))
        return;
    if (l->has_instances)
        pending_uses_add(&ck->file->class_uses, class_id, CLASS_HAS_INSTANCES, l->at);
    if (l->has_fields && !l->bad_type)
        pending_uses_add(&ck->file->class_uses, class_id, CLASS_HAS_FIELDS, l->at);
    if (l->is_far_from_root)
        pending_uses_add(&ck->file->class_uses, class_id, CLASS_IS_FAR_FROM_ROOT,
                         l->at + OFFSET_OF(CLASS_DUMP, super_id, ck->file->id_size));
}

/* Keeps what depends on LOAD_CLASS records that may still follow. */
void keep_class_uses(struct checker *ck)
{
    struct classes *classes = &ck->file->classes;

    for (uint32_t i = 0; i < classes->layouts.count; i++) {
        const struct layout *l = classes_layout(classes, i);
        uint64_t class_id = classes_id(classes, i);

        if (!l->is_stray && !classes_find(classes, class_id))
            pending_uses_add(&ck->file->class_uses, class_id, CLASS_IS_DUMPED, l->at);
        if (l->has_instances || l->has_fields || l->is_far_from_root)
            keep_array_class(ck, class_id, l);
        if (l->has_no_superclass)
            pending_uses_add(&ck->file->class_uses, class_id, CLASS_HAS_NO_SUPERCLASS,
                             l->at + OFFSET_OF(CLASS_DUMP, super_id, ck->file->id_size));
    }
}
