/* See write.h. */
#define _GNU_SOURCE
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lists.h"
#include "messages.h"
#include "numbers.h"
#include "part_files.h"
#include "printable.h"
#include "progress.h"
#include "readable.h"
#include "stream/bytes_file.h"
#include "truth/manifest.h"

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

bool is_same_file(const char *a, const char *b)
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

/* Whether a file that is read would be written. */
static bool is_overwritten(const struct cli_options *o, const char *input)
{
    return input && (is_same_file(o->output, input) || (o->manifest && is_same_file(o->manifest, input)));
}

static bool check_files(const struct cli_options *o)
{
    if (o->manifest && is_same_file(o->output, o->manifest))
        return refuse_same_file(o);
    if (is_overwritten(o, o->from)) {
        say_usage("the dump that is read would be overwritten: '", o->from, "'");
        return false;
    }
    if (is_overwritten(o, o->from_profile)) {
        say_usage("the profile that is read would be overwritten: '", o->from_profile, "'");
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

int say_file_failure(const struct bytes_file *file)
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

FILE *open_text(struct bytes_file *file)
{
    return fopencookie(file, "w", (cookie_io_functions_t){.write = put_text});
}

static int write_manifest(struct bytes_file *file, const struct cli_options *o, const struct generate_request *request,
                          const struct generated *g)
{
    struct manifest_option options[GIVEN_MOST];
    FILE *out = open_text(file);
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
        fprintf(stderr, "%s, ", format_counted(count, g->objects, "object"));
    fprintf(stderr, "%s; %s, %s\n", format_size(size, bytes), format_seconds(took, seconds), format_rate(rate, bytes, seconds));
    for (size_t i = 0; i < g->truth.written.fault_count && i < 20; i++)
        fprintf(stderr, "%s is broken at 0x%" PRIx64 "\n", hprof_rule_at((size_t)g->truth.written.faults[i].rule)->id,
                g->truth.written.faults[i].offset);
}

int say_generate_failure(const struct cli_options *o, enum generate_status status, const struct generated *g,
                         const struct bytes_file *file, const struct part_files *parts)
{
    if (status == GENERATE_NO_MEMORY || (parts && parts->no_memory))
        say_failure("dump", "out of memory");
    else if (status == GENERATE_REFUSED)
        say_usage(g->failure, "", "");
    else if (g->failure)
        say_failure(o->from ? o->from : o->from_profile ? o->from_profile : "dump", g->failure);
    else
        return say_file_failure(parts && part_files_failed(parts) ? part_files_failed(parts) : file);
    return (int)status;
}

/* The dump and, after it, the manifest: both files are open. */
static int write_both(const struct cli_options *o, const struct generate_request *request, struct bytes_file *file,
                      struct bytes_file *manifest, char refusal[REFUSAL_SIZE])
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
    part_files_init(&parts, o->output, request->from, file->held);
    whole.open_part = part_files_open;
    whole.context = &parts;
    progress_init(&progress, o->quiet && o->progress == WHEN_AUTO ? WHEN_NEVER : o->progress);
    progress_begin(&progress, o->output ? o->output : "standard output");
    if (progress.wanted && !watch.total && !request->gzip_level && !request->violate_count && !request->damage_count)
        watch.total = generate_size(request);
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
    if (status == GENERATE_REFUSED && refusal) {
        snprintf(refusal, REFUSAL_SIZE, "%s", generated->failure);
        result = STATUS_USAGE;
    } else if (status != GENERATED) {
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

/* Opens a file for reading, if there is one. */
static bool open_input(const char *name, int flags, int *fd)
{
    if (!name)
        return true;
    *fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
    if (*fd < 0)
        say_failure(name, strerror(errno));
    return *fd >= 0;
}

int write_files(const struct cli_options *o, char refusal[REFUSAL_SIZE])
{
    struct generate_request request = o->request;
    struct bytes_file file, manifest;
    int status;

    if (!check_files(o))
        return STATUS_USAGE;
    request.census = o->manifest != NULL;
    if (!open_input(o->from, O_NONBLOCK, &request.from) || /* a pipe is refused, not waited for */
        !open_input(o->from_profile, 0, &request.profile))
        return STATUS_IO;
    /* Both are opened first, so that a manifest that cannot be written is an error at once, and not after a large dump. */
    if (!bytes_file_open_like(&file, o->output, request.from)) {
        status = say_file_failure(&file);
    } else if (o->manifest && !bytes_file_open(&manifest, o->manifest)) {
        status = say_file_failure(&manifest);
        bytes_file_close(&manifest);
    } else if (o->manifest && file.part.final && manifest.part.final && strcmp(file.part.final, manifest.part.final) == 0) {
        refuse_same_file(o);
        status = STATUS_USAGE;
        bytes_file_close(&manifest);
    } else {
        status = write_both(o, &request, &file, &manifest, refusal);
        if (o->manifest)
            bytes_file_close(&manifest);
    }
    bytes_file_close(&file);
    if (request.from >= 0)
        close(request.from);
    if (request.profile >= 0)
        close(request.profile);
    return status;
}
