/* One run of the generator: a source, what is to be broken, and where the bytes go. */
#ifndef HPROF_GEN_GENERATE_H
#define HPROF_GEN_GENERATE_H

#include "damage/damage.h"
#include "faults/engine.h"
#include "findings/rules.h"
#include "producers/source_model.h"
#include "stream/bytes.h"
#include "truth/truth.h"

struct generate_request {
    int from;                    /* descriptor of a dump that gives the records; -1: they are made up, */
    struct source_settings made; /* from this; */
    int profile;           /* unless this is the descriptor of a profile, which gives a heap like the one that it describes */
    uint64_t twin_objects; /* of that heap; 0: as many as in the profile */
    bool converts;         /* a dump that gives the records becomes one of 1.0.2, if it is of 1.0.3 */
    uint64_t bytes;        /* the most bytes of the dump, which decide made.model.objects; 0: that is given */
    const char *const *violate; /* "RULE" or "RULE/VARIANT" */
    size_t violate_count;
    struct violate_options how;
    const struct damage_spec *damage; /* not with `violate` */
    size_t damage_count;
    /* Opens the file of a part of the dump: FILE.p<number - 1>. NULL if it cannot be opened, and the context knows why. */
    struct bytes *(*open_part)(void *context, unsigned number);
    void *context;
    int gzip_level;   /* 1 to 9; 0 for none */
    unsigned threads; /* that compress; 0 for one */
    bool census;      /* all of `truth` except digests is wanted; else only bytes and faults */
    bool digests;     /* truth.digests are wanted; not with `violate` */
    bool answers;     /* truth.answers are wanted; not with `violate` */
};

/* The values are exit statuses. */
enum generate_status { GENERATED = 0, GENERATE_REFUSED = 2, GENERATE_FAILED = 3, GENERATE_NO_MEMORY = 4 };

/* A file of a dump in several. */
struct part_file {
    uint64_t bytes;
    uint8_t sha256[32];
};

/* What was written, for the report to the user. */
struct generated {
    struct truth truth;
    uint64_t quirks[RULE_COUNT]; /* truth.quirks */
    uint64_t objects;            /* as requested, or as fit in request.bytes */
    unsigned id_size;
    enum version version;
    int gzip_level;      /* as requested, or as a fault of a gzip rule needs */
    const char *failure; /* a sentence; empty without a failure, or if `out` failed */
    char sentence[256];  /* buffer for it */
    /* With `damage`: what was done, and what is not whole. The truth is that of the dump before it, except its bytes and sums. */
    struct damage *damage;
    uint64_t undamaged_bytes;
    uint8_t undamaged_sha256[32];
    struct part_file *parts; /* FILE's parts, if it has some: damage_file_count() - 1 */
    bool malformed;          /* the dump that gives the records is malformed; nothing was written */
};

/* `out` gets the bytes of the file. It is finished, but not closed. GENERATE_FAILED with an empty failure: `out` knows why. */
enum generate_status generate(const struct generate_request *request, struct bytes *out, struct generated *generated);
void generated_free(struct generated *generated);

/* The bytes of the dump that would be made, uncompressed and without what is broken; 0 if that is not possible, or not known
 * before. */
uint64_t generate_size(const struct generate_request *request);

#endif
