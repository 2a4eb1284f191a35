/* What a repaired dump has lost, as people read it, and what to set in the reader. */
#ifndef HPROF_CLI_REPAIR_LOSSES_H
#define HPROF_CLI_REPAIR_LOSSES_H

#include <stdbool.h>
#include <stdio.h>

#include "hprof/hprof.h"

#define LOSSES_SHOWN 10 /* classes */

/* The classes that lost the most bytes, and all of them together. */
struct class_losses {
    struct lost_class {
        char name[256];
        uint64_t objects, bytes, kept;
    } classes[LOSSES_SHOWN];
    size_t shown;
    uint64_t count, objects, bytes; /* of all classes */
};

void class_losses_add(struct class_losses *losses, const struct hprof_class_loss *loss);

uint64_t count_kept_objects(const struct hprof_repair_result *repair);
/* Calls `each` for each kind of root that was read or kept. */
void each_root_kind(const struct hprof_repair_result *repair,
                    void (*each)(void *context, const char *kind, uint64_t read, uint64_t kept), void *context);
/* Threads whose objects are roots; with `kept`, those of the copy. */
uint64_t count_threads(const struct hprof_repair_result *repair, bool kept);
/* What to set in the reader, a sentence; NULL for nothing. */
const char *reader_advice(const struct hprof_repair_result *repair);

/* In lines of `width` columns. Prints nothing if nothing was lost. */
void print_losses(FILE *out, size_t width, const struct hprof_repair_result *repair, const struct class_losses *losses);

#endif
