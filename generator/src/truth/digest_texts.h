/* For digests: the texts of strings, as UTF-16 code units, and the names of classes. */
#ifndef HPROF_GEN_DIGEST_TEXTS_H
#define HPROF_GEN_DIGEST_TEXTS_H

#include "base/keymap.h"
#include "truth/digest_item.h"

/* UTF-16 code units, big-endian, in texts.units. */
struct text {
    size_t at, size; /* bytes */
};

/* A meaning of a class ID, from its first LOAD_CLASS until the serial number of that is unloaded (SPEC.md 4.3). */
struct meaning {
    uint64_t name_id;
    uint32_t serial;
    uint64_t ended; /* texts.ended when it had ended; NOT_ENDED */
    size_t next;    /* of the same ID: its index + 1 in texts.meanings */
};

#define NOT_ENDED UINT64_MAX

struct texts {
    struct memory *memory;
    struct item units;    /* of all texts */
    struct keymap by_id;  /* ID of a string to its index in `strings` */
    struct text *strings; /* by the first UTF8 record of each ID */
    size_t string_count, string_capacity;
    struct meaning *meanings;
    size_t meaning_count, meaning_capacity;
    struct keymap by_serial;               /* class serial to class ID */
    struct keymap first_of_id, last_of_id; /* class ID to index in `meanings` */
    uint64_t ended;                        /* how many meanings have ended so far */
};

void texts_init(struct texts *texts, struct memory *memory, const struct hash_key *key);
void texts_clear(struct texts *texts);

/* The string of a UTF8 record; NULL if its ID is already defined, or without memory. */
const struct text *texts_add(struct texts *texts, uint64_t id, const uint8_t *utf8, size_t size);
void texts_load(struct texts *texts, uint32_t serial, uint64_t class_id, uint64_t name_id);
void texts_unload(struct texts *texts, uint32_t serial);

/* The text of a string; empty for an undefined one. */
struct text texts_find(const struct texts *texts, uint64_t string_id);
/* The name of a class (SPEC.md 6.3) in the form of descriptors, "[C" for char[]. `ended` is texts.ended at the first record of the
 * heap dump. */
struct text texts_class_name(struct texts *texts, uint64_t class_id, uint64_t ended);
bool texts_is(const struct texts *texts, struct text text, const char *ascii);
void texts_put(const struct texts *texts, struct item *item, struct text text); /* as a part */

#endif
