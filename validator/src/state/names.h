/* The names that records of a dump give to strings and classes, for texts about it: while it is shown or repaired. */
#ifndef HPROF_NAMES_H
#define HPROF_NAMES_H

#include "base/keymap.h"
#include "format/format.h"
#include "state/string_table.h"

enum { NAME_ROOM = 240 };

struct names {
    struct strings strings;
    struct keymap classes; /* class ID to string ID */
    unsigned id_size;
};

void names_init(struct names *n, struct memory *memory, const struct hash_key *key, unsigned id_size);
void names_clear(struct names *n);

/* Takes what a record names. `record` begins at its tag and may end before the record does: NAMES_LOOK_AT bytes are enough. */
enum { NAMES_LOOK_AT = RECORD_HEADER_SIZE + 8 + STRING_KEPT };
void names_take(struct names *n, struct cursor record);

/* False, and "", if the ID has no name. Names that do not fit are shortened. */
bool names_string(const struct names *n, uint64_t id, char to[NAME_ROOM]);
bool names_class(const struct names *n, uint64_t class_id, char to[NAME_ROOM]); /* "java.lang.String[]" */

#endif
