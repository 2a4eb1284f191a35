/* What was found, shown in one of several formats. The interface of the writers, and the only way to them.
 *
 * For each file, in this order: report_file, report_finding for each finding handed out, report_file_end. Writers write
 * as they go; whether all could be written is for the caller to ask of the stream. Only text and JUnit hold the time.
 * The memory for all of it is taken before the first byte is written: a report that was begun comes to its end. */
#ifndef HPROF_CLI_REPORT_H
#define HPROF_CLI_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "hprof/hprof.h"

#define REPORT_TEXT_SIZE 256

struct report {
    const struct report_writer *writer;
    FILE *out;
    bool color;                /* text only */
    size_t width;              /* text only: of the terminal; WRAP_NEVER if it is none */
    bool apart;                /* text only: not where messages go, so what failed is told here as well */
    bool decimal;              /* offsets are shown in decimal */
    size_t profile;            /* as asked for: the summary has the one that was used */
    uint64_t max_errors;       /* as asked for */
    const uint8_t *severities; /* by rule, as in hprof_options */
    const uint64_t *baseline;  /* likewise, for the file at hand */
    size_t file_count;         /* as many will come at the most */
    bool shortened;            /* memory ran out: something is told of in fewer words */

    /* The file at hand, from report_file to report_file_end. */
    const char *file;                /* its name as given */
    struct hprof_summary summary;    /* a copy, */
    uint64_t *totals, *quirks;       /* with its numbers by rule */
    char texts[5][REPORT_TEXT_SIZE]; /* and its strings */
    bool opened;

    void *state; /* the writer's own */
};

struct report_writer {
    size_t (*state_size)(const struct report *report); /* of `state`, which is all 0 at first */
    void (*begin)(struct report *report);
    void (*file)(struct report *report);
    void (*finding)(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *finding);
    void (*file_end)(struct report *report, double seconds);
    void (*end)(struct report *report, enum hprof_status worst);
};

extern const struct report_writer report_summary, report_verdict, report_many, report_text, report_lines, report_github,
    report_json, report_sarif, report_junit;

/* Takes the memory for a report on file_count files; false if there is not so much. */
bool report_prepare(struct report *report, const struct report_writer *writer);
void report_release(struct report *report);

void report_begin(struct report *report, FILE *out);
void report_file(struct report *report, const char *file, bool opened, const struct hprof_summary *summary);
void report_finding(struct report *report, const struct hprof_finding *finding);
void report_file_end(struct report *report, double seconds);
void report_end(struct report *report, enum hprof_status worst);

/* ---- For the writers --------------------------------------------------------------------------------------------- */

/* How many findings of a rule are handed out. */
uint64_t report_shown(const struct report *report, size_t rule);

/* The rule is checked: neither disabled nor off in the profile. */
bool report_checks(const struct report *report, size_t rule);

/* An offset as people want it: in hexadecimal or in decimal. */
#define OFFSET_SIZE 24
const char *report_offset(const struct report *report, uint64_t offset, char text[OFFSET_SIZE]);

/* "at 0x7fff9a"; "" if the offset is not known. */
#define PLACE_SIZE 64
const char *report_place(const struct report *report, const struct hprof_rule *rule, uint64_t offset, char text[PLACE_SIZE]);

/* "expected a; found b, first at 0x10", or what the rule requires if there is no more to say. */
#define DETAIL_SIZE 4096
const char *report_detail(const struct report *report, const struct hprof_finding *finding, char text[DETAIL_SIZE]);

/* Every member of a summary's counts by its name in a report, in a fixed order. */
void report_each_count(const struct hprof_summary *summary, void (*visit)(void *context, const char *name, uint64_t count),
                       void *context);

#endif
