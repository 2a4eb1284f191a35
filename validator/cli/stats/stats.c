#define _GNU_SOURCE
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog.h"
#include "messages.h"
#include "output.h"
#include "parts_beside.h"
#include "processors.h"
#include "progress.h"
#include "report.h"
#include "sentence.h"
#include "terminal.h"
#include "wrap.h"
#include "write_all.h"

enum { COUNTED_MOST = 1 << 20 /* so that the names of threads are found without reading much */ };

/* The check and the reading of one dump. */
struct looking {
    const struct cli_options *options;
    struct stats stats;
    struct hprof_options check;
    struct hprof_allocator allocator; /* of the library, if there is a limit */
    struct progress progress;
    struct hprof_reader *reader;
    struct beside beside;
    bool is_checked;  /* there is a summary */
    bool is_threaded; /* the check runs in another thread, and does not draw */
    char failure[HPROF_FAILURE_SIZE];
};

/* ---- The check --------------------------------------------------------------------------------------------------- */

static int on_summary(void *context, const struct hprof_summary *summary)
{
    struct looking *l = context;

    l->stats.summary = *summary;
    look_beside(l->stats.file, &l->stats.summary, l->options->allow_incomplete, &l->beside);
    l->is_checked = true;
    return 0;
}

static int on_finding(void *context, const struct hprof_finding *f)
{
    struct looking *l = context;
    struct finding_stats *kept;
    const struct report report = {.decimal = l->options->decimal};
    char text[SENTENCE_SIZE];

    if (f->severity <= HPROF_NOTE || l->stats.findings.count == FINDINGS_KEPT)
        return 0;
    kept = list_add(&l->stats, &l->stats.findings, sizeof *kept);
    if (kept == NULL)
        return 1;
    format_sentence(&report, hprof_rule_at(f->rule), f, text);
    *kept = (struct finding_stats){.rule = f->rule,
                                   .severity = f->severity,
                                   .offset = f->offset,
                                   .text = keep_text(&l->stats, &l->stats.finding_texts, text, strlen(text))};
    return 0;
}

static int on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct looking *l = context;

    progress_update(&l->progress, bytes, total);
    return 0;
}

static void prepare(struct looking *l, const struct cli_options *options)
{
    *l = (struct looking){.options = options, .stats.file = options->files[0]};
    progress_init(&l->progress, options->progress);
    hprof_summary_init(&l->stats.summary);
    hprof_header_init(&l->stats.header);
    hprof_options_init(&l->check);
    l->check.profile = options->profile;
    l->check.max_errors = options->max_errors;
    allowance_init(&l->stats.memory, options->max_memory);
    l->allocator = allowance_allocator(&l->stats.memory);
    l->check.max_memory = options->max_memory;
    l->check.allocator = options->max_memory > 0 ? &l->allocator : NULL;
    l->check.werror = options->werror;
    l->check.allow_incomplete = options->allow_incomplete;
    l->check.severities = options->severities;
    l->check.threads = options->jobs == 0 ? processor_count() : options->jobs;
    l->check.on_summary = on_summary;
    l->check.on_finding = on_finding;
    l->check.on_progress = l->progress.wanted ? on_progress : NULL;
    l->check.context = l;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static enum hprof_status fail(struct looking *l, enum hprof_status status)
{
    if (l->stats.out_of_memory)
        status = HPROF_LIMIT;
    snprintf(l->failure, sizeof l->failure, "%s",
             l->stats.out_of_memory ? "out of memory"
             : l->reader != NULL    ? hprof_failure(l->reader)
                                    : "out of memory");
    return status;
}

static enum hprof_status collect(struct looking *l)
{
    enum hprof_status status;

    l->stats.has_header = hprof_read_header(l->reader, &l->stats.header) == 1;
    status = stats_collect(&l->stats, l->reader);
    if (status == HPROF_VALID)
        status = stats_name_threads(&l->stats, l->reader);
    return status == HPROF_VALID ? HPROF_VALID : fail(l, status);
}

/* A file is checked while it is opened, and then read as the check read it. */
static enum hprof_status read_file(struct looking *l, int fd, uint64_t size)
{
    struct hprof_read_options read;
    enum hprof_status status;

    hprof_read_options_init(&read);
    read.allocator = l->check.allocator;
    read.max_memory = l->options->max_memory;
    read.threads = l->check.threads;
    read.check = &l->check;
    read.count_within = stats_cell(size);
    if (read.count_within > COUNTED_MOST)
        read.count_within = COUNTED_MOST;
    status = hprof_open_fd(fd, &read, &l->reader);
    progress_end(&l->progress);
    if (l->is_checked && read.count_within <= stats_cell(l->stats.summary.bytes)) /* of a gzip file it may be less */
        l->stats.counted_within = read.count_within;
    return status == HPROF_VALID ? collect(l) : fail(l, status);
}

/* ---- Pipes ------------------------------------------------------------------------------------------------------- */

/* The check reads the input, and all that it reads goes through a pipe to the reader. */
struct tee {
    struct looking *looking;
    int from, to;
    bool is_broken; /* the reader has ended */
};

static int64_t read_and_pass(void *context, void *bytes, size_t size)
{
    struct tee *tee = context;
    ssize_t n;

    do {
        n = read(tee->from, bytes, size);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (!tee->is_broken)
        tee->is_broken = !write_all(tee->to, bytes, (size_t)n);
    return n;
}

static void *check_pipe(void *context)
{
    struct tee *tee = context;
    struct hprof_source source;

    hprof_source_init(&source);
    source.read = read_and_pass;
    source.context = tee;
    hprof_validate_source(&source, &tee->looking->check, NULL);
    close(tee->to);
    return NULL;
}

static enum hprof_status read_pipe(struct looking *l, int fd)
{
    struct tee tee = {.looking = l, .from = fd};
    struct hprof_read_options read;
    enum hprof_status status;
    pthread_t thread;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(l->failure, sizeof l->failure, "%s", strerror(errno));
        return HPROF_IO;
    }
    tee.to = ends[1];
    l->check.on_progress = NULL;
    l->stats.is_read_by_lengths = true;
    if (pthread_create(&thread, NULL, check_pipe, &tee) != 0) {
        snprintf(l->failure, sizeof l->failure, "no thread can be started");
        close(ends[0]);
        close(ends[1]);
        return HPROF_LIMIT;
    }
    hprof_read_options_init(&read);
    read.allocator = l->check.allocator;
    read.max_memory = l->options->max_memory;
    status = hprof_open_fd(ends[0], &read, &l->reader);
    status = status == HPROF_VALID ? collect(l) : fail(l, status);
    close(ends[0]);
    pthread_join(thread, NULL);
    return status;
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

/* The line that a check ends with. */
static bool print_verdict(const struct looking *l, FILE *out, bool color, size_t width)
{
    struct report report = {.width = width,
                            .color = color,
                            .decimal = l->options->decimal,
                            .profile = l->options->profile,
                            .stdin_name = l->options->stdin_name,
                            .max_errors = l->options->max_errors,
                            .severities = l->options->severities,
                            .file_count = 1};
    bool is_prepared = report_prepare(&report, &report_verdict);

    if (is_prepared) {
        report_begin(&report, out);
        report_file(&report, l->stats.file, true, &l->stats.summary);
        report_file_end(&report, 0);
        report_end(&report, l->stats.summary.status);
    }
    report_release(&report);
    return is_prepared;
}

static bool print_report(struct looking *l, const struct output *output)
{
    const struct cli_options *options = l->options;
    bool only_threads = options->threads, only_verdict = options->quiet > 0 && options->output == NULL;
    size_t width = terminal_width(output->fd, WRAP_NEVER);

    if (options->format == FORMAT_JSON) {
        stats_print_json(&l->stats, l->reader, only_threads, output->stream);
    } else if (options->format == FORMAT_HTML) {
        stats_print_page(&l->stats, l->reader, display_name(input_name(l->stats.file, options->stdin_name)), output->stream);
    } else if (only_threads && !only_verdict) {
        stats_print_threads(&l->stats, l->reader, output->stream);
    } else {
        if (!print_verdict(l, output->stream, terminal_wants_color(options->color, output->fd), width))
            return false;
        if (!only_verdict)
            stats_print_text(&l->stats, l->reader, options, output->stream, width);
    }
    return true;
}

static enum hprof_status look(struct looking *l, int fd)
{
    const char *name = display_name(input_name(l->stats.file, l->options->stdin_name));
    enum hprof_status status;
    struct output output;
    struct stat stat;

    progress_begin(&l->progress, name);
    status = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) ? read_file(l, fd, (uint64_t)stat.st_size) : read_pipe(l, fd);
    progress_end(&l->progress);
    if (l->options->max_memory > 0 && (status == HPROF_LIMIT || (l->is_checked && l->stats.summary.status == HPROF_LIMIT))) {
        snprintf(l->failure, sizeof l->failure, "the memory limit of %" PRIu64 " bytes was met", l->options->max_memory);
        say_failure(name, l->failure);
        return HPROF_LIMIT;
    }
    if (l->is_checked && l->stats.summary.failure[0] != '\0') {
        say_failure(name, l->stats.summary.failure);
        return l->stats.summary.status;
    }
    if (status != HPROF_VALID || !l->is_checked) {
        say_failure(name, l->failure[0] != '\0' ? l->failure : "the dump could not be checked");
        return status != HPROF_VALID ? status : HPROF_LIMIT;
    }
    if (l->options->quiet > 1 && l->options->output == NULL)
        return l->stats.summary.status;
    status = output_open(&output, l->options);
    if (status != HPROF_VALID)
        return status;
    if (!print_report(l, &output)) {
        say_failure(name, "out of memory");
        status = HPROF_LIMIT;
    }
    if (!output_close(&output))
        status = HPROF_IO;
    return status != HPROF_VALID ? status : l->stats.summary.status;
}

enum hprof_status stats_file(const struct cli_options *options)
{
    const char *file = options->files[0];
    int fd = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct looking *l = malloc(sizeof *l);
    enum hprof_status status = HPROF_LIMIT;

    if (fd < 0) {
        say_failure(display_name(file), strerror(errno));
        status = HPROF_IO;
    } else if (l == NULL) {
        say_failure(display_name(file), "out of memory");
    } else {
        prepare(l, options);
        status = look(l, fd);
        hprof_close(l->reader);
        stats_free(&l->stats);
        allowance_end(&l->stats.memory);
    }
    if (fd > STDIN_FILENO)
        close(fd);
    free(l);
    return status;
}
