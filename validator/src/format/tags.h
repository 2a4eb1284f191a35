/* The tags that some version defines (records.def). */
#ifndef HPROF_TAGS_H
#define HPROF_TAGS_H

#include <stdbool.h>
#include <stdint.h>

extern const bool record_tags[256], subrecord_tags[256];

static inline bool is_record_tag(uint8_t tag)
{
    return record_tags[tag];
}

static inline bool is_subrecord_tag(uint8_t tag)
{
    return subrecord_tags[tag];
}

#endif
