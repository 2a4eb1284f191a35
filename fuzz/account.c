/* See account.h. Text is written by hand rather than by printf(), which would take longer than the library under test. */
#include "account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

static void add(struct account *a, const char *text, size_t n)
{
    if (n > a->capacity - a->size) {
        a->capacity = 2 * (a->capacity + n) + 4096;
        a->text = realloc(a->text, a->capacity);
        if (!a->text)
            fail_target("no memory for the account");
    }
    memcpy(a->text + a->size, text, n);
    a->size += n;
}

static void add_text(struct account *a, const char *name, const char *text)
{
    add(a, name, strlen(name));
    add(a, text ? text : "NULL", text ? strlen(text) : 4);
    add(a, "\n", 1);
}

static void add_number(struct account *a, const char *name, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    add(a, name, strlen(name));
    add(a, digits + at, sizeof digits - at);
    add(a, "\n", 1);
}

static int on_summary(void *context, const struct hprof_summary *s)
{
    struct account *a = context;

    if (a->count)
        fail_target("a finding came before the summary");
    if (hprof_rule_count() > ACCOUNT_RULES_MOST)
        fail_target("too many rules");
    a->summary = *s;
    memcpy(a->totals, s->totals, hprof_rule_count() * sizeof *a->totals);
    snprintf(a->hint, sizeof a->hint, "%s", s->hint ? s->hint : "");
    add_number(a, "status ", s->status);
    add_text(a, "version ", s->version);
    add_number(a, "id_size ", s->id_size);
    add_number(a, "timestamp ", s->timestamp);
    add_number(a, "bytes ", s->bytes);
    add_number(a, "sound_until ", s->sound_until);
    add_number(a, "skipped ", s->skipped);
    add_number(a, "profile ", s->profile);
    add_text(a, "producer ", s->producer);
    add_text(a, "accepted_by ", s->accepted_by);
    for (unsigned tag = 0; tag < 256; tag++)
        if (s->record_counts[tag] || s->subrecord_counts[tag]) {
            add_number(a, "tag ", tag);
            add_number(a, "  records ", s->record_counts[tag]);
            add_number(a, "  sub-records ", s->subrecord_counts[tag]);
        }
    add_number(a, "classes ", s->classes);
    add_number(a, "instances ", s->instances);
    add_number(a, "object arrays ", s->object_arrays);
    add_number(a, "primitive arrays ", s->primitive_arrays);
    if (!s->skipped)
        add_number(a, "references ", s->references);
    add_number(a, "strings ", s->strings);
    for (size_t rule = 0; rule < hprof_rule_count(); rule++) {
        if (s->totals[rule]) {
            add_text(a, "rule ", hprof_rule_at(rule)->id);
            add_number(a, "  total ", s->totals[rule]);
        }
        if (s->quirks[rule]) {
            add_text(a, "rule ", hprof_rule_at(rule)->id);
            add_number(a, "  quirks ", s->quirks[rule]);
        }
    }
    add_number(a, "errors ", s->errors);
    add_number(a, "warnings ", s->warnings);
    add_number(a, "notes ", s->notes);
    add_number(a, "producer profile ", s->producer_profile);
    add_number(a, "quirk errors ", s->quirk_errors);
    add_number(a, "quirk warnings ", s->quirk_warnings);
    add_number(a, "incomplete ", s->incomplete);
    add_number(a, "missing objects ", s->missing_objects);
    add_text(a, "failure ", s->failure);
    return 0;
}

/* Without what names a missing object, which is not known of a pipe. */
static void add_found(struct account *a, const char *found)
{
    const char *name = strstr(found, "; named by ");
    char text[1024];

    snprintf(text, sizeof text, "%.*s", (int)(name ? (size_t)(name - found) : strlen(found)), found);
    add_text(a, "  found ", text);
}

static int on_finding(void *context, const struct hprof_finding *f)
{
    struct account *a = context;

    add_text(a, "finding of ", hprof_rule_at(f->rule)->id);
    add_number(a, "  severity ", f->severity);
    add_text(a, "  path ", f->path);
    add_text(a, "  message ", f->message);
    add_text(a, "  expected ", f->expected);
    add_found(a, f->found);
    add_text(a, "  quirk ", f->quirk);
    add_number(a, "  in baseline ", f->in_baseline);
    if (a->count == a->findings_capacity) {
        a->findings_capacity = 2 * a->findings_capacity + 64;
        a->findings = realloc(a->findings, a->findings_capacity * sizeof *a->findings);
        if (!a->findings)
            fail_target("no memory for the account");
    }
    a->findings[a->count++] = (struct account_finding){f->rule, f->severity, f->offset, f->related_offset};
    return 0;
}

void account_begin(struct account *a)
{
    a->size = a->count = 0;
    a->hint[0] = 0;
    a->summary = (struct hprof_summary){.status = HPROF_USAGE};
}

void account_listen(struct account *a, struct hprof_options *options)
{
    options->on_summary = on_summary;
    options->on_finding = on_finding;
    options->context = a;
}

/* ---- Comparing ---- */

/* Prints the first line that differs, in both, with the line of the finding that it belongs to. */
static void print_difference(const struct account *a, const char *a_name, const struct account *b, const char *b_name)
{
    size_t at = 0, line = 0, group = 0;

    while (at < a->size && at < b->size && a->text[at] == b->text[at])
        if (a->text[at++] == '\n') {
            line = at;
            if (line < a->size && a->text[line] != ' ')
                group = line;
        }
    const struct account *both[] = {a, b};
    const char *names[] = {a_name, b_name};

    for (int i = 0; i < 2; i++) {
        const char *text = both[i]->text;
        size_t end = line, group_end = group;

        while (end < both[i]->size && text[end] != '\n')
            end++;
        while (group_end < both[i]->size && text[group_end] != '\n')
            group_end++;
        if (group < line)
            fprintf(stderr, "%s: %.*s: %.*s\n", names[i], (int)(group_end - group), text + group, (int)(end - line),
                    text + line);
        else
            fprintf(stderr, "%s: %.*s\n", names[i], (int)(end - line), text + line);
    }
}

static bool same_offset(uint64_t first, uint64_t second, bool may_be_unknown)
{
    return first == second || (may_be_unknown && second == HPROF_NO_OFFSET);
}

/* Without a header that can be used, the first 64 KiB are read, so how large a pipe is remains unknown. */
static bool has_header(const struct hprof_summary *s)
{
    return *s->version && (s->id_size == 4 || s->id_size == 8);
}

void expect_same(const struct account *first, const char *first_name, const struct account *second, const char *second_name,
                 unsigned exceptions)
{
    bool pipe = (exceptions & SECOND_IS_A_PIPE) != 0;

    if ((pipe || exceptions & COMPRESSION_DIFFERS) && first->summary.bytes > MAY_GO_BACK &&
        first->summary.skipped != second->summary.skipped)
        return;
    if (first->size != second->size || memcmp(first->text, second->text, first->size) != 0) {
        print_difference(first, first_name, second, second_name);
        fail_target("%s and %s differ", first_name, second_name);
    }
    if (first->summary.found_lost != second->summary.found_lost ? !pipe || second->summary.found_lost
                                                                : strcmp(first->hint, second->hint) != 0)
        fail_target("%s and %s differ in found_lost (%d, %d) or the hint: \"%s\", \"%s\"", first_name, second_name,
                    first->summary.found_lost, second->summary.found_lost, first->hint, second->hint);
    if (!(exceptions & COMPRESSION_DIFFERS) && has_header(&first->summary) &&
        (first->summary.file_bytes != second->summary.file_bytes || first->summary.compressed != second->summary.compressed))
        fail_target("%s and %s differ in file_bytes or compressed", first_name, second_name);
    for (size_t i = 0; i < first->count; i++) {
        const struct account_finding *a = &first->findings[i], *b = &second->findings[i];
        const char *rule = hprof_rule_at(a->rule)->id;

        if (!same_offset(a->offset, b->offset, pipe && strcmp(rule, "REF-002") == 0))
            fail_target("%s and %s differ: %s at 0x%llx and at 0x%llx", first_name, second_name, rule,
                        (unsigned long long)a->offset, (unsigned long long)b->offset);
        if (!same_offset(a->related, b->related, pipe))
            fail_target("%s and %s differ: %s at 0x%llx is related to 0x%llx and to 0x%llx", first_name, second_name, rule,
                        (unsigned long long)a->offset, (unsigned long long)a->related, (unsigned long long)b->related);
    }
}

/* ---- One report ---- */

static bool is_undefined_id(size_t rule)
{
    return strcmp(hprof_rule_at(rule)->id, "REF-002") == 0;
}

static bool is_of_gzip(size_t rule)
{
    return strcmp(hprof_rule_at(rule)->family, "GZ") == 0;
}

static void expect_counts(const struct hprof_summary *s)
{
    enum { UTF8 = 0x01, CLASS_DUMP = 0x20, INSTANCE_DUMP, OBJECT_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP, NODATA = 0xc3 };
    const uint64_t *tags = s->subrecord_counts;

    if (s->strings != s->record_counts[UTF8] || s->classes != tags[CLASS_DUMP] || s->instances != tags[INSTANCE_DUMP] ||
        s->object_arrays != tags[OBJECT_ARRAY_DUMP] || s->primitive_arrays != tags[PRIMITIVE_ARRAY_DUMP] + tags[NODATA])
        fail_target("the counts of strings, classes or objects are not those of their tags");
    if (s->sound_until > s->bytes || s->skipped > s->bytes)
        fail_target("sound until 0x%llx, with %llu bytes skipped, of %llu", (unsigned long long)s->sound_until,
                    (unsigned long long)s->skipped, (unsigned long long)s->bytes);
}

/* As many findings came of each rule as its total and max_errors allow. */
static void expect_numbers(const struct account *a, uint64_t max_errors)
{
    static uint64_t came[ACCOUNT_RULES_MOST];
    uint64_t severities[HPROF_ERROR + 1] = {0}, total = 0;
    const struct hprof_summary *s = &a->summary;

    memset(came, 0, sizeof came);
    for (size_t i = 0; i < a->count; i++) {
        came[a->findings[i].rule]++;
        severities[a->findings[i].severity]++;
    }
    for (size_t rule = 0; rule < hprof_rule_count(); rule++) {
        uint64_t most = max_errors && max_errors < a->totals[rule] ? max_errors : a->totals[rule];

        total += a->totals[rule];
        if (came[rule] != most)
            fail_target("%llu findings of %s came, of %llu", (unsigned long long)came[rule], hprof_rule_at(rule)->id,
                        (unsigned long long)a->totals[rule]);
    }
    if (s->errors + s->warnings + s->notes != total)
        fail_target("%llu errors, %llu warnings and %llu notes are reported; the totals add up to %llu",
                    (unsigned long long)s->errors, (unsigned long long)s->warnings, (unsigned long long)s->notes,
                    (unsigned long long)total);
    if (max_errors == 0 && (severities[HPROF_ERROR] != s->errors || severities[HPROF_WARNING] != s->warnings))
        fail_target("%llu errors and %llu warnings are reported; %llu and %llu came", (unsigned long long)s->errors,
                    (unsigned long long)s->warnings, (unsigned long long)severities[HPROF_ERROR],
                    (unsigned long long)severities[HPROF_WARNING]);
}

/* A pipe is read once: the use of an undefined ID may have no offset. */
static void expect_offset(const struct hprof_summary *s, const struct account_finding *f, bool as_pipe)
{
    const struct hprof_rule *rule = hprof_rule_at(f->rule);
    uint64_t end = is_of_gzip(f->rule) ? s->file_bytes : s->bytes;

    if (f->offset > end && !(f->offset == HPROF_NO_OFFSET && is_undefined_id(f->rule) && as_pipe))
        fail_target("%s at 0x%llx of 0x%llx bytes", rule->id, (unsigned long long)f->offset, (unsigned long long)end);
    if (f->related > end && f->related != HPROF_NO_OFFSET)
        fail_target("%s is related to 0x%llx of 0x%llx bytes", rule->id, (unsigned long long)f->related,
                    (unsigned long long)end);
    if (f->related == f->offset && f->offset != HPROF_NO_OFFSET && !s->skipped) /* damage may cut what is defined again */
        fail_target("%s at 0x%llx is related to itself", rule->id, (unsigned long long)f->offset);
}

/* By offset, except gzip rules, whose offsets count other bytes, and REF-002, which comes last. */
static void expect_order(const struct account *a)
{
    uint64_t last = 0;
    bool is_end = false;

    for (size_t i = 0; i < a->count; i++) {
        const struct account_finding *f = &a->findings[i];

        if (is_end && !is_undefined_id(f->rule))
            fail_target("%s comes after REF-002", hprof_rule_at(f->rule)->id);
        is_end = is_undefined_id(f->rule);
        if (is_end || is_of_gzip(f->rule))
            continue;
        if (f->offset < last)
            fail_target("%s at 0x%llx comes after a finding at 0x%llx", hprof_rule_at(f->rule)->id,
                        (unsigned long long)f->offset, (unsigned long long)last);
        last = f->offset;
    }
}

void expect_consistent(const struct account *a, const struct hprof_options *options, size_t size, bool as_pipe)
{
    const struct hprof_summary *s = &a->summary;
    bool is_complete = s->status == HPROF_VALID || s->status == HPROF_INVALID, is_read;

    if (s->status == HPROF_USAGE)
        return; /* no summary came: there was no memory to begin with */
    if (is_complete == (s->failure[0] != '\0'))
        fail_target("status %d %s a sentence", s->status, s->failure[0] ? "with" : "without");
    if (!is_complete)
        return;
    if ((s->status == HPROF_INVALID) != (s->errors > 0 || (s->incomplete && !options->allow_incomplete)))
        fail_target("status %d with %llu errors%s", s->status, (unsigned long long)s->errors,
                    s->incomplete ? ", incomplete" : "");
    is_read = has_header(s);
    if (is_read ? s->file_bytes != size || (!s->compressed && s->bytes != size) : s->file_bytes > size)
        fail_target("%llu bytes of a file of %llu are reported; the input has %zu", (unsigned long long)s->bytes,
                    (unsigned long long)s->file_bytes, size);
    expect_counts(s);
    expect_numbers(a, options->max_errors);
    expect_order(a);
    for (size_t i = 0; i < a->count; i++)
        expect_offset(s, &a->findings[i], as_pipe);
}
