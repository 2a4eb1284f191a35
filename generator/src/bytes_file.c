/* See bytes_file.h. */
#define _GNU_SOURCE /* asprintf */
#include "bytes_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal that ends the process has to take away: a dump and its manifest. */
enum { PARTS_MOST = 2 };
static char *volatile parts_at_work[PARTS_MOST];

static void note_part(char *old, char *new)
{
    size_t i = 0;

    while (i < PARTS_MOST && parts_at_work[i] != old)
        i++;
    if (i < PARTS_MOST) /* else its name was taken back already */
        parts_at_work[i] = new;
}

static void take_away_parts(int number)
{
    for (size_t i = 0; i < PARTS_MOST; i++)
        if (parts_at_work[i])
            unlink(parts_at_work[i]);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;

        /* Who was started with a signal ignored (nohup) goes on ignoring it. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            struct sigaction action = {.sa_handler = take_away_parts};

            sigemptyset(&action.sa_mask);
            sigaction(numbers[i], &action, NULL);
        }
    }
}

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
    if (!f->error && f->part && rename(f->part, f->final) != 0)
        f->error = errno;
    f->finished = !f->error;
    if (f->finished && f->part)
        note_part(f->part, NULL);
    return f->finished;
}

/* ---- Where it is to be ---- */

/* The folder of a path, with the slash behind it: so many characters. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (int)(slash + 1 - path) : 0;
}

static char *join(int folder, const char *path, const char *name)
{
    char *joined;

    return asprintf(&joined, "%.*s%s", folder, path, name) < 0 ? NULL : joined;
}

/* The full name of a file that is not there yet, whose folder is. NULL: errno says why. */
static char *full_name(const char *path)
{
    int length = folder_length(path);
    char *folder, *real, *full = NULL;

    if (!path[length]) { /* the name of a folder, or none */
        errno = ENOENT;
        return NULL;
    }
    folder = join(length, path, ".");
    real = folder ? realpath(folder, NULL) : NULL;
    if (real && asprintf(&full, "%s/%s", strcmp(real, "/") == 0 ? "" : real, path + length) < 0)
        full = NULL;
    free(real);
    free(folder);
    return full;
}

/* What a path leads to, be it there or not; NULL: errno says why. */
static char *follow(const char *path)
{
    char target[PATH_MAX], *there = realpath(path, NULL), *next;
    ssize_t size;

    if (there || errno != ENOENT)
        return there;
    size = readlink(path, target, sizeof target - 1);
    if (size < 0)
        return full_name(path);
    target[size] = '\0';
    next = join(*target == '/' ? 0 : folder_length(path), path, target);
    there = next ? follow(next) : NULL; /* links in a circle are another error */
    free(next);
    return there;
}

/* The permissions of a file to be: those of the one that it takes the place of. False if that one must not be changed. */
static bool find_mode(const struct bytes_file *f, mode_t *mode)
{
    struct stat there;

    *mode = 0;
    if (stat(f->final, &there) != 0)
        return true;
    *mode = there.st_mode & 0777;
    return faccessat(AT_FDCWD, f->final, W_OK, AT_EACCESS) == 0;
}

/* `kept` is how much of the final name goes into its own. */
static void create_part(struct bytes_file *f, size_t size, int kept)
{
    enum { TRIES = 100 };

    for (unsigned i = 0; i < TRIES; i++) {
        snprintf(f->part, size, "%.*s.%u.part", kept, f->final, (unsigned)getpid() + i);
        f->fd = open(f->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd >= 0 || errno != EEXIST)
            break;
    }
    if (f->fd >= 0)
        note_part(NULL, f->part);
    else
        f->error = errno;
}

/* Opens the file beside `path`, or beside what it leads to if it is a link. */
static bool open_part(struct bytes_file *f, const char *path)
{
    enum { ADDED = 24 };
    size_t size;
    int kept;
    mode_t mode;
    sigset_t all, before;

    f->final = follow(path);
    if (!f->final || !find_mode(f, &mode)) {
        f->error = errno;
        return false;
    }
    kept = folder_length(f->final) + NAME_MAX - ADDED; /* of a name as long as names can be */
    size = strlen(f->final) + ADDED;
    f->part = malloc(size);
    if (!f->part) {
        f->error = ENOMEM;
        return false;
    }
    watch_signals();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* a signal finds no part, or one that it knows of */
    create_part(f, size, kept);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (f->fd < 0) {
        free(f->part); /* it is not ours */
        f->part = NULL;
        return false;
    }
    if (mode)
        (void)!fchmod(f->fd, mode);
    return true;
}

bool bytes_file_open(struct bytes_file *f, const char *path)
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
        return open_part(f, path);
    do {
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } while (f->fd < 0 && errno == EINTR);
    if (f->fd < 0)
        f->error = errno;
    return !f->error;
}

void bytes_file_close(struct bytes_file *f)
{
    if (f->fd >= 0 && f->path)
        close(f->fd);
    if (f->part && !f->finished)
        unlink(f->part);
    if (f->part)
        note_part(f->part, NULL);
    free(f->part);
    free(f->final);
}
