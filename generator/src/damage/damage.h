/* How dumps really break: --damage KIND[:N][@FRACTION]. A valid dump is made or read; its bytes are damaged on their way to the
 * file, and what is not whole any more is listed. */
#ifndef HPROF_GEN_DAMAGE_H
#define HPROF_GEN_DAMAGE_H

#include "damage/harm.h"
#include "stream/bytes.h"
#include "stream/gzip_hook.h"
#include "stream/source.h"

enum damage_kind {
#define DAMAGE(NAME, name, target, number, about) DAMAGE_##NAME,
#include "damage/kinds.def"
#undef DAMAGE
};

struct damage_spec {
    enum damage_kind kind;
    uint64_t number; /* 0: the default of the kind */
    bool has_at;     /* else the seed draws where */
    uint64_t at;     /* a share of the dump's bytes: UINT32_MAX for the last */
};

/* NULL after the last. */
const char *damage_name(size_t kind);
const char *damage_number(size_t kind); /* what N is; NULL if the kind takes none */
const char *damage_about(size_t kind);
/* The damage is in the compressed file, so the dump must be compressed. */
bool damage_is_of_gzip(enum damage_kind kind);

/* "KIND[:N][@FRACTION]". False if it is wrong, with a sentence in `wrong`. */
bool damage_parse(const char *text, struct damage_spec *spec, char wrong[200]);

/* One place that was damaged, for the manifest. */
struct damage_done {
    enum damage_kind kind;
    uint64_t at, bytes; /* the bytes of the undamaged dump that are missing or others; gzip: of the undamaged file */
    uint64_t written;   /* the number of bytes in their place */
};

/* The part of the dump that one file of several has. */
struct damage_file {
    unsigned number; /* 0: FILE; n: FILE.p<n - 1> */
    uint64_t from, to;
};

struct damage;

/* Chooses the places: runs the source two times or more. NULL with a sentence in *failure, which is NULL if memory ran out or the
 * source failed (source->failure). */
struct damage *damage_new(const struct damage_spec *specs, size_t count, uint64_t seed, struct source *source,
                          const char **failure);
void damage_free(struct damage *damage);

/* A filter of events that must see what is written, before the sink. */
struct stage *damage_watch(struct damage *damage, struct stage *next);
/* A filter of bytes: those of the damaged dump, or of FILE, go to `next`. */
struct bytes *damage_bytes(struct damage *damage, struct bytes *next);
/* What happens to the members of a gzip file; NULL for nothing. */
struct gzip_hook *damage_gzip_hook(struct damage *damage);

size_t damage_done_count(const struct damage *damage);
const struct damage_done *damage_done_at(const struct damage *damage, size_t index);
/* The files, if the dump is in several; 0 if it is in one. The first is FILE. */
size_t damage_file_count(const struct damage *damage);
const struct damage_file *damage_file_at(const struct damage *damage, size_t index);
/* The bytes of a file of several: `next` for the file with this index. Called before the first byte, for all but FILE. */
void damage_file_to(struct damage *damage, size_t index, struct bytes *next);

/* After the last byte: the items that are not whole, in the order of the dump. */
struct harm *damage_harm(struct damage *damage);

#endif
