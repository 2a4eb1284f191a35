/* See oracle_framing.h. */
#include "oracle_framing.h"

#include <stddef.h>

/* ---- SPEC.md 2: integers, types, IDs ----------------------------------------------------------------------------------- */

static uint64_t big_endian(const struct dump *d, uint64_t at, uint64_t size)
{
    uint64_t value = 0;
    for (uint64_t i = 0; i < size; i++)
        value = value << 8 | d->bytes[at + i];
    return value;
}

uint64_t u1(const struct dump *d, uint64_t at)
{
    return big_endian(d, at, 1);
}

uint64_t u2(const struct dump *d, uint64_t at)
{
    return big_endian(d, at, 2);
}

uint64_t u4(const struct dump *d, uint64_t at)
{
    return big_endian(d, at, 4);
}

uint64_t u8(const struct dump *d, uint64_t at)
{
    return big_endian(d, at, 8);
}

int64_t i4(const struct dump *d, uint64_t at)
{
    uint64_t value = u4(d, at);
    return value < 0x80000000 ? (int64_t)value : (int64_t)value - 0x100000000;
}

uint64_t id(const struct dump *d, uint64_t at)
{
    return big_endian(d, at, d->id_size);
}

uint64_t size_of_type(const struct dump *d, uint64_t type)
{
    switch (type) {
    case TYPE_OBJECT:
        return d->id_size;
    case TYPE_BOOLEAN:
    case 8: /* byte */
        return 1;
    case 5: /* char */
    case 9: /* short */
        return 2;
    case 6:  /* float */
    case 10: /* int */
        return 4;
    case 7:  /* double */
    case 11: /* long */
        return 8;
    default:
        return 0;
    }
}

bool is_primitive(const struct dump *d, uint64_t type)
{
    return type != TYPE_OBJECT && size_of_type(d, type) != 0;
}

/* ---- SPEC.md 3.2: records ---------------------------------------------------------------------------------------------- */

/* The length of each kind of record: the IDs and other bytes of its fixed part, then those of each entry of a list. */
static const struct record_kind {
    bool exists;
    const char *length_rule; /* NULL: any length */
    uint64_t ids, bytes;
    uint64_t count_at; /* in the body; 0 if there is no list */
    uint64_t each_ids, each_bytes;
} record_kinds[256] = {
    [UTF8] = {true, "STR-001", 1, 0, 0, 0, 0}, /* at least */
    [LOAD_CLASS] = {true, "CLS-001", 2, 8, 0, 0, 0},
    [UNLOAD_CLASS] = {true, "CLS-006", 0, 4, 0, 0, 0},
    [FRAME] = {true, "STK-001", 4, 8, 0, 0, 0},
    [TRACE] = {true, "STK-007", 0, 12, 8, 1, 0},
    [ALLOC_SITES] = {true, "PRF-001", 0, 34, 30, 0, SITE_SIZE},
    [HEAP_SUMMARY] = {true, "PRF-006", 0, 24, 0, 0, 0},
    [START_THREAD] = {true, "THR-001", 4, 8, 0, 0, 0},
    [END_THREAD] = {true, "THR-002", 0, 4, 0, 0, 0},
    [HEAP_DUMP] = {true, NULL, 0, 0, 0, 0, 0},
    [CPU_SAMPLES] = {true, "PRF-007", 0, 8, 4, 0, 8},
    [CONTROL_SETTINGS] = {true, "PRF-009", 0, 6, 0, 0, 0},
    [HEAP_DUMP_SEGMENT] = {true, NULL, 0, 0, 0, 0, 0},
    [HEAP_DUMP_END] = {true, "REC-008", 0, 0, 0, 0, 0},
};

bool is_record_tag(uint64_t tag)
{
    return record_kinds[tag].exists;
}

bool is_heap_dump_record(uint64_t tag)
{
    return tag == HEAP_DUMP || tag == HEAP_DUMP_SEGMENT;
}

const char *rule_on_length(uint64_t tag)
{
    return record_kinds[tag].length_rule;
}

uint64_t fixed_part(const struct dump *d, uint64_t tag)
{
    return record_kinds[tag].ids * d->id_size + record_kinds[tag].bytes;
}

uint64_t right_length_of_record(const struct dump *d, uint64_t at)
{
    uint64_t tag = u1(d, at), body_at = at + RECORD_HEADER_SIZE, fixed = fixed_part(d, tag);
    const struct record_kind *kind = &record_kinds[tag];
    if (tag == UTF8 || is_heap_dump_record(tag))
        return UINT64_MAX;
    if (!kind->count_at)
        return fixed;
    if (d->size - body_at < fixed)
        return UINT64_MAX;
    return fixed + u4(d, body_at + kind->count_at) * (kind->each_ids * d->id_size + kind->each_bytes);
}

bool kind_allows_length(const struct dump *d, uint64_t tag, uint64_t length)
{
    if (tag == UTF8 || is_heap_dump_record(tag) || record_kinds[tag].count_at)
        return length >= fixed_part(d, tag);
    return length == fixed_part(d, tag);
}

bool has_right_length(const struct dump *d, uint64_t at)
{
    uint64_t length = u4(d, at + LENGTH_AT);
    return u1(d, at) == UTF8 ? kind_allows_length(d, UTF8, length) : length == right_length_of_record(d, at);
}

/* ---- SPEC.md 6.1: sub-records ------------------------------------------------------------------------------------------ */

/* The IDs and other bytes that the fixed fields of each kind of sub-record take. */
static const struct subrecord_kind {
    bool exists;
    uint64_t ids, bytes;
    bool only_1_0_3;
} subrecord_kinds[256] = {
    [ROOT_UNKNOWN] = {true, 1, 0, false},          [ROOT_JNI_GLOBAL] = {true, 2, 0, false},
    [ROOT_JNI_LOCAL] = {true, 1, 8, false},        [ROOT_JAVA_FRAME] = {true, 1, 8, false},
    [ROOT_NATIVE_STACK] = {true, 1, 4, false},     [ROOT_STICKY_CLASS] = {true, 1, 0, false},
    [ROOT_THREAD_BLOCK] = {true, 1, 4, false},     [ROOT_MONITOR_USED] = {true, 1, 0, false},
    [ROOT_THREAD_OBJECT] = {true, 1, 8, false},    [CLASS_DUMP] = {true, 7, 8, false},
    [INSTANCE_DUMP] = {true, 2, 8, false},         [OBJECT_ARRAY_DUMP] = {true, 2, 8, false},
    [PRIMITIVE_ARRAY_DUMP] = {true, 1, 9, false},  [ROOT_INTERNED_STRING] = {true, 1, 0, true},
    [ROOT_FINALIZING] = {true, 1, 0, true},        [ROOT_DEBUGGER] = {true, 1, 0, true},
    [ROOT_REFERENCE_CLEANUP] = {true, 1, 0, true}, [ROOT_VM_INTERNAL] = {true, 1, 0, true},
    [ROOT_JNI_MONITOR] = {true, 1, 8, true},       [ROOT_UNREACHABLE] = {true, 1, 0, true},
    [PRIMITIVE_ARRAY_NODATA] = {true, 1, 9, true}, [HEAP_DUMP_INFO] = {true, 1, 4, true},
};

bool is_subrecord_tag(uint64_t tag)
{
    return subrecord_kinds[tag].exists;
}

static const struct extent extent_unknown = {.kind = EXTENT_UNKNOWN};

static struct extent extent_known(uint64_t size)
{
    return (struct extent){.kind = EXTENT_KNOWN, .size = size};
}

/* Skips a list of constants or static fields: each an ID or index of `name_size` bytes, a type, a value. */
static struct extent skip_values(const struct dump *d, uint64_t *next, uint64_t limit, uint64_t name_size, const char *rule)
{
    if (limit - *next < 2)
        return extent_unknown;
    uint64_t count = u2(d, *next);
    *next += 2;
    for (uint64_t i = 0; i < count; i++) {
        if (limit - *next < name_size + 1)
            return extent_unknown;
        uint64_t type_at = *next + name_size, size = size_of_type(d, u1(d, type_at));
        if (size == 0)
            return (struct extent){.kind = EXTENT_BAD_TYPE, .rule = rule, .type_at = type_at};
        if (limit - type_at - 1 < size)
            return extent_unknown;
        *next = type_at + 1 + size;
    }
    return extent_known(0);
}

static struct extent extent_of_class_dump(const struct dump *d, uint64_t at, uint64_t limit, uint64_t fixed)
{
    uint64_t next = at + fixed;
    struct extent constants = skip_values(d, &next, limit, 2, "CLS-014");
    if (constants.kind != EXTENT_KNOWN)
        return constants;
    struct extent statics = skip_values(d, &next, limit, d->id_size, "CLS-015");
    if (statics.kind != EXTENT_KNOWN)
        return statics;
    if (limit - next < 2)
        return extent_unknown;
    return extent_known(next + 2 + u2(d, next) * (d->id_size + 1) - at);
}

struct extent extent_of_subrecord(const struct dump *d, uint64_t at, uint64_t limit)
{
    if (at >= limit)
        return extent_unknown;
    uint64_t tag = u1(d, at);
    const struct subrecord_kind *kind = &subrecord_kinds[tag];
    uint64_t fixed = 1 + kind->ids * d->id_size + kind->bytes, end = at + fixed, type_at = end - 1;
    if (!kind->exists || (kind->only_1_0_3 && !d->android))
        return (struct extent){.kind = EXTENT_BAD_TAG};
    bool has_more = tag == CLASS_DUMP || tag == INSTANCE_DUMP || tag == OBJECT_ARRAY_DUMP || tag == PRIMITIVE_ARRAY_DUMP;
    if (!has_more)
        return extent_known(fixed);
    if (limit - at < fixed)
        return extent_unknown;
    if (tag == CLASS_DUMP)
        return extent_of_class_dump(d, at, limit, fixed);
    if (tag == INSTANCE_DUMP)
        return extent_known(fixed + u4(d, end - 4));
    if (tag == OBJECT_ARRAY_DUMP)
        return extent_known(fixed + u4(d, end - d->id_size - 4) * d->id_size);
    if (!is_primitive(d, u1(d, type_at)))
        return (struct extent){.kind = EXTENT_BAD_TYPE, .rule = "OBJ-008", .type_at = type_at};
    return extent_known(fixed + u4(d, type_at - 4) * size_of_type(d, u1(d, type_at)));
}
