/* A driver without a fuzzing engine: gives each named file, and each file in each named folder, to the target.
 *
 *   fuzz_TARGET [--times N] [--] FILE|FOLDER...
 *
 * Each file is a test, reported by its name in the Test Anything Protocol: "ok 2 - NAME" or "not ok 2 - NAME". The other files are
 * run even if one fails. A single file is run in this process, for debuggers, and a crash is all that is seen of it. With --times
 * all files are run N times, and the rate is printed, with the file whose quickest run took longest. */
#define _DEFAULT_SOURCE   /* MAP_ANONYMOUS */
#define _XOPEN_SOURCE 700 /* nftw */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static struct file {
    char *name;
    uint8_t *bytes;
    size_t size;
    double quickest; /* seconds */
} * files;
static size_t file_count, file_capacity;

static void read_file(const char *name)
{
    struct file file = {.name = strdup(name)};
    FILE *stream = fopen(name, "rb");
    size_t capacity = 0, got;

    if (!stream || !file.name) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        exit(2);
    }
    do {
        if (capacity - file.size < 4096) {
            capacity = 2 * capacity + 8192;
            file.bytes = realloc(file.bytes, capacity);
            if (!file.bytes)
                exit(2);
        }
        got = fread(file.bytes + file.size, 1, capacity - file.size, stream);
        file.size += got;
    } while (got);
    if (ferror(stream)) {
        fprintf(stderr, "%s: cannot be read\n", name);
        exit(2);
    }
    fclose(stream);
    if (file_count == file_capacity) {
        file_capacity = 2 * file_capacity + 64;
        files = realloc(files, file_capacity * sizeof *files);
        if (!files)
            exit(2);
    }
    files[file_count++] = file;
}

static int visit(const char *name, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)place;
    if (kind == FTW_F)
        read_file(name);
    return 0;
}

/* A file is not left to nftw(), whose name for it MemorySanitizer takes for uninitialised. */
static void read_files(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        read_file(path);
    } else if (nftw(path, visit, 16, FTW_PHYS) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
}

/* Runs files until one crashes; *at is the one that is run. */
static void run_until_crash(size_t *at)
{
    for (; *at < file_count; ++*at) {
        LLVMFuzzerTestOneInput(files[*at].bytes, files[*at].size);
        printf("ok %zu - %s\n", *at + 1, files[*at].name);
    }
}

/* Runs all files in other processes: where one crashes, the next goes on with the file that follows. True if none failed. */
static bool run_all(void)
{
    size_t *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = true;

    if (at == MAP_FAILED) {
        perror("mmap");
        return false;
    }
    do {
        int status = 0;
        pid_t worker = fork();

        if (worker == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a worker that hangs ends with this program */
            run_until_crash(at);
            exit(0); /* here the sanitizers look for leaks */
        }
        if (worker < 0 || waitpid(worker, &status, 0) < 0) {
            perror("a process for the files");
            return false;
        }
        if (status == 0 && *at == file_count)
            break;
        good = false;
        if (*at < file_count)
            printf("not ok %zu - %s\n", *at + 1, files[*at].name);
        else
            puts("Bail out! All files are ok, but the process ended with an error: see standard error");
    } while (++*at < file_count);
    return good;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run_for_rate(unsigned long times)
{
    const struct file *slowest = files;
    double start = now(), before = start;

    for (unsigned long n = 0; n < times; n++)
        for (struct file *f = files; f < files + file_count; f++) {
            LLVMFuzzerTestOneInput(f->bytes, f->size);

            double after = now();

            if (n == 0 || after - before < f->quickest)
                f->quickest = after - before;
            before = after;
        }
    for (struct file *f = files; f < files + file_count; f++)
        if (f->quickest > slowest->quickest)
            slowest = f;
    printf("%zu files, %lu times: %.0f executions a second\n", file_count, times,
           (double)(file_count * times) / (before - start));
    printf("the slowest file takes %.2f ms: %s\n", slowest->quickest * 1e3, slowest->name);
}

int main(int argc, char **argv)
{
    unsigned long times = 0;
    size_t first = 0;
    bool good = true;
    int i = 1;

    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    if (i + 1 < argc && strcmp(argv[i], "--times") == 0) {
        times = strtoul(argv[i + 1], NULL, 10);
        i += 2;
    }
    if (i < argc && strcmp(argv[i], "--") == 0)
        i++;
    for (; i < argc; i++)
        read_files(argv[i]);
    if (!file_count) {
        fprintf(stderr, "usage: %s [--times N] FILE|FOLDER...\n", argv[0]);
        return 2;
    }
    if (times) {
        run_for_rate(times);
    } else {
        setvbuf(stdout, NULL, _IOLBF, 0); /* what was printed before a crash is not lost */
        printf("1..%zu\n", file_count);
        if (file_count == 1)
            run_until_crash(&first);
        else
            good = run_all();
    }
    for (size_t f = 0; f < file_count; f++) {
        free(files[f].name);
        free(files[f].bytes);
    }
    free(files);
    return good ? 0 : 1;
}
