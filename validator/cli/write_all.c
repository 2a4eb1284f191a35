/* See write_all.h. */
#include "write_all.h"

#include <errno.h>
#include <unistd.h>

bool write_all(int to, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t n = write(to, at, size);

        if (n >= 0) {
            at += n;
            size -= (size_t)n;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}
