#include "readable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hprof/hprof.h"
#include "messages.h"

static int open_nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int fd;

    if (snprintf(path, sizeof path, "%s/hprof-gen-XXXXXX", folder && *folder ? folder : "/tmp") >= (int)sizeof path)
        return -1;
    fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int open_readable(int fd, const char *name, bool quiet)
{
    struct hprof_repair repair;
    struct hprof_repair_result result;
    uint8_t *severities = calloc(hprof_rule_count(), 1); /* only the framing must be well-formed */
    int copy = severities ? open_nameless() : -1;
    char sentence[100];

    hprof_repair_init(&repair);
    hprof_repair_result_init(&result);
    repair.severities = severities;
    if (copy >= 0 && hprof_repair_fd(fd, copy, &repair, &result) != HPROF_VALID) {
        close(copy);
        copy = -1;
    }
    if (copy >= 0 && !quiet) {
        snprintf(sentence, sizeof sentence, "malformed: the readable part is used, %" PRIu64 " bytes are left out",
                 result.left_out);
        say_failure(name, sentence);
    }
    free(severities);
    return copy;
}
