/* See part_files.h. */
#include "part_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct one_part_file {
    struct bytes_file file;
    struct one_part_file *next;
    char path[]; /* of the file */
};

void part_files_init(struct part_files *files, const char *path, int like, bool held)
{
    *files = (struct part_files){.path = path, .like = like, .held = held};
    files->last = &files->first;
}

struct bytes *part_files_open(void *context, unsigned number)
{
    enum { SUFFIX_MOST = 16 };
    struct part_files *files = context;
    size_t size = strlen(files->path) + SUFFIX_MOST;
    struct one_part_file *f = calloc(1, sizeof *f + size);
    bool opened;

    if (!f) {
        files->no_memory = true;
        return NULL;
    }
    snprintf(f->path, size, "%s.p%u", files->path, number - 1);
    *files->last = f;
    files->last = &f->next;
    opened = bytes_file_open_like(&f->file, f->path, files->like);
    f->file.held = files->held;
    return opened ? &f->file.bytes : NULL;
}

const struct bytes_file *part_files_failed(const struct part_files *files)
{
    for (const struct one_part_file *f = files->first; f; f = f->next)
        if (f->file.error)
            return &f->file;
    return NULL;
}

bool part_files_name(struct part_files *files)
{
    for (struct one_part_file *f = files->first; f; f = f->next)
        if (!bytes_file_name(&f->file))
            return false;
    return true;
}

void part_files_close(struct part_files *files)
{
    for (struct one_part_file *next, *f = files->first; f; f = next) {
        next = f->next;
        bytes_file_close(&f->file);
        free(f);
    }
}
