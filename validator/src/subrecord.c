/* See subrecord.h. */
#include "subrecord.h"

/* SPEC.md 6.3.3: `count` constants; false when bytes are missing or a type is bad. */
static enum measured skip_constants(struct cursor *c, unsigned id_size, const uint8_t **bad)
{
    const uint8_t *count = cursor_take(c, 2);

    if (!count)
        return MEASURE_MORE;
    for (unsigned n = get_u2(count); n; n--) {
        struct CONSTANT entry;
        unsigned size;

        if (!read_CONSTANT(c, id_size, &entry))
            return MEASURE_MORE;
        size = type_size(entry.type, id_size);
        if (!size) {
            *bad = c->at - 1;
            return MEASURE_CONSTANT;
        }
        if (!cursor_take(c, size))
            return MEASURE_MORE;
    }
    return MEASURED;
}

/* SPEC.md 6.3.4 */
static enum measured skip_statics(struct cursor *c, unsigned id_size, const uint8_t **bad)
{
    const uint8_t *count = cursor_take(c, 2);

    if (!count)
        return MEASURE_MORE;
    for (unsigned n = get_u2(count); n; n--) {
        struct STATIC_FIELD field;
        unsigned size;

        if (!read_STATIC_FIELD(c, id_size, &field))
            return MEASURE_MORE;
        size = type_size(field.type, id_size);
        if (!size) {
            *bad = c->at - 1;
            return MEASURE_STATIC;
        }
        if (!cursor_take(c, size))
            return MEASURE_MORE;
    }
    return MEASURED;
}

static enum measured measure_class_dump(const uint8_t *p, size_t n, unsigned id_size, struct measure *m)
{
    struct cursor c = {p + 1, p + n};
    const uint8_t *bad = NULL, *count;
    enum measured result;

    if (!cursor_take(&c, SIZE_OF(CLASS_DUMP, id_size)))
        return MEASURE_MORE;
    result = skip_constants(&c, id_size, &bad);
    if (result == MEASURED)
        result = skip_statics(&c, id_size, &bad);
    if (bad)
        m->bad_at = (uint64_t)(bad - p);
    if (result != MEASURED)
        return result;
    count = cursor_take(&c, 2);
    if (!count)
        return MEASURE_MORE;
    m->size = (uint64_t)(c.at - p) + (uint64_t)get_u2(count) * SIZE_OF(INSTANCE_FIELD, id_size);
    return MEASURED;
}

enum measured measure_subrecord(const uint8_t *p, size_t n, unsigned id_size, enum version version, struct measure *m)
{
    struct cursor c = {p + 1, p + n};

    if (!n)
        return MEASURE_MORE;
    switch (*p) {
    case SUB_CLASS_DUMP:
        return measure_class_dump(p, n, id_size, m);
    case SUB_INSTANCE_DUMP: {
        struct INSTANCE_DUMP r;

        if (!read_INSTANCE_DUMP(&c, id_size, &r))
            return MEASURE_MORE;
        m->size = 1 + SIZE_OF(INSTANCE_DUMP, id_size) + (uint64_t)r.bytes;
        return MEASURED;
    }
    case SUB_OBJECT_ARRAY_DUMP: {
        struct OBJECT_ARRAY_DUMP r;

        if (!read_OBJECT_ARRAY_DUMP(&c, id_size, &r))
            return MEASURE_MORE;
        m->size = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size) + (uint64_t)r.elements * id_size;
        return MEASURED;
    }
    case SUB_PRIMITIVE_ARRAY_DUMP: {
        struct PRIMITIVE_ARRAY_DUMP r;

        if (!read_PRIMITIVE_ARRAY_DUMP(&c, id_size, &r))
            return MEASURE_MORE;
        if (!type_is_primitive(r.type)) {
            m->bad_at = 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, type, id_size);
            return MEASURE_ELEMENT;
        }
        m->size = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size) + (uint64_t)r.elements * type_size(r.type, id_size);
        return MEASURED;
    }
/* The others have a fixed size. */
#define SUBRECORD(name, tag, since, clause, layout) FIXED_##name(layout, since)
#define FIXED(name, layout, since) \
    case SUB_##name: \
        if (version < since) \
            return MEASURE_TAG; \
        m->size = 1 + SIZE_OF(layout, id_size); \
        return MEASURED;
#define FIXED_ROOT_JNI_GLOBAL(layout, since) FIXED(ROOT_JNI_GLOBAL, layout, since)
#define FIXED_ROOT_JNI_LOCAL(layout, since) FIXED(ROOT_JNI_LOCAL, layout, since)
#define FIXED_ROOT_JAVA_FRAME(layout, since) FIXED(ROOT_JAVA_FRAME, layout, since)
#define FIXED_ROOT_NATIVE_STACK(layout, since) FIXED(ROOT_NATIVE_STACK, layout, since)
#define FIXED_ROOT_STICKY_CLASS(layout, since) FIXED(ROOT_STICKY_CLASS, layout, since)
#define FIXED_ROOT_THREAD_BLOCK(layout, since) FIXED(ROOT_THREAD_BLOCK, layout, since)
#define FIXED_ROOT_MONITOR_USED(layout, since) FIXED(ROOT_MONITOR_USED, layout, since)
#define FIXED_ROOT_THREAD_OBJECT(layout, since) FIXED(ROOT_THREAD_OBJECT, layout, since)
#define FIXED_ROOT_UNKNOWN(layout, since) FIXED(ROOT_UNKNOWN, layout, since)
#define FIXED_HEAP_DUMP_INFO(layout, since) FIXED(HEAP_DUMP_INFO, layout, since)
#define FIXED_ROOT_INTERNED_STRING(layout, since) FIXED(ROOT_INTERNED_STRING, layout, since)
#define FIXED_ROOT_FINALIZING(layout, since) FIXED(ROOT_FINALIZING, layout, since)
#define FIXED_ROOT_DEBUGGER(layout, since) FIXED(ROOT_DEBUGGER, layout, since)
#define FIXED_ROOT_REFERENCE_CLEANUP(layout, since) FIXED(ROOT_REFERENCE_CLEANUP, layout, since)
#define FIXED_ROOT_VM_INTERNAL(layout, since) FIXED(ROOT_VM_INTERNAL, layout, since)
#define FIXED_ROOT_JNI_MONITOR(layout, since) FIXED(ROOT_JNI_MONITOR, layout, since)
#define FIXED_ROOT_UNREACHABLE(layout, since) FIXED(ROOT_UNREACHABLE, layout, since)
#define FIXED_PRIMITIVE_ARRAY_NODATA(layout, since) FIXED(PRIMITIVE_ARRAY_NODATA, layout, since)
#define FIXED_CLASS_DUMP(layout, since)
#define FIXED_INSTANCE_DUMP(layout, since)
#define FIXED_OBJECT_ARRAY_DUMP(layout, since)
#define FIXED_PRIMITIVE_ARRAY_DUMP(layout, since)
#include "records.def"
#undef SUBRECORD
    default:
        return MEASURE_TAG;
    }
}

bool plausible_subrecords(const uint8_t *p, size_t n, uint64_t left, unsigned id_size, enum version version)
{
    enum { ENOUGH = 8 };

    for (int seen = 0; left && seen < ENOUGH; seen++) {
        struct measure m;
        enum measured result = measure_subrecord(p, n < left ? n : (size_t)left, id_size, version, &m);

        if (result == MEASURE_MORE)
            return n < left; /* cut by what is in memory, not by the end of the record */
        if (result != MEASURED || m.size > left)
            return false;
        if (m.size >= n)
            return true;
        p += m.size;
        n -= (size_t)m.size;
        left -= m.size;
    }
    return true;
}
