/* What glibc 2.17 has not, for the wheel that works with it. Included before each file of that build (ci/wheel). */
#ifndef HPROF_OLD_GLIBC_H
#define HPROF_OLD_GLIBC_H

#include <sys/syscall.h>

long syscall(long number, ...);

static inline int getentropy(void *to, unsigned long size)
{
    return syscall(SYS_getrandom, to, size, 0) == (long)size ? 0 : -1;
}

#endif
