/* main() of a fuzz target that has no fuzzing engine: runs each file named on the command line, or below a folder named
 * there, through the target once. */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static unsigned long replayed;

static int replay(const char *path, const struct stat *status, int type)
{
    if (type != FTW_F || !S_ISREG(status->st_mode))
        return 0;
    size_t size = (size_t)status->st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    if (!bytes || !file || fread(bytes, 1, size, file) != size) {
        perror(path);
        return 1;
    }
    fclose(file);
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    replayed++;
    return 0;
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++)
        if (ftw(paths[i], replay, 16)) {
            fprintf(stderr, "%s: cannot be replayed\n", paths[i]);
            return 1;
        }
    fprintf(stderr, "%lu inputs\n", replayed);
    return 0;
}
