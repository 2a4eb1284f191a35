#include "repair_target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "gzip_writer.h"
#include "messages.h"
#include "numbers.h"

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), length = strlen(end);

    return size > length && strcmp(text + size - length, end) == 0;
}

/* Renaming the copy would replace a device or a pipe of that name. */
static bool is_other_than_file(const char *path)
{
    struct stat there;

    return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

static bool cannot(const struct repair_target *target, int error)
{
    say_failure(target->path, strerror(error));
    return false;
}

bool target_open(struct repair_target *target, const char *path, int from)
{
    *target = (struct repair_target){
        .path = path, .copy = -1, .is_compressed = ends_with(path, ".gz"), .part = {.fd = -1}, .plain = {.fd = -1}};
    if (is_other_than_file(path)) {
        say_failure(path, "not a regular file");
        return false;
    }
    if (!part_open_like(&target->part, path, from) || (target->is_compressed && !part_open_like(&target->plain, path, from)))
        return cannot(target, errno);
    target->copy = target->is_compressed ? target->plain.fd : target->part.fd;
    return true;
}

uint64_t bytes_left_of(int fd)
{
    struct stat input;
    off_t at = lseek(fd, 0, SEEK_CUR);

    return fstat(fd, &input) == 0 && S_ISREG(input.st_mode) && at >= 0 && input.st_size > at ? (uint64_t)(input.st_size - at)
                                                                                             : 0;
}

bool target_has_room(const struct repair_target *target, uint64_t size)
{
    enum { COMPRESSED = 3 }; /* a compressed copy is at most about a third of the plain one, which lies beside it */
    struct statvfs there;
    char needed[NUMBER_SIZE], available[NUMBER_SIZE], sentence[200];

    if (fstatvfs(target->copy, &there) != 0)
        return true;
    uint64_t room = (uint64_t)there.f_bavail * there.f_frsize;
    if (target->is_compressed)
        size += size / COMPRESSED;
    if (size <= room)
        return true;
    snprintf(sentence, sizeof sentence,
             "the copy needs about %s, and the file system has room for %s; --force tries it all the same",
             format_size(needed, size), format_size(available, room));
    say_failure(target->path, sentence);
    return false;
}

bool target_finish(struct repair_target *target, uint64_t bytes)
{
    if (target->is_compressed && !gzip_write(target->copy, bytes, target->part.fd))
        return cannot(target, errno);
    return part_name(&target->part) || cannot(target, errno);
}

static void close_part(struct part *part)
{
    if (part->fd >= 0)
        close(part->fd);
    part_close(part);
}

void target_close(struct repair_target *target)
{
    close_part(&target->part);
    close_part(&target->plain);
}
