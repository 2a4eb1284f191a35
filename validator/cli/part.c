#define _GNU_SOURCE /* asprintf */
#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"

/* The length of the folder of a path, including its slash. */
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

/* The full path of a file that does not exist, in a folder that does. If NULL, errno says why. */
static char *full_name(const char *path)
{
    int length = folder_length(path);
    char *folder, *real, *full = NULL;

    if (!path[length]) { /* a folder, or an empty name */
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

/* The full path at the end of all links, whether a file exists there or not. If NULL, errno says why. */
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
    there = next ? follow(next) : NULL; /* a cycle of links ends here: realpath() fails with ELOOP */
    free(next);
    return there;
}

/* The permissions of the new file are those of the file it replaces. False if that file is not writable. */
static bool find_mode(const char *final, mode_t *mode)
{
    struct stat there;

    *mode = 0;
    if (stat(final, &there) != 0)
        return true;
    *mode = there.st_mode & 0777;
    return faccessat(AT_FDCWD, final, W_OK, AT_EACCESS) == 0;
}

/* `kept` is how much of the final path is part of the temporary one. */
static bool create(struct part *part, size_t size, int kept, mode_t mode)
{
    enum { TRIES = 100 };

    for (unsigned i = 0; i < TRIES; i++) {
        snprintf(part->path, size, "%.*s.%u.part", kept, part->final, (unsigned)getpid() + i);
        part->fd = open(part->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (part->fd >= 0 || errno != EEXIST)
            break;
    }
    return part->fd >= 0;
}

/* `mode` is that of the file; 0: of the file that it replaces, or the usual one. */
static bool open_with(struct part *part, const char *path, mode_t mode)
{
    enum { ADDED = 24, USUAL = 0666, OWNER = 0600 };
    sigset_t all, before;
    mode_t there;

    *part = (struct part){.fd = -1};
    part->final = follow(path);
    if (!part->final || !find_mode(part->final, &there))
        return false;
    mode_t first = mode ? OWNER : USUAL; /* nobody else may open it before it has its mode */
    mode = mode ? mode : there;
    int kept = folder_length(part->final) + NAME_MAX - ADDED; /* so that the longest name leaves room for the suffix */
    size_t size = strlen(part->final) + ADDED;
    part->path = malloc(size);
    if (!part->path)
        return false;
    interrupt_watch();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* the handler must know of the file as soon as it exists */
    bool created = create(part, size, kept, first);
    int error = errno;
    if (created) {
        interrupt_add_file(part->path);
    } else {
        free(part->path); /* a file of that name belongs to someone else */
        part->path = NULL;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (created && mode)
        (void)!fchmod(part->fd, mode);
    errno = error;
    return created;
}

bool part_open(struct part *part, const char *path)
{
    return open_with(part, path, 0);
}

bool part_open_like(struct part *part, const char *path, int like)
{
    struct stat original;
    bool has_mode = fstat(like, &original) == 0 && S_ISREG(original.st_mode);

    return open_with(part, path, has_mode ? original.st_mode & 0777 : 0);
}

bool part_is_at(const struct part *part, const char *path)
{
    char *final = follow(path);
    bool is_same = final && strcmp(final, part->final) == 0;

    free(final);
    return is_same;
}

static void free_path(struct part *part)
{
    interrupt_remove_file(part->path);
    free(part->path);
    part->path = NULL;
}

bool part_name(struct part *part)
{
    if (part->path && rename(part->path, part->final) != 0)
        return false;
    if (part->path)
        free_path(part);
    return true;
}

void part_close(struct part *part)
{
    if (part->path) {
        unlink(part->path);
        free_path(part);
    }
    free(part->final);
    part->final = NULL;
}
