#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "parts_beside.h"

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool add(struct files *files, size_t *capacity, const char *name)
{
    if ((size_t)files->count == *capacity) {
        size_t more = *capacity * 2 + 16;
        char **names = realloc(files->names, more * sizeof *names);

        if (names == NULL)
            return false;
        files->names = names;
        *capacity = more;
    }
    files->names[files->count] = strdup(name);
    if (files->names[files->count] == NULL)
        return false;
    files->count++;
    return true;
}

static int is_shown(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool walk(struct files *files, size_t *capacity, const char *directory);

static bool is_named_hprof(const char *name)
{
    return ends_in(name, ".hprof") || ends_in(name, ".hprof.gz");
}

/* Or of a part whose dump is not beside it: else the report of the dump names the part. */
static bool is_name_of_dump(char *path)
{
    size_t stem = part_stem(path);
    char dot = path[stem];
    struct stat status;
    bool is_part;

    if (stem == 0)
        return is_named_hprof(path);
    path[stem] = '\0';
    is_part = is_named_hprof(path) && stat(path, &status) != 0;
    path[stem] = dot;
    return is_part;
}

/* Adds an entry of a directory, unless it is a link: links may form cycles. */
static bool take(struct files *files, size_t *capacity, const char *directory, const char *name)
{
    size_t length = strlen(directory), size = length + strlen(name) + 2;
    char *path = malloc(size);
    struct stat status;
    bool good = path != NULL;

    if (good)
        snprintf(path, size, "%s%s%s", directory, length > 0 && directory[length - 1] == '/' ? "" : "/", name);
    if (good && lstat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            good = walk(files, capacity, path);
        else if (S_ISREG(status.st_mode) && is_name_of_dump(path))
            good = add(files, capacity, path);
    }
    free(path);
    return good;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool walk(struct files *files, size_t *capacity, const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_shown, by_bytes);
    bool good = true;

    if (count < 0) /* reported like a file that cannot be read */
        return errno != ENOMEM && add(files, capacity, directory);
    for (int i = 0; i < count; i++) {
        good = good && take(files, capacity, directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return good;
}

static bool is_directory(const char *name)
{
    struct stat status;

    return strcmp(name, "-") != 0 && stat(name, &status) == 0 && S_ISDIR(status.st_mode);
}

bool files_expand(struct files *files, char **names, int count)
{
    size_t capacity = 0;

    *files = (struct files){.names = NULL};
    for (int i = 0; i < count; i++) {
        int before = files->count;

        if (!is_directory(names[i])) {
            if (!add(files, &capacity, names[i]))
                return false;
            continue;
        }
        if (!walk(files, &capacity, names[i]))
            return false;
        files->has_directory |= files->count > before;
        if (files->count == before && !add(files, &capacity, names[i]))
            return false;
    }
    return true;
}

void files_clear(struct files *files)
{
    for (int i = 0; i < files->count; i++)
        free(files->names[i]);
    free(files->names);
}
