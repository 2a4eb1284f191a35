/* hprof-validate: checks the dumps named on the command line and reports the findings. The library does the checking; this file
 * opens the files, drives the reports and computes the exit status.
 *
 * The status is the gravest of all files: 0 valid, 1 invalid, 3 not readable (or the output not writable), 4 a limit was reached;
 * 2 is wrong usage. No file and no failed write ends the tool in any other way: SIGPIPE and SIGXFSZ are ignored, since the failed
 * write reports the same. SIGINT, SIGTERM, SIGHUP and the like end it at once, as they end any program, with truncated output. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baseline.h"
#include "catalog.h"
#include "messages.h"
#include "options.h"
#include "output.h"
#include "parts_beside.h"
#include "processors.h"
#include "progress.h"
#include "repair.h"
#include "report.h"
#include "show.h"
#include "spread.h"
#include "stats/stats.h"
#include "streams.h"
#include "wrap.h"

#define EXPLAIN_WIDTH 100
#define HELP_WIDTH 80

const char program_name[] = "hprof-validate";

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

struct run {
    const struct cli_options *options;
    struct hprof_options library;
    struct report report;
    struct progress progress;
    struct baseline baseline;
    uint64_t *baseline_numbers; /* of the present file */
    const char *file;
    struct output output;
    bool summarized; /* the present file has its summary */
    bool is_allowed; /* it is incomplete, as its parts show, and --allow-incomplete is given */
    bool stopped;    /* a write failed, so the report cannot go on */
    bool is_misled;  /* a file was compared with a baseline of another profile */
    enum hprof_status worst;
};

/* The statuses are in the order of gravity. */
static enum hprof_status worse(enum hprof_status a, enum hprof_status b)
{
    return a > b ? a : b;
}

static bool reporting(const struct run *run)
{
    return run->output.stream != NULL && !run->stopped;
}

/* The name of the present file in messages. */
static const char *shown_name(const struct run *run)
{
    return display_name(input_name(run->file, run->options->stdin_name));
}

/* The profile auto chooses is known only now. */
static void compare_profiles(struct run *run, const struct hprof_summary *summary)
{
    const char *now = hprof_profile_at(summary->profile)->name;
    const char *was = baseline_profile(&run->baseline, input_name(run->file, run->options->stdin_name));
    char after[160];

    if (was == NULL || !is_checked(summary) || strcmp(was, now) == 0)
        return;
    run->is_misled = true;
    snprintf(after, sizeof after, "' was checked by the profile %.40s, and now by %.40s", was, now);
    say_usage("--baseline: '", shown_name(run), after);
}

static void show_summary(struct run *run, bool opened, const struct hprof_summary *summary)
{
    progress_end(&run->progress);
    run->summarized = true;
    if (summary->failure[0] != '\0')
        say_failure(shown_name(run), summary->failure);
    compare_profiles(run, summary);
    if (!reporting(run))
        return;
    report_file(&run->report, run->file, opened, summary);
    run->stopped = !output_good(&run->output);
}

static int on_summary(void *context, const struct hprof_summary *summary)
{
    struct run *run = context;
    struct hprof_summary with_parts = *summary;
    struct beside beside;

    look_beside(run->file, &with_parts, run->options->allow_incomplete, &beside);
    run->report.parts = beside.parts;
    snprintf(run->report.whole, sizeof run->report.whole, "%s", beside.whole);
    run->is_allowed = beside.is_allowed;
    /* A file that cannot be read at all is reported like a missing file. */
    show_summary(context, summary->status != HPROF_IO || summary->bytes > 0, &with_parts);
    return 0;
}

static int on_finding(void *context, const struct hprof_finding *finding)
{
    struct run *run = context;
    if (reporting(run)) {
        report_finding(&run->report, finding);
        run->stopped = !output_good(&run->output);
    }
    return 0;
}

static int on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct run *run = context;
    progress_update(&run->progress, bytes, total);
    return 0;
}

/* For a file without a summary from the library. */
static void show_failure(struct run *run, bool opened, enum hprof_status status, const char *failure)
{
    struct hprof_summary summary;

    hprof_summary_init(&summary);
    summary.status = status;
    summary.version = summary.producer = "";
    summary.profile = run->options->profile;
    snprintf(summary.failure, sizeof summary.failure, "%s", failure);
    show_summary(run, opened, &summary);
}

/* Returns -1 if the file cannot be read, and *failure says why. */
static int open_input(const char *file, const char **failure)
{
    struct stat stat;
    int fd = STDIN_FILENO;

    if (strcmp(file, "-") != 0) {
        do {
            fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        } while (fd < 0 && errno == EINTR);
    } else if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        *failure = "closed, or open for writing only";
        return -1;
    }
    if (fd >= 0 && fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode)) {
        if (fd != STDIN_FILENO) { /* files_expand() replaced directories that have dumps */
            close(fd);
            *failure = "a directory without files whose names end in .hprof or .hprof.gz";
            return -1;
        }
        fd = -1;
        errno = EISDIR;
    }
    *failure = fd < 0 ? strerror(errno) : NULL;
    return fd;
}

static void begin_file(struct run *run, const char *file)
{
    run->file = file;
    run->summarized = run->is_allowed = false;
    run->report.parts = (struct parts_beside){0};
    run->report.whole[0] = '\0';
}

static enum hprof_status check_file(struct run *run, const char *file)
{
    begin_file(run, file);
    progress_begin(&run->progress, shown_name(run));

    enum hprof_status status = HPROF_IO;
    const char *failure;
    int fd = open_input(file, &failure);
    if (fd < 0) {
        show_failure(run, false, status, failure);
    } else {
        run->report.baseline_kind =
            baseline_of(&run->baseline, input_name(file, run->options->stdin_name), run->baseline_numbers);
        if (run->report.baseline_kind != BASELINE_NONE)
            run->library.baseline = run->report.baseline = run->baseline_numbers;
        status = hprof_validate_fd(fd, &run->library, NULL);
        if (fd != STDIN_FILENO)
            close(fd);
        progress_end(&run->progress);
        if (!run->summarized) {
            bool limit = status == HPROF_LIMIT;
            status = limit ? HPROF_LIMIT : HPROF_IO;
            show_failure(run, true, status, limit ? "out of memory" : "the dump cannot be checked");
        }
    }
    if (reporting(run)) {
        report_file_end(&run->report, monotonic_seconds() - run->progress.began);
        run->stopped = !output_good(&run->output);
    }
    return run->is_allowed ? HPROF_VALID : status;
}

/* Reports what another thread found. */
static bool report_result(void *context, const char *file, const struct spread_result *result)
{
    struct run *run = context;

    begin_file(run, file);
    run->report.baseline = result->baseline;
    run->report.baseline_kind = result->baseline_kind;
    if (result->summary != NULL)
        on_summary(run, result->summary);
    else
        show_failure(run, result->is_opened, result->status, result->failure);
    run->worst = worse(run->worst, run->is_allowed ? HPROF_VALID : result->status);
    for (size_t i = 0; i < result->finding_count; i++)
        on_finding(run, &result->findings[i]);
    if (reporting(run)) {
        report_file_end(&run->report, result->seconds);
        run->stopped = !output_good(&run->output);
    }
    return !run->stopped;
}

/* With --jobs, a file for each thread; threads that are left check parts of the files. Without, one file after the other. */
static enum hprof_status check_files(struct run *run)
{
    const struct cli_options *options = run->options;
    unsigned files = options->file_count > 0 ? (unsigned)options->file_count : 1;
    unsigned at_once = options->jobs == 0 ? 1 : options->jobs < files ? options->jobs : files;
    run->library.threads = (options->jobs == 0 ? processor_count() : options->jobs) / at_once;
    const struct spread spread = {
        .library = &run->library,
        .files = options->files,
        .file_count = options->file_count,
        .jobs = at_once,
        .baseline = &run->baseline,
        .stdin_name = options->stdin_name,
        .wants_findings = run->library.on_finding != NULL,
        .open = open_input,
        .report = report_result,
        .context = run,
    };

    if (at_once > 1 && spread_files(&spread))
        return run->worst;
    for (int i = 0; i < options->file_count && !run->stopped; i++)
        run->worst = worse(run->worst, check_file(run, options->files[i]));
    return run->worst;
}

static const struct report_writer *writer_for(const struct cli_options *options)
{
    bool only_verdict = options->quiet > 0 && options->output == NULL;

    switch (options->format) {
    case FORMAT_CONCISE:
        if (only_verdict)
            return &report_verdict;
        return options->verbose ? &report_full : options->found.has_directory ? &report_many : &report_concise;
    case FORMAT_FULL:
        return only_verdict ? &report_verdict : &report_full;
    case FORMAT_LINES:
        return only_verdict ? &report_verdict : &report_lines;
    case FORMAT_GITHUB:
        return &report_github;
    case FORMAT_JSON:
        return &report_json;
    case FORMAT_JSONL:
        return &report_jsonl;
    case FORMAT_SARIF:
        return &report_sarif;
    case FORMAT_JUNIT:
    case FORMAT_HTML: /* of --stats only */
        break;
    }
    return &report_junit;
}

static void prepare(struct run *run, const struct cli_options *options, bool wanted)
{
    run->options = options;
    progress_init(&run->progress, options->progress);

    hprof_options_init(&run->library);
    run->library.profile = options->profile;
    run->library.max_errors = wanted ? options->max_errors : 1;
    run->library.max_memory = options->max_memory;
    run->library.werror = options->werror;
    run->library.allow_incomplete = options->allow_incomplete;
    run->library.severities = options->severities;
    run->library.on_summary = on_summary;
    run->library.on_finding = wanted ? on_finding : NULL;
    run->library.on_progress = run->progress.wanted ? on_progress : NULL;
    run->library.context = run;

    run->report = (struct report){
        .apart = options->output != NULL,
        .width = WRAP_NEVER,
        .decimal = options->decimal,
        .profile = options->profile,
        .stdin_name = options->stdin_name,
        .max_errors = options->max_errors,
        .severities = options->severities,
        .file_count = (size_t)options->file_count,
    };
}

static enum hprof_status begin_report(struct run *run, const struct cli_options *options)
{
    if (!report_prepare(&run->report, writer_for(options))) {
        say_failure("report", "out of memory");
        return HPROF_LIMIT;
    }
    enum hprof_status status = output_open(&run->output, options);
    if (status == HPROF_VALID) {
        run->report.color = terminal_wants_color(options->color, run->output.fd);
        run->report.width = terminal_width(run->output.fd, WRAP_NEVER);
        report_begin(&run->report, run->output.stream);
    }
    return status;
}

static enum hprof_status end_report(struct run *run, enum hprof_status worst)
{
    if (run->report.shortened) {
        say_failure("report", "shortened: out of memory");
        worst = HPROF_LIMIT;
    }
    report_end(&run->report, worst);
    return output_close(&run->output) ? worst : worse(worst, HPROF_IO);
}

static enum hprof_status check_all(const struct cli_options *options)
{
    struct run run = {0};
    bool wanted = options->quiet < 2 || options->output != NULL;

    prepare(&run, options, wanted);
    enum hprof_status status = baseline_load(&run.baseline, options->baseline);
    const char *profile = hprof_profile_at(options->profile)->name;
    if (status == HPROF_VALID && strcmp(profile, "auto") != 0 &&
        !baseline_has_profile(&run.baseline, options->baseline, profile))
        status = HPROF_USAGE;
    run.baseline_numbers = calloc(hprof_rule_count(), sizeof *run.baseline_numbers);
    if (status == HPROF_VALID && run.baseline_numbers == NULL) {
        say_failure("baseline", "out of memory");
        status = HPROF_LIMIT;
    }
    if (status == HPROF_VALID && wanted)
        status = begin_report(&run, options);
    if (status == HPROF_VALID) {
        status = check_files(&run);
        if (run.is_misled)
            status = worse(status, HPROF_USAGE);
        if (wanted)
            status = end_report(&run, status);
    }
    report_release(&run.report);
    baseline_free(&run.baseline);
    free(run.baseline_numbers);
    return status;
}

/* ---- The catalog ------------------------------------------------------------------------------------------------- */

static enum hprof_status show_catalog(const struct cli_options *options)
{
    bool as_json = options->format == FORMAT_JSON;
    struct output output;
    enum hprof_status status = output_open(&output, options);
    if (status != HPROF_VALID)
        return status;

    FILE *out = output.stream;
    size_t width = terminal_width(output.fd, options->action == ACTION_HELP ? HELP_WIDTH : EXPLAIN_WIDTH);
    width = width < 40 ? 40 : width > EXPLAIN_WIDTH ? EXPLAIN_WIDTH : width;
    switch (options->action) {
    case ACTION_EXPLAIN:
        catalog_explain(out, as_json, options->explain, width);
        break;
    case ACTION_LIST_RULES:
        catalog_rules(out, as_json, terminal_width(output.fd, WRAP_NEVER));
        break;
    case ACTION_LIST_PROFILES:
        catalog_profiles(out, as_json, width);
        break;
    case ACTION_HELP:
        options_help(out, width);
        break;
    case ACTION_VERSION:
        fprintf(out, "%s %s\n", program_name, HPROF_VERSION);
        break;
    case ACTION_VALIDATE:
    case ACTION_SHOW:
    case ACTION_REPAIR:
    case ACTION_STATS:
        break;
    }
    return output_close(&output) ? HPROF_VALID : HPROF_IO;
}

int main(int argc, char **argv)
{
    struct cli_options options;

    fill_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);

    enum hprof_status status = options_parse(&options, argc, argv);
    if (status == HPROF_VALID)
        status = options.action == ACTION_VALIDATE ? check_all(&options)
                 : options.action == ACTION_SHOW   ? show_file(&options)
                 : options.action == ACTION_REPAIR ? repair_file(&options)
                 : options.action == ACTION_STATS  ? stats_file(&options)
                                                   : show_catalog(&options);
    options_free(&options);
    return (int)status;
}
