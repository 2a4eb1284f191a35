/* See test_faults_copy.h. */
#include "test_faults_copy.h"

#include <stdio.h>

#include "made_dump.h"

static enum hprof_status status_of(enum generate_status status, bool malformed)
{
    switch (status) {
    case GENERATED:
        return HPROF_VALID;
    case GENERATE_REFUSED:
        return HPROF_USAGE;
    case GENERATE_FAILED:
        return malformed ? HPROF_INVALID : HPROF_IO;
    case GENERATE_NO_MEMORY:
        break;
    }
    return HPROF_LIMIT;
}

struct copy copy_dump(int fd)
{
    static struct made_dump dump;
    const struct generate_request request = {.from = fd, .how = {.count = 1}, .census = true};
    struct generated generated = {0};
    enum generate_status status = make_dump(&request, &dump, &generated);
    struct copy copy = {.status = status_of(status, generated.malformed), .at = dump.at, .size = dump.size};

    snprintf(copy.failure, sizeof copy.failure, "%s", generated.failure ? generated.failure : "");
    generated_free(&generated);
    return copy;
}
