/* CLASS_DUMP (SPEC.md 6.3) and superclass chains. */
#include <inttypes.h>

#include "checker.h"

static void check_boolean(struct checker *ck, const uint8_t *value, uint64_t at)
{
    if (*value > 1)
        report(ck, RULE_OBJ_010, at, "0 or 1", "%u", *value);
}

/* A value of a constant or a static field. */
static void check_value(struct checker *ck, unsigned type, const uint8_t *value, uint64_t at)
{
    if (type == TYPE_OBJECT) {
        refer(ck, get_id(value, ck->id_size));
        ck->sum.references++;
    } else if (type == TYPE_BOOLEAN) {
        check_boolean(ck, value, at);
    }
}

/* The class object itself, and what it says of its superclass. */
static void check_class_object(struct checker *ck, const struct CLASS_DUMP *r, struct class *class, uint64_t at)
{
    unsigned id = ck->id_size;

    if (class && !class->loaded)
        uselog_add(&ck->class_uses, r->class_id, CLASS_IS_DUMPED, at);
    use_trace(ck, r->trace_serial, TRACE_OF_CLASS, at + OFFSET_OF(CLASS_DUMP, trace_serial, id));
    if (r->super_id && !classes_layout_of(&ck->classes, r->super_id))
        uselog_add(&ck->dump.object_uses, r->super_id, OBJECT_AS_SUPERCLASS, at + OFFSET_OF(CLASS_DUMP, super_id, id));
    if (!r->super_id && class)
        uselog_add(&ck->class_uses, r->class_id, CLASS_IS_ROOTLESS, at + OFFSET_OF(CLASS_DUMP, super_id, id));
    refer(ck, r->loader_id);
    refer(ck, r->signers_id);
    refer(ck, r->domain_id);
    if (r->reserved1)
        report(ck, RULE_CLS_013, at + OFFSET_OF(CLASS_DUMP, reserved1, id), "0", "0x%" PRIx64, r->reserved1);
    else if (r->reserved2)
        report(ck, RULE_CLS_013, at + OFFSET_OF(CLASS_DUMP, reserved2, id), "0", "0x%" PRIx64, r->reserved2);
}

/* SPEC.md 6.3.5: n fields at p. The first bad type is told and no name: a wrong number of fields makes many of both. */
static void check_instance_fields(struct checker *ck, const uint8_t *p, uint16_t n, uint64_t at)
{
    size_t size = SIZE_OF(INSTANCE_FIELD, ck->id_size), type_at = OFFSET_OF(INSTANCE_FIELD, type, ck->id_size);

    for (uint16_t i = 0; i < n; i++)
        if (!type_size(get_u1(p + i * size + type_at), ck->id_size)) {
            report(ck, RULE_CLS_016, at + i * size + type_at, "2 or 4 to 11", "%u", get_u1(p + i * size + type_at));
            return;
        }
    for (uint16_t i = 0; i < n; i++)
        use_name(ck, get_id(p + i * size, ck->id_size), NAME_OF_INSTANCE_FIELD, at + i * size);
}

/* p are the bytes behind the tag, `size` of them: a whole CLASS_DUMP with sound types of constants and static fields. */
void check_class_dump(struct checker *ck, const uint8_t *p, size_t size, uint64_t at)
{
    unsigned id = ck->id_size;
    const uint8_t *start = p, *fields;
    struct cursor c = {p, p + size};
    struct CLASS_DUMP r;
    struct class *class = NULL; /* none for ID 0, which is an error of its own */
    struct layout *layout;
    uint16_t n;

    if (!read_CLASS_DUMP(&c, id, &r))
        return;
    if (r.class_id) {
        class = classes_add(&ck->classes, r.class_id);
        if (!class)
            return;
    }
    p = c.at;

    if (ck->look == LOOK_JUDGE)
        check_class_object(ck, &r, class, at);

    n = get_u2(p); /* 6.3.3 constant pool */
    for (p += 2; n; n--) {
        unsigned type = get_u1(p + 2);

        p += SIZE_OF(CONSTANT, id);
        if (ck->look == LOOK_JUDGE)
            check_value(ck, type, p, at + (uint64_t)(p - start));
        else if (ck->look == LOOK_LOCATE && type == TYPE_OBJECT)
            locate_referred(ck, get_id(p, id), at + (uint64_t)(p - start));
        p += type_size(type, id);
    }
    n = get_u2(p); /* 6.3.4 static fields */
    for (p += 2; n; n--) {
        unsigned type = get_u1(p + id);

        if (ck->look == LOOK_JUDGE)
            use_name(ck, get_id(p, id), NAME_OF_STATIC_FIELD, at + (uint64_t)(p - start));
        p += SIZE_OF(STATIC_FIELD, id);
        if (ck->look == LOOK_JUDGE)
            check_value(ck, type, p, at + (uint64_t)(p - start));
        else if (ck->look == LOOK_LOCATE && type == TYPE_OBJECT)
            locate_referred(ck, get_id(p, id), at + (uint64_t)(p - start));
        p += type_size(type, id);
    }
    n = get_u2(p); /* 6.3.5 instance fields */
    p += 2;
    fields = p;

    if (ck->look == LOOK_LOCATE) {
        locate_defined(ck, r.class_id, at);
        locate_referred(ck, r.loader_id, at + OFFSET_OF(CLASS_DUMP, loader_id, id));
        locate_referred(ck, r.signers_id, at + OFFSET_OF(CLASS_DUMP, signers_id, id));
        locate_referred(ck, r.domain_id, at + OFFSET_OF(CLASS_DUMP, domain_id, id));
        return;
    }

    layout = classes_layout(&ck->classes, class);
    if (class && !layout)
        layout = classes_add_layout(&ck->classes, class, &r, at, fields, n, id);
    if (layout && layout->at == at) {
        ck->dump.class_just_dumped = true;
        ck->dump.last_layout = class->layout;
    }
    if (ck->look == LOOK_CLASSES)
        return;

    check_instance_fields(ck, fields, n, at + (uint64_t)(fields - start));
    if (layout && layout->at != at) {
        struct finding *f = report(ck, RULE_CLS_009, at, "a class not yet dumped in this heap dump", "0x%" PRIx64, r.class_id);

        if (f)
            f->related_offset = layout->at;
        return;
    }
    if (layout)
        layout->reached = true;
    define_object(ck, r.class_id, true, at);
}

/* SPEC.md 6.3.2: one finding for each cycle, at the class of it that was dumped first. */
static void find_cycle(struct checker *ck, struct layout *l)
{
    const struct classes *classes = &ck->classes;
    const struct chunks *layouts = &classes->layouts;
    struct layout *meeting = l, *first;
    char path[NAME_SIZE], name[NAME_SIZE];

    while (meeting->colour == 0) {
        meeting->colour = 1;
        if (meeting->super == LAYOUT_NONE)
            break;
        meeting = chunks_at(layouts, meeting->super);
    }
    if (meeting->colour == 1 && meeting->super != LAYOUT_NONE) {
        first = meeting;
        for (struct layout *m = chunks_at(layouts, meeting->super); m != meeting; m = chunks_at(layouts, m->super))
            if (m->at < first->at)
                first = m;
        report_within(ck, RULE_CLS_011, SHAPE_ANY, first->at + OFFSET_OF(CLASS_DUMP, super_id, ck->id_size),
                      show_class_dump(ck, first->class_id, path), "a superclass chain that ends",
                      "0x%" PRIx64 "%s is among its own superclasses", first->class_id,
                      show_class_after(ck, first->class_id, name));
    }
    for (; l->colour == 1; l = chunks_at(layouts, l->super)) {
        l->colour = 2;
        if (l->super == LAYOUT_NONE)
            break;
    }
}

/* Sizes and chains, once all classes of the heap dump are known. */
void finish_class_dumps(struct checker *ck)
{
    struct classes *classes = &ck->classes;

    for (size_t i = 0; i < classes->layouts.count; i++) {
        struct layout *l = chunks_at(&classes->layouts, i);
        char path[NAME_SIZE];

        if (classes_resolve(classes, l) == LAYOUT_BROKEN)
            find_cycle(ck, l);
        else if (l->reached && l->total != l->instance_size)
            report_within(ck, RULE_CLS_017, !l->instance_size && !l->field_count ? SHAPE_UNPREPARED_CLASS : SHAPE_ANY,
                          l->at + OFFSET_OF(CLASS_DUMP, instance_size, ck->id_size), show_class_dump(ck, l->class_id, path),
                          "the sum of the fields and of those of the superclasses",
                          "%" PRIu32 "; the fields take %" PRIu64 " bytes", l->instance_size, l->total);
    }
}
