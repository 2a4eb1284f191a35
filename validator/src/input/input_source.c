/* See input_source.h. Regular files are read with pread(): the caller's descriptor stays where it is. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "input/input_source.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct input_source source_of_fd(int fd)
{
    struct input_source s = {.fd = fd};
    struct stat status;
    off_t here;

    if (fstat(fd, &status) != 0) {
        s.error = errno;
        s.ended = true;
    } else if (S_ISREG(status.st_mode) && (here = lseek(fd, 0, SEEK_CUR)) >= 0) {
        s.seekable = true;
        s.origin = (uint64_t)here;
        if (status.st_size > here)
            s.size = (uint64_t)(status.st_size - here);
    }
    return s;
}

struct input_source source_of_memory(const void *bytes, size_t size, bool as_pipe)
{
    return (struct input_source){
        .fd = -1, .bytes = bytes, .byte_count = size, .size = as_pipe ? 0 : size, .seekable = !as_pipe};
}

/* A pipe that its owner made non-blocking has nothing yet: waits until it has. */
static bool wait_for_bytes(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    return poll(&wanted, 1, -1) >= 0 || errno == EINTR;
}

static ssize_t read_descriptor(const struct input_source *s, uint8_t *to, size_t n)
{
    for (;;) {
        ssize_t got = s->seekable ? pread(s->fd, to, n, (off_t)(s->origin + s->position)) : read(s->fd, to, n);

        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            return got;
        if (errno == EAGAIN && !wait_for_bytes(s->fd))
            return -1;
    }
}

static size_t read_memory(const struct input_source *s, uint8_t *to, size_t n)
{
    if (n > s->byte_count - s->position)
        n = (size_t)(s->byte_count - s->position);
    if (n > 0)
        memcpy(to, s->bytes + s->position, n);
    return n;
}

size_t source_read(struct input_source *s, uint8_t *to, size_t n)
{
    ssize_t got;

    if (s->ended)
        return 0;
    got = s->fd < 0 ? (ssize_t)read_memory(s, to, n) : read_descriptor(s, to, n);
    if (got > 0) {
        s->position += (uint64_t)got;
        return (size_t)got;
    }
    s->ended = true;
    if (got < 0)
        s->error = errno;
    else if (s->position < s->size)
        s->error = ESTALE;
    return 0;
}

void source_seek(struct input_source *s, uint64_t position)
{
    s->position = position;
    s->ended = s->error != 0;
}
