/* What damage.h hides: the plan, made before the dump is written, and the state while it is. */
#ifndef HPROF_GEN_DAMAGE_PLAN_H
#define HPROF_GEN_DAMAGE_PLAN_H

#include "damage/damage.h"
#include "stream/random.h"

enum { PAGE_SIZE_OF_FILES = 4096 };

/* What a kind hits. */
enum damage_target {
    TARGET_BYTE,      /* any byte; when drawn by sub-record, one of a sub-record */
    TARGET_SUBRECORD, /* any sub-record, */
    TARGET_TYPE,      /* one with an element type, */
    TARGET_COUNT,     /* with a number of elements, */
    TARGET_INSTANCE,  /* an INSTANCE_DUMP */
    TARGET_RECORD,    /* a record, */
    TARGET_HEAP_DUMP, /* a HEAP_DUMP or HEAP_DUMP_SEGMENT */
    TARGETS_FOUND,    /* the number of those before, whose places are sought */
    TARGET_ALL = TARGETS_FOUND,
    TARGET_START,
    TARGET_GZIP,
    TARGET_SEGMENTS
};

enum edit_op {
    EDIT_LOSE,   /* `size` bytes are missing, */
    EDIT_ZERO,   /* or zero, */
    EDIT_CHANGE, /* or one, changed by `mask` */
    EDIT_INSERT, /* `more` bytes, a function of `key`, precede the byte `at`; */
    EDIT_TEXT,   /* `more` bytes of `text` */
    EDIT_DOUBLE, /* `size` bytes are there twice */
    EDIT_SWAP    /* the halves of `size` bytes are exchanged */
};

/* Edits do not overlap. */
struct edit {
    enum edit_op op;
    enum damage_kind kind;
    uint64_t at, size; /* in the undamaged dump */
    uint64_t more;
    uint64_t key;
    const char *text;
    uint8_t mask;
};

/* What the first look finds. */
struct survey {
    uint64_t bytes;
    uint64_t counts[TARGETS_FOUND]; /* suitable items */
    uint64_t first_segment;         /* the offset of the first HEAP_DUMP_SEGMENT, */
    uint64_t segments_end;          /* the end of the last, */
    uint64_t segments, heap_dumps;  /* their number, and that of HEAP_DUMPs */
};

/* What happens to one member of a gzip file. */
struct gzip_damage {
    struct gzip_hook hook;
    bool is_wanted;
    enum damage_kind kind;
    uint64_t member, key;
};

struct damage {
    uint64_t seed;
    unsigned id_size;
    struct survey survey;
    struct edit *edits; /* sorted */
    size_t edit_count;
    enum damage_kind change; /* CRLF, LATIN1 or SEVEN_BIT: of all bytes; else TRUNCATE, for none */

    struct items items;
    struct item_watch watch;
    struct harm *harm;
    struct damage_done *done;
    size_t done_count;

    /* Bytes. */
    struct bytes bytes;
    uint64_t at;    /* of the next byte of the undamaged dump */
    size_t edit;    /* the present or next one */
    uint8_t *block; /* of DOUBLE and SWAP: bytes that are written later */

    struct gzip_damage gzip;

    /* Several files. */
    struct damage_file *files;
    struct bytes **outs; /* of the files */
    size_t file_count;
};

struct kind_row {
    const char *name;
    enum damage_target target;
    const char *number;
    const char *about;
};

const struct kind_row *kind_row(enum damage_kind kind);

/* at / UINT32_MAX of n - 1 */
uint64_t share_of(uint64_t at, uint64_t n);

/* These return false with a sentence, which is NULL if memory ran out or the source failed. */
bool damage_survey(struct damage *damage, struct source *source, const char **failure);
bool damage_find_places(struct damage *damage, const struct damage_spec *specs, size_t count, struct source *source,
                        const char **failure);
bool damage_plan_files(struct damage *damage, const struct damage_spec *spec, struct source *source, const char **failure);
bool damage_refuse(const char **failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What was done, for the manifest. False without memory. */
bool damage_note_place(struct damage *damage, enum damage_kind kind, uint64_t at, uint64_t bytes, uint64_t written);

void damage_edit_bytes(struct damage *damage, struct bytes *next);
void damage_divide_bytes(struct damage *damage, struct bytes *next);
void damage_gzip_init(struct damage *damage, const struct damage_spec *spec);
void damage_gzip_finish(struct damage *damage);

/* The n-th random number of a key. */
static inline uint64_t draw(uint64_t key, uint64_t n)
{
    return mix_of(key, n, 0);
}

#endif
