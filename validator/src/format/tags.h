/* The tags that some version defines (records.def). */
#ifndef HPROF_TAGS_H
#define HPROF_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

extern const bool record_tags[256], subrecord_tags[256];

static inline bool is_record_tag(uint8_t tag)
{
    return record_tags[tag];
}

/* Of a record before or after a heap dump. */
static inline bool is_beside_heap_dump(uint8_t tag)
{
    return is_record_tag(tag) && tag != TAG_HEAP_DUMP && tag != TAG_HEAP_DUMP_SEGMENT && tag != TAG_HEAP_DUMP_END;
}

static inline bool is_subrecord_tag(uint8_t tag)
{
    return subrecord_tags[tag];
}

/* Of a class, an instance or an array (SPEC.md 6.3 to 6.7), not of what Android adds (6.8). */
static inline bool is_object_tag(uint8_t tag)
{
    return tag >= SUB_CLASS_DUMP && tag <= SUB_PRIMITIVE_ARRAY_DUMP;
}

static inline bool is_root_tag(uint8_t tag)
{
    return is_subrecord_tag(tag) && !is_object_tag(tag) && tag != SUB_HEAP_DUMP_INFO && tag != SUB_PRIMITIVE_ARRAY_NODATA;
}

/* Of a root that a ROOT_THREAD_OBJECT must accompany (ROOT-003): after the ID of its object it has the serial of a thread. */
static inline bool is_root_of_thread(uint8_t tag)
{
    return tag == SUB_ROOT_JNI_LOCAL || tag == SUB_ROOT_JAVA_FRAME || tag == SUB_ROOT_NATIVE_STACK ||
           tag == SUB_ROOT_THREAD_BLOCK || tag == SUB_ROOT_JNI_MONITOR;
}

#endif
