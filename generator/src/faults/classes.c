/* SPEC.md 4.2, 4.3, 6.3: LOAD_CLASS, UNLOAD_CLASS, CLASS_DUMP. */
#include "faults/fault.h"

/* ---- LOAD_CLASS and UNLOAD_CLASS ---- */

void cls_002_zero(struct faults *v, struct event *e, int variant)
{
    struct event load = RECORD_EVENT(LOAD_CLASS);

    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "Broken");
    load.fields.LOAD_CLASS = (struct LOAD_CLASS){.class_id = fresh_id(v, CLASS), .name = fresh_id(v, NAME)};
    load.class_name = "Broken";
    break_at(v, &load, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, class_serial, v->id_size));
    insert(v, &load);
}

/* Loads a class again: the variant says what differs from the first time. */
void cls_003_again(struct faults *v, struct event *e, int other_class)
{
    give(v->break_.next, e);
    if (other_class)
        e->fields.LOAD_CLASS.class_id = fresh_id(v, CLASS);
    break_at(v, e, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, class_serial, v->id_size));
}

void cls_004_reloaded(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    give(v->break_.next, e);
    e->fields.LOAD_CLASS.class_serial = fresh_serial(v, CLASS_SERIAL);
    break_at(v, e, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, class_id, v->id_size));
}

void cls_005_zero(struct faults *v, struct event *e, int variant)
{
    struct event load = RECORD_EVENT(LOAD_CLASS);

    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "Broken");
    load.fields.LOAD_CLASS = (struct LOAD_CLASS){.class_serial = fresh_serial(v, CLASS_SERIAL), .name = fresh_id(v, NAME)};
    load.class_name = "Broken";
    break_at(v, &load, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, class_id, v->id_size));
    insert(v, &load);
}

void cls_007_unknown(struct faults *v, struct event *e, int loaded_later)
{
    struct event unload = RECORD_EVENT(UNLOAD_CLASS);

    (void)e;
    unload.fields.UNLOAD_CLASS.class_serial = fresh_serial(v, CLASS_SERIAL);
    if (loaded_later)
        insert_utf8(v, fresh_id(v, NAME), "Broken");
    break_at(v, &unload, EVENT_OFFSET_OF(EVENT_RECORD, UNLOAD_CLASS, class_serial, v->id_size));
    insert(v, &unload);
    if (loaded_later)
        insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, NAME), "Broken");
}

static void insert_unload_class(struct faults *v, uint32_t serial, bool broken)
{
    struct event unload = RECORD_EVENT(UNLOAD_CLASS);

    unload.fields.UNLOAD_CLASS.class_serial = serial;
    if (broken)
        break_at(v, &unload, EVENT_OFFSET_OF(EVENT_RECORD, UNLOAD_CLASS, class_serial, v->id_size));
    insert(v, &unload);
}

void cls_018_renamed(struct faults *v, struct event *e, int after_unload)
{
    struct event load = RECORD_EVENT(LOAD_CLASS);
    uint32_t serial = fresh_serial(v, CLASS_SERIAL);

    (void)e;
    insert_utf8(v, fresh_id(v, NAME), "Broken");
    insert_utf8(v, fresh_id(v, FIELD), "Renamed");
    insert_load_class(v, serial, fresh_id(v, CLASS), fresh_id(v, NAME), "Broken");
    if (after_unload) {
        insert_unload_class(v, serial, false);
        serial = fresh_serial(v, TRACE_SERIAL);
        insert_load_class(v, serial, fresh_id(v, CLASS), fresh_id(v, NAME), "Broken");
    }
    load.fields.LOAD_CLASS = (struct LOAD_CLASS){
        .class_serial = fresh_serial(v, OTHER_SERIAL), .class_id = fresh_id(v, CLASS), .name = fresh_id(v, FIELD)};
    load.class_name = "Renamed";
    break_at(v, &load, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, name, v->id_size));
    insert(v, &load);
}

void cls_019_twice(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "Broken");
    insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, NAME), "Broken");
    insert_unload_class(v, fresh_serial(v, CLASS_SERIAL), false);
    insert_unload_class(v, fresh_serial(v, CLASS_SERIAL), true);
}

/* ---- CLASS_DUMP ---- */

/* The offset of a field of a CLASS_DUMP in its event. */
#define CLASS_FIELD(v, field) EVENT_OFFSET_OF(EVENT_SUBRECORD, CLASS_DUMP, field, (v)->id_size)

void cls_008_not_loaded(struct faults *v, struct event *e, int variant)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, "");

    (void)e;
    break_at(v, &class, CLASS_FIELD(v, class_id));
    insert(v, &class);
    if (variant) {
        struct event instance = instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), 0);

        insert(v, &instance);
    }
}

void cls_009_again(struct faults *v, struct event *e, int other_layout)
{
    give(v->break_.next, e);
    if (other_layout) {
        struct class_lists lists;

        if (find_lists(v, e, &lists)) { /* all bytes except the first field */
            uint8_t *body = own_body(v, e);
            size_t field = SIZE_OF(INSTANCE_FIELD, v->id_size);

            memmove(body + lists.fields_at, body + lists.fields_at + field, (lists.fields - 1) * field);
            put_u2(body + lists.fields_at - 2, (uint16_t)(lists.fields - 1));
            e->body_size -= field;
        }
    }
    break_at(v, e, CLASS_FIELD(v, class_id));
}

void cls_010_missing(struct faults *v, struct event *e, int with_instance)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), fresh_id(v, MISSING), "\012");

    (void)e;
    break_at(v, &class, CLASS_FIELD(v, super_id));
    insert(v, &class);
    if (with_instance) {
        struct event instance = instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), 8);

        insert(v, &instance);
    }
}

void cls_010_object(struct faults *v, struct event *e, int variant)
{
    struct event class;

    (void)e;
    (void)variant;
    insert_object(v, fresh_id(v, OBJECT));
    class = class_dump(v, fresh_id(v, CLASS), fresh_id(v, OBJECT), "");
    break_at(v, &class, CLASS_FIELD(v, super_id));
    insert(v, &class);
}

void cls_011_cycle(struct faults *v, struct event *e, int two)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), fresh_id(v, two ? OTHER : CLASS), "\012");

    (void)e;
    break_at(v, &class, CLASS_FIELD(v, super_id));
    insert(v, &class);
    if (two)
        insert_class(v, fresh_id(v, OTHER), fresh_id(v, CLASS), "\004");
}

void cls_012_zero(struct faults *v, struct event *e, int variant)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, "");

    (void)e;
    (void)variant;
    class.fields.CLASS_DUMP.super_id = 0;
    break_at(v, &class, CLASS_FIELD(v, super_id));
    insert(v, &class);
}

void cls_013_reserved(struct faults *v, struct event *e, int which)
{
    struct CLASS_DUMP *r = &e->fields.CLASS_DUMP;

    if (which & 1)
        r->reserved1 = which == 3 ? UINT64_MAX : 1;
    if (which & 2)
        r->reserved2 = which == 3 ? UINT64_MAX : 1;
    break_at(v, e, which & 1 ? CLASS_FIELD(v, reserved1) : CLASS_FIELD(v, reserved2));
}

/* A class with a constant, a static field and an instance field, one of which has an undefined type. */
static void insert_bad_type(struct faults *v, unsigned constant, unsigned in_static, unsigned in_field)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, "");
    uint64_t fixed = fixed_part_size(&class, v->id_size), at;

    begin_bytes(v);
    add_u2(v, 1);
    add_u2(v, 1);
    add_u1(v, constant);
    at = fixed + v->scratch_fill - 1;
    add_u4(v, 0);
    add_u2(v, 1);
    add_id(v, fresh_id(v, FIELD));
    add_u1(v, in_static);
    at = constant == TYPE_INT ? fixed + v->scratch_fill - 1 : at;
    add_u4(v, 0);
    add_u2(v, 1);
    add_id(v, fresh_id(v, FIELD));
    add_u1(v, in_field);
    at = constant == TYPE_INT && in_static == TYPE_INT ? fixed + v->scratch_fill - 1 : at;
    end_bytes(v, &class);
    class.fields.CLASS_DUMP.instance_size = type_size(in_field, v->id_size);
    break_at(v, &class, at);
    insert(v, &class);
}

void cls_014_type(struct faults *v, struct event *e, int type)
{
    (void)e;
    insert_bad_type(v, (unsigned)type, TYPE_INT, TYPE_INT);
}

void cls_015_type(struct faults *v, struct event *e, int type)
{
    (void)e;
    insert_bad_type(v, TYPE_INT, (unsigned)type, TYPE_INT);
}

void cls_016_type(struct faults *v, struct event *e, int type)
{
    (void)e;
    insert_bad_type(v, TYPE_INT, TYPE_INT, (unsigned)type);
}

void cls_017_size(struct faults *v, struct event *e, int change)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, "\012\013");

    (void)e;
    class.fields.CLASS_DUMP.instance_size += (uint32_t)change;
    break_at(v, &class, CLASS_FIELD(v, instance_size));
    insert(v, &class);
}

/* Counts only its own fields. */
void cls_017_own(struct faults *v, struct event *e, int variant)
{
    struct event class;

    (void)e;
    insert_class(v, fresh_id(v, OTHER), 0, "\012");
    class = class_dump(v, fresh_id(v, CLASS), fresh_id(v, OTHER), variant ? "" : "\013");
    break_at(v, &class, CLASS_FIELD(v, instance_size));
    insert(v, &class);
}

void cls_020_field(struct faults *v, struct event *e, int variant)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, "\012");

    (void)e;
    (void)variant;
    break_at(v, &class, CLASS_FIELD(v, class_id));
    insert(v, &class);
}

/* The heap dump may have no java.lang.Object yet, so there is a class of its own without a superclass. */
void cls_021_superclass(struct faults *v, struct event *e, int variant)
{
    struct event top = class_dump(v, fresh_id(v, TOP), 0, ""), class;

    (void)e;
    (void)variant;
    top.fields.CLASS_DUMP.super_id = 0;
    insert(v, &top);
    insert_class(v, fresh_id(v, OTHER), fresh_id(v, TOP), "");
    class = class_dump(v, fresh_id(v, CLASS), fresh_id(v, OTHER), "");
    break_at(v, &class, CLASS_FIELD(v, super_id));
    insert(v, &class);
}

void cls_022_loader(struct faults *v, struct event *e, int variant)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, "");

    (void)e;
    (void)variant;
    class.fields.CLASS_DUMP.loader_id = fresh_id(v, CLASS);
    break_at(v, &class, CLASS_FIELD(v, loader_id));
    insert(v, &class);
}
