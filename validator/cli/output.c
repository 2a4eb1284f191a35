/* See output.h. The stream has write functions of its own: on a full non-blocking pipe, stdio would fail and drop its buffer. */
#define _GNU_SOURCE /* fopencookie */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"

/* ---- An output that is an input ---------------------------------------------------------------------------------- */

static int stat_input(const char *file, struct stat *status)
{
    return strcmp(file, "-") == 0 ? fstat(STDIN_FILENO, status) : stat(file, status);
}

/* Whether writing to one destroys the other. A terminal may be both input and output. */
static bool same_bytes(const struct stat *a, const struct stat *b)
{
    if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
        return a->st_rdev == b->st_rdev;
    return (S_ISREG(a->st_mode) || S_ISFIFO(a->st_mode)) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The input that writing to the output would destroy, or NULL. */
static const char *find_input(const struct stat *output, const struct cli_options *options)
{
    struct stat input;
    for (int i = 0; i < options->file_count; i++) {
        if (stat_input(options->files[i], &input) == 0 && same_bytes(output, &input))
            return options->files[i];
    }
    return NULL;
}

/* Where a file would be created. */
struct location {
    struct stat directory;
    char name[NAME_MAX + 1];
};

/* For a name that leads to no file: the location at the end of its links. False if no file can be created there. */
static bool find_location(const char *name, struct location *location)
{
    char path[2 * PATH_MAX], target[PATH_MAX];
    size_t length = strlen(name);

    if (length >= PATH_MAX)
        return false;
    memcpy(path, name, length + 1);
    for (int links = 0; links < 40; links++) {
        char *last = strrchr(path, '/');
        char *base = last != NULL ? last + 1 : path;
        ssize_t n = readlink(path, target, sizeof target);
        if (n < 0) {
            length = strlen(base);
            if (length == 0 || length > NAME_MAX)
                return false;
            memcpy(location->name, base, length + 1);
            *base = '\0';
            return stat(last != NULL ? path : ".", &location->directory) == 0;
        }
        if ((size_t)n == sizeof target)
            return false;
        if (target[0] == '/')
            base = path;
        if ((size_t)(base - path) + (size_t)n >= PATH_MAX)
            return false;
        memcpy(base, target, (size_t)n);
        base[n] = '\0';
    }
    return false;
}

/* A missing input whose location is that of the output, or NULL. */
static const char *find_missing_input(const char *output, const struct cli_options *options)
{
    struct location made, missing;
    struct stat status;

    if (!find_location(output, &made))
        return NULL;
    for (int i = 0; i < options->file_count; i++) {
        const char *file = options->files[i];
        if (stat_input(file, &status) != 0 && find_location(file, &missing) && strcmp(made.name, missing.name) == 0 &&
            made.directory.st_dev == missing.directory.st_dev && made.directory.st_ino == missing.directory.st_ino)
            return file;
    }
    return NULL;
}

/* The input that opening the output would destroy, or NULL. */
static const char *find_overwritten(const struct cli_options *options)
{
    struct stat status;
    if (options->output == NULL)
        return fstat(STDOUT_FILENO, &status) == 0 ? find_input(&status, options) : NULL;
    return stat(options->output, &status) == 0 ? find_input(&status, options) : find_missing_input(options->output, options);
}

static enum hprof_status refuse(const char *input)
{
    say_usage("the output would overwrite the input '", display_name(input), "'");
    return HPROF_USAGE;
}

/* ---- The stream -------------------------------------------------------------------------------------------------- */

/* Waits until a full non-blocking pipe has room. */
static bool wait_for_room(int fd)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    return poll(&room, 1, -1) >= 0 || errno == EINTR;
}

static ssize_t write_all(void *cookie, const char *bytes, size_t size)
{
    struct output *output = cookie;
    size_t written = 0;

    while (written < size && output->error == 0) {
        ssize_t n = write(output->fd, bytes + written, size - written);
        if (n > 0)
            written += (size_t)n;
        else if (n == 0)
            output->error = EIO;
        else if (errno != EINTR && !(errno == EAGAIN && wait_for_room(output->fd)))
            output->error = errno;
    }
    return (ssize_t)written;
}

static int close_descriptor(void *cookie)
{
    struct output *output = cookie;
    if (close(output->fd) != 0 && output->error == 0)
        output->error = errno;
    return 0;
}

/* ---- The output -------------------------------------------------------------------------------------------------- */

static enum hprof_status cannot_open(const char *name)
{
    if (errno == ENOMEM) {
        say_failure(name, "out of memory");
        return HPROF_LIMIT;
    }
    say_failure(name, strerror(errno));
    return HPROF_IO;
}

/* Whether a new file will replace the one of that name. A device, a pipe, and the file that standard output writes to are not
 * replaced. */
static bool is_replaced(const char *name)
{
    struct stat there, standard;

    if (stat(name, &there) != 0)
        return true;
    return S_ISREG(there.st_mode) && !(fstat(STDOUT_FILENO, &standard) == 0 && same_bytes(&there, &standard));
}

/* Opens the file without truncating it and checks it again, because the name may lead elsewhere by now. */
static enum hprof_status open_file(struct output *output, const struct cli_options *options)
{
    enum hprof_status status = HPROF_VALID;
    struct stat stat;

    if (is_replaced(output->name)) {
        if (!part_open(&output->part, output->name))
            return cannot_open(output->name);
        output->fd = output->part.fd;
        return HPROF_VALID;
    }
    do {
        output->fd = open(output->name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    } while (output->fd < 0 && errno == EINTR);
    if (output->fd < 0 || fstat(output->fd, &stat) != 0)
        return cannot_open(output->name);
    const char *input = find_input(&stat, options);
    if (input != NULL)
        status = refuse(input);
    else if (S_ISREG(stat.st_mode) && ftruncate(output->fd, 0) != 0)
        status = cannot_open(output->name);
    return status;
}

enum hprof_status output_open(struct output *output, const struct cli_options *options)
{
    const cookie_io_functions_t functions = {.write = write_all, .close = close_descriptor};
    const char *input = find_overwritten(options);

    output->stream = NULL;
    output->part = (struct part){.fd = -1};
    output->error = 0;
    output->fd = STDOUT_FILENO;
    output->name = options->output != NULL ? options->output : "standard output";
    if (input != NULL)
        return refuse(input);
    output->stream = fopencookie(output, "w", functions);
    if (output->stream == NULL) {
        say_failure(output->name, "out of memory");
        return HPROF_LIMIT;
    }
    if (options->output != NULL) {
        enum hprof_status status = open_file(output, options);
        if (status != HPROF_VALID) {
            fclose(output->stream);
            part_close(&output->part);
            return status;
        }
    }
    setvbuf(output->stream, output->buffer, isatty(output->fd) ? _IOLBF : _IOFBF, sizeof output->buffer);
    return HPROF_VALID;
}

bool output_good(const struct output *output)
{
    return output->error == 0;
}

bool output_close(struct output *output)
{
    fclose(output->stream);
    if (output->error == 0 && !part_name(&output->part))
        output->error = errno;
    part_close(&output->part);
    if (output->error != 0 && output->error != EPIPE)
        say_failure(output->name, strerror(output->error));
    return output->error == 0;
}
