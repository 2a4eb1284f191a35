/* See input_source.h. Regular files are read with pread(): the caller's descriptor stays where it is. */

#include "input/input_source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/versioned.h"

enum { ZEROS_LEAST = 512 /* a sector of a disk */ };

struct input_source source_of_fd(int fd)
{
    struct input_source s = {.fd = fd, .wake = {-1, -1}};
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
        .fd = -1, .wake = {-1, -1}, .bytes = bytes, .byte_count = size, .size = as_pipe ? 0 : size, .seekable = !as_pipe};
}

static bool has_callbacks(const struct input_source *s)
{
    return s->callbacks.read || s->callbacks.read_at;
}

const char *source_of_callbacks(const struct hprof_source *callbacks, struct input_source *s)
{
    struct hprof_source own;
    const char *reason = callbacks ? take_versioned(&own, sizeof own, callbacks) : "there is no source";

    *s = source_of_memory("", 0, true);
    if (reason)
        return reason;
    if (!own.read && !own.read_at)
        return "the source has no function that reads";
    s->bytes = NULL;
    s->callbacks = own;
    s->seekable = own.read_at;
    s->size = own.read_at ? own.size : 0;
    return NULL;
}

bool source_wake_begin(struct input_source *s)
{
    if (has_callbacks(s))
        return s->seekable;
    if (s->fd < 0 || s->seekable)
        return true;
    if (pipe(s->wake) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        (void)fcntl(s->wake[i], F_SETFD, FD_CLOEXEC);
    return true;
}

void source_wake(struct input_source *s)
{
    if (s->wake[1] >= 0 && write(s->wake[1], "", 1) < 0)
        return; /* cannot be: the pipe is empty */
}

void source_wake_end(struct input_source *s)
{
    for (int i = 0; i < 2 && s->wake[i] >= 0; i++) {
        close(s->wake[i]);
        s->wake[i] = -1;
    }
}

/* Waits until a pipe has bytes or ends, or the source is woken. False with errno 0 if it is. */
static bool wait_for_bytes(const struct input_source *s)
{
    struct pollfd wanted[] = {{.fd = s->fd, .events = POLLIN}, {.fd = s->wake[0], .events = POLLIN}};

    while (poll(wanted, s->wake[0] < 0 ? 1 : 2, -1) < 0)
        if (errno != EINTR)
            return false;
    errno = 0;
    return !(wanted[1].revents & POLLIN);
}

static ssize_t read_descriptor(const struct input_source *s, uint8_t *to, size_t n)
{
    if (s->wake[0] >= 0 && !wait_for_bytes(s))
        return errno ? -1 : 0;
    for (;;) {
        ssize_t got = s->seekable ? pread(s->fd, to, n, (off_t)(s->origin + s->position)) : read(s->fd, to, n);

        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            return got;
        if (errno == EAGAIN && !wait_for_bytes(s))
            return errno ? -1 : 0;
    }
}

/* As of a file, one may seek past the end. */
static uint64_t rest_of(const struct input_source *s, uint64_t size)
{
    return s->position < size ? size - s->position : 0;
}

static size_t read_memory(const struct input_source *s, uint8_t *to, size_t n)
{
    uint64_t rest = rest_of(s, s->byte_count);

    if (n > rest)
        n = (size_t)rest;
    if (n > 0)
        memcpy(to, s->bytes + s->position, n);
    return n;
}

static ssize_t read_callbacks(const struct input_source *s, uint8_t *to, size_t n)
{
    const struct hprof_source *c = &s->callbacks;
    int64_t got;

    if (s->seekable && n > rest_of(s, s->size))
        n = (size_t)rest_of(s, s->size);
    if (!n)
        return 0;
    got = s->seekable ? c->read_at(c->context, s->position, to, n) : c->read(c->context, to, n);
    if (got >= 0 && (uint64_t)got <= n)
        return (ssize_t)got;
    errno = got < 0 && got >= -INT_MAX ? (int)-got : EINVAL; /* more than was asked for is a fault of the caller */
    return -1;
}

static size_t take_ahead(struct input_source *s, uint8_t *to, size_t n)
{
    if (n > s->ahead_count)
        n = s->ahead_count;
    memcpy(to, s->ahead, n);
    s->ahead += n;
    s->ahead_count -= n;
    s->position += n;
    return n;
}

size_t source_read(struct input_source *s, uint8_t *to, size_t n)
{
    ssize_t got;

    if (s->ahead_count)
        return take_ahead(s, to, n);
    if (s->ended)
        return 0;
    got = has_callbacks(s) ? read_callbacks(s, to, n) : s->fd < 0 ? (ssize_t)read_memory(s, to, n) : read_descriptor(s, to, n);
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

void source_read_again(struct input_source *s, const uint8_t *bytes, size_t n)
{
    s->position -= n;
    s->ahead = bytes;
    s->ahead_count = n;
}

/* Reads with a copy of a source, which then says why bytes are missing. */
static size_t read_all_at(struct input_source *there, uint64_t position, uint8_t *to, size_t n)
{
    size_t got = 0, more = 1;

    there->ended = false;
    there->ahead_count = 0;
    there->position = position < there->size ? position : there->size;
    while (got < n && more) {
        more = source_read(there, to + got, n - got);
        got += more;
    }
    return got;
}

size_t source_read_at(const struct input_source *s, uint64_t position, uint8_t *to, size_t n)
{
    struct input_source there = *s;

    return read_all_at(&there, position, to, n);
}

int source_read_there(const struct input_source *s, uint64_t position, uint8_t *to, size_t n)
{
    struct input_source there = *s;

    return read_all_at(&there, position, to, n) == n ? 0 : there.error ? there.error : ESTALE;
}

/* Of n bytes, those up to the last one that is not zero. */
static size_t without_zeros(const uint8_t *p, size_t n)
{
    while (n > 0 && p[n - 1] == 0)
        n--;
    return n;
}

uint64_t source_without_zeros(struct input_source *s)
{
    struct input_source there = *s;
    uint8_t some[4096];
    uint64_t end = s->size;
    size_t rest = 0;

    while (end > 0 && rest == 0) {
        size_t n = end < sizeof some ? (size_t)end : sizeof some;

        if (read_all_at(&there, end - n, some, n) < n) {
            s->error = there.error;
            s->ended = true;
            return s->size;
        }
        rest = without_zeros(some, n);
        end -= n - rest;
    }
    return s->size - end < ZEROS_LEAST ? s->size : end;
}
