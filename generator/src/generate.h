/* One run of the generator: a source, what is to be broken, and where the bytes go. */
#ifndef HPROF_GEN_GENERATE_H
#define HPROF_GEN_GENERATE_H

#include "bytes.h"
#include "findings/rules.h"
#include "source_model.h"
#include "truth.h"
#include "violate.h"

struct generate_request {
    int from;                    /* descriptor of a dump to take the records from; -1: they are made up, */
    struct source_settings made; /* so */
    uint64_t bytes;              /* made.model.objects is to be such that the dump has at most so many; 0: it is given */
    const char *const *violate;  /* "RULE" or "RULE/VARIANT" */
    size_t violate_count;
    struct violate_options how;
    int gzip_level; /* 1 to 9; 0 for none */
    bool census;    /* `truth` is wanted whole; else of it only bytes and faults */
};

/* The values are exit statuses. */
enum generate_status { GENERATED = 0, GENERATE_REFUSED = 2, GENERATE_FAILED = 3, GENERATE_NO_MEMORY = 4 };

/* What was written, as it is reported to the user. */
struct generated {
    struct truth truth;
    uint64_t quirks[RULE_COUNT]; /* truth.quirks */
    uint64_t objects;            /* asked for, or as many as fill request.bytes */
    unsigned id_size;
    enum version version;
    int gzip_level;      /* as asked for, or what a fault of gzip's rules took */
    const char *failure; /* one sentence, unless all went well or the failure is that of `out` */
    char sentence[256];  /* room for it */
    bool malformed;      /* the failure is that the dump to take records from is malformed; nothing was written */
};

/* `out` takes the file's bytes; it is finished, but not closed. GENERATE_FAILED without a failure: `out` knows why. */
enum generate_status generate(const struct generate_request *request, struct bytes *out, struct generated *generated);
void generated_free(struct generated *generated);

#endif
