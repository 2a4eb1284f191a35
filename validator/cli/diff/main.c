/* hprof-diff: compares two dumps of the same heap. The status is that of diff: 0 no difference, 1 differences, 2 trouble. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "content/content.h"
#include "content/ignored.h"
#include "decimals.h"
#include "diff.h"
#include "messages.h"
#include "option_rows.h"
#include "processors.h"
#include "redacted.h"
#include "streams.h"
#include "terminal.h"
#include "which.h"

enum { SAME, DIFFERENT, TROUBLE };
enum {
    HELP_WIDTH = 80,
    DIFFERENCES_SHOWN = 10,
    DIFFERENCES_MOST = 10000,
    JOBS_MOST = 1024,
    /* Much more than a heap dump segment of HotSpot (1 MB), with which a run of objects ends, too: few runs end within a segment,
     * where those of a file with other offsets end at other objects. */
    COUNTED_WITHIN = 16 << 20
};

const char program_name[] = "hprof-diff";

enum way { BY_EITHER, BY_ID, BY_CONTENT };

struct options {
    bool is_json, is_quiet, is_redaction, wants_names;
    enum way way;
    const char *of_content; /* an option that was given and goes with --by content alone */
    unsigned rounds, ignored;
    uint64_t heap_dumps[SIDES];
    const char *constants; /* NULL if not given */
    unsigned jobs;
    size_t most;
};

/* By default, glibc keeps up to 64 MiB for each thread of what was freed. */
static void give_freed_memory_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 18);
#endif
}

static bool read_number(const char *option, uint64_t least, uint64_t most, uint64_t *value)
{
    if (parse_count(optarg, value) && *value >= least && *value <= most)
        return true;
    say_usage(option, optarg, "'");
    return false;
}

static bool take_way(struct options *options)
{
    static const char *const names[] = {"auto", "id", "content"};

    for (unsigned way = 0; way < sizeof names / sizeof names[0]; way++) {
        if (strcmp(optarg, names[way]) == 0) {
            options->way = (enum way)way;
            return true;
        }
    }
    say_usage("--by takes id, content or auto, not '", optarg, "'");
    return false;
}

static bool take_ignored(struct options *options)
{
    const char *at = optarg;

    for (;;) {
        size_t size = strcspn(at, ","), i = 0;

        while (i < IGNORED && (strlen(ignored_names[i]) != size || memcmp(ignored_names[i], at, size) != 0))
            i++;
        if (i == IGNORED)
            break;
        options->ignored |= 1U << i;
        if (at[size] == '\0')
            return true;
        at += size + 1;
    }
    say_usage("--ignore takes payload, identity-hash and order-of-maps, separated by commas, not '", optarg, "'");
    return false;
}

static bool take_heap_dumps(struct options *options)
{
    char first[32];
    size_t size = strcspn(optarg, ",");
    const char *second = optarg[size] == ',' ? optarg + size + 1 : first;

    snprintf(first, sizeof first, "%.*s", (int)(size < sizeof first ? size : sizeof first - 1), optarg);
    if (size < sizeof first && parse_count(first, &options->heap_dumps[0]) && parse_count(second, &options->heap_dumps[1]) &&
        options->heap_dumps[0] > 0 && options->heap_dumps[1] > 0)
        return true;
    say_usage("--heap-dumps takes one whole number from 1 on, or two with a comma, not '", optarg, "'");
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
    case OPTION_BY:
        return take_way(options);
    case OPTION_ROUNDS:
        options->of_content = "--rounds";
        if (!read_number("--rounds takes a whole number from 0 to 1000, not '", 0, ROUNDS_MOST, &number))
            return false;
        options->rounds = (unsigned)number;
        return true;
    case OPTION_IGNORE:
        options->of_content = "--ignore";
        return take_ignored(options);
    case OPTION_HEAP_DUMPS:
        options->of_content = "--heap-dumps";
        return take_heap_dumps(options);
    case OPTION_ASSERT_REDACTED:
        options->is_redaction = true;
        return true;
    case OPTION_CONSTANTS:
        options->constants = optarg;
        return true;
    case OPTION_NAMES:
        options->wants_names = true;
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

static bool refuse_stream(const struct side *side)
{
    say_failure(side->file, "not a regular file: both dumps are read more than once");
    return false;
}

/* `count_within`: see hprof/read.h. */
static bool open_side(struct side *side, unsigned jobs, uint64_t count_within)
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
    read.count_within = count_within;
    side->fd = open(side->file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe is refused, not waited for */
    if (side->fd < 0) {
        say_failure(side->file, strerror(errno));
        return false;
    }
    if (lseek(side->fd, 0, SEEK_CUR) < 0)
        return refuse_stream(side);
    enum hprof_status status = hprof_open_fd(side->fd, &read, &side->reader);
    if (status != HPROF_VALID) {
        say_failure(side->file, side->reader != NULL ? hprof_failure(side->reader) : "out of memory");
        return false;
    }
    return (hprof_read_header(side->reader, &side->header) == 1 && side->header.can_seek) || refuse_stream(side);
}

static int check_redaction(struct diff *diff, struct redaction *redaction, const struct options *options)
{
    redaction->diff = diff;
    redaction->wants_names = options->wants_names;
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
        if (!flush_standard_output())
            return TROUBLE;
    }
    return redaction_is_clean(redaction) ? SAME : DIFFERENT;
}

static bool print_report(const struct options *options, struct diff *diff, struct content *content)
{
    if (options->is_quiet)
        return true;
    if (content == NULL)
        (options->is_json ? diff_print_json : diff_print_text)(diff, stdout);
    else
        (options->is_json ? content_print_json : content_print_text)(content, stdout);
    return flush_standard_output();
}

static int status_of(const struct diff *diff, bool is_different)
{
    return is_different ? DIFFERENT : diff->sides[0].damage + diff->sides[1].damage > 0 ? TROUBLE : SAME;
}

static int compare_by_id(struct diff *diff, const struct options *options)
{
    if (diff->sides[0].header.id_size != diff->sides[1].header.id_size) {
        say_failure(diff->sides[1].file, "its IDs have another size than those of the first dump; see --by content");
        return TROUBLE;
    }
    diff->difference_most = options->is_quiet ? 0 : options->most;
    for (unsigned side = 0; side < SIDES; side++)
        hprof_seek(diff->sides[side].reader, NULL);
    if (!diff_join(diff, options->jobs)) {
        say_failure(diff->sides[diff->failed_side].file, diff->failure);
        return TROUBLE;
    }
    return print_report(options, diff, NULL) ? status_of(diff, !diff_is_equal(diff)) : TROUBLE;
}

static int compare_by_content(struct diff *diff, const struct options *options)
{
    struct content content = {.diff = diff,
                              .ignored = options->ignored,
                              .rounds = options->rounds,
                              .jobs = options->jobs,
                              .heap_dumps = {options->heap_dumps[0], options->heap_dumps[1]},
                              .most = options->is_quiet ? 0 : options->most};
    int status = TROUBLE;

    if (!content_compare(&content))
        say_failure(diff->sides[content.failed_side].file, content.failure);
    else if (print_report(options, diff, &content))
        status = status_of(diff, content_is_different(&content));
    content_free(&content);
    return status;
}

static int compare(struct diff *diff, const struct options *options)
{
    enum way way = options->way;

    if (way == BY_EITHER && options->of_content != NULL) {
        way = BY_CONTENT;
    } else if (way == BY_EITHER && diff->sides[0].header.id_size != diff->sides[1].header.id_size) {
        way = BY_CONTENT;
        diff->reason = REASON_ID_SIZE;
    } else if (way == BY_EITHER) {
        if (!find_shared(diff, options->jobs)) {
            say_failure(diff->sides[diff->failed_side].file, diff->failure);
            return TROUBLE;
        }
        way = shares_ids(diff) ? BY_ID : BY_CONTENT;
        diff->reason = REASON_SHARE;
    }
    return way == BY_ID ? compare_by_id(diff, options) : compare_by_content(diff, options);
}

static int compare_files(char **files, const struct options *options, struct redaction *redaction)
{
    struct diff diff = {.sides = {{.file = files[0], .fd = -1}, {.file = files[1], .fd = -1}}};
    uint64_t count_within = options->is_redaction || options->way == BY_CONTENT ? 0 : COUNTED_WITHIN;
    int status = TROUBLE;

    if (open_side(&diff.sides[0], options->jobs, count_within) && open_side(&diff.sides[1], options->jobs, count_within))
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
    struct options options = {.most = DIFFERENCES_SHOWN, .jobs = processor_count(), .rounds = ROUNDS, .heap_dumps = {1, 1}};
    struct redaction redaction = {.leak_count = 0};
    struct command_line line;
    size_t count;
    const struct option_row *rows = option_rows(&count);
    int code;

    give_freed_memory_back();
    fill_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    command_line_init(&line, rows, count, argc, argv);
    while ((code = command_line_next(&line)) != -1) {
        if (code == OPTION_HELP || code == OPTION_VERSION) {
            if (code == OPTION_HELP)
                print_help(stdout, terminal_width(STDOUT_FILENO, HELP_WIDTH));
            else
                printf("%s %s\n", program_name, HPROF_VERSION);
            return flush_standard_output() ? SAME : TROUBLE;
        }
        if (!take_option(&options, code))
            return TROUBLE;
    }
    if (argc - optind != 2) {
        say_usage("two files are needed, ", "A and B", "");
        return TROUBLE;
    }
    if (options.is_redaction && options.way != BY_EITHER) {
        say_usage("", "--by", " does not go with --assert-redacted");
        return TROUBLE;
    }
    if (options.of_content != NULL && (options.way == BY_ID || options.is_redaction)) {
        say_usage("", options.of_content, " goes with --by content");
        return TROUBLE;
    }
    if ((options.constants != NULL || options.wants_names) && !options.is_redaction) {
        say_usage("", options.constants != NULL ? "--constants" : "--names", " goes with --assert-redacted");
        return TROUBLE;
    }
    if (options.constants != NULL && !redaction_constants(&redaction, options.constants)) {
        say_usage("--constants takes primitive types with values, such as char=42,int=-1, not '", options.constants, "'");
        return TROUBLE;
    }
    return compare_files(argv + optind, &options, &redaction);
}
