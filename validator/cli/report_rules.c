#include "report_rules.h"

#include <inttypes.h>
#include <string.h>

#include "catalog.h"
#include "numbers.h"

void rules_clear(struct rule_row *rows)
{
    for (size_t i = 0; i < hprof_rule_count(); i++)
        rows[i].found = false;
}

void rules_add(const struct report *report, struct rule_row *rows, const struct hprof_finding *f)
{
    struct rule_row *row = &rows[f->rule];
    char detail[DETAIL_SIZE];

    if (row->found && f->severity <= row->severity)
        return;
    row->found = true;
    row->severity = f->severity;
    row->offset = f->offset;
    row->is_quirk = f->quirk != NULL;
    row->in_baseline = f->in_baseline;
    snprintf(row->path, sizeof row->path, "%s", f->path);
    snprintf(row->detail, sizeof row->detail, "%s", report_detail(report, f, detail));
}

/* The versions of a producer that have a quirk of this rule, as text; NULL if none has. */
static const char *versions_of(size_t profile, size_t rule)
{
    const struct hprof_quirk *quirk;

    for (size_t i = 0; (quirk = hprof_quirk_at(i)) != NULL; i++) {
        if (quirk->profile == profile && quirk->rule == rule && quirk->severity == HPROF_NOTE)
            return quirk->versions;
    }
    return NULL;
}

/* The length of the first sentence, without its full stop. */
static size_t sentence_length(const char *text)
{
    const char *end = strstr(text, ". ");
    return end != NULL ? (size_t)(end - text) : strlen(text) - 1;
}

/* "; a known quirk of hotspot (8 to 17)" if all or some findings are; otherwise the producers that break the rule. */
static void describe_who(const struct report *report, const struct rule_row *row, size_t rule, char *text, size_t size)
{
    const struct hprof_summary *s = &report->summary;
    size_t profile = s->quirks[rule] > 0 ? s->producer_profile : row->is_quirk ? s->profile : 0;
    const char *versions = versions_of(profile, rule), *producers = hprof_rule_at(rule)->producers;
    size_t sentence = sentence_length(producers);
    char some[48] = "";

    text[0] = '\0';
    if (versions != NULL) {
        if (s->quirks[rule] > 0 && s->quirks[rule] < s->totals[rule])
            snprintf(some, sizeof some, "%" PRIu64 " of them ", s->quirks[rule]);
        snprintf(text, size, "; %sa known quirk of %s (%s)", some, hprof_profile_at(profile)->name, versions);
    } else if (strncmp(producers, "None", 4) != 0 && sentence < size / 2) {
        snprintf(text, size, "; producers: %.*s", (int)sentence, producers);
    }
}

/* "; 3 more than in the baseline" */
static void describe_change(const struct report *report, const struct rule_row *row, size_t rule, char *text, size_t size)
{
    uint64_t total = report->summary.totals[rule];

    text[0] = '\0';
    if (row->in_baseline)
        snprintf(text, size, "; in the baseline");
    else if (report->baseline_kind == BASELINE_HAS_FILE)
        snprintf(text, size, "; %" PRIu64 " more than in the baseline", total - report->baseline[rule]);
}

const char *rules_describe(const struct report *report, const struct rule_row *rows, size_t rule, char text[RULE_TEXT_SIZE])
{
    const struct rule_row *row = &rows[rule];
    const struct hprof_rule *r = hprof_rule_at(rule);
    uint64_t total = report->summary.totals[rule];
    char who[384], place[PLACE_SIZE], change[64];

    describe_who(report, row, rule, who, sizeof who);
    describe_change(report, row, rule, change, sizeof change);
    report_place(report, r, row->offset, place);
    snprintf(text, RULE_TEXT_SIZE, "%" PRIu64 " finding%s%s%s%s; required: %s%s", total, plural(total),
             place[0] == '\0' ? ""
             : total > 1      ? ", first "
                              : " ",
             place, change, r->summary, who);
    return text;
}
