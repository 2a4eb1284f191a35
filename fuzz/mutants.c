/* A driver without a fuzzing engine: gives a target mutants of the files that it is given, the same ones each time.
 *
 *   fuzz_TARGET-mutants COUNT FILE...
 *
 * COUNT mutants in all. Half of them are of one file after the other, changed one to three times; for the other half the folders of
 * the files take turns, so that each rule, which has a folder of its own, has its share, and each mutant is changed once.
 * Dumps of some megabytes are changed by damage.c instead (fuzz_TARGET-large). HPROF_MUTANTS replaces COUNT, and
 * HPROF_MUTANTS_FROM is the seed of the first (0). A mutant on which the target aborts or crashes is left in the file `mutant`. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutator.h"
#include "target.h"

#ifndef HPROF_LARGEST
#define HPROF_LARGEST (1 << 16)
#endif
enum { LARGEST = HPROF_LARGEST, CHANGES = 3, SLOWEST = LARGEST > 1 << 16 ? 250 : 25 /* seconds, as in campaign */ };

static struct file {
    uint8_t *bytes;
    size_t size;
} * files;
static size_t file_count;

/* The files of a folder follow each other. */
static struct folder {
    const char *path;
    size_t path_size, first, count;
} * folders;
static size_t folder_count;

static void put_into_folder(const char *name)
{
    const char *slash = strrchr(name, '/');
    size_t size = slash ? (size_t)(slash - name) : 0;
    struct folder *last = folder_count ? &folders[folder_count - 1] : NULL;

    if (!last || last->path_size != size || memcmp(last->path, name, size) != 0) {
        last = &folders[folder_count++];
        *last = (struct folder){name, size, file_count, 0};
    }
    last->count++;
}

static void read_file(const char *name)
{
    static uint8_t bytes[LARGEST];
    FILE *stream = fopen(name, "rb");
    struct file file = {0};

    if (!stream) {
        perror(name);
        exit(2);
    }
    file.size = fread(bytes, 1, sizeof bytes, stream);
    /* Large files make slow mutants. */
    if (file.size > 2 && file.size < sizeof bytes) {
        file.bytes = malloc(file.size + 1);
        if (!file.bytes)
            exit(2);
        memcpy(file.bytes, bytes, file.size);
        put_into_folder(name);
        files[file_count++] = file;
    }
    fclose(stream);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static const uint8_t *from;
static size_t size;
static uint64_t seed;

/* Writes "seed N, in the file mutant". */
static void print_seed(void)
{
    static const char before[] = "seed ", after[] = ", in the file mutant\n";
    char digits[20];
    size_t at = sizeof digits;
    uint64_t left = seed;

    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (write(STDERR_FILENO, before, sizeof before - 1) < 0 || write(STDERR_FILENO, digits + at, sizeof digits - at) < 0 ||
        write(STDERR_FILENO, after, sizeof after - 1) < 0)
        return;
}

/* Calls only async-signal-safe functions: the heap may be corrupt, and the stack full. */
static void leave_mutant(int number)
{
    int fd = open("mutant", O_WRONLY | O_CREAT | O_TRUNC, 0666);

    print_seed();
    for (ssize_t done = 0, n = 1; fd >= 0 && n > 0 && (size_t)done < size; done += n)
        n = write(fd, from + done, size - (size_t)done);
    signal(number, SIG_DFL);
    raise(number);
}

/* The handlers of a sanitizer stay. */
static void leave_mutant_on(int number)
{
    static uint8_t stack[64 << 10];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction old, leave = {.sa_handler = leave_mutant, .sa_flags = SA_ONSTACK};

    if (sigaltstack(&other, NULL) == 0 && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, &leave, NULL);
}

static const struct file *choose_file(uint64_t turn, bool by_folder)
{
    const struct folder *folder = &folders[turn % folder_count];

    return by_folder ? &files[folder->first + turn / folder_count % folder->count] : &files[turn % file_count];
}

static void try_mutant(void)
{
    static uint8_t room[2][LARGEST];
    uint64_t turn = seed / 2;
    bool by_folder = seed % 2;
    const struct file *file = choose_file(turn, by_folder), *other = &files[turn * 7 % file_count];
    uint64_t changes = by_folder ? 1 : 1 + turn / file_count % CHANGES;

    from = file->bytes;
    size = file->size;
    for (uint64_t i = 0; i < changes; i++) {
        size = mutate_dump(from, size, other->bytes, other->size, room[i % 2], LARGEST, seed * CHANGES + i);
        from = room[i % 2];
    }
    alarm(SLOWEST);
    LLVMFuzzerTestOneInput(from, size);
    alarm(0);
}

int main(int argc, char **argv)
{
    static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    uint64_t first = number_from("HPROF_MUTANTS_FROM", 0), count;

    if (argc < 3) {
        fprintf(stderr, "usage: %s COUNT FILE...\n", argv[0]);
        return 2;
    }
    files = calloc((size_t)argc, sizeof *files);
    folders = calloc((size_t)argc, sizeof *folders);
    if (!files || !folders)
        return 2;
    for (int i = 2; i < argc; i++)
        read_file(argv[i]);
    count = number_from("HPROF_MUTANTS", strtoull(argv[1], NULL, 10));
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        leave_mutant_on(fatal[i]);
    for (seed = first; file_count && seed < first + count; seed++)
        try_mutant();
    printf("%llu mutants of %zu files\n", (unsigned long long)count, file_count);
    return file_count == 0;
}
