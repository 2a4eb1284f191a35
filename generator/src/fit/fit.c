/* See fit.h. */
#include "fit/fit.h"

#include "fit/gathered.h"

void fit_dump(int fd, FILE *out, struct fit_result *result)
{
    struct gathered gathered;

    *result = (struct fit_result){0};
    result->status = gather(&gathered, fd, result->failure, sizeof result->failure);
    if (result->status == HPROF_VALID && !profile_write(&gathered, out, &result->revealed)) {
        result->status = HPROF_LIMIT;
        snprintf(result->failure, sizeof result->failure, "out of memory");
    }
    gathered_free(&gathered);
}
