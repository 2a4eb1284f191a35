#include "catalog.h"

#include <ctype.h>
#include <string.h>

#include "json.h"
#include "messages.h"
#include "wrap.h"

#ifndef HPROF_SPEC_URL /* the build sets it */
#define HPROF_SPEC_URL "SPEC.md"
#endif
#define SUMMARY_COLUMN 67 /* of the table of rules */
#define TABLE_WIDTH 110

const char *severity_name(enum hprof_severity severity)
{
    switch (severity) {
    case HPROF_OFF:
        return "off";
    case HPROF_NOTE:
        return "note";
    case HPROF_WARNING:
        return "warning";
    case HPROF_ERROR:
        break;
    }
    return "error";
}

/* The next quirk of a profile from *index on; NULL after the last. */
static const struct hprof_quirk *next_quirk(size_t *index, size_t profile)
{
    const struct hprof_quirk *quirk;
    while ((quirk = hprof_quirk_at((*index)++)) != NULL) {
        if (quirk->profile == profile)
            break;
    }
    return quirk;
}

bool is_of_gzip(const struct hprof_rule *rule)
{
    return strcmp(rule->family, "GZ") == 0;
}

enum hprof_severity severity_in(size_t rule, size_t profile)
{
    const struct hprof_quirk *quirk;
    for (size_t i = 0; (quirk = next_quirk(&i, profile)) != NULL;) {
        if (quirk->rule == rule && quirk->shape == NULL)
            return quirk->severity;
    }
    return profile == 0 ? hprof_rule_at(rule)->severity : hprof_rule_at(rule)->lax;
}

void rule_link(const struct hprof_rule *rule, char link[RULE_LINK_SIZE])
{
    snprintf(link, RULE_LINK_SIZE, "%s#%s", HPROF_SPEC_URL, rule->id);
    for (char *c = strrchr(link, '#'); *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

static void begin_json(struct json *json, FILE *out)
{
    json_begin(json, out);
    json_put_object(json, "tool");
    json_put_string(json, "name", program_name);
    json_put_string(json, "version", HPROF_VERSION);
    json_close(json);
}

static void rules_as_json(FILE *out, const bool *chosen)
{
    struct json json;
    char link[RULE_LINK_SIZE];
    begin_json(&json, out);
    json_put_array(&json, "rules");
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        const struct hprof_rule *rule = hprof_rule_at(i);
        if (chosen != NULL && !chosen[i])
            continue;
        json_put_object(&json, NULL);
        json_put_string(&json, "id", rule->id);
        json_put_string(&json, "name", rule->name);
        json_put_string(&json, "family", rule->family);
        json_put_string(&json, "severity", severity_name(rule->severity));
        json_put_string(&json, "lax", severity_name(rule->lax));
        json_put_bool(&json, "framing", rule->framing);
        json_put_string(&json, "clause", rule->clause);
        rule_link(rule, link);
        json_put_string(&json, "link", link);
        json_put_string(&json, "rows", rule->rows);
        json_put_string(&json, "summary", rule->summary);
        json_put_string(&json, "why", rule->why);
        json_put_string(&json, "producers", rule->producers);
        json_put_string(&json, "readers", rule->readers);
        json_put_string(&json, "example", rule->example);
        json_close(&json);
    }
    json_close(&json);
    json_finish(&json);
}

/* A table if there is room for it, otherwise a paragraph for each rule. */
void catalog_rules(FILE *out, bool as_json, size_t width)
{
    bool table = width >= TABLE_WIDTH;

    if (as_json) {
        rules_as_json(out, NULL);
        return;
    }
    if (table)
        fprintf(out, "%-8s  %-29s  %-7s  %-7s  %-6s  %s\n", "RULE", "NAME", "STRICT", "OTHERS", "CLAUSE", "WHAT IT REQUIRES");
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        const struct hprof_rule *rule = hprof_rule_at(i);
        const char *strict = severity_name(rule->severity), *others = rule->framing ? "framing" : severity_name(rule->lax);
        char line[512];
        if (table) {
            fprintf(out, "%-8s  %-29s  %-7s  %-7s  %-6s", rule->id, rule->name, strict, others, rule->clause);
            wrap(out, rule->summary, SUMMARY_COLUMN, SUMMARY_COLUMN - 2, width);
        } else {
            snprintf(line, sizeof line, "%s %s (strict: %s; others: %s; SPEC %s): %s", rule->id, rule->name, strict, others,
                     rule->clause, rule->summary);
            wrap_hanging(out, line, 4, 0, width);
        }
    }
}

/* ---- One rule at length ------------------------------------------------------------------------------------------ */

static void explain_severity(FILE *out, size_t rule, size_t width)
{
    const struct hprof_profile *profile;
    const struct hprof_quirk *quirk;

    fputs("\nSeverity\n", out);
    if (hprof_rule_at(rule)->framing)
        wrap(out, "A framing rule: it cannot be disabled or softened, because nothing after such an error can be checked.", 4,
             0, width);
    for (size_t p = 0; (profile = hprof_profile_at(p)) != NULL; p++) {
        enum hprof_severity severity = severity_in(rule, p);
        const char *counts_as = severity == HPROF_OFF ? "not checked" : severity_name(severity);
        if (strcmp(profile->name, "auto") == 0)
            counts_as = "as in the profile of the likely producer, or in strict if it is unknown";
        fprintf(out, "    %-12s", profile->name);
        wrap(out, counts_as, 16, 16, width);
        for (size_t i = 0; (quirk = next_quirk(&i, p)) != NULL;) {
            if (quirk->rule != rule || quirk->shape == NULL)
                continue;
            fprintf(out, "%16s%s if", "", severity_name(quirk->severity));
            wrap(out, quirk->shape, 18, 16 + strlen(severity_name(quirk->severity)) + 3, width);
        }
    }
}

static void explain_producers(FILE *out, size_t rule, size_t width)
{
    const struct hprof_quirk *quirk;

    fputs("\nProducers\n", out);
    wrap(out, hprof_rule_at(rule)->producers, 4, 0, width);
    for (size_t i = 0; (quirk = hprof_quirk_at(i)) != NULL; i++) {
        if (quirk->rule != rule)
            continue;
        const char *profile = hprof_profile_at(quirk->profile)->name;
        fprintf(out, "    %s:", profile);
        wrap(out, quirk->versions, 6, 4 + strlen(profile) + 1, width);
        wrap(out, quirk->evidence, 6, 0, width);
    }
}

/* Not wrapped, because lines matter in the notation of corpus/. */
static void explain_example(FILE *out, const char *example)
{
    fputs("\nExample\n", out);
    while (*example != '\0') {
        size_t length = strcspn(example, "\n");
        fprintf(out, "%s%.*s\n", length > 0 ? "    " : "", (int)length, example);
        example += length;
        example += *example == '\n';
    }
}

static void explain_rule(FILE *out, size_t index, size_t width)
{
    const struct hprof_rule *rule = hprof_rule_at(index);
    char link[RULE_LINK_SIZE];

    rule_link(rule, link);
    fprintf(out, "%s %s\n\n    ", rule->id, rule->name);
    wrap(out, rule->summary, 4, 4, width);
    fprintf(out, "    %s, section %s\n", link, rule->clause);

    explain_severity(out, index, width);
    fputs("\nWhy\n", out);
    wrap(out, rule->why, 4, 0, width);
    explain_producers(out, index, width);
    fputs("\nReaders\n", out);
    wrap(out, rule->readers, 4, 0, width);
    explain_example(out, rule->example);
}

void catalog_explain(FILE *out, bool as_json, const bool *chosen, size_t width)
{
    const char *between = "";
    if (as_json) {
        rules_as_json(out, chosen);
        return;
    }
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (!chosen[i])
            continue;
        fputs(between, out);
        explain_rule(out, i, width);
        between = "\n\n";
    }
}

/* ---- Profiles ---------------------------------------------------------------------------------------------------- */

static void profiles_as_json(FILE *out)
{
    const struct hprof_profile *profile;
    const struct hprof_quirk *quirk;
    struct json json;

    begin_json(&json, out);
    json_put_array(&json, "profiles");
    for (size_t p = 0; (profile = hprof_profile_at(p)) != NULL; p++) {
        json_put_object(&json, NULL);
        json_put_string(&json, "name", profile->name);
        json_put_string(&json, "description", profile->description);
        json_put_array(&json, "quirks");
        for (size_t i = 0; (quirk = next_quirk(&i, p)) != NULL;) {
            json_put_object(&json, NULL);
            json_put_string(&json, "rule", hprof_rule_at(quirk->rule)->id);
            json_put_string(&json, "severity", severity_name(quirk->severity));
            json_put_string(&json, "shape", quirk->shape);
            json_put_string(&json, "versions", quirk->versions);
            json_put_string(&json, "evidence", quirk->evidence);
            json_close(&json);
        }
        json_close(&json);
        json_close(&json);
    }
    json_close(&json);
    json_finish(&json);
}

void catalog_profiles(FILE *out, bool as_json, size_t width)
{
    const struct hprof_profile *profile;
    const struct hprof_quirk *quirk;

    if (as_json) {
        profiles_as_json(out);
        return;
    }
    for (size_t p = 0; (profile = hprof_profile_at(p)) != NULL; p++) {
        fprintf(out, "%s%-12s", p > 0 ? "\n" : "", profile->name);
        wrap(out, profile->description, 12, 12, width);
        for (size_t i = 0; (quirk = next_quirk(&i, p)) != NULL;) {
            fprintf(out, "  %-8s  %-8s", hprof_rule_at(quirk->rule)->id, severity_name(quirk->severity));
            wrap(out, quirk->shape != NULL ? quirk->shape : "in any shape", 20, 20, width);
            wrap(out, quirk->versions, 22, 0, width);
            wrap(out, quirk->evidence, 22, 0, width);
        }
    }
}
