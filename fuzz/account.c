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

static void on_summary(void *context, const struct hprof_summary *s)
{
    struct account *a = context;

    if (a->count)
        fail_target("a finding came before the summary");
    a->status = s->status;
    a->compressed = s->compressed;
    a->bytes = s->bytes;
    a->file_bytes = s->file_bytes;
    a->errors = s->errors;
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
    add_number(a, "references ", s->references);
    add_number(a, "strings ", s->strings);
    for (size_t rule = 0; rule < hprof_rule_count(); rule++) {
        a->total += s->totals[rule];
        if (s->totals[rule]) {
            add_text(a, "rule ", hprof_rule_at(rule)->id);
            add_number(a, "  total ", s->totals[rule]);
        }
        if (s->quirks && s->quirks[rule]) {
            add_text(a, "rule ", hprof_rule_at(rule)->id);
            add_number(a, "  quirks ", s->quirks[rule]);
        }
    }
    add_number(a, "errors ", s->errors);
    add_number(a, "warnings ", s->warnings);
    add_number(a, "notes ", s->notes);
    add_number(a, "producer profile ", s->producer_profile);
    add_number(a, "quirks known ", s->quirks != NULL);
    add_number(a, "quirk errors ", s->quirk_errors);
    add_number(a, "quirk warnings ", s->quirk_warnings);
    add_text(a, "hint ", s->hint);
    add_text(a, "failure ", s->failure);
}

static void on_finding(void *context, const struct hprof_finding *f)
{
    struct account *a = context;

    add_text(a, "finding of ", hprof_rule_at(f->rule)->id);
    add_number(a, "  severity ", f->severity);
    add_text(a, "  path ", f->path);
    add_text(a, "  message ", f->message);
    add_text(a, "  expected ", f->expected);
    add_text(a, "  found ", f->found);
    add_text(a, "  quirk ", f->quirk);
    add_number(a, "  in baseline ", f->in_baseline);
    if (a->count == a->offsets_capacity) {
        a->offsets_capacity = 2 * a->offsets_capacity + 64;
        a->offsets = realloc(a->offsets, a->offsets_capacity * sizeof *a->offsets);
        if (!a->offsets)
            fail_target("no memory for the account");
    }
    a->offsets[a->count++] = (struct account_offsets){f->rule, f->offset, f->related_offset};
}

void account_begin(struct account *a)
{
    a->size = a->count = 0;
    a->total = 0;
    a->status = HPROF_USAGE;
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

void expect_same(const struct account *first, const char *first_name, const struct account *second, const char *second_name,
                 unsigned exceptions)
{
    bool pipe = (exceptions & SECOND_IS_A_PIPE) != 0;

    if (first->size != second->size || memcmp(first->text, second->text, first->size) != 0) {
        print_difference(first, first_name, second, second_name);
        fail_target("%s and %s differ", first_name, second_name);
    }
    if (!(exceptions & COMPRESSION_DIFFERS) &&
        (first->file_bytes != second->file_bytes || first->compressed != second->compressed))
        fail_target("%s and %s differ in file_bytes or compressed", first_name, second_name);
    for (size_t i = 0; i < first->count; i++) {
        const struct account_offsets *a = &first->offsets[i], *b = &second->offsets[i];
        const char *rule = hprof_rule_at(a->rule)->id;

        if (!same_offset(a->offset, b->offset, pipe && strcmp(rule, "REF-002") == 0))
            fail_target("%s and %s differ: %s at 0x%llx and at 0x%llx", first_name, second_name, rule,
                        (unsigned long long)a->offset, (unsigned long long)b->offset);
        if (!same_offset(a->related, b->related, pipe))
            fail_target("%s and %s differ: %s at 0x%llx is related to 0x%llx and to 0x%llx", first_name, second_name, rule,
                        (unsigned long long)a->offset, (unsigned long long)a->related, (unsigned long long)b->related);
    }
}

void expect_consistent(const struct account *a, const struct hprof_options *options, size_t size)
{
    bool complete = a->status == HPROF_VALID || a->status == HPROF_INVALID;

    if (complete && (a->status == HPROF_INVALID) != (a->errors > 0))
        fail_target("status %d with %llu errors", a->status, (unsigned long long)a->errors);
    if (complete && (a->file_bytes != size || (!a->compressed && a->bytes != size)))
        fail_target("%llu bytes of a file of %llu are reported; the input has %zu", (unsigned long long)a->bytes,
                    (unsigned long long)a->file_bytes, size);
    if (complete && options->max_errors == 0 && a->count != a->total)
        fail_target("%zu findings came; the totals add up to %llu", a->count, (unsigned long long)a->total);
    for (size_t i = 0; complete && i < a->count; i++) {
        const struct account_offsets *o = &a->offsets[i];
        const struct hprof_rule *rule = hprof_rule_at(o->rule);
        uint64_t end = strcmp(rule->family, "GZ") == 0 ? a->file_bytes : a->bytes;

        if (o->offset > end && !(o->offset == HPROF_NO_OFFSET && strcmp(rule->id, "REF-002") == 0))
            fail_target("%s at 0x%llx of 0x%llx bytes", rule->id, (unsigned long long)o->offset, (unsigned long long)end);
        if (o->related > end && o->related != HPROF_NO_OFFSET)
            fail_target("%s is related to 0x%llx of 0x%llx bytes", rule->id, (unsigned long long)o->related,
                        (unsigned long long)end);
    }
}
