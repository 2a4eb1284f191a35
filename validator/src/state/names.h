/* The names of strings and classes in a dump, for --show and --repair. */
#ifndef HPROF_NAMES_H
#define HPROF_NAMES_H

#include "base/keymap.h"
#include "format/format.h"
#include "state/string_table.h"

enum { NAME_ROOM = 240 }; /* bytes of a buffer for a name */

struct names {
    struct strings strings;
    struct keymap classes; /* class ID to string ID */
    unsigned id_size;
};

void names_init(struct names *n, struct memory *memory, const struct hash_key *key, unsigned id_size);
void names_clear(struct names *n);

/* Adds the name that a UTF8 or LOAD_CLASS record defines; ignores other records. `record` begins at the tag and may be shorter
 * than the record: NAMES_RECORD_BYTES are enough. */
enum { NAMES_RECORD_BYTES = RECORD_HEADER_SIZE + 8 + STRING_KEPT };
void names_add_record(struct names *n, struct cursor record);

/* False, and "", if the ID has no name. Names that do not fit are shortened. */
bool names_string(const struct names *n, uint64_t id, char to[NAME_ROOM]);
bool names_class(const struct names *n, uint64_t class_id, char to[NAME_ROOM]); /* "java.lang.String[]" */

#endif
