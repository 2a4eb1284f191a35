#include "repair.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "numbers.h"
#include "output.h"
#include "parts_beside.h"
#include "parts_named.h"
#include "printable.h"
#include "processors.h"
#include "progress.h"
#include "repair_json.h"
#include "repair_losses.h"
#include "repair_target.h"
#include "terminal.h"
#include "wrap.h"

#define LINES_MAX 40 /* about what was left out */

struct view {
    FILE *out;
    size_t width; /* of its lines */
    bool decimal;
    bool has_verdict, has_details; /* what is printed: the last line, and those before it */
    struct progress progress;
    uint64_t lines;
    struct hprof_left_out rest; /* what has no line of its own */
    struct class_losses losses;
    bool as_json;
    struct repair_json json;
};

static int on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct view *view = context;

    progress_update(&view->progress, bytes, total);
    return 0;
}

static void print_left_out(FILE *out, uint64_t count, uint64_t bytes, const char *what)
{
    char exact[NUMBER_SIZE], number[NUMBER_SIZE];

    fprintf(out, "    %12s bytes   %s %s\n", format_exact(exact, bytes), format_exact(number, count), what);
}

static int on_left_out(void *context, const struct hprof_left_out *left_out)
{
    struct view *view = context;

    if (view->as_json)
        repair_json_left_out(&view->json, left_out);
    if (view->as_json || !view->has_details)
        return 0;
    if (view->lines++ == 0)
        fputs("left out:\n", view->out);
    if (view->lines <= LINES_MAX) {
        print_left_out(view->out, left_out->count, left_out->bytes,
                       strcmp(left_out->what, "bytes") != 0 ? left_out->what
                       : left_out->count == 1               ? "range outside of records"
                                                            : "ranges outside of records");
    } else {
        view->rest.count += left_out->count;
        view->rest.bytes += left_out->bytes;
    }
    return 0;
}

static int on_class_loss(void *context, const struct hprof_class_loss *loss)
{
    struct view *view = context;

    if (view->as_json)
        repair_json_class(&view->json, loss);
    class_losses_add(&view->losses, loss);
    return 0;
}

static void print_undone(FILE *out, const struct hprof_repair_result *repair)
{
    if (repair->text_before > 0)
        fprintf(out, "left out: %" PRIu64 " bytes of text before the %s\n", repair->text_before,
                repair->undone & HPROF_TRANSFER_GZIP ? "gzip file" : "header");
    if (repair->undone & HPROF_TRANSFER_CRLF)
        fputs("undone: each LF had become CR LF\n", out);
    if (repair->undone & HPROF_TRANSFER_LATIN1)
        fputs("undone: each byte from 128 on had become a character of Latin-1 in UTF-8\n", out);
    if (repair->undone & HPROF_TRANSFER_ORDER)
        fputs("undone: the end of the dump came before its beginning\n", out);
}

static void print_gzip_damage(FILE *out, const struct hprof_repair_result *repair)
{
    uint64_t mended = repair->gzip_headers_mended, wrong = repair->gzip_mismatches, damaged = repair->gzip_resumed,
             unknown = repair->gzip_unknown;

    if (mended > 0)
        fprintf(out, "mended: the header of %" PRIu64 " gzip member%s\n", mended, mended == 1 ? "" : "s");
    if (wrong > 0)
        fprintf(out, "used: %" PRIu64 " gzip member%s with a wrong checksum or size\n", wrong, wrong == 1 ? "" : "s");
    if (damaged > 0)
        fprintf(out, "resumed: after %" PRIu64 " damaged gzip member%s\n", damaged, damaged == 1 ? "" : "s");
    if (unknown > 0)
        fprintf(out, "of unknown size: what was left out of %" PRIu64 " of them\n", unknown);
    if (repair->gzip_ended_early)
        fputs("lost, if there was more: what follows the last fault of the gzip file\n", out);
}

static const char *either(uint64_t n, const char *word, const char *words)
{
    return n == 1 ? word : words;
}

/* What was added that the dump does not have, and who refuses it. */
static void print_stand_ins(FILE *out, const struct hprof_repair_result *repair)
{
    const struct {
        uint64_t count;
        const char *one, *many, *more;
    } rows[] = {
        {repair->stand_in_classes, "class", "classes", ", with bytes in place of fields"},
        {repair->stand_in_names, "name", "names", ", such as unknown.Class_0x7f..."},
        {repair->stand_in_threads, "thread", "threads", ", which other roots name"},
        {repair->stand_in_traces, "stack trace", "stack traces", ""},
        {repair->stand_in_frames, "frame", "frames", ""},
    };
    char count[NUMBER_SIZE];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0)
            fprintf(out, "added: %s for lost %s%s\n", format_counted(count, rows[i].count, "stand-in"),
                    either(rows[i].count, rows[i].one, rows[i].many), rows[i].more);
    if (repair->stand_in_objects > 0)
        fprintf(out, "class lost: %s %s kept\n", format_counted(count, repair->stand_in_objects, "object"),
                either(repair->stand_in_objects, "is", "are"));
}

static void print_details(struct view *view, const struct hprof_repair_result *repair)
{
    FILE *out = view->out;
    char offset[NUMBER_SIZE];

    if (view->rest.count > 0)
        print_left_out(out, view->rest.count, view->rest.bytes, "others");
    if (repair->left_out == 0 && repair->text_before == 0)
        fputs("nothing was left out\n", out);
    print_undone(out, repair);
    if (repair->header_made)
        fprintf(out, "made: a header, %s\n",
                repair->is_part ? "because the file is a part of a dump; the rest of that is not in the copy"
                                : "in place of the first 31 bytes");
    if (repair->version_mended)
        fputs("mended: the version is 1.0.2, since 1.0.1 has no segments\n", out);
    if (repair->tags_mended > 0)
        fprintf(out, "mended: the tag of %" PRIu64 " heap dump record%s among segments\n", repair->tags_mended,
                repair->tags_mended == 1 ? "" : "s");
    if (repair->lengths_mended > 0)
        fprintf(out, "mended: %" PRIu64 " record length%s\n", repair->lengths_mended, repair->lengths_mended == 1 ? "" : "s");
    if (repair->sizes_mended > 0)
        fprintf(out, "mended: the size of %" PRIu64 " object%s\n", repair->sizes_mended, repair->sizes_mended == 1 ? "" : "s");
    if (repair->joined > 0)
        fprintf(out, "joined: %" PRIu64 " sub-record%s that crossed the end of a segment\n", repair->joined,
                repair->joined == 1 ? "" : "s");
    if (repair->traces_cleared > 0)
        fprintf(out, "set to 0: %" PRIu64 " reference%s to missing stack traces\n", repair->traces_cleared,
                repair->traces_cleared == 1 ? "" : "s");
    print_stand_ins(out, repair);
    print_gzip_damage(out, repair);
    if (repair->other_dump > 0)
        fprintf(out, "left out: all from %s on, where the header of another dump is: two files were joined\n",
                format_offset(offset, repair->other_dump, view->decimal));
    if (repair->is_ended)
        fputs("added: HEAP_DUMP_END, which ends the heap dump\n", out);
}

/* Parts that are missing between those that are there: they were lost, or the VM was killed before it began them. */
static void print_gaps(FILE *out, const struct parts_named *parts)
{
    bool is_first = true;

    for (size_t i = 1; i < parts->count; i++) {
        const char *name = parts->names[i], *before = parts->names[i - 1];
        size_t stem = part_stem(name);
        unsigned from, to;
        char file[PATH_MAX], text[PATH_MAX + 32];

        if (stem == 0 || stem >= sizeof file || part_stem(before) != stem || memcmp(name, before, stem) != 0)
            continue;
        from = (unsigned)strtoul(before + stem + 2, NULL, 10) + 1;
        to = (unsigned)strtoul(name + stem + 2, NULL, 10);
        if (from >= to)
            continue;
        memcpy(file, name, stem);
        file[stem] = '\0';
        name_gap(file, from, to - 1, text, sizeof text);
        fputs(is_first ? "not there: " : ", ", out);
        print_safely(out, text);
        is_first = false;
    }
    if (!is_first)
        putc('\n', out);
}

static void print_parts(FILE *out, const struct parts_named *parts, const struct hprof_repair_result *repair)
{
    char size[NUMBER_SIZE];

    for (size_t i = 0; i < parts->count; i++) {
        fputs(i > 0 ? ", " : repair->parts_joined > 0 ? "joined with: " : "not used, because FILE is complete: ", out);
        print_safely(out, parts->names[i]);
    }
    if (parts->count > 0)
        putc('\n', out);
    if (repair->parts_joined > 0)
        print_gaps(out, parts);
    if (repair->parts_joined > 0 && repair->overlap > 0)
        fprintf(out, "taken once: %s at the end of FILE that a part has too\n", format_size(size, repair->overlap));
}

static void print_verdict(FILE *out, const char *to, const struct hprof_repair_result *repair)
{
    char size[NUMBER_SIZE], count[NUMBER_SIZE];

    print_safely(out, to);
    fprintf(out, ": %s by profile %s", repair->incomplete ? "incomplete" : "valid",
            hprof_profile_at(repair->checked_profile)->name);
    if (repair->warnings > 0)
        fprintf(out, ", %s", format_counted(count, repair->warnings, "warning"));
    fprintf(out, ", %s", format_size(size, repair->bytes_out));
    fprintf(out, " of %s\n", format_size(size, repair->bytes_in));
}

static bool is_same_file(int fd, const char *path)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Whether the copy would replace an input. Says so. */
static bool would_overwrite(const struct cli_options *options, int fd, const char *name)
{
    if (!is_same_file(fd, options->repair))
        return false;
    say_usage("--repair would overwrite the input '", display_name(name), "'");
    return true;
}

/* A part that is named twice would be in the copy twice. */
static bool is_named_twice(const struct parts_named *parts, size_t part)
{
    for (size_t i = 0; i < part; i++) {
        if (!is_same_file(parts->fds[part], parts->names[i]))
            continue;
        say_usage("--parts: '", display_name(parts->names[part]), "' is named twice");
        return true;
    }
    return false;
}

static enum hprof_status cannot(const char *name)
{
    say_failure(name, strerror(errno));
    return HPROF_IO;
}

/* Whether the dump is of use without objects, as the profile of an agent is. Where something of it was lost, threads alone do not
 * say so: they also precede a heap dump. */
static bool is_of_use_without_objects(const struct hprof_repair_result *repair)
{
    static const uint8_t profile[] = {0x06, 0x07, 0x0d}, others[] = {0x03, 0x0a, 0x0b, 0x0e};
    uint64_t records = 0, subrecords = 0;

    for (size_t i = 0; i < sizeof profile; i++)
        records += repair->records_out[profile[i]];
    for (size_t i = 0; i < sizeof others && repair->left_out == 0; i++)
        records += repair->records_out[others[i]];
    for (size_t tag = 0; tag < 256; tag++)
        subrecords += repair->subrecords_in[tag];
    return records > 0 && subrecords == 0;
}

/* Whether the copy is worth its name. */
static bool is_worth_it(const struct cli_options *options, struct hprof_repair_result *repair)
{
    char strings[NUMBER_SIZE], classes[NUMBER_SIZE];

    if (options->force || count_kept_objects(repair) > 0 || is_of_use_without_objects(repair))
        return true;
    snprintf(repair->failure, sizeof repair->failure,
             "no object can be read, so no copy is made; it would hold %s and %s class%s (--force makes it)",
             format_counted(strings, repair->records_out[0x01], "string"), format_exact(classes, repair->subrecords_out[0x20]),
             repair->subrecords_out[0x20] == 1 ? "" : "es");
    return false;
}

static void print_report(struct view *view, enum hprof_status status, const char *to, const struct parts_named *parts,
                         const struct hprof_repair_result *repair)
{
    if (view->as_json) {
        repair_json_end(&view->json, status, status == HPROF_VALID ? NULL : repair->failure, repair);
        return;
    }
    if (status == HPROF_VALID && view->has_details) {
        print_parts(view->out, parts, repair);
        print_details(view, repair);
        print_losses(view->out, view->width, repair, &view->losses);
    }
    if (status == HPROF_VALID && view->has_verdict)
        print_verdict(view->out, to, repair);
}

static enum hprof_status repair_to(const struct cli_options *options, int fd, struct repair_target *target,
                                   const struct parts_named *parts)
{
    const char *file = options->files[0];
    struct output output;
    struct view view = {.lines = 0};
    struct hprof_repair repair;
    struct hprof_repair_result result;

    hprof_repair_init(&repair);
    hprof_repair_result_init(&result);
    repair.profile = options->profile;
    repair.severities = options->severities;
    repair.max_memory = options->max_memory;
    repair.threads = options->jobs == 0 ? processor_count() : options->jobs;
    repair.parts = parts->fds;
    repair.part_count = parts->count;
    repair.parts_are_sure = options->parts != NULL;
    repair.no_stand_ins = options->no_stand_ins;
    repair.on_left_out = on_left_out;
    repair.on_class_loss = on_class_loss;
    repair.on_progress = on_progress;
    repair.context = &view;
    enum hprof_status status = output_open(&output, options);
    if (status != HPROF_VALID)
        return status;
    view.out = output.stream;
    view.width = terminal_width(output.fd, WRAP_NEVER);
    view.decimal = options->decimal;
    view.as_json = options->format == FORMAT_JSON;
    view.has_details = options->quiet == 0 || options->output != NULL;
    view.has_verdict = options->quiet < 2 || options->output != NULL;
    if (view.as_json)
        repair_json_begin(&view.json, view.out, display_name(file), options->repair);
    progress_init(&view.progress, options->progress);
    progress_begin(&view.progress, display_name(file));
    status = hprof_repair_fd(fd, target->copy, &repair, &result);
    progress_end(&view.progress);
    if (status == HPROF_VALID && !is_worth_it(options, &result))
        status = HPROF_INVALID;
    if (status == HPROF_INVALID && result.failure[0] == '\0')
        snprintf(result.failure, sizeof result.failure, "no valid copy can be made");
    if (status != HPROF_VALID)
        say_failure(result.failed_on_copy     ? options->repair
                    : result.refused_part > 0 ? display_name(parts->names[result.refused_part - 1])
                                              : display_name(file),
                    result.failure);
    else if (!target_finish(target, result.bytes_out))
        status = HPROF_IO;
    print_report(&view, status, options->repair, parts, &result);
    bool complete = output_close(&output);
    return status == HPROF_VALID && !complete ? HPROF_IO : status;
}

/* Finds the parts of the file and opens them. */
static enum hprof_status open_parts(const struct cli_options *options, struct parts_named *parts)
{
    const char *file = options->files[0], *failed;

    if (options->parts != NULL ? !parts_split(parts, options->parts) : strcmp(file, "-") != 0 && !parts_find(parts, file)) {
        say_failure("parts", "out of memory");
        return HPROF_LIMIT;
    }
    failed = parts_open(parts);
    return failed != NULL ? cannot(display_name(failed)) : HPROF_VALID;
}

static uint64_t bytes_of_files(int fd, const struct parts_named *parts)
{
    uint64_t bytes = bytes_left_of(fd);

    for (size_t i = 0; i < parts->count; i++)
        bytes += bytes_left_of(parts->fds[i]);
    return bytes;
}

static enum hprof_status repair_with_parts(const struct cli_options *options, int fd, struct repair_target *target)
{
    struct parts_named parts = {.count = 0};
    enum hprof_status status = open_parts(options, &parts);

    for (size_t i = 0; i < parts.count && status == HPROF_VALID; i++)
        if (would_overwrite(options, parts.fds[i], parts.names[i]) || is_named_twice(&parts, i))
            status = HPROF_USAGE;
    if (status == HPROF_VALID && !options->force && !target_has_room(target, bytes_of_files(fd, &parts)))
        status = HPROF_IO;
    if (status == HPROF_VALID)
        status = repair_to(options, fd, target, &parts);
    parts_close(&parts);
    return status;
}

static void say_part(const char *file, const char *whole)
{
    char reason[PATH_MAX + 64];

    snprintf(reason, sizeof reason, "is a part of %s: repair that, and its parts are joined with it", display_name(whole));
    say_failure(display_name(file), reason);
}

enum hprof_status repair_file(const struct cli_options *options)
{
    const char *file = options->files[0];
    int fd = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct repair_target target;
    enum hprof_status status;
    char whole[PATH_MAX];

    if (fd < 0)
        return cannot(display_name(file));
    if (!options->force && belongs_to_file(file, whole)) {
        say_part(file, whole);
        status = HPROF_INVALID;
    } else if (would_overwrite(options, fd, file)) {
        status = HPROF_USAGE;
    } else {
        if (!target_open(&target, options->repair, fd)) {
            status = HPROF_IO;
        } else if (options->output && part_is_at(&target.part, options->output)) {
            say_usage("--repair and --output name the same file, '", options->repair, "'");
            status = HPROF_USAGE;
        } else {
            status = repair_with_parts(options, fd, &target);
        }
        target_close(&target);
    }
    if (fd != STDIN_FILENO)
        close(fd);
    return status;
}
