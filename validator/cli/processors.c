/* See processors.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "processors.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How many processors the scheduler may run this process on. */
static unsigned allowed_by_affinity(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    return online > 0 ? (unsigned)online : 1;
}

/* A small file as a string, empty if it cannot be read. Without allocations: for want of memory no thread should be lost. */
static void read_text(const char *name, char *text, size_t size)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The quota of a control group, in processors, rounded up; 0 for none. */
static unsigned quota_of_group(const char *path)
{
    char name[4096], text[64];
    unsigned long long quota, period;

    if (snprintf(name, sizeof name, "/sys/fs/cgroup%s/cpu.max", path) >= (int)sizeof name)
        return 0;
    read_text(name, text, sizeof text);
    return sscanf(text, "%llu %llu", &quota, &period) == 2 && period > 0 ? (unsigned)((quota + period - 1) / period) : 0;
}

/* The least quota of the control group (version 2) that this process is in, and of those above it; 0 for none. */
static unsigned allowed_by_groups(void)
{
    char text[4096], *path;
    unsigned least = 0;

    read_text("/proc/self/cgroup", text, sizeof text);
    path = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (path == NULL)
        return 0;
    path = strchr(path, '/');
    if (path == NULL)
        return 0;
    path[strcspn(path, "\n")] = '\0';
    for (;;) {
        unsigned quota = quota_of_group(path);
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
        char *last = strrchr(path, '/');
        if (last == NULL)
            return least;
        *last = '\0';
    }
}

unsigned processor_count(void)
{
    unsigned affinity = allowed_by_affinity(), groups = allowed_by_groups();

    return groups > 0 && groups < affinity ? groups : affinity;
}
