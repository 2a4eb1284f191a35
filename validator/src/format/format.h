/* Records and sub-records in C, all derived from records.def: tags, structs, readers, fixed sizes, offsets of fields. Also the
 * basic types (SPEC.md 2.4). */
#ifndef HPROF_FORMAT_H
#define HPROF_FORMAT_H

#include "format/cursor.h"
#include "format/records.def"

enum version { V101 = 1, V102 = 2, V103 = 3 };

static inline const char *version_name(enum version version)
{
    static const char *const names[] = {"", "1.0.1", "1.0.2", "1.0.3"};

    return names[version];
}

/* ---- Tags ---- */

enum record_tag {
#define RECORD(name, tag, since, clause, layout) TAG_##name = tag,
#include "format/records.def"
#undef RECORD
};

enum subrecord_tag {
#define SUBRECORD(name, tag, since, clause, layout) SUB_##name = tag,
#include "format/records.def"
#undef SUBRECORD
};

/* What a part of a dump that was skipped may have defined. */
enum may_define {
    MAY_DEFINE_STRINGS = 1,
    MAY_DEFINE_CLASSES = 2, /* LOAD_CLASS */
    MAY_DEFINE_FRAMES = 4,
    MAY_DEFINE_TRACES = 8,
    MAY_DEFINE_THREADS = 16, /* START_THREAD, END_THREAD */
    MAY_DEFINE_ALL = 31
};

/* ---- Layouts ---- */
/* clang-format off */

#define LAYOUTS_WITH_FIELDS(X) \
    X(UTF8) X(LOAD_CLASS) X(UNLOAD_CLASS) X(FRAME) X(TRACE) X(ALLOC_SITES) X(SITE) X(HEAP_SUMMARY) X(START_THREAD) \
    X(END_THREAD) X(CPU_SAMPLES) X(SAMPLE) X(CONTROL_SETTINGS) X(ROOT_OBJECT) X(ROOT_JNI_GLOBAL) X(ROOT_FRAME) \
    X(ROOT_THREAD) X(ROOT_THREAD_OBJECT) X(CLASS_DUMP) X(CONSTANT) X(STATIC_FIELD) X(INSTANCE_FIELD) X(INSTANCE_DUMP) \
    X(OBJECT_ARRAY_DUMP) X(PRIMITIVE_ARRAY_DUMP) X(HEAP_DUMP_INFO) X(ROOT_JNI_MONITOR) X(PRIMITIVE_ARRAY_NODATA)

#define TYPE_U1 uint8_t
#define TYPE_U2 uint16_t
#define TYPE_U4 uint32_t
#define TYPE_U8 uint64_t
#define TYPE_I4 int32_t
#define TYPE_ID uint64_t

#define NO_TAIL(form, meaning)

/* struct LOAD_CLASS and so on: the values. */
#define VALUE(type, field, meaning) TYPE_##type field;
#define DEFINE_STRUCT(name) struct name { LAYOUT_##name(VALUE, NO_TAIL) };
LAYOUTS_WITH_FIELDS(DEFINE_STRUCT)

/* struct LOAD_CLASS_in4 and _in8: the bytes with 4-byte and 8-byte IDs; for sizeof and offsetof only. */
#define BYTES_IN4(type, field, meaning) uint8_t field[sizeof(uint8_t[IN4_##type])];
#define BYTES_IN8(type, field, meaning) uint8_t field[sizeof(uint8_t[IN8_##type])];
enum {
    IN4_U1 = 1, IN4_U2 = 2, IN4_U4 = 4, IN4_U8 = 8, IN4_I4 = 4, IN4_ID = 4,
    IN8_U1 = 1, IN8_U2 = 2, IN8_U4 = 4, IN8_U8 = 8, IN8_I4 = 4, IN8_ID = 8
};
#define DEFINE_BYTES(name) \
    struct name##_in4 { LAYOUT_##name(BYTES_IN4, NO_TAIL) }; \
    struct name##_in8 { LAYOUT_##name(BYTES_IN8, NO_TAIL) };
LAYOUTS_WITH_FIELDS(DEFINE_BYTES)

/* Size of the fields of a layout, and the offset of a field from the first, for IDs of id_size bytes. */
#define SIZE_OF(name, id_size) ((id_size) == 8 ? sizeof(struct name##_in8) : sizeof(struct name##_in4))
#define OFFSET_OF(name, field, id_size) \
    ((id_size) == 8 ? offsetof(struct name##_in8, field) : offsetof(struct name##_in4, field))

#define GET_U1(p, id_size) get_u1(p)
#define GET_U2(p, id_size) get_u2(p)
#define GET_U4(p, id_size) get_u4(p)
#define GET_U8(p, id_size) get_u8(p)
#define GET_I4(p, id_size) ((int32_t)get_u4(p))
#define GET_ID(p, id_size) get_id(p, id_size)
#define WIDTH_ID(id_size) (id_size)
#define WIDTH_U1(id_size) 1
#define WIDTH_U2(id_size) 2
#define WIDTH_U4(id_size) 4
#define WIDTH_U8(id_size) 8
#define WIDTH_I4(id_size) 4

/* bool read_LOAD_CLASS(cursor, id_size, struct LOAD_CLASS *) and so on: false, without moving the cursor, if bytes are missing. */
#define READ_FIELD(type, field, meaning) r->field = GET_##type(p, id_size), p += WIDTH_##type(id_size);
#define DEFINE_READER(name) \
    static inline bool read_##name(struct cursor *c, unsigned id_size, struct name *r) \
    { \
        const uint8_t *p = cursor_take(c, SIZE_OF(name, id_size)); \
        if (!p) \
            return false; \
        LAYOUT_##name(READ_FIELD, NO_TAIL) \
        (void)p; \
        return true; \
    }
LAYOUTS_WITH_FIELDS(DEFINE_READER)
/* clang-format on */

#undef VALUE
#undef DEFINE_STRUCT
#undef BYTES_IN4
#undef BYTES_IN8
#undef DEFINE_BYTES
#undef READ_FIELD
#undef DEFINE_READER

enum {
    HEADER_STRING_SIZE = 19, /* "JAVA PROFILE 1.0.x" and its NUL */
    HEADER_SIZE = HEADER_STRING_SIZE + 4 + 8,
    RECORD_HEADER_SIZE = 9, /* u1 tag, u4 time, u4 length */
    RECORD_TIME_AT = 1,
    RECORD_LENGTH_AT = 5
};

/* ---- Basic types (SPEC.md 2.4) ---- */

enum basic_type {
    TYPE_OBJECT = 2,
    TYPE_BOOLEAN = 4,
    TYPE_CHAR,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_BYTE,
    TYPE_SHORT,
    TYPE_INT,
    TYPE_LONG
};

/* The size of a value in bytes; 0 for an undefined type. */
static inline unsigned type_size(unsigned type, unsigned id_size)
{
    static const uint8_t size[12] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8};

    return type == TYPE_OBJECT ? id_size : type < sizeof size ? size[type] : 0;
}

static inline bool type_is_primitive(unsigned type)
{
    return type >= TYPE_BOOLEAN && type <= TYPE_LONG;
}

#endif
