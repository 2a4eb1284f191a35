/* See subrecord.h. */
#include "format/subrecord.h"

/* Skips the count and the entries of a constant pool or of the static fields (SPEC.md 6.3.3, 6.3.4). Each entry is `head` bytes,
 * the last of which is the type, and a value. */
static enum measured skip_entries(struct cursor *c, size_t head, unsigned id_size, const uint8_t **bad_type)
{
    const uint8_t *count = cursor_take(c, 2);

    if (!count)
        return MEASURE_MORE;
    for (unsigned n = get_u2(count); n; n--) {
        const uint8_t *entry = cursor_take(c, head);
        unsigned size;

        if (!entry)
            return MEASURE_MORE;
        size = type_size(get_u1(entry + head - 1), id_size);
        if (!size) {
            *bad_type = entry + head - 1;
            return MEASURE_TYPE;
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
    result = skip_entries(&c, SIZE_OF(CONSTANT, id_size), id_size, &bad);
    if (result == MEASURED)
        result = skip_entries(&c, SIZE_OF(STATIC_FIELD, id_size), id_size, &bad);
    else if (bad)
        m->in_constant_pool = true;
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

/* The sub-records without a part of variable length. */
static enum measured measure_fixed(uint8_t tag, unsigned id_size, enum version version, struct measure *m)
{
    switch (tag) {
#define SUBRECORD(name, tag, since, clause, layout) \
    case tag: \
        m->size = 1 + SIZE_OF(layout, id_size); \
        return version < since ? MEASURE_TAG : MEASURED;
#include "format/records.def"
#undef SUBRECORD
    default:
        return MEASURE_TAG;
    }
}

enum measured measure_subrecord(const uint8_t *p, size_t n, unsigned id_size, enum version version, struct measure *m)
{
    enum measured result;

    if (!n)
        return MEASURE_MORE;
    if (*p == SUB_CLASS_DUMP)
        return measure_class_dump(p, n, id_size, m);
    result = measure_object(p, n, id_size, m);
    return result == MEASURE_TAG ? measure_fixed(*p, id_size, version, m) : result;
}

bool plausible_subrecords(const uint8_t *p, size_t n, uint64_t left, unsigned id_size, enum version version)
{
    enum { ENOUGH = 8 };

    for (int seen = 0; left && seen < ENOUGH; seen++) {
        struct measure m;
        enum measured result = measure_subrecord(p, n < left ? n : (size_t)left, id_size, version, &m);

        if (result == MEASURE_MORE)
            return n < left; /* the available bytes end, not the record */
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
