/* The copy that --repair makes: a file that appears when it is complete, with the permissions of the input, and compressed if its
 * name ends in .gz. */
#ifndef HPROF_CLI_REPAIR_TARGET_H
#define HPROF_CLI_REPAIR_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "hprof/hprof.h"
#include "part.h"

struct repair_target {
    const char *path; /* of the copy, as it was given */
    int copy;         /* the descriptor of the plain copy; -1 for none */
    bool is_compressed;
    struct part part, plain; /* the file, and, if it is compressed, the plain copy, which is removed in the end */
};

/* Opens the copy of the input `from`. target_close() must follow in any case. If false, what is wrong has been said. */
bool target_open(struct repair_target *target, const char *path, int from);
/* The bytes of a regular file from its present position on; 0 for what is none. */
uint64_t bytes_left_of(int fd);
/* Whether the file system has room for a copy of an input of `size` bytes. If false, that has been said. */
bool target_has_room(const struct repair_target *target, uint64_t size);
/* Compresses the copy of `bytes` bytes, if that is wanted, and gives the file its name. If false, what is wrong has been said. */
bool target_finish(struct repair_target *target, uint64_t bytes);
void target_close(struct repair_target *target);

#endif
