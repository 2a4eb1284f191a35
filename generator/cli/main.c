/* hprof-gen: writes heap dumps, valid or faulty, and manifests. The layers of src/ do the work. This file has the order of
 * steps, the files, and the exit status: 0 done (or the reader of a pipe has gone), 2 wrong usage, 3 something cannot be read
 * or written, 4 out of memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes_file.h"
#include "manifest.h"
#include "messages.h"
#include "numbers.h"
#include "options.h"
#include "part_files.h"
#include "printable.h"
#include "progress.h"
#include "readable.h"
#include "serve.h"
#include "wrap.h"

const char program_name[] = "hprof-gen";

enum { HELP_WIDTH = 80 };

enum {
    STATUS_DONE = GENERATED,
    STATUS_USAGE = GENERATE_REFUSED,
    STATUS_IO = GENERATE_FAILED,
    STATUS_MEMORY = GENERATE_NO_MEMORY
};

/* ---- What is known ---- */

static int finish_listing(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STATUS_DONE;
    if (errno == EPIPE)
        return STATUS_DONE;
    say_failure("standard output", strerror(errno));
    return STATUS_IO;
}

/* Help that nobody requested must not go to standard output, which may lead to a reader of dumps. */
static int show_usage(void)
{
    options_help(stderr, terminal_width(STDERR_FILENO, HELP_WIDTH));
    return STATUS_USAGE;
}

static int show_help(void)
{
    options_help(stdout, terminal_width(STDOUT_FILENO, HELP_WIDTH));
    return finish_listing();
}

/* A line for each fault, because scripts read the list; on a terminal, a table that fits it. */
static int list_faults(void)
{
    enum { ABOUT_COLUMN = 39, TABLE_WIDTH = 70 };
    size_t width = terminal_width(STDOUT_FILENO, WRAP_NEVER);
    const struct fault *row;

    for (size_t i = 0; (row = fault_at(i)); i++) {
        char line[512];
        int used =
            snprintf(line, sizeof line, width < TABLE_WIDTH ? "%s %s" : "%-9s %-28s ", fault_rule(row), fault_variant(row));
        const char *note = fault_is_alone(row) ? " [alone]" : fault_is_once(row) ? " [once]" : "";

        fputs(line, stdout);
        snprintf(line, sizeof line, "%s%s", fault_about(row), note);
        if (width < TABLE_WIDTH)
            wrap_hanging(stdout, line, 4, (size_t)used, width);
        else
            wrap(stdout, line, ABOUT_COLUMN, ABOUT_COLUMN, width);
    }
    return finish_listing();
}

static int list_damage(void)
{
    enum { ABOUT_COLUMN = 17 };
    size_t width = terminal_width(STDOUT_FILENO, WRAP_NEVER);

    for (size_t i = 0; damage_name(i); i++) {
        char line[512];

        printf("%-16s ", damage_name(i));
        if (damage_number(i))
            snprintf(line, sizeof line, "%s (N: %s)", damage_about(i), damage_number(i));
        else
            snprintf(line, sizeof line, "%s", damage_about(i));
        wrap(stdout, line, ABOUT_COLUMN, ABOUT_COLUMN, width);
    }
    return finish_listing();
}

/* ---- Generating ---- */

/* A consumer of bytes, before the file, that shows the progress. */
struct watch {
    struct bytes bytes;
    struct progress *progress;
    uint64_t so_far, total;
};

static bool watch_put(struct bytes *bytes, const void *data, size_t size)
{
    struct watch *w = (struct watch *)bytes;

    w->so_far += size;
    progress_update(w->progress, w->so_far, w->total);
    return bytes_put(bytes->next, data, size);
}

static bool watch_finish(struct bytes *bytes)
{
    return bytes_finish(bytes->next);
}

/* Whether two names are one file, so that one output would overwrite the other. NULL is standard output. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat there, here;

    return (a ? stat(a, &there) : fstat(STDOUT_FILENO, &there)) == 0 && stat(b, &here) == 0 && there.st_dev == here.st_dev &&
           there.st_ino == here.st_ino && (S_ISREG(there.st_mode) || S_ISFIFO(there.st_mode));
}

static bool refuse_same_file(const struct cli_options *o)
{
    say_usage("the dump and its manifest cannot both be '", o->output ? o->output : o->manifest, "'");
    return false;
}

static bool check_files(const struct cli_options *o)
{
    if (o->manifest && is_same_file(o->output, o->manifest))
        return refuse_same_file(o);
    if (o->from && (is_same_file(o->output, o->from) || (o->manifest && is_same_file(o->manifest, o->from)))) {
        say_usage("the dump that is read would be overwritten: '", o->from, "'");
        return false;
    }
    if (o->manifest && strcmp(o->manifest, "-") == 0) {
        say_usage("--manifest takes the name of a file: standard output is for the dump", "", "");
        return false;
    }
    if (!o->output && isatty(STDOUT_FILENO)) {
        say_usage("a dump is nothing for a terminal: give -o FILE, or send standard output elsewhere", "", "");
        return false;
    }
    return true;
}

static int say_file_failure(const struct bytes_file *file)
{
    char failure[160], size[NUMBER_SIZE];

    if (file->error == EPIPE)
        return STATUS_DONE;
    if (file->error == ENOMEM) {
        say_failure(file->path ? file->path : "standard output", "out of memory");
        return STATUS_MEMORY;
    }
    if (file->written)
        snprintf(failure, sizeof failure, "%s, after %s%s", strerror(file->error), format_size(size, file->written),
                 file->part.path ? ", which are taken away again" : "");
    else
        snprintf(failure, sizeof failure, "%s", strerror(file->error));
    say_failure(file->path ? file->path : "standard output", failure);
    return STATUS_IO;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

static ssize_t put_text(void *cookie, const char *text, size_t size)
{
    struct bytes_file *file = cookie;

    return bytes_put(&file->bytes, text, size) ? (ssize_t)size : 0;
}

static int write_manifest(struct bytes_file *file, const struct cli_options *o, const struct generate_request *request,
                          const struct generated *g)
{
    struct manifest_option options[GIVEN_MOST];
    FILE *out = fopencookie(file, "w", (cookie_io_functions_t){.write = put_text});
    bool written;

    for (size_t i = 0; i < o->given_count; i++)
        options[i] = (struct manifest_option){o->given[i].option, o->given[i].value};
    if (!out) {
        say_failure(o->manifest, "out of memory");
        return STATUS_MEMORY;
    }
    manifest_write(out, base_name(o->output), request->made.model.seed, request, g, options, o->given_count);
    written = !ferror(out);
    written &= fclose(out) == 0;
    return written && bytes_finish(&file->bytes) ? STATUS_DONE : say_file_failure(file);
}

/* The files of the dump get their names when its manifest is complete, too: they never come from two runs. */
static int name_all(struct bytes_file *file, struct part_files *parts, struct bytes_file *manifest)
{
    if (!bytes_file_name(file))
        return say_file_failure(file);
    if (!part_files_name(parts))
        return say_file_failure(part_files_failed(parts));
    return bytes_file_name(manifest) ? STATUS_DONE : say_file_failure(manifest);
}

static void show_summary(const struct cli_options *o, const struct generated *g, uint64_t bytes, double seconds)
{
    char size[NUMBER_SIZE], rate[NUMBER_SIZE], took[NUMBER_SIZE], count[NUMBER_SIZE];

    if (o->quiet || !isatty(STDERR_FILENO))
        return;
    print_safely(stderr, o->output ? o->output : "standard output");
    fputs(": ", stderr);
    if (!o->from)
        fprintf(stderr, "%s objects, ", format_count(count, g->objects));
    fprintf(stderr, "%s; %s, %s\n", format_size(size, bytes), format_seconds(took, seconds), format_rate(rate, bytes, seconds));
    for (size_t i = 0; i < g->truth.fault_count && i < 20; i++)
        fprintf(stderr, "%s is broken at 0x%" PRIx64 "\n", hprof_rule_at((size_t)g->truth.faults[i].rule)->id,
                g->truth.faults[i].offset);
}

static int say_generate_failure(const struct cli_options *o, enum generate_status status, const struct generated *g,
                                const struct bytes_file *file, const struct part_files *parts)
{
    if (status == GENERATE_NO_MEMORY || (parts && parts->no_memory))
        say_failure("dump", "out of memory");
    else if (status == GENERATE_REFUSED)
        say_usage(g->failure, "", "");
    else if (g->failure)
        say_failure(o->from ? o->from : "dump", g->failure);
    else
        return say_file_failure(parts && part_files_failed(parts) ? part_files_failed(parts) : file);
    return (int)status;
}

/* The dump and, after it, the manifest: both files are open. */
static int write_both(const struct cli_options *o, const struct generate_request *request, struct bytes_file *file,
                      struct bytes_file *manifest)
{
    struct progress progress;
    struct part_files parts;
    struct generate_request whole = *request;
    struct watch watch = {.bytes = {.put = watch_put, .finish = watch_finish, .next = &file->bytes},
                          .progress = &progress,
                          .total = request->gzip_level ? 0 : request->bytes};
    struct generated *generated = calloc(1, sizeof *generated);
    double began = monotonic_seconds();
    enum generate_status status;
    int result;

    if (!generated) {
        say_failure("dump", "out of memory");
        return STATUS_MEMORY;
    }
    if (o->manifest)
        file->held = manifest->held = true;
    part_files_init(&parts, o->output, file->held);
    whole.open_part = part_files_open;
    whole.context = &parts;
    progress_init(&progress, o->quiet && o->progress == WHEN_AUTO ? WHEN_NEVER : o->progress);
    progress_begin(&progress, o->output ? o->output : "standard output");
    status = generate(&whole, progress.wanted ? &watch.bytes : &file->bytes, generated);
    if (status == GENERATE_FAILED && generated->malformed) {
        struct generate_request readable = whole;

        readable.from = open_readable(request->from, o->from, o->quiet);
        if (readable.from >= 0) {
            generated_free(generated);
            status = generate(&readable, progress.wanted ? &watch.bytes : &file->bytes, generated);
            close(readable.from);
        }
    }
    progress_end(&progress);
    if (status != GENERATED) {
        result = say_generate_failure(o, status, generated, file, &parts);
    } else {
        show_summary(o, generated, file->written, monotonic_seconds() - began);
        result = o->manifest ? write_manifest(manifest, o, request, generated) : STATUS_DONE;
        if (o->manifest && result == STATUS_DONE)
            result = name_all(file, &parts, manifest);
    }
    part_files_close(&parts);
    generated_free(generated);
    free(generated);
    return result;
}

static int generate_files(const struct cli_options *o)
{
    struct generate_request request = o->request;
    struct bytes_file file, manifest;
    int status;

    if (!check_files(o))
        return STATUS_USAGE;
    request.census = o->manifest != NULL;
    if (o->from) {
        request.from = open(o->from, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe is refused, not waited for */
        if (request.from < 0) {
            say_failure(o->from, strerror(errno));
            return STATUS_IO;
        }
    }
    /* Both are opened first, so that a manifest that cannot be written is an error at once, and not after a large dump. */
    if (!bytes_file_open(&file, o->output)) {
        status = say_file_failure(&file);
    } else if (o->manifest && !bytes_file_open(&manifest, o->manifest)) {
        status = say_file_failure(&manifest);
        bytes_file_close(&manifest);
    } else if (o->manifest && file.part.final && manifest.part.final && strcmp(file.part.final, manifest.part.final) == 0) {
        refuse_same_file(o);
        status = STATUS_USAGE;
        bytes_file_close(&manifest);
    } else {
        status = write_both(o, &request, &file, &manifest);
        if (o->manifest)
            bytes_file_close(&manifest);
    }
    bytes_file_close(&file);
    if (request.from >= 0)
        close(request.from);
    return status;
}

/* ---- Serving ---- */

/* Makes the dump whose parts are sent. */
struct spool {
    struct bytes bytes;
    FILE *file;
};

static bool spool_put(struct bytes *bytes, const void *data, size_t size)
{
    return fwrite(data, 1, size, ((struct spool *)bytes)->file) == size;
}

static bool spool_finish(struct bytes *bytes)
{
    return fflush(((struct spool *)bytes)->file) == 0;
}

static const struct producer *find_like(const char *name)
{
    size_t i = 0;

    while (strcmp(producer_name(producer_at(i)), name) != 0)
        i++;
    return producer_at(i);
}

static int make_spool(const struct cli_options *o, struct spool *spool)
{
    struct generate_request request = o->request;
    struct generated *generated = calloc(1, sizeof *generated);
    enum generate_status status = GENERATE_NO_MEMORY;

    request.made.producer = find_like("jdk8-agent");
    request.made.records = RECORDS_ALL;
    if (generated)
        status = generate(&request, &spool->bytes, generated);
    if (status == GENERATE_FAILED && !generated->failure)
        say_failure("temporary file", strerror(errno));
    else if (status != GENERATED)
        say_generate_failure(o, status, generated, NULL, NULL);
    if (generated)
        generated_free(generated);
    free(generated);
    return (int)status;
}

static int serve(const struct cli_options *o)
{
    struct spool spool = {.bytes = {.put = spool_put, .finish = spool_finish}, .file = tmpfile()};
    const char *failure;
    int connection = spool.file ? serve_connect(o->serve_host, o->serve_port, &failure) : -1, status = STATUS_IO;
    uint8_t command = 0;
    char failed[80];

    if (!spool.file) {
        say_failure("temporary file", strerror(errno));
        return STATUS_IO;
    }
    if (connection < 0) {
        say_failure(o->serve_host, failure);
    } else {
        status = make_spool(o, &spool);
        if (status == STATUS_DONE) {
            struct serve_options how = {.orders = o->takes_orders ? STDIN_FILENO : -1,
                                        .is_sampled = !o->has_records || o->request.made.records == RECORDS_ALL,
                                        .is_text = o->is_text};

            switch (serve_dump(fileno(spool.file), connection, &how, &command)) {
            case SERVE_DONE:
                break;
            case SERVE_UNKNOWN:
                snprintf(failed, sizeof failed, "failed to recognize cmd %u: the agent would end its VM", command);
                say_failure(o->serve_host, failed);
                break;
            case SERVE_FAILED:
                say_failure("temporary file", strerror(errno));
                status = errno == ENOMEM ? STATUS_MEMORY : STATUS_IO;
                break;
            }
        }
        close(connection);
    }
    fclose(spool.file);
    return status;
}

/* Otherwise the first file that is opened would get the messages. */
static void have_standard_error(void)
{
    int null;

    if (fcntl(STDERR_FILENO, F_GETFD) != -1)
        return;
    null = open("/dev/null", O_WRONLY);
    if (null >= 0 && null != STDERR_FILENO) {
        dup2(null, STDERR_FILENO);
        close(null);
    }
}

int main(int argc, char **argv)
{
    struct cli_options options;
    bool no_memory;
    int status = STATUS_DONE;

    have_standard_error();
    /* A failed write is reported later. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!options_parse(&options, argc, argv, &no_memory)) {
        options_free(&options);
        return no_memory ? STATUS_MEMORY : STATUS_USAGE;
    }
    switch (options.action) {
    case ACTION_GENERATE:
        status = options.serve_port ? serve(&options) : generate_files(&options);
        break;
    case ACTION_LIST_VIOLATIONS:
        status = list_faults();
        break;
    case ACTION_LIST_DAMAGE:
        status = list_damage();
        break;
    case ACTION_HELP:
        status = show_help();
        break;
    case ACTION_USAGE:
        status = show_usage();
        break;
    case ACTION_VERSION:
        printf("%s %s\n", program_name, HPROF_VERSION);
        status = finish_listing();
        break;
    }
    options_free(&options);
    return status;
}
