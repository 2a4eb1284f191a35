/* See memory_file.h. */
#define _GNU_SOURCE /* memfd_create */
#include "memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void fill_memory_file(int *fd, const uint8_t *data, size_t size)
{
    if (*fd < 0)
        *fd = memfd_create("dump", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, 0) != 0 || (size && pwrite(*fd, data, size, 0) != (ssize_t)size) ||
        lseek(*fd, 0, SEEK_SET) != 0) {
        perror("a file in memory");
        abort();
    }
}
