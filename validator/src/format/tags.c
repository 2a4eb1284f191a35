/* See tags.h. */
#include "format/tags.h"

const bool record_tags[256] = {
#define RECORD(name, tag, since, clause, layout) [tag] = true,
#include "format/records.def"
#undef RECORD
};

const bool subrecord_tags[256] = {
#define SUBRECORD(name, tag, since, clause, layout) [tag] = true,
#include "format/records.def"
#undef SUBRECORD
};
