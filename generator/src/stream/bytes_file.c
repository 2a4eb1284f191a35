/* See bytes_file.h. */
#define _GNU_SOURCE
#include "stream/bytes_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct bytes_file *f = (struct bytes_file *)bytes;
    const char *p = data;

    while (size && !f->error) {
        ssize_t n = write(f->fd, p, size);

        if (n >= 0) {
            p += n;
            size -= (size_t)n;
            f->written += (uint64_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&(struct pollfd){.fd = f->fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            f->error = errno;
        }
    }
    return !f->error;
}

static bool finish(struct bytes *bytes)
{
    struct bytes_file *f = (struct bytes_file *)bytes;
    int fd = f->fd;

    f->fd = -1;
    if (close(fd) != 0 && errno != EINTR)
        f->error = errno;
    return !f->error && (f->held || bytes_file_name(f));
}

bool bytes_file_name(struct bytes_file *f)
{
    if (!f->error && !part_name(&f->part))
        f->error = errno;
    return !f->error;
}

/* In the folder of `path`, or of the file that a link leads to. */
static bool open_part(struct bytes_file *f, const char *path, int like)
{
    if (!part_open_like(&f->part, path, like))
        f->error = errno;
    f->fd = f->part.fd;
    return !f->error;
}

bool bytes_file_open_like(struct bytes_file *f, const char *path, int like)
{
    struct stat stat_there;

    *f = (struct bytes_file){.bytes = {.put = put, .finish = finish}, .path = path, .fd = -1};
    if (!path) {
        f->fd = STDOUT_FILENO;
        if (fcntl(f->fd, F_GETFD) == -1)
            f->error = errno;
        return !f->error;
    }
    if (stat(path, &stat_there) != 0 || S_ISREG(stat_there.st_mode))
        return open_part(f, path, like);
    do {
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } while (f->fd < 0 && errno == EINTR);
    if (f->fd < 0)
        f->error = errno;
    return !f->error;
}

bool bytes_file_open(struct bytes_file *f, const char *path)
{
    return bytes_file_open_like(f, path, -1);
}

void bytes_file_close(struct bytes_file *f)
{
    if (f->fd >= 0 && f->path)
        close(f->fd);
    part_close(&f->part);
}
