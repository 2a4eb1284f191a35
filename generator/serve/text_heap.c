/* See text_parts.h. The sub-records of a heap dump. */
#include "text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t align(uint64_t size)
{
    return (size + OBJECT_ALIGNMENT - 1) / OBJECT_ALIGNMENT * OBJECT_ALIGNMENT;
}

uint64_t array_size(uint64_t elements, unsigned type)
{
    return align(OBJECT_HEADER + elements * type_size(type, ID_SIZE));
}

/* A field name of less than a tab stop has a second tab. */
static void write_reference(struct text *t, uint64_t name, uint64_t id)
{
    enum { TAB_STOP = 8 };

    write_format(t, "\t");
    write_format(t, write_string(t, name, "") < TAB_STOP ? "\t\t%" PRIx64 "\n" : "\t%" PRIx64 "\n", id);
}

/* The head of a class's dump, and what follows it; false if the class has none. */
static bool find_class(const struct text *t, uint64_t id, struct CLASS_DUMP *class, const uint8_t **rest)
{
    struct cursor c;
    uint64_t at;

    if (!keymap_get(&t->maps[CLASSES], id, &at))
        return false;
    c = (struct cursor){.at = t->dump + at + 1, .end = t->dump + t->size};
    if (!read_CLASS_DUMP(&c, ID_SIZE, class))
        return false;
    *rest = c.at;
    return true;
}

static void write_fields(struct text *t, uint64_t class_id, struct cursor values)
{
    struct CLASS_DUMP class;
    const uint8_t *p;
    struct entry entry;

    while (cursor_left(&values) && find_class(t, class_id, &class, &p)) {
        for (unsigned left = read_count(&p); left; left--)
            read_entry(&p, sizeof(struct CONSTANT_in4), ID_SIZE, &entry);
        for (unsigned left = read_count(&p); left; left--)
            read_entry(&p, sizeof(struct STATIC_FIELD_in4), ID_SIZE, &entry);
        for (unsigned left = read_count(&p); left; left--, p += sizeof(struct INSTANCE_FIELD_in4)) {
            unsigned type = p[offsetof(struct INSTANCE_FIELD_in4, type)];
            const uint8_t *value = cursor_take(&values, type_size(type, ID_SIZE));

            if (value && type == TYPE_OBJECT && get_u4(value))
                write_reference(t, get_u4(p), get_u4(value));
        }
        class_id = class.super_id;
    }
}

static void write_instance(struct text *t, struct cursor *c)
{
    struct INSTANCE_DUMP one;

    if (!read_INSTANCE_DUMP(c, ID_SIZE, &one))
        return;
    write_format(t, "OBJ %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", class=", one.object_id,
                 align(OBJECT_HEADER + one.bytes), one.trace_serial);
    write_class(t, &t->maps[NAMES], one.class_id);
    write_format(t, "@%" PRIx64 ")\n", one.class_id);
    write_fields(t, one.class_id, *c);
}

/* The agent counts elements up to the last one that is not null. */
static void write_object_array(struct text *t, struct cursor *c)
{
    struct OBJECT_ARRAY_DUMP one;
    uint32_t elements;

    if (!read_OBJECT_ARRAY_DUMP(c, ID_SIZE, &one))
        return;
    elements = one.elements;
    while (elements && !get_u4(c->at + (size_t)(elements - 1) * ID_SIZE))
        elements--;
    write_format(t, "ARR %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", nelems=%" PRIu32 ", elem type=", one.object_id,
                 array_size(one.elements, TYPE_OBJECT), one.trace_serial, elements);
    write_class(t, &t->maps[NAMES], one.class_id);
    write_format(t, "@%" PRIx64 ")\n", one.class_id);
    for (uint32_t i = 0; i < elements; i++) {
        uint32_t id = get_u4(c->at + (size_t)i * ID_SIZE);

        if (id)
            write_format(t, "\t[%" PRIu32 "]\t\t%" PRIx32 "\n", i, id);
    }
}

const char *primitive_name(unsigned type)
{
    static const char *const names[] = {
        [TYPE_BOOLEAN] = "boolean", [TYPE_CHAR] = "char",   [TYPE_FLOAT] = "float", [TYPE_DOUBLE] = "double",
        [TYPE_BYTE] = "byte",       [TYPE_SHORT] = "short", [TYPE_INT] = "int",     [TYPE_LONG] = "long"};

    return names[type];
}

static void write_primitive_array(struct text *t, struct cursor *c)
{
    struct PRIMITIVE_ARRAY_DUMP one;

    if (!read_PRIMITIVE_ARRAY_DUMP(c, ID_SIZE, &one) || !type_is_primitive(one.type))
        return;
    write_format(t, "ARR %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", nelems=%" PRIu32 ", elem type=%s[])\n", one.object_id,
                 array_size(one.elements, one.type), one.trace_serial, one.elements, primitive_name(one.type));
}

static void write_named(struct text *t, const char *name, uint64_t id)
{
    if (id)
        write_format(t, "\t%s\t\t%" PRIx64 "\n", name, id);
}

static void write_class_dump(struct text *t, struct cursor *c)
{
    struct CLASS_DUMP class;
    struct entry entry;
    const uint8_t *p;

    if (!read_CLASS_DUMP(c, ID_SIZE, &class))
        return;
    write_format(t, "CLS %" PRIx64 " (name=", class.class_id);
    write_class(t, &t->maps[NAMES], class.class_id);
    write_format(t, ", trace=%" PRIu32 ")\n", class.trace_serial);
    write_named(t, "super", class.super_id);
    write_named(t, "loader", class.loader_id);
    write_named(t, "signers", class.signers_id);
    write_named(t, "domain", class.domain_id);
    p = c->at;
    for (unsigned left = read_count(&p); left; left--) {
        read_entry(&p, sizeof(struct CONSTANT_in4), ID_SIZE, &entry);
        if (entry.type == TYPE_OBJECT && get_u4(entry.value))
            write_format(t, "\tconstant pool entry %u\t%" PRIx32 "\n", (unsigned)get_u2(entry.head), get_u4(entry.value));
    }
    for (unsigned left = read_count(&p); left; left--) {
        read_entry(&p, sizeof(struct STATIC_FIELD_in4), ID_SIZE, &entry);
        if (entry.type != TYPE_OBJECT || !get_u4(entry.value))
            continue;
        write_format(t, "\tstatic ");
        write_string(t, get_u4(entry.head), "");
        write_format(t, "\t%" PRIx32 "\n", get_u4(entry.value));
    }
}

/* In text the agent writes no root that dangles, no thread that only ends, and no site without a trace, as it does in records. */
static void write_root(struct text *t, uint8_t tag, const uint8_t *p)
{
    uint32_t first = get_u4(p + ID_SIZE); /* roots of one field have other bytes here, which are not used */

    if (get_u4(p) && !keymap_get(&t->maps[OBJECTS], get_u4(p), NULL))
        return;
    write_format(t, "ROOT %" PRIx32 " (kind=<", get_u4(p));
    switch (tag) {
    case SUB_ROOT_THREAD_OBJECT:
        write_format(t, "thread>, id=%" PRIu32 ", trace=%" PRIu32, first,
                     get_u4(p + offsetof(struct ROOT_THREAD_OBJECT_in4, trace_serial)));
        break;
    case SUB_ROOT_JNI_GLOBAL:
        write_format(t, "JNI global ref>, id=%" PRIx32 ", trace=%" PRIu32, first, t->any_trace);
        break;
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_JAVA_FRAME:
        write_format(t, "%s>, thread=%" PRIu32 ", frame=%" PRId32, tag == SUB_ROOT_JNI_LOCAL ? "JNI local ref" : "Java stack",
                     first, (int32_t)get_u4(p + offsetof(struct ROOT_FRAME_in4, frame)));
        break;
    case SUB_ROOT_NATIVE_STACK:
    case SUB_ROOT_THREAD_BLOCK:
        write_format(t, "%s>, thread=%" PRIu32, tag == SUB_ROOT_NATIVE_STACK ? "native stack" : "thread block", first);
        break;
    case SUB_ROOT_STICKY_CLASS:
        write_format(t, "system class>, name=");
        write_class(t, &t->maps[NAMES], get_u4(p));
        break;
    case SUB_ROOT_MONITOR_USED:
        write_format(t, "busy monitor>");
        break;
    default:
        write_format(t, "unknown>");
        break;
    }
    write_format(t, ")\n");
}

static void write_subrecord(struct text *t, const uint8_t *p, uint64_t size)
{
    struct cursor c = {.at = p + 1, .end = p + size};

    switch (p[0]) {
    case SUB_INSTANCE_DUMP:
        write_instance(t, &c);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        write_object_array(t, &c);
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        write_primitive_array(t, &c);
        break;
    case SUB_CLASS_DUMP:
        write_class_dump(t, &c);
        break;
    default:
        write_root(t, p[0], p + 1);
        break;
    }
}

/* False if `each` is, or at bytes that are no sub-record. */
bool walk_heap(struct text *t, const uint8_t *p, size_t left, each_subrecord *each)
{
    struct measure m;

    while (left) {
        if (measure_subrecord(p, left, ID_SIZE, V102, &m) != MEASURED || m.size > left || !each(t, p, m.size))
            return false;
        p += m.size;
        left -= (size_t)m.size;
    }
    return true;
}

bool write_each(struct text *t, const uint8_t *p, uint64_t size)
{
    write_subrecord(t, p, size);
    return t->is_read;
}

void walk_dump(struct text *t, each_subrecord *each)
{
    for (size_t at = HEADER_SIZE; t->size - at >= RECORD_HEADER_SIZE;) {
        const uint8_t *record = t->dump + at;
        uint32_t length = get_u4(record + RECORD_LENGTH_AT);

        if (record[0] == TAG_HEAP_DUMP || record[0] == TAG_HEAP_DUMP_SEGMENT)
            walk_heap(t, record + RECORD_HEADER_SIZE, length, each);
        at += RECORD_HEADER_SIZE + length;
    }
}
