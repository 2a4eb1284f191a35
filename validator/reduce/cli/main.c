#define _XOPEN_SOURCE 700 /* realpath */
/* hprof-reduce: makes the smallest dump for which a command ends as it does for a given one. src/ does the work. This file has the
 * order of steps, the files and the exit status: 0 nothing can be taken away any more, 1 stopped before that by --runs, 2 wrong
 * usage, or the command or the dump is refused, 3 something cannot be read or written, 4 out of memory. */
#include <errno.h>
#include <fcntl.h>
#include <hprof/hprof.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "inflate.h"
#include "messages.h"
#include "numbers.h"
#include "option_table.h"
#include "options.h"
#include "printable.h"
#include "reduction.h"
#include "store.h"
#include "streams.h"
#include "terminal.h"
#include "write_all.h"

enum { STATUS_DONE = 0, STATUS_STOPPED = 1, STATUS_USAGE = 2, STATUS_IO = 3, HELP_WIDTH = 80 };

const char program_name[] = "hprof-reduce";

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    interrupted = number;
}

static void watch_signals(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal}, old;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int refuse(const char *subject, const char *why)
{
    say_failure(subject, why);
    return STATUS_USAGE;
}

static int fail(const char *subject, const char *why)
{
    say_failure(subject, why);
    return STATUS_IO;
}

/* ---- What is reduced ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    return hash;
}

/* Of all that decides what comes out. */
static uint64_t fingerprint(const struct options *o, const struct stat *about)
{
    char numbers[96];
    uint64_t hash = hash_text(0xcbf29ce484222325u, o->in);

    snprintf(numbers, sizeof numbers, "%lld %lld.%09ld %d %.3f", (long long)about->st_size, (long long)about->st_mtim.tv_sec,
             about->st_mtim.tv_nsec, (int)o->keep_valid, o->timeout);
    hash = hash_text(hash_text(hash, numbers), o->match != NULL ? o->match : "");
    for (size_t i = 0; o->command[i] != NULL; i++)
        hash = hash_text(hash, o->command[i]);
    return hash;
}

/* The command must end alike each time, or nothing that is tried means anything. */
static int learn(struct reduction *r, const struct options *o)
{
    struct outcome again;
    char first_text[96], again_text[96], sentence[256];

    if (!reduction_try(r, o->in, &r->wanted) || (!interrupted && !reduction_try(r, o->in, &again)))
        return refuse("the command", r->failure);
    if (interrupted)
        return STATUS_DONE;
    if (!same_outcome(&r->wanted, &again)) {
        snprintf(sentence, sizeof sentence, "COMMAND changes its mind: %s%s, then %s%s", outcome_text(&r->wanted, first_text),
                 o->match == NULL    ? ""
                 : r->wanted.matched ? " with the text"
                                     : " without the text",
                 outcome_text(&again, again_text),
                 o->match == NULL ? ""
                 : again.matched  ? " with the text"
                                  : " without the text");
        return refuse(o->in, sentence);
    }
    if (o->match != NULL && !r->wanted.matched)
        return refuse(o->in, "the text of --match is not in what COMMAND prints");
    return STATUS_DONE;
}

/* The command has to end in the same way on the dump without compression, which is what is reduced. */
static int unpack(struct reduction *r, const struct options *o, int in)
{
    char *path = reduction_candidate(r, 0);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status = STATUS_DONE;
    struct outcome outcome;

    if (fd < 0 || !inflate_file(in, fd, &r->size))
        status = fail(path, strerror(errno));
    else if (!reduction_try(r, path, &outcome))
        status = refuse("the command", r->failure);
    else if (!same_outcome(&outcome, &r->wanted))
        status = refuse(o->in, "COMMAND ends in another way on the dump without compression, which is what can be reduced");
    else if (rename(path, o->out) != 0)
        status = fail(o->out, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (status != STATUS_DONE)
        unlink(path);
    free(path);
    return status;
}

/* An earlier run has left the smallest dump so far, if it found any; and candidates, if it was killed. */
static int resume(struct reduction *r, const struct options *o, bool *has_out)
{
    struct stat about;
    struct outcome outcome;

    for (unsigned job = 0; job < MOST_JOBS; job++) {
        char *path = reduction_candidate(r, job);

        unlink(path);
        free(path);
    }
    *has_out = stat(o->out, &about) == 0;
    if (!*has_out)
        return STATUS_DONE;
    r->size = (uint64_t)about.st_size;
    if (!reduction_try(r, o->out, &outcome))
        return refuse("the command", r->failure);
    if (!interrupted && !same_outcome(&outcome, &r->wanted))
        return refuse(o->out,
                      "COMMAND ends in another way on what an earlier run has left here; remove it and its .reduce file");
    return STATUS_DONE;
}

/* If nothing could be taken away, the smallest dump is the input. */
static int copy_input(struct reduction *r, const struct options *o, int in)
{
    char *path = reduction_candidate(r, 0), buffer[1 << 16];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status = STATUS_DONE;
    ssize_t n = 0;

    for (off_t at = 0; fd >= 0 && (n = pread(in, buffer, sizeof buffer, at)) > 0; at += n)
        if (!write_all(fd, buffer, (size_t)n)) {
            n = -1;
            break;
        }
    if (fd < 0 || n < 0 || rename(path, o->out) != 0) {
        status = fail(o->out, strerror(errno));
        unlink(path);
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return status;
}

/* ---- What is printed ---- */

static void print_stage(void *context, const char *stage, uint64_t from, uint64_t to, uint64_t runs)
{
    const struct options *o = context;
    char before[NUMBER_SIZE], after[NUMBER_SIZE];

    if (!o->quiet)
        fprintf(stderr, "%-20s %8llu run%s  %s -> %s bytes\n", stage, (unsigned long long)runs, plural(runs),
                format_exact(before, from), format_exact(after, to));
}

static void print_wanted(const struct reduction *r, const struct options *o)
{
    char text[96];

    if (o->quiet)
        return;
    print_safely(stderr, o->in);
    fprintf(stderr, ": COMMAND ends with %s%s\n", outcome_text(&r->wanted, text),
            o->match != NULL ? " and prints the text" : "");
}

static void print_end(const struct reduction *r, const struct options *o, uint64_t from, double began, bool is_minimal)
{
    char before[NUMBER_SIZE], after[NUMBER_SIZE], time[NUMBER_SIZE], written[NUMBER_SIZE];

    if (o->quiet)
        return;
    print_safely(stderr, o->out);
    fprintf(stderr, ": %s of %s bytes; %llu run%s of the command, %s written, %s\n", format_exact(after, r->size),
            format_exact(before, from), (unsigned long long)r->runs, plural(r->runs), format_size(written, r->written),
            format_seconds(time, seconds() - began));
    if (is_minimal && r->size == 0)
        fprintf(stderr, "COMMAND ends in the same way for an empty file: is {} where it reads the dump?\n");
    if (!is_minimal)
        fprintf(stderr, "stopped; the same command line goes on from here\n");
}

/* ---- The steps ---- */

static int prepare(struct reduction *r, const struct options *o, int in, bool *has_out)
{
    int status;

    if (!journal_read(&r->journal, &r->failed))
        return refuse(r->journal.path, "this belongs to another reduction; remove it, or choose another -o OUT");
    if (r->journal.is_found) {
        r->wanted = r->journal.wanted;
        r->runs = r->journal.runs;
        r->written = r->journal.written;
        status = resume(r, o, has_out);
    } else {
        if (o->keep_valid && !is_valid_dump(o->in))
            return refuse(o->in, "it is not valid, so --keep-valid has nothing to begin with");
        status = learn(r, o);
    }
    if (status == STATUS_DONE && !interrupted)
        print_wanted(r, o);
    if (status == STATUS_DONE && !interrupted && !*has_out && is_gzip(in)) {
        status = unpack(r, o, in);
        *has_out = true;
    }
    if (status == STATUS_DONE && !interrupted && !journal_open(&r->journal, &r->wanted))
        status = fail(r->journal.path, strerror(errno));
    return status;
}

static int finish(struct reduction *r, const struct options *o, int in, uint64_t from, double began)
{
    enum reduction_end end = REDUCTION_INTERRUPTED;
    struct stat about;
    bool has_out = false;
    int status = prepare(r, o, in, &has_out);

    if (status != STATUS_DONE)
        return status;
    if (!interrupted)
        end = reduction_run(r, has_out ? o->out : o->in);
    if (end == REDUCTION_FAILED)
        return fail(o->in, r->failure);
    if (end == REDUCTION_MINIMAL && stat(o->out, &about) != 0)
        status = copy_input(r, o, in);
    if (r->journal.file != NULL)
        print_end(r, o, from, began, end == REDUCTION_MINIMAL);
    journal_close(&r->journal, end == REDUCTION_MINIMAL && status == STATUS_DONE);
    return end == REDUCTION_MINIMAL ? status : STATUS_STOPPED;
}

static bool is_file(const char *path, const struct stat *file)
{
    struct stat about;

    return stat(path, &about) == 0 && about.st_dev == file->st_dev && about.st_ino == file->st_ino;
}

/* What is written must not be what is read. OUT gets its name by rename(), which would replace a device. */
static int check_names(const struct reduction *r, const struct options *o, const struct stat *in)
{
    int status = STATUS_DONE, probe;
    struct stat out;
    char *path;

    if (is_file(o->out, in))
        return refuse(o->out, "it is the dump that is reduced");
    if (stat(o->out, &out) == 0 && !S_ISREG(out.st_mode))
        return refuse(o->out, "it is not a regular file");
    if (is_file(r->journal.path, in))
        return refuse(o->in, "hprof-reduce keeps notes under this name; choose another -o OUT");
    for (unsigned job = 0; job < MOST_JOBS && status == STATUS_DONE; job++) {
        path = reduction_candidate(r, job);
        if (is_file(path, in))
            status = refuse(o->in, "dumps to try have this name; choose another -o OUT");
        free(path);
    }
    if (status != STATUS_DONE)
        return status;
    path = reduction_candidate(r, 0);
    probe = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (probe < 0)
        status = fail(path, strerror(errno));
    else if (close(probe) == 0)
        unlink(path);
    free(path);
    return status;
}

static int reduce(const struct options *o)
{
    struct reduction r = {.command = {o->command, o->match, o->timeout},
                          .out = o->out,
                          .jobs = o->jobs,
                          .most_runs = o->runs,
                          .keep_valid = o->keep_valid,
                          .on_stage = print_stage,
                          .context = (void *)(uintptr_t)o,
                          .interrupted = &interrupted};
    struct stat about;
    double began = seconds();
    int in = open(o->in, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status; /* a pipe is refused, not waited for */
    size_t path_size = strlen(o->out) + sizeof ".reduce";

    if (in < 0 || fstat(in, &about) != 0)
        return fail(o->in, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return refuse(o->in, "it is not a regular file: COMMAND must be able to read it more than once");
    r.size = (uint64_t)about.st_size;
    r.journal.fingerprint = fingerprint(o, &about);
    r.journal.path = store_zeroed(path_size, 1);
    snprintf(r.journal.path, path_size, "%s.reduce", o->out);
    status = check_names(&r, o, &about);
    if (status == STATUS_DONE)
        status = finish(&r, o, in, (uint64_t)about.st_size, began);
    journal_close(&r.journal, false);
    failed_free(&r.failed);
    close(in);
    return status;
}

/* OUT may be a link to a file, which is replaced: rename() would replace the link. */
static int reduce_to(struct options *o)
{
    struct stat out;
    char *real = NULL;
    int status;

    if (lstat(o->out, &out) == 0 && S_ISLNK(out.st_mode)) {
        if (stat(o->out, &out) != 0)
            return fail(o->out, strerror(errno));
        real = S_ISREG(out.st_mode) ? realpath(o->out, NULL) : NULL;
        if (S_ISREG(out.st_mode) && !real)
            return fail(o->out, strerror(errno));
        o->out = real ? real : o->out; /* what is no file is refused */
    }
    status = reduce(o);
    free(real);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    int status;

    fill_standard_descriptors();
    signal(SIGCHLD, SIG_DFL); /* or no child could be waited for */
    if (!options_parse(&options, argc, argv))
        return STATUS_USAGE;
    if (options.action == ACTION_HELP) {
        puts("Usage: hprof-reduce [OPTION...] IN -o OUT -- COMMAND [ARGUMENT...]\n"
             "Makes the smallest dump for which COMMAND ends as it does for IN. {} in COMMAND is the name of a\n"
             "dump to try; without {} the name is the last argument.");
        command_line_help(stdout, option_rows, option_row_count, terminal_width(STDOUT_FILENO, HELP_WIDTH));
    } else if (options.action == ACTION_VERSION) {
        printf("%s %s\n", program_name, hprof_version());
    } else {
        watch_signals();
        status = reduce_to(&options);
        if (interrupted) {
            signal(interrupted, SIG_DFL);
            raise(interrupted);
        }
        return status;
    }
    return flush_standard_output() ? STATUS_DONE : STATUS_IO;
}
