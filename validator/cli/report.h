/* A report in one of several formats, and the interface of their writers.
 *
 * Each file needs these calls in this order: report_file, report_finding for each finding, report_file_end. Writers write at once;
 * the caller checks the stream for errors. Only text and JUnit contain the time. All memory is allocated before the first byte is
 * written, so a report that was begun can be completed. */
#ifndef HPROF_CLI_REPORT_H
#define HPROF_CLI_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "baseline.h"
#include "hprof/hprof.h"
#include "parts_beside.h"

#define REPORT_TEXT_SIZE 256

struct report {
    const struct report_writer *writer;
    FILE *out;
    bool color;                /* text only */
    size_t width;              /* text only: columns of the terminal, or WRAP_NEVER */
    bool apart;                /* the report is not where messages go, so it repeats failures */
    bool decimal;              /* offsets are printed in decimal */
    size_t profile;            /* that the options name; the summary has the one that was used */
    uint64_t max_errors;       /* as in hprof_options */
    const char *stdin_name;    /* of "-"; NULL if options give none */
    const uint8_t *severities; /* as in hprof_options */
    const uint64_t *baseline;  /* as in hprof_options, for the present file */
    enum baseline_kind baseline_kind;
    size_t file_count; /* at most this many files are reported */
    bool shortened;    /* memory ran out, so something was left out */

    /* The present file, from report_file to report_file_end. */
    const char *file; /* its name as given, or the one that options give to standard input */
    const char *name; /* for people: of standard input "standard input", if options give no other */
    bool is_stdin;
    struct hprof_summary summary; /* a copy */
    char hint[REPORT_TEXT_SIZE];  /* of the summary */
    struct parts_beside parts;
    char whole[PATH_MAX]; /* the file beside it of which it is a part; "" for none */
    bool opened;

    void *state; /* the writer's own */
};

struct report_writer {
    size_t (*state_size)(const struct report *report); /* of `state`, which is zeroed */
    void (*begin)(struct report *report);
    void (*file)(struct report *report);
    void (*finding)(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *finding);
    void (*file_end)(struct report *report, double seconds);
    void (*end)(struct report *report, enum hprof_status worst);
};

extern const struct report_writer report_concise, report_verdict, report_many, report_full, report_lines, report_github,
    report_json, report_jsonl, report_sarif, report_junit;

/* Allocates the memory for a report on file_count files. */
bool report_prepare(struct report *report, const struct report_writer *writer);
void report_release(struct report *report);

void report_begin(struct report *report, FILE *out);
void report_file(struct report *report, const char *file, bool opened, const struct hprof_summary *summary);
void report_finding(struct report *report, const struct hprof_finding *finding);
void report_file_end(struct report *report, double seconds);
void report_end(struct report *report, enum hprof_status worst);

/* ---- For the writers --------------------------------------------------------------------------------------------- */

/* Whether the file was read to its end, so that there is a verdict. */
bool is_checked(const struct hprof_summary *summary);
/* Whether a transfer as text changed bytes all over the dump: all findings follow from that. */
bool is_changed_as_text(const struct hprof_summary *summary);

/* Whether nothing in the framing is wrong, and the compressed file, if it is one, is not damaged. */
bool is_well_formed(const struct hprof_summary *summary);

/* Whether the dump has all that it should: it ends, nothing of it was skipped, and no object is missing. */
bool is_complete(const struct hprof_summary *summary);

/* Of an incomplete dump: "at least 12 objects are missing", or why else it is incomplete. */
#define MISSING_SIZE 96
const char *report_missing(const struct hprof_summary *summary, char text[MISSING_SIZE]);

/* All roots of the heap dumps. */
uint64_t count_roots(const struct hprof_summary *summary);

/* How many findings of a rule are handed out. */
uint64_t report_shown(const struct report *report, size_t rule);

/* Whether there are findings to compare with a baseline that lacks the present file. */
bool report_lacks_baseline(const struct report *report);

/* The severity of the rule in the profile that was used and with the options, except --werror; quirks may lower it. */
enum hprof_severity report_severity(const struct report *report, size_t rule);

/* Whether the rule is checked: neither disabled nor off in the profile. */
bool report_checks(const struct report *report, size_t rule);

/* "at 0x7fff9a"; "" if the offset is unknown. */
#define PLACE_SIZE 64
const char *report_place(const struct report *report, const struct hprof_rule *rule, uint64_t offset, char text[PLACE_SIZE]);

/* "expected a; found b, first at 0x10"; if that is empty, what the rule requires. */
#define DETAIL_SIZE 4096
const char *report_detail(const struct report *report, const struct hprof_finding *finding, char text[DETAIL_SIZE]);

/* Visits all counts of a summary by their names in reports, in a fixed order. */
void report_each_count(const struct hprof_summary *summary, void (*visit)(void *context, const char *name, uint64_t count),
                       void *context);

#endif
