/* hprof-diff: compares two dumps of the same heap. The status is that of diff: 0 no difference, 1 differences, 2 trouble. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decimals.h"
#include "diff.h"
#include "messages.h"
#include "option_rows.h"
#include "processors.h"
#include "redacted.h"
#include "terminal.h"

enum { SAME, DIFFERENT, TROUBLE };
enum { HELP_WIDTH = 80, DIFFERENCES_SHOWN = 10, DIFFERENCES_MOST = 10000, JOBS_MOST = 1024 };

const char program_name[] = "hprof-diff";

struct options {
    bool is_json, is_quiet, is_redaction;
    const char *constants; /* NULL if not given */
    unsigned jobs;
    size_t most;
};

static bool read_number(const char *option, uint64_t least, uint64_t most, uint64_t *value)
{
    if (parse_count(optarg, value) && *value >= least && *value <= most)
        return true;
    say_usage(option, optarg, "'");
    return false;
}

static bool take_option(struct options *options, int code)
{
    uint64_t number;

    switch (code) {
    case OPTION_FORMAT:
        options->is_json = strcmp(optarg, "json") == 0;
        if (options->is_json || strcmp(optarg, "text") == 0)
            return true;
        say_usage("--format takes text or json, not '", optarg, "'");
        return false;
    case OPTION_MAX_DIFFERENCES:
        if (!read_number("--max-differences takes a whole number from 0 to 10000, not '", 0, DIFFERENCES_MOST, &number))
            return false;
        options->most = (size_t)number;
        return true;
    case OPTION_JOBS:
        if (!read_number("--jobs takes a whole number from 1 to 1024, not '", 1, JOBS_MOST, &number))
            return false;
        options->jobs = (unsigned)number;
        return true;
    case OPTION_ASSERT_REDACTED:
        options->is_redaction = true;
        return true;
    case OPTION_CONSTANTS:
        options->constants = optarg;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* what is wrong has been said */
        return false;
    }
}

static int note_summary(void *context, const struct hprof_summary *summary)
{
    ((struct side *)context)->summary = *summary;
    return 0;
}

static bool open_side(struct side *side, unsigned jobs)
{
    struct hprof_read_options read;
    struct hprof_options check;

    hprof_options_init(&check);
    hprof_read_options_init(&read);
    hprof_summary_init(&side->summary);
    hprof_header_init(&side->header);
    check.max_errors = 1;
    check.on_summary = note_summary;
    check.context = side;
    read.check = &check;
    read.threads = jobs;
    side->fd = open(side->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (side->fd < 0) {
        say_failure(side->file, strerror(errno));
        return false;
    }
    enum hprof_status status = hprof_open_fd(side->fd, &read, &side->reader);
    if (status != HPROF_VALID) {
        say_failure(side->file, side->reader != NULL ? hprof_failure(side->reader) : "out of memory");
        return false;
    }
    if (hprof_read_header(side->reader, &side->header) == 1 && side->header.can_seek)
        return true;
    say_failure(side->file, "not a regular file: both dumps are read more than once");
    return false;
}

static bool is_written(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (errno != EPIPE)
        say_failure("standard output", strerror(errno));
    return false;
}

static int check_redaction(struct diff *diff, struct redaction *redaction, const struct options *options)
{
    redaction->diff = diff;
    redaction->leak_most = options->is_quiet ? 0 : options->most;
    if (diff->sides[1].header.compressed) {
        say_failure(diff->sides[1].file, "compressed: the headers of gzip can hold names and comments, which are not checked");
        return TROUBLE;
    }
    if (!redaction_check(redaction)) {
        say_failure(diff->sides[1].file, redaction->failure);
        return TROUBLE;
    }
    if (!options->is_quiet) {
        if (options->is_json)
            redaction_print_json(redaction, stdout);
        else
            redaction_print_text(redaction, stdout);
        if (!is_written())
            return TROUBLE;
    }
    return redaction_is_clean(redaction) ? SAME : DIFFERENT;
}

static int compare(struct diff *diff, const struct options *options)
{
    if (diff->sides[0].header.id_size != diff->sides[1].header.id_size) {
        say_failure(diff->sides[1].file, "its IDs have another size than those of the first dump, and cannot be compared");
        return TROUBLE;
    }
    diff->difference_most = options->is_quiet ? 0 : options->most;
    if (!diff_join(diff)) {
        say_failure(diff->sides[0].file, diff->failure);
        return TROUBLE;
    }
    if (!options->is_quiet) {
        if (options->is_json)
            diff_print_json(diff, stdout);
        else
            diff_print_text(diff, stdout);
        if (!is_written())
            return TROUBLE;
    }
    return !diff_is_equal(diff) ? DIFFERENT : diff->sides[0].damage + diff->sides[1].damage > 0 ? TROUBLE : SAME;
}

static int compare_files(char **files, const struct options *options, struct redaction *redaction)
{
    struct diff diff = {.sides = {{.file = files[0], .fd = -1}, {.file = files[1], .fd = -1}}};
    int status = TROUBLE;

    if (open_side(&diff.sides[0], options->jobs) && open_side(&diff.sides[1], options->jobs))
        status = options->is_redaction ? check_redaction(&diff, redaction, options) : compare(&diff, options);
    for (unsigned side = 0; side < SIDES; side++) {
        hprof_close(diff.sides[side].reader);
        if (diff.sides[side].fd >= 0)
            close(diff.sides[side].fd);
    }
    diff_free(&diff);
    redaction_free(redaction);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.most = DIFFERENCES_SHOWN, .jobs = processor_count()};
    struct redaction redaction = {.leak_count = 0};
    struct command_line line;
    size_t count;
    const struct option_row *rows = option_rows(&count);
    int code;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    command_line_init(&line, rows, count, argc, argv);
    while ((code = command_line_next(&line)) != -1) {
        if (code == OPTION_HELP || code == OPTION_VERSION) {
            if (code == OPTION_HELP)
                print_help(stdout, terminal_width(STDOUT_FILENO, HELP_WIDTH));
            else
                printf("%s %s\n", program_name, HPROF_VERSION);
            return fflush(stdout) == 0 ? SAME : TROUBLE;
        }
        if (!take_option(&options, code))
            return TROUBLE;
    }
    if (argc - optind != 2) {
        say_usage("", "hprof-diff", " takes two files, A and B");
        return TROUBLE;
    }
    if (options.constants != NULL && !options.is_redaction) {
        say_usage("", "--constants", " goes with --assert-redacted");
        return TROUBLE;
    }
    if (options.constants != NULL && !redaction_constants(&redaction, options.constants)) {
        say_usage("--constants takes primitive types with values, such as char=42,int=-1, not '", options.constants, "'");
        return TROUBLE;
    }
    return compare_files(argv + optind, &options, &redaction);
}
