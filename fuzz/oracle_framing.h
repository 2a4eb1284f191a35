/* The framing of a dump (SPEC.md 2, 3.2 and 6.1), as oracle.c and oracle_failure.c need it. */
#ifndef HPROF_FUZZ_ORACLE_FRAMING_H
#define HPROF_FUZZ_ORACLE_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

enum record_tag {
    UTF8 = 0x01,
    LOAD_CLASS = 0x02,
    UNLOAD_CLASS = 0x03,
    FRAME = 0x04,
    TRACE = 0x05,
    ALLOC_SITES = 0x06,
    HEAP_SUMMARY = 0x07,
    START_THREAD = 0x0a,
    END_THREAD = 0x0b,
    HEAP_DUMP = 0x0c,
    CPU_SAMPLES = 0x0d,
    CONTROL_SETTINGS = 0x0e,
    HEAP_DUMP_SEGMENT = 0x1c,
    HEAP_DUMP_END = 0x2c
};

enum subrecord_tag {
    ROOT_JNI_GLOBAL = 0x01,
    ROOT_JNI_LOCAL = 0x02,
    ROOT_JAVA_FRAME = 0x03,
    ROOT_NATIVE_STACK = 0x04,
    ROOT_STICKY_CLASS = 0x05,
    ROOT_THREAD_BLOCK = 0x06,
    ROOT_MONITOR_USED = 0x07,
    ROOT_THREAD_OBJECT = 0x08,
    CLASS_DUMP = 0x20,
    INSTANCE_DUMP = 0x21,
    OBJECT_ARRAY_DUMP = 0x22,
    PRIMITIVE_ARRAY_DUMP = 0x23,
    ROOT_INTERNED_STRING = 0x89,
    ROOT_FINALIZING = 0x8a,
    ROOT_DEBUGGER = 0x8b,
    ROOT_REFERENCE_CLEANUP = 0x8c,
    ROOT_VM_INTERNAL = 0x8d,
    ROOT_JNI_MONITOR = 0x8e,
    ROOT_UNREACHABLE = 0x90,
    PRIMITIVE_ARRAY_NODATA = 0xc3,
    HEAP_DUMP_INFO = 0xfe,
    ROOT_UNKNOWN = 0xff
};

enum type { TYPE_OBJECT = 2, TYPE_BOOLEAN = 4 };

/* Sizes and offsets that do not depend on the size of IDs. */
enum { ID_SIZE_AT = 19, TIMESTAMP_AT = 23, HEADER_SIZE = 31, LENGTH_AT = 5, RECORD_HEADER_SIZE = 9, SITE_SIZE = 25 };

/* A dump in memory. Offsets are those of its bytes. */
struct dump {
    const uint8_t *bytes;
    uint64_t size;
    /* Of the header: */
    uint64_t id_size;      /* 4 or 8 */
    bool segments_allowed; /* from version 1.0.2 on */
    bool android;          /* 1.0.3 */
};

/* ---- SPEC.md 2: integers, types, IDs ----------------------------------------------------------------------------------- */

/* The integer or ID at an offset, all of whose bytes are there. */
uint64_t u1(const struct dump *d, uint64_t at);
uint64_t u2(const struct dump *d, uint64_t at);
uint64_t u4(const struct dump *d, uint64_t at);
uint64_t u8(const struct dump *d, uint64_t at);
int64_t i4(const struct dump *d, uint64_t at);
uint64_t id(const struct dump *d, uint64_t at);

/* 2.2: bytes of a value; 0 if this is not a type. */
uint64_t size_of_type(const struct dump *d, uint64_t type);
bool is_primitive(const struct dump *d, uint64_t type);

/* ---- SPEC.md 3.2: records ---------------------------------------------------------------------------------------------- */

bool is_record_tag(uint64_t tag);
bool is_heap_dump_record(uint64_t tag);

/* Bytes of the fixed part of a kind of record. */
uint64_t fixed_part(const struct dump *d, uint64_t tag);

/* The length that the record at `at` should have, by its kind and count; UINT64_MAX if its kind has no single right length, or the
 * dump ends before the count. */
uint64_t right_length_of_record(const struct dump *d, uint64_t at);

/* Whether a record of this kind may have this length: at least that of the fixed part, if a list or a text follows it. */
bool kind_allows_length(const struct dump *d, uint64_t tag, uint64_t length);

/* Whether the length of a record, which is not a heap dump record, is that of its kind and count. */
bool has_right_length(const struct dump *d, uint64_t at);

/* The rule on the length of a record; NULL for heap dumps, which may have any. */
const char *rule_on_length(uint64_t tag);

/* ---- SPEC.md 6.1: sub-records ------------------------------------------------------------------------------------------ */

bool is_subrecord_tag(uint64_t tag); /* of any version */

enum extent_kind {
    EXTENT_KNOWN,
    EXTENT_UNKNOWN, /* the bytes up to the limit are too few */
    EXTENT_BAD_TAG, /* the version has no such sub-record */
    EXTENT_BAD_TYPE
};

/* How far a sub-record goes. */
struct extent {
    enum extent_kind kind;
    uint64_t size;    /* from its tag on; may be more than there is */
    const char *rule; /* that a bad type breaks, */
    uint64_t type_at; /* and its offset */
};

/* Of the sub-record whose tag is at `at`. Reads only bytes before `limit`, which is at most the size of the dump. */
struct extent extent_of_subrecord(const struct dump *d, uint64_t at, uint64_t limit);

#endif
