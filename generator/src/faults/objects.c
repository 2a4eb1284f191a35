/* SPEC.md 6.4 to 6.7, 7.1: objects and references. */
#include "faults/fault.h"

enum { OBJECT_AT = 1 };

#define INSTANCE_FIELD_AT(v, field) EVENT_OFFSET_OF(EVENT_SUBRECORD, INSTANCE_DUMP, field, (v)->id_size)
#define ARRAY_FIELD_AT(v, field) EVENT_OFFSET_OF(EVENT_SUBRECORD, OBJECT_ARRAY_DUMP, field, (v)->id_size)

static uint32_t size_of_types(const struct faults *v, const char *types)
{
    uint32_t bytes = 0;

    for (; *types; types++)
        bytes += type_size((uint8_t)*types, v->id_size);
    return bytes;
}

/* An instance of a new class with these fields; all values are 0. */
static struct event new_instance(struct faults *v, const char *types)
{
    insert_class(v, fresh_id(v, CLASS), 0, types);
    return instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), size_of_types(v, types));
}

/* Likewise, with the superclass OTHER. */
static struct event new_subclass_instance(struct faults *v, const char *types, const char *inherited)
{
    struct event class;

    insert_class(v, fresh_id(v, OTHER), 0, inherited);
    class = class_dump(v, fresh_id(v, CLASS), fresh_id(v, OTHER), types);
    class.fields.CLASS_DUMP.instance_size += size_of_types(v, inherited);
    insert(v, &class);
    return instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), class.fields.CLASS_DUMP.instance_size);
}

/* ---- IDs ---- */

void obj_001_zero(struct faults *v, struct event *e, int tag)
{
    struct event bad;

    (void)e;
    if (tag != SUB_CLASS_DUMP && tag != SUB_PRIMITIVE_ARRAY_DUMP)
        insert_class(v, fresh_id(v, CLASS), 0, "");
    bad = tag == SUB_CLASS_DUMP          ? class_dump(v, 0, 0, "")
          : tag == SUB_INSTANCE_DUMP     ? instance_dump(v, 0, fresh_id(v, CLASS), 0)
          : tag == SUB_OBJECT_ARRAY_DUMP ? object_array(0, fresh_id(v, CLASS))
                                         : primitive_array(v, 0, TYPE_INT, 1);
    break_at(v, &bad, OBJECT_AT);
    insert(v, &bad);
}

void obj_004_again(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    give(v->break_.next, e);
    break_at(v, e, OBJECT_AT);
}

/* The ID of every object comes first. */
static uint64_t object_id_of(const struct event *e)
{
    switch (e->tag) {
    case SUB_INSTANCE_DUMP:
        return e->fields.INSTANCE_DUMP.object_id;
    case SUB_OBJECT_ARRAY_DUMP:
        return e->fields.OBJECT_ARRAY_DUMP.object_id;
    case SUB_CLASS_DUMP:
        return e->fields.CLASS_DUMP.class_id;
    default:
        return e->fields.PRIMITIVE_ARRAY_DUMP.object_id;
    }
}

/* An inserted array defines the ID first. */
void obj_004_other_kind(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    insert_object(v, object_id_of(e));
    break_at(v, e, OBJECT_AT);
}

void obj_005_class_first(struct faults *v, struct event *e, int variant)
{
    uint64_t id = object_id_of(e);

    (void)variant;
    give(v->break_.next, e);
    *e = primitive_array(v, id, TYPE_BYTE, 0);
    break_at(v, e, OBJECT_AT);
}

/* ---- Classes of objects ---- */

void obj_002_missing(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->fields.INSTANCE_DUMP.class_id = fresh_id(v, MISSING);
    break_at(v, e, INSTANCE_FIELD_AT(v, class_id));
}

enum { CLASS_ZERO, CLASS_IS_OBJECT };

static uint64_t no_class(struct faults *v, int kind)
{
    if (kind == CLASS_ZERO)
        return 0;
    insert_object(v, fresh_id(v, OTHER));
    return fresh_id(v, OTHER);
}

void obj_002_no_class(struct faults *v, struct event *e, int kind)
{
    uint64_t class_id = no_class(v, kind);
    struct event bad = instance_dump(v, fresh_id(v, OBJECT), class_id, 8);

    (void)e;
    break_at(v, &bad, INSTANCE_FIELD_AT(v, class_id));
    insert(v, &bad);
}

void obj_003_missing(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->fields.OBJECT_ARRAY_DUMP.class_id = fresh_id(v, MISSING);
    break_at(v, e, ARRAY_FIELD_AT(v, class_id));
}

void obj_003_no_class(struct faults *v, struct event *e, int kind)
{
    uint64_t class_id = no_class(v, kind);
    struct event bad = object_array(fresh_id(v, OBJECT), class_id);

    (void)e;
    break_at(v, &bad, ARRAY_FIELD_AT(v, class_id));
    insert(v, &bad);
}

void obj_007_no_array(struct faults *v, struct event *e, int variant)
{
    struct event bad = object_array(fresh_id(v, OBJECT), fresh_id(v, CLASS));

    (void)e;
    (void)variant;
    insert_class(v, fresh_id(v, CLASS), 0, "");
    break_at(v, &bad, ARRAY_FIELD_AT(v, class_id));
    insert(v, &bad);
}

/* ---- Lengths ---- */

static void break_length(struct faults *v, struct event *e, long change)
{
    e->fields.INSTANCE_DUMP.bytes += (uint32_t)change;
    break_at(v, e, INSTANCE_FIELD_AT(v, bytes));
}

void obj_006_byte_more(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    own_body(v, e);
    add_u1(v, 0);
    end_bytes(v, e);
    break_length(v, e, 1);
}

void obj_006_byte_less(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->body_size--;
    break_length(v, e, -1);
}

void obj_006_bytes(struct faults *v, struct event *e, int bytes)
{
    struct event bad;

    (void)e;
    insert_class(v, fresh_id(v, CLASS), 0, bytes ? "" : "\013\002");
    bad = instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), (size_t)bytes);
    break_length(v, &bad, 0);
    insert(v, &bad);
}

void obj_006_own_fields(struct faults *v, struct event *e, int variant)
{
    struct event bad = new_subclass_instance(v, "\013", "\012");

    (void)e;
    (void)variant;
    bad.body_size = 8;
    break_length(v, &bad, -4);
    insert(v, &bad);
}

void obj_006_class_later(struct faults *v, struct event *e, int variant)
{
    struct event bad = instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), 5);

    (void)e;
    (void)variant;
    break_length(v, &bad, 0);
    insert(v, &bad);
    insert_class(v, fresh_id(v, CLASS), 0, "\012");
}

/* Only the count is wrong, and still leads to a sub-record: the one after the next, or bytes in the values that look like one. */
void obj_006_next_too(struct faults *v, struct event *e, int variant)
{
    struct event bad = new_instance(v, "\012");
    uint32_t next = (uint32_t)(1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, v->id_size));

    (void)e;
    (void)variant;
    break_length(v, &bad, (long)next);
    insert(v, &bad);
    insert_object(v, fresh_id(v, OTHER));
}

void obj_006_says_less(struct faults *v, struct event *e, int variant)
{
    struct event bad;

    (void)e;
    (void)variant;
    insert_object(v, fresh_id(v, OTHER));
    bad = new_instance(v, "\013\013");
    begin_bytes(v);
    add_zeros(v, 16 - 1 - v->id_size);
    add_u1(v, SUB_ROOT_UNKNOWN);
    add_id(v, fresh_id(v, OTHER));
    end_bytes(v, &bad);
    break_length(v, &bad, -1 - (long)v->id_size);
    insert(v, &bad);
}

/* Only the count is wrong, and leads to a byte 0. The size by the class leads to a sub-record. */
void obj_006_wrong_count(struct faults *v, struct event *e, int more)
{
    struct event bad = new_instance(v, "\013\013");

    (void)e;
    break_length(v, &bad, more ? 1 + (long)v->id_size : -8); /* the first byte of the next array's stack trace, or of a field */
    insert(v, &bad);
    insert_object(v, fresh_id(v, OTHER));
}

/* ---- Values ---- */

void obj_008_type(struct faults *v, struct event *e, int type)
{
    struct event bad = primitive_array(v, fresh_id(v, OBJECT), TYPE_INT, 4);

    (void)e;
    bad.fields.PRIMITIVE_ARRAY_DUMP.type = (uint8_t)type;
    break_at(v, &bad, EVENT_OFFSET_OF(EVENT_SUBRECORD, PRIMITIVE_ARRAY_DUMP, type, v->id_size));
    insert(v, &bad);
}

void obj_008_nodata(struct faults *v, struct event *e, int type)
{
    struct event bad = SUBRECORD_EVENT(PRIMITIVE_ARRAY_NODATA, PRIMITIVE_ARRAY_NODATA);

    (void)e;
    bad.fields.PRIMITIVE_ARRAY_NODATA =
        (struct PRIMITIVE_ARRAY_NODATA){.object_id = fresh_id(v, OBJECT), .elements = 4, .type = (uint8_t)type};
    break_at(v, &bad, EVENT_OFFSET_OF(EVENT_SUBRECORD, PRIMITIVE_ARRAY_NODATA, type, v->id_size));
    insert(v, &bad);
}

/* An array of this many elements, the last of which is neither 0 nor 1. */
void obj_009_boolean(struct faults *v, struct event *e, int elements)
{
    struct event bad = primitive_array(v, fresh_id(v, OBJECT), TYPE_BOOLEAN, (uint32_t)elements);

    (void)e;
    v->scratch[elements - 1] = 2;
    break_at(v, &bad, fixed_part_size(&bad, v->id_size) + (uint64_t)elements - 1);
    insert(v, &bad);
}

/* The last value of an instance becomes a dangling reference, or 2. */
static void insert_bad_value(struct faults *v, struct event *e)
{
    size_t size = rule_at_work(v) == RULE_REF_002 ? v->id_size : 1, at = (size_t)e->body_size - size;

    if (size == 1) {
        put_u1(v->scratch + at, 2);
    } else {
        put_id(v->scratch + at, fresh_id(v, MISSING), v->id_size);
        e->references = 1;
    }
    break_at(v, e, fixed_part_size(e, v->id_size) + at);
    insert(v, e);
}

void value_of_field(struct faults *v, struct event *e, int type)
{
    const char types[] = {TYPE_INT, (char)type, 0};
    struct event bad = new_instance(v, types);

    (void)e;
    insert_bad_value(v, &bad);
}

void value_of_inherited_field(struct faults *v, struct event *e, int type)
{
    const char types[] = {(char)type, 0};
    struct event bad = new_subclass_instance(v, "\012\007", types);

    (void)e;
    insert_bad_value(v, &bad);
}

void value_before_class(struct faults *v, struct event *e, int type)
{
    const char types[] = {TYPE_INT, (char)type, 0};
    struct event bad = instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), 4 + type_size((unsigned)type, v->id_size));

    (void)e;
    insert_bad_value(v, &bad);
    insert_class(v, fresh_id(v, CLASS), 0, types);
}

/* A class with a constant or a static field of that value. */
static void insert_class_with_value(struct faults *v, int type, bool constant)
{
    struct event bad = class_dump(v, fresh_id(v, CLASS), 0, "");

    begin_bytes(v);
    if (constant) {
        add_u2(v, 1);
        add_u2(v, 1);
    } else {
        add_u2(v, 0);
        add_u2(v, 1);
        add_id(v, fresh_id(v, FIELD));
    }
    add_u1(v, (unsigned)type);
    break_at(v, &bad, fixed_part_size(&bad, v->id_size) + v->scratch_fill);
    if (type == TYPE_OBJECT)
        add_id(v, fresh_id(v, MISSING));
    else
        add_u1(v, 2);
    add_zeros(v, constant ? 4 : 2);
    end_bytes(v, &bad);
    insert(v, &bad);
}

void value_of_static(struct faults *v, struct event *e, int type)
{
    (void)e;
    insert_class_with_value(v, type, false);
}

void value_of_constant(struct faults *v, struct event *e, int type)
{
    (void)e;
    insert_class_with_value(v, type, true);
}

/* ---- References ---- */

void ref_002_element(struct faults *v, struct event *e, int last)
{
    size_t at = last ? (size_t)e->body_size - v->id_size : 0;

    put_id(own_body(v, e) + at, fresh_id(v, MISSING), v->id_size);
    break_at(v, e, fixed_part_size(e, v->id_size) + at);
}

void ref_002_new_array(struct faults *v, struct event *e, int elements)
{
    struct event bad = object_array(fresh_id(v, OBJECT), fresh_id(v, CLASS));

    (void)e;
    insert_class(v, fresh_id(v, CLASS), 0, "");
    bad.fields.OBJECT_ARRAY_DUMP.elements = (uint32_t)elements;
    begin_bytes(v);
    add_zeros(v, (size_t)(elements - 1) * v->id_size);
    add_id(v, fresh_id(v, MISSING));
    end_bytes(v, &bad);
    break_at(v, &bad, fixed_part_size(&bad, v->id_size) + bad.body_size - v->id_size);
    insert(v, &bad);
}

enum { OF_LOADER, OF_SIGNERS, OF_DOMAIN };

void ref_002_class(struct faults *v, struct event *e, int field)
{
    struct CLASS_DUMP *r = &e->fields.CLASS_DUMP;

    switch (field) {
    case OF_LOADER:
        r->loader_id = fresh_id(v, MISSING);
        break_at(v, e, EVENT_OFFSET_OF(EVENT_SUBRECORD, CLASS_DUMP, loader_id, v->id_size));
        break;
    case OF_SIGNERS:
        r->signers_id = fresh_id(v, MISSING);
        break_at(v, e, EVENT_OFFSET_OF(EVENT_SUBRECORD, CLASS_DUMP, signers_id, v->id_size));
        break;
    default:
        r->domain_id = fresh_id(v, MISSING);
        break_at(v, e, EVENT_OFFSET_OF(EVENT_SUBRECORD, CLASS_DUMP, domain_id, v->id_size));
        break;
    }
}

/* An array class and an instance of it. */
void obj_011_instance(struct faults *v, struct event *e, int variant)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, ""),
                 instance = instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), 0);

    (void)e;
    (void)variant;
    break_at(v, &class, EVENT_OFFSET_OF(EVENT_SUBRECORD, CLASS_DUMP, class_id, v->id_size));
    insert(v, &class);
    insert(v, &instance);
}

void obj_012_ints(struct faults *v, struct event *e, int variant)
{
    struct event array = object_array(fresh_id(v, OBJECT), fresh_id(v, CLASS));

    (void)e;
    (void)variant;
    insert_class(v, fresh_id(v, CLASS), 0, "");
    break_at(v, &array, EVENT_OFFSET_OF(EVENT_SUBRECORD, OBJECT_ARRAY_DUMP, class_id, v->id_size));
    insert(v, &array);
}
