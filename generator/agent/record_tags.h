/* The tags of records and sub-records that the agent writes. */
#ifndef AGENT_RECORD_TAGS_H
#define AGENT_RECORD_TAGS_H

enum {
    TAG_UTF8 = 0x01,
    TAG_LOAD_CLASS = 0x02,
    TAG_UNLOAD_CLASS = 0x03,
    TAG_FRAME = 0x04,
    TAG_TRACE = 0x05,
    TAG_ALLOC_SITES = 0x06,
    TAG_HEAP_SUMMARY = 0x07,
    TAG_START_THREAD = 0x0a,
    TAG_END_THREAD = 0x0b,
    TAG_HEAP_DUMP = 0x0c,
    TAG_CPU_SAMPLES = 0x0d,
    TAG_CONTROL_SETTINGS = 0x0e,
    TAG_HEAP_DUMP_SEGMENT = 0x1c,
    TAG_HEAP_DUMP_END = 0x2c,

    TAG_CLASS_DUMP = 0x20,
    TAG_INSTANCE_DUMP = 0x21,
    TAG_OBJECT_ARRAY_DUMP = 0x22,
    TAG_PRIMITIVE_ARRAY_DUMP = 0x23
};

#endif
