#ifndef HPROF_TESTS_SHARE_H
#define HPROF_TESTS_SHARE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of what takes long a part, another one in each run: one of as many as HPROF_SHARE says, of one without it. */
struct share {
    size_t part, parts;
};

static inline struct share draw_share(void)
{
    const char *parts = getenv("HPROF_SHARE");
    struct share share = {0, parts ? strtoul(parts, NULL, 10) : 1};

    if (!share.parts)
        share.parts = 1;
    share.part = (size_t)time(NULL) % share.parts;
    if (share.parts > 1)
        printf("part %zu of %zu\n", share.part, share.parts);
    return share;
}

#endif
