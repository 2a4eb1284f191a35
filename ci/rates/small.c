/* How long the library takes for a small dump in memory, and how much memory: microseconds and bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hprof/hprof.h"

enum { SIZE_MOST = 4096, RUNS = 20000, ROUNDS = 10 };

struct used {
    size_t now, most;
};

static void *allocate(void *context, size_t size)
{
    struct used *used = context;

    used->now += size;
    if (used->most < used->now)
        used->most = used->now;
    return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
    ((struct used *)context)->now -= size;
    free(memory);
}

static double microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    static unsigned char bytes[SIZE_MOST];
    struct used used = {0, 0};
    struct hprof_allocator allocator = {allocate, release, &used};
    struct hprof_options options;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    double least = 1e9;

    hprof_options_init(&options);
    for (int round = 0; round < ROUNDS; round++) {
        double begin = microseconds(), taken;

        for (int i = 0; i < RUNS; i++)
            if (hprof_validate_memory(bytes, size, false, &options, NULL) != HPROF_VALID)
                return 1;
        taken = (microseconds() - begin) / RUNS;
        least = taken < least ? taken : least;
    }
    options.allocator = &allocator;
    if (hprof_validate_memory(bytes, size, false, &options, NULL) != HPROF_VALID)
        return 1;
    printf("%.2f %zu\n", least, used.most);
    return 0;
}
