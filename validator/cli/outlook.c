#include "outlook.h"

#include <inttypes.h>
#include <string.h>

#include "catalog.h"
#include "closing.h"
#include "messages.h"
#include "numbers.h"
#include "printable.h"
#include "shorten.h"
#include "text_style.h"

#define INDENT 2
#define LINE_SIZE 1024

/* Prints "  likely: " and the text. */
static void print_line(const struct report *report, const char *label, const char *text)
{
    char line[2 * LINE_SIZE];

    snprintf(line, sizeof line, "%*s%s: %s", INDENT, "", label, text);
    cut_to_columns(line, LINE_COLUMNS);
    print_indented_line(report, line + INDENT);
}

/* ---- Known quirks ------------------------------------------------------------------------------------------------ */

/* "REF-002 (460), CLS-004 (104)" of a number for each rule. Returns how many rules have one. */
static unsigned format_counts(const uint64_t *numbers, char *text, size_t size)
{
    unsigned rules = 0;
    size_t used = 0;
    char count[NUMBER_SIZE];

    text[0] = '\0';
    for (size_t rule = 0; rule < hprof_rule_count() && used < size; rule++) {
        if (numbers[rule] == 0)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", rules > 0 ? ", " : "", hprof_rule_at(rule)->id,
                                 format_exact(count, numbers[rule]));
        rules++;
    }
    return rules;
}

static void print_quirks(const struct report *report, bool lists_quirks)
{
    const struct hprof_summary *s = &report->summary;
    bool is_producers = s->producer[0] != '\0' && s->profile == s->producer_profile;
    char label[128], counts[LINE_SIZE - 128], line[LINE_SIZE];
    unsigned rules = format_counts(s->quirk_notes, counts, sizeof counts);

    if (rules == 0)
        return;
    snprintf(label, sizeof label, "known quirk%s of %s%s", plural(rules), is_producers ? "" : "the profile ",
             is_producers ? s->producer : hprof_profile_at(s->profile)->name);
    snprintf(line, sizeof line, "%s%s", counts, lists_quirks ? "" : "; -v lists them");
    print_line(report, label, line);
}

static void print_baseline(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    char line[LINE_SIZE], count[NUMBER_SIZE], state[NUMBER_SIZE + 32];
    size_t used = 0;

    if (report->baseline_kind != BASELINE_HAS_FILE)
        return;
    for (size_t rule = 0; rule < hprof_rule_count() && used < sizeof line; rule++) {
        uint64_t more = s->totals[rule] > report->baseline[rule] ? s->totals[rule] - report->baseline[rule] : 0;
        if (s->totals[rule] == 0 || s->totals[rule] == s->quirk_notes[rule])
            continue;
        if (more > 0)
            snprintf(state, sizeof state, "%s more than in the baseline", format_exact(count, more));
        else
            snprintf(state, sizeof state, "in the baseline");
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s (%s, %s)", used > 0 ? ", " : "",
                                 hprof_rule_at(rule)->id, format_exact(count, s->totals[rule]), state);
    }
    if (used > 0)
        print_line(report, "baseline", line);
}

/* Where another profile is used: how many findings are known quirks of the producer. */
static void print_advice(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    const char *profile = hprof_profile_at(s->producer_profile)->name;
    uint64_t quirks = s->quirk_errors + s->quirk_warnings;
    char line[LINE_SIZE];

    if (s->accepted_by != NULL)
        snprintf(line, sizeof line, "every error is a known quirk of %s: --profile %s accepts it", s->producer, s->accepted_by);
    else if (s->quirk_warnings > 0 && s->errors == 0 && s->quirk_warnings == s->warnings)
        snprintf(line, sizeof line, "every warning is a known quirk of %s: --profile %s makes it a note", s->producer, profile);
    else if (quirks > 0)
        snprintf(line, sizeof line,
                 "%" PRIu64 " of %" PRIu64 " errors and warnings are known quirks of %s: --profile %s makes them notes", quirks,
                 s->errors + s->warnings, s->producer, profile);
    else
        return;
    print_line(report, "quirks", line);
}

/* ---- What can be read -------------------------------------------------------------------------------------------- */

static bool has_finding(const struct hprof_summary *s, const char *id)
{
    return s->totals[hprof_rule_find(id)] > 0;
}

/* Whether the file ends too early. */
static bool is_truncated(const struct hprof_summary *s)
{
    return has_finding(s, "REC-001") || has_finding(s, "REC-002") || has_finding(s, "GZ-005");
}

/* The check ends there (RULES.md M.2). */
static bool has_damaged_member(const struct hprof_summary *s)
{
    return has_finding(s, "GZ-002") || has_finding(s, "GZ-003") || has_finding(s, "GZ-004");
}

/* The check ends there, too, and the dump has no end before it. */
static bool lacks_member(const struct hprof_summary *s)
{
    return (has_finding(s, "GZ-001") || has_finding(s, "GZ-006")) && s->record_counts[0x0c] == 0 && s->record_counts[0x2c] == 0;
}

bool has_readable_line(const struct hprof_summary *s)
{
    return is_checked(s) && s->version[0] != '\0' &&
           (!is_well_formed(s) || s->skipped > 0 || s->incomplete || s->missing_objects > 0);
}

/* "all classes" or "712 of 746 classes". HotSpot loads up to four classes that it never dumps (PRODUCERS.md); where bytes were not
 * checked, those may have been others. */
static void format_classes(const struct hprof_summary *s, char *text, size_t size)
{
    enum { NEVER_DUMPED = 4 };
    uint64_t unloaded = s->record_counts[3], loaded = s->loaded_classes > unloaded ? s->loaded_classes - unloaded : 0;
    bool may_lack = s->skipped == 0 && strcmp(hprof_profile_at(s->producer_profile)->name, "hotspot") == 0;
    uint64_t missing = loaded > s->classes ? loaded - s->classes : 0;
    char some[NUMBER_SIZE], all[NUMBER_SIZE];

    if (loaded == 0 && s->classes == 0)
        snprintf(text, size, "no classes");
    else if (s->classes > 0 && missing <= (may_lack ? NEVER_DUMPED : 0))
        snprintf(text, size, "all classes");
    else
        snprintf(text, size, "%s of %s classes", format_exact(some, s->classes),
                 format_exact(all, loaded > s->classes ? loaded : s->classes));
}

/* Whether --repair takes objects from the parts beside the file. */
static bool has_objects_in_parts(const struct report *report)
{
    return report->parts.numbers != 0 && !report->parts.is_empty && !report->parts.is_stale;
}

static void print_readable(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    uint64_t objects = count_objects(s), roots = count_roots(s);
    char line[LINE_SIZE], classes[64], count[NUMBER_SIZE], number[NUMBER_SIZE];
    size_t used;

    if (!has_readable_line(s))
        return;
    format_classes(s, classes, sizeof classes);
    used = (size_t)snprintf(line, sizeof line, "%s object%s, %s; GC roots: %s",
                            objects > 0 ? format_exact(count, objects) : "no", plural(objects), classes,
                            roots > 0                      ? format_exact(number, roots)
                            : has_objects_in_parts(report) ? "none in this file"
                            : s->skipped > 0               ? "none in what was checked"
                            : is_truncated(s)              ? "none, they were in the missing tail"
                                                           : "none");
    if (s->skipped > 0)
        used += (size_t)snprintf(line + used, sizeof line - used, "; %s not checked%s", format_size(number, s->skipped),
                                 has_damaged_member(s) ? " (--repair reads on)" : "");
    else if (lacks_member(s))
        used += (size_t)snprintf(line + used, sizeof line - used, "; later gzip members not checked (--repair reads on)");
    if (s->missing_objects > 0)
        used += (size_t)snprintf(line + used, sizeof line - used, "; at least %s missing",
                                 format_counted(number, s->missing_objects, "object"));
    print_line(report, "readable", line);
}

/* ---- The next command -------------------------------------------------------------------------------------------- */

/* Whether objects were read, or what makes a profile of an agent: --repair makes no copy of anything else. */
static bool has_content(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    uint64_t records = s->record_counts[0x06] + s->record_counts[0x07] + s->record_counts[0x0d], subrecords = 0;

    for (size_t tag = 0; tag < 256; tag++)
        subrecords += s->subrecord_counts[tag];
    return count_objects(s) > 0 || has_objects_in_parts(report) || (records > 0 && subrecords == 0);
}

/* Whether --repair may find more than the check, which reads no gzip member after damage and makes no header. What the check could
 * not read of a plain dump is lost to both. */
static bool may_have_more(const struct hprof_summary *s)
{
    return s->version[0] == '\0' || has_damaged_member(s) || has_finding(s, "GZ-001") || has_finding(s, "GZ-006");
}

/* Whether --repair can make a valid copy without this error: the header is valid or in a damaged gzip member, which may hold it all
 * the same; the dump has more than definitions, no profile accepts it, and the error is not one because of --werror. */
static bool can_repair(const struct report *report, size_t rule)
{
    const struct hprof_summary *s = &report->summary;
    if ((s->transfer & ~HPROF_TRANSFER_REPLACED) != 0)
        return s->status == HPROF_INVALID && (s->transfer & (HPROF_TRANSFER_SEVEN_BIT | HPROF_TRANSFER_ASCII)) == 0 &&
               (s->version[0] != '\0' || (s->transfer & (HPROF_TRANSFER_TEXT_BEFORE | HPROF_TRANSFER_GZIP)) != 0); /* a dump */
    if (s->header_lost || (s->is_part && report->whole[0] == '\0'))
        return true;
    if (!has_content(report) && !may_have_more(s))
        return false;
    bool has_header = s->version[0] == '\0' ? is_of_gzip(hprof_rule_at(rule)) && !has_finding(s, "GZ-007")
                                            : s->id_size == 4 || s->id_size == 8;

    return s->status == HPROF_INVALID && has_header && strcmp(hprof_rule_at(rule)->family, "HDR") != 0 &&
           s->accepted_by == NULL && (!has_finding(s, "REC-016") || has_objects_in_parts(report)) &&
           report_severity(report, rule) == HPROF_ERROR;
}

/* Whether --show can show the offset of the finding. Standard input may be a pipe. */
static bool can_show(const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    return !report->is_stdin && !is_of_gzip(rule) && f->offset < report->summary.bytes;
}

void gravest_note(struct gravest *g, const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    const struct hprof_summary *s = &report->summary;
    bool is_quirk = f->quirk != NULL || s->quirks[f->rule] == s->totals[f->rule];

    if (f->severity <= HPROF_NOTE || f->severity < g->severity || (f->severity == g->severity && g->is_quirk <= is_quirk))
        return;
    *g = (struct gravest){.rule = rule,
                          .severity = f->severity,
                          .is_quirk = is_quirk,
                          .offset = can_show(report, rule, f) ? f->offset : HPROF_NO_OFFSET,
                          .can_repair = f->severity == HPROF_ERROR && can_repair(report, f->rule)};
}

/* Writes a name so that a shell takes it for one word. False if it has characters that no terminal shows. */
static bool quote_for_shell(const char *name, char *text, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+:@%,-";
    char safe[LINE_SIZE];
    size_t used = 0;

    if (strlen(name) > size / 4 || !format_safely(safe, sizeof safe, name) || strcmp(safe, name) != 0)
        return false;
    if (name[0] == '-' && name[1] != '\0')
        used += (size_t)snprintf(text, size, "./");
    if (name[strspn(name, plain)] == '\0') {
        snprintf(text + used, size - used, "%s", name);
        return true;
    }
    used += (size_t)snprintf(text + used, size - used, "'");
    for (; *name != '\0'; name++)
        used += (size_t)snprintf(text + used, size - used, *name == '\'' ? "'\\''" : "%c", *name);
    snprintf(text + used, size - used, "'");
    return true;
}

/* A name for the copy that is not the input's own. */
static const char *copy_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return strcmp(slash != NULL ? slash + 1 : file, "fixed.hprof") == 0 ? "fixed-again.hprof" : "fixed.hprof";
}

/* Commands are not cut, so that they can be copied. */
static void print_command(const struct report *report, const char *label, const char *options, const char *name)
{
    char file[LINE_SIZE], line[2 * LINE_SIZE];

    if (!quote_for_shell(report->is_stdin ? "-" : name, file, sizeof file))
        snprintf(file, sizeof file, "FILE");
    snprintf(line, sizeof line, "%s: %s %s %s", label, program_name, options, file);
    print_indented_line(report, line);
}

static void print_commands(const struct report *report, const struct gravest *g)
{
    const struct hprof_summary *s = &report->summary;
    char options[64], offset[NUMBER_SIZE];

    if (g->rule == NULL)
        return;
    if (report->whole[0] != '\0') {
        snprintf(options, sizeof options, "--repair %s", copy_name(report->whole));
        print_command(report, "fix", options, report->whole);
    }
    if (g->can_repair || s->found_lost) {
        snprintf(options, sizeof options, "--repair %s", copy_name(report->file));
        print_command(report, has_content(report) ? "fix" : "try", options, report->file);
    }
    if (s->hint != NULL && (g->can_repair || s->found_lost || s->version[0] == '\0'))
        return; /* the cause is known, so the bytes and the rule say no more */
    if (g->offset != HPROF_NO_OFFSET) {
        snprintf(options, sizeof options, "--show %s", format_offset(offset, g->offset, report->decimal));
        print_command(report, "look", options, report->file);
    }
    snprintf(options, sizeof options, "%s --explain %s", program_name, g->rule->id);
    print_line(report, "why", options);
}

void print_cause(const struct report *report)
{
    if (report->summary.hint != NULL)
        print_line(report, "likely", report->summary.hint);
}

void print_outlook(const struct report *report, const struct gravest *g, bool lists_quirks)
{
    const struct hprof_summary *s = &report->summary;

    print_quirks(report, lists_quirks);
    print_baseline(report);
    print_advice(report);
    print_readable(report);
    if (s->missing_undecided)
        print_line(report, "undecided", "whether objects are missing: a pipe can be read only once, a file decides it");
    print_cause(report);
    print_commands(report, g);
}
