/* Records everything that a run reports, as text that can be compared with that of another run, and in numbers. */
#ifndef HPROF_TESTS_ACCOUNT_H
#define HPROF_TESTS_ACCOUNT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "dump.h"
#include "hprof/hprof.h"

/* The report as text: with the offsets that input read only once may lack, and without them. */
struct account {
    enum hprof_status status;
    uint64_t findings;
    uint64_t *findings_of; /* by rule */
    struct hprof_summary summary;
    uint64_t *totals;
    uint64_t peak; /* the most bytes in use up to the summary */
    const struct caller *caller;
    bool summary_first, lacks_offset;
    char *all, *without_offsets;
    size_t all_size, without_offsets_size;
    FILE *to_all, *to_without_offsets;
};

__attribute__((format(printf, 2, 3))) static inline void note(struct account *a, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vfprintf(a->to_all, format, values);
    va_end(values);
    va_start(values, format);
    vfprintf(a->to_without_offsets, format, values);
    va_end(values);
}

static inline int note_summary(void *context, const struct hprof_summary *s)
{
    struct account *a = context;

    a->summary = *s;
    memcpy(a->totals, s->totals, hprof_rule_count() * sizeof *s->totals);
    a->summary_first = a->findings == 0;
    a->peak = a->caller ? a->caller->peak : 0;
    note(a, "%d %d %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->status, s->compressed, s->version,
         s->id_size, s->timestamp, s->bytes, s->file_bytes, s->sound_until, s->skipped);
    note(a, "%zu %s %s %s %s\n", s->profile, s->producer, s->accepted_by ? s->accepted_by : "-", s->hint ? s->hint : "-",
         s->failure[0] ? s->failure : "-");
    for (unsigned tag = 0; tag < 256; tag++)
        if (s->record_counts[tag] || s->subrecord_counts[tag])
            note(a, "%02x: %" PRIu64 " %" PRIu64 "\n", tag, s->record_counts[tag], s->subrecord_counts[tag]);
    note(a, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->classes, s->instances,
         s->object_arrays, s->primitive_arrays, s->references, s->strings);
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        if (s->totals[rule])
            note(a, "%s: %" PRIu64 "\n", hprof_rule_at(rule)->id, s->totals[rule]);
    note(a, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->errors, s->warnings, s->notes);
    return 0;
}

/* Of what was found, without what names a missing object: of input that can be read only once this is not known. */
static inline size_t size_without_name(const struct hprof_finding *f)
{
    const char *name = strstr(f->found, "; named by ");

    return name ? (size_t)(name - f->found) : strlen(f->found);
}

static inline int note_finding(void *context, const struct hprof_finding *f)
{
    struct account *a = context;
    const char *rule = hprof_rule_at(f->rule)->id;

    a->findings++;
    a->findings_of[f->rule]++;
    a->lacks_offset |= f->offset == HPROF_NO_OFFSET && strcmp(rule, "REF-002") != 0;
    note(a, "%s %d \"%s\" \"%s\" \"%s\" \"%.*s\" \"%s\"", rule, f->severity, f->path, f->message, f->expected,
         (int)size_without_name(f), f->found, f->quirk ? f->quirk : "-");
    if (strcmp(rule, "REF-002") != 0)
        note(a, " at %" PRIx64, f->offset);
    fprintf(a->to_all, " at %" PRIx64 ", %" PRIx64 " \"%s\"", f->offset, f->related_offset, f->found);
    note(a, "\n");
    return 0;
}

static inline struct hprof_options options_for(struct account *a)
{
    struct hprof_options options;

    *a = (struct account){.findings_of = calloc(hprof_rule_count(), sizeof(uint64_t)),
                          .totals = calloc(hprof_rule_count(), sizeof(uint64_t))};
    a->to_all = open_memstream(&a->all, &a->all_size);
    a->to_without_offsets = open_memstream(&a->without_offsets, &a->without_offsets_size);
    hprof_options_init(&options);
    options.on_summary = note_summary;
    options.on_finding = note_finding;
    options.context = a;
    return options;
}

static inline void account_end(struct account *a, enum hprof_status status)
{
    a->status = status;
    fclose(a->to_all);
    fclose(a->to_without_offsets);
}

static inline struct account check_memory(const struct bytes *b, bool as_pipe)
{
    struct account a;
    struct hprof_options options = options_for(&a);

    account_end(&a, hprof_validate_memory(b->at, b->size, as_pipe, &options, NULL));
    return a;
}

static inline void account_free(struct account *a)
{
    free(a->findings_of);
    free(a->totals);
    free(a->all);
    free(a->without_offsets);
}

#endif
