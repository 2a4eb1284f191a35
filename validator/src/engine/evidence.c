/* See evidence.h. */
#include "engine/evidence.h"

#include "format/format.h"
#include "format/tags.h"

enum {
    BITS_KNOWN_CLASS_8 = 40, /* an ID of 8 bytes is that of one of up to 2^24 classes */
    BITS_KNOWN_CLASS_4 = 12,
    BITS_KNOWN_TRACE = 20,
    BITS_RIGHT_SIZE = 16, /* of an instance, by its class */
    BITS_ARRAY = 12,      /* the tag and the type of a primitive array */
    BITS_TAG = 3,         /* of any sub-record */
    BITS_ID_8 = 20,       /* an ID of 8 bytes is near those of classes */
    BITS_ID_4 = 2,
    DEEPEST_STACK = 1 << 20
};

static unsigned bits_of_trace(struct file *file, uint32_t serial)
{
    return serial && keymap_get(&file->traces, serial, NULL) ? BITS_KNOWN_TRACE : 0;
}

/* An object of a class, or a class with its superclass, of which a LOAD_CLASS may be lost: a known stack trace makes up for it, or
 * two IDs that are long enough. */
static unsigned bits_of_lost_class(struct file *file, uint64_t id, uint64_t class_id, uint32_t trace_serial)
{
    unsigned bits = bits_of_trace(file, trace_serial);

    if (!(file->losses.definitions & MAY_DEFINE_CLASSES) || !classes_are_near(&file->classes, class_id))
        return 0;
    if (file->id_size == 8)
        return bits || classes_are_near(&file->classes, id) ? BITS_ID_8 + bits : 0;
    return bits ? BITS_ID_4 + bits : 0;
}

static bool is_class(const struct file *file, uint64_t id)
{
    return classes_find(&file->classes, id) || classes_find_layout(&file->classes, id) != LAYOUT_NONE;
}

/* No object has the ID of a class: a CLASS_DUMP with another tag would be one. */
static bool may_be_object(const struct file *file, uint64_t id)
{
    return id && !is_class(file, id);
}

bool knows_no_class(const struct file *file)
{
    return !file->classes.loaded.count && !file->classes.layouts.count;
}

/* While no class is known, text looks like objects, and what it has for their number of bytes or elements may lead far. */
static bool is_too_long(const struct file *file, uint32_t number)
{
    enum { MOST = 1024 };

    return number > MOST && knows_no_class(file);
}

/* Each object names its class, each class itself, and both a stack trace. `other` is the ID of the object or of the superclass. */
static unsigned bits_of_class(struct file *file, uint64_t other, uint64_t class_id, uint32_t trace_serial)
{
    if (knows_no_class(file))
        return BITS_TAG + bits_of_trace(file, trace_serial); /* no class is known yet */
    if (!is_class(file, class_id))
        return bits_of_lost_class(file, other, class_id, trace_serial);
    return (file->id_size == 8 ? BITS_KNOWN_CLASS_8 : BITS_KNOWN_CLASS_4) + bits_of_trace(file, trace_serial);
}

static unsigned bits_of_instance(struct file *file, const struct INSTANCE_DUMP *r)
{
    enum size_of_class size = classes_check_size(&file->classes, r->class_id, r->bytes);
    unsigned bits = bits_of_class(file, r->object_id, r->class_id, r->trace_serial);

    if (!bits || !may_be_object(file, r->object_id) || size == SIZE_WRONG || is_too_long(file, r->bytes))
        return 0;
    return bits + (size == SIZE_RIGHT ? BITS_RIGHT_SIZE : 0);
}

/* A root that names a thread or a stack trace which nothing else names says nothing for itself: rows of static fields look like
 * such roots, and the names of fields are numbers of that kind. */
static bool names_nothing(struct file *file, const uint8_t *p)
{
    const uint8_t *serial = p + 1 + file->id_size;
    uint32_t trace, threads = file->highest_thread;

    switch (*p) {
    case SUB_ROOT_THREAD_OBJECT:
        trace = get_u4(serial + 4);
        if (!trace ? !get_u4(serial) : file->traces.count && !keymap_get(&file->traces, trace, NULL))
            return true;
        break;
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_JAVA_FRAME:
        break;
    default:
        return false;
    }
    return threads && get_u4(serial) / 2 > threads;
}

/* A root: all that it has is an ID. An ID that is repeated is no evidence: the bytes may be a pattern. If they are all alike, they
 * are one: the bytes of flash memory that was erased are 0xff, as of a row of ROOT_UNKNOWN. */
static unsigned bits_of_root(struct file *file, const uint8_t *p, uint64_t *last)
{
    const unsigned id_size = file->id_size;
    uint64_t id = get_id(p + 1, id_size), high = file->classes.highest_id,
             alike = *p * (UINT64_MAX / UINT8_MAX) >> (64 - 8 * id_size);
    bool is_new = id != *last;
    bool has_frame = *p == SUB_ROOT_JNI_LOCAL || *p == SUB_ROOT_JAVA_FRAME;

    *last = id;
    if (!id && *p == SUB_ROOT_THREAD_OBJECT) /* a thread that was attached later */
        return !names_nothing(file, p);
    if (!id || id == alike || (high && !classes_are_near(&file->classes, id)))
        return 0;
    /* A static field of type object is 02, its value, and the ID of the next name: that is no frame number. */
    if (has_frame && get_u4(p + 1 + id_size + 4) + 1 > DEEPEST_STACK)
        return 0;
    if (names_nothing(file, p))
        return 1;
    return !is_new ? 1 : !high ? BITS_TAG : id_size == 8 ? BITS_TAG + BITS_ID_8 : BITS_TAG + BITS_ID_4;
}

unsigned bits_of_subrecord(struct file *file, const uint8_t *p, uint64_t *last)
{
    const unsigned id_size = file->id_size;
    struct cursor c = {p + 1, p + 1 + SIZE_OF(CLASS_DUMP, id_size)};
    struct CLASS_DUMP class;
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;
    struct PRIMITIVE_ARRAY_DUMP values;

    switch (*p) {
    case SUB_CLASS_DUMP:
        if (!read_CLASS_DUMP(&c, id_size, &class) || (knows_no_class(file) && (class.reserved1 || class.reserved2)))
            return 0; /* text has such bytes, and the number of fields in it may lead far */
        if (!knows_no_class(file) && class.super_id && !classes_are_near(&file->classes, class.super_id))
            return 0; /* a field that refers to a class, with a byte 0x20 before it */
        return bits_of_class(file, class.super_id, class.class_id, class.trace_serial);
    case SUB_INSTANCE_DUMP:
        return read_INSTANCE_DUMP(&c, id_size, &instance) ? bits_of_instance(file, &instance) : 0;
    case SUB_OBJECT_ARRAY_DUMP:
        return read_OBJECT_ARRAY_DUMP(&c, id_size, &objects) && may_be_object(file, objects.object_id) &&
                       !is_too_long(file, objects.elements)
                   ? bits_of_class(file, objects.object_id, objects.class_id, objects.trace_serial)
                   : 0;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        if (!read_PRIMITIVE_ARRAY_DUMP(&c, id_size, &values) || !may_be_object(file, values.object_id) ||
            !type_is_primitive(values.type))
            return 0;
        return BITS_ARRAY + bits_of_trace(file, values.trace_serial);
    default:
        return bits_of_root(file, p, last);
    }
}
