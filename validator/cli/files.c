#define _DEFAULT_SOURCE /* fts */
#include "files.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool add(struct files *files, size_t *room, const char *name)
{
    if ((size_t)files->count == *room) {
        size_t more = *room * 2 + 16;
        char **names = realloc(files->names, more * sizeof *names);

        if (names == NULL)
            return false;
        files->names = names;
        *room = more;
    }
    files->names[files->count] = strdup(name);
    if (files->names[files->count] == NULL)
        return false;
    files->count++;
    return true;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool walk(struct files *files, size_t *room, char *directory)
{
    char *roots[] = {directory, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    bool good = tree != NULL;

    for (FTSENT *entry; good && (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_info == FTS_F && (ends_in(entry->fts_name, ".hprof") || ends_in(entry->fts_name, ".hprof.gz")))
            good = add(files, room, entry->fts_path);
        else if (entry->fts_info == FTS_DNR) /* reported like a file that cannot be read */
            good = add(files, room, entry->fts_path);
    }
    if (tree != NULL)
        fts_close(tree);
    return good;
}

static bool is_directory(const char *name)
{
    struct stat status;

    return strcmp(name, "-") != 0 && stat(name, &status) == 0 && S_ISDIR(status.st_mode);
}

bool files_expand(struct files *files, char **names, int count)
{
    size_t room = 0;

    *files = (struct files){.names = NULL};
    for (int i = 0; i < count; i++) {
        int before = files->count;

        if (!is_directory(names[i])) {
            if (!add(files, &room, names[i]))
                return false;
            continue;
        }
        if (!walk(files, &room, names[i]))
            return false;
        files->has_directory |= files->count > before;
        if (files->count == before && !add(files, &room, names[i]))
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
