/* See parts_named.h. */
#include "parts_named.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool add(struct parts_named *parts, const char *name, size_t length)
{
    if (parts->count == parts->capacity) {
        size_t capacity = 2 * parts->capacity + 8;
        char **names = realloc(parts->names, capacity * sizeof *names);

        if (names == NULL)
            return false;
        parts->names = names;
        parts->capacity = capacity;
    }
    parts->names[parts->count] = strndup(name, length);
    return parts->names[parts->count] != NULL && ++parts->count;
}

/* The number of a part of a file, by their names in a folder; -1 for any other name. */
static long part_number(const char *name, const char *base)
{
    size_t length = strlen(base);
    const char *digits = name + length + 2;

    if (strncmp(name, base, length) != 0 || strncmp(name + length, ".p", 2) != 0 || *digits == '\0' || strlen(digits) > 9 ||
        digits[strspn(digits, "0123456789")] != '\0')
        return -1;
    return strtol(digits, NULL, 10);
}

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t m = strlen(x), n = strlen(y);

    return m != n ? (m > n) - (m < n) : strcmp(x, y); /* they differ in digits only */
}

bool parts_find(struct parts_named *parts, const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash != NULL ? slash + 1 : file;
    char *folder = slash != NULL ? strndup(file, (size_t)(slash + 1 - file)) : strdup("./"), *path;
    DIR *dir = folder != NULL ? opendir(folder) : NULL;
    size_t before = slash != NULL ? (size_t)(slash + 1 - file) : 0;
    bool is_good = folder != NULL;
    const struct dirent *entry;

    while (is_good && dir != NULL && (entry = readdir(dir)) != NULL) {
        size_t size = before + strlen(entry->d_name) + 1;
        struct stat of;

        if (part_number(entry->d_name, base) < 0)
            continue;
        path = malloc(size);
        is_good = path != NULL;
        if (!is_good)
            break;
        memcpy(path, file, before);
        memcpy(path + before, entry->d_name, size - before);
        if (stat(path, &of) == 0 && S_ISREG(of.st_mode))
            is_good = add(parts, path, size - 1);
        free(path);
    }
    if (dir != NULL)
        closedir(dir);
    free(folder);
    if (parts->count > 1)
        qsort(parts->names, parts->count, sizeof *parts->names, by_number);
    return is_good;
}

bool parts_split(struct parts_named *parts, const char *list)
{
    for (;;) {
        size_t length = strcspn(list, ",");

        if (length > 0 && !add(parts, list, length))
            return false;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

const char *parts_open(struct parts_named *parts)
{
    struct stat of;

    parts->fds = malloc((parts->count + 1) * sizeof *parts->fds);
    if (parts->fds == NULL) {
        errno = ENOMEM;
        return "parts";
    }
    for (size_t i = 0; i < parts->count; i++)
        parts->fds[i] = -1;
    for (size_t i = 0; i < parts->count; i++) {
        parts->fds[i] = open(parts->names[i], O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (parts->fds[i] < 0)
            return parts->names[i];
        if (fstat(parts->fds[i], &of) != 0 || !S_ISREG(of.st_mode)) {
            errno = S_ISDIR(of.st_mode) ? EISDIR : ESPIPE;
            return parts->names[i];
        }
    }
    return NULL;
}

void parts_close(struct parts_named *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->fds != NULL && parts->fds[i] >= 0)
            close(parts->fds[i]);
        free(parts->names[i]);
    }
    free(parts->names);
    free(parts->fds);
}
