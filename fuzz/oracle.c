/* The oracle reads a dump twice: first record by record, in the order of SPEC.md 3 to 6, checking each field that needs
 * nothing else and noting all definitions and uses; then, with everything in memory, the rules on how these belong
 * together. */
#include "oracle.h"

#include "oracle_definitions.h"
#include "oracle_heaps.h"
#include "oracle_read.h"

#include <stdlib.h>
#include <string.h>

static void check_all(struct oracle *o)
{
    struct list *indexes[] = {&o->string_ids,    &o->class_serials, &o->class_ids,       &o->frame_ids,
                              &o->trace_serials, &o->object_ids,    &o->dumped_class_ids};
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        sort_index(indexes[i]);
    check_definitions(o);
    check_heap_dumps(o);
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        free(indexes[i]->items);
}

static bool is_one_of(const char *rule, const char *const *rules)
{
    while (*rules && strcmp(*rules, rule) != 0)
        rules++;
    return *rules != NULL;
}

/* Severities of the strict profile. */
static bool is_warning(const char *rule)
{
    static const char *const warnings[] = {
        "HDR-006", "HDR-007", "REC-004",  "REC-009", "REC-010",  "STR-002",  "STR-003",  "STR-007",  "STR-009", "CLS-019",
        "STK-013", "STK-014", "ROOT-007", "CLS-004", "CLS-005",  "CLS-007",  "CLS-017",  "STK-002",  "STK-008", "STK-011",
        "THR-005", "PRF-003", "PRF-005",  "PRF-011", "ROOT-001", "ROOT-002", "ROOT-004", "OBJ-009",  "OBJ-010", "REF-001",
        "REF-002", "CLS-020", "CLS-021",  "CLS-022", "ROOT-008", "CLS-023",  "ROOT-009", "ROOT-010", NULL};
    return is_one_of(rule, warnings);
}

bool oracle_settles(const struct oracle_report *r, const struct oracle_finding *finding)
{
    static const char *const by_file[] = {"REC-007", "STR-006", "STR-007", "CLS-007", "CLS-008",  "STK-006",
                                          "STK-010", "STK-011", "STK-012", "PRF-003", "ROOT-005", "OBJ-007",
                                          "OBJ-011", "OBJ-012", "CLS-020", "CLS-021", NULL};
    static const char *const by_heap_dump[] = {"CLS-010",  "CLS-011", "CLS-017",  "ROOT-003", "ROOT-004", "OBJ-002",
                                               "OBJ-003",  "OBJ-006", "OBJ-010",  "REF-001",  "REF-002",  "CLS-022",
                                               "ROOT-008", "CLS-023", "ROOT-009", "ROOT-010", NULL};
    if (!r->failed && !r->in_doubt)
        return true;
    if (is_one_of(finding->rule, by_file) || finding->offset - r->record_at < RECORD_HEADER_SIZE)
        return false;
    return finding->offset < (is_one_of(finding->rule, by_heap_dump) ? r->closed_until : r->read_until);
}

static int compare_findings(const void *left, const void *right)
{
    const struct oracle_finding *a = left, *b = right;
    int order = compare_numbers(a->offset, b->offset);
    return order ? order : strcmp(a->rule, b->rule);
}

/* Keeps the findings that are settled, in order. */
static void finish_report(struct oracle *o)
{
    struct oracle_report *r = o->report;
    if (!o->failed)
        r->read_until = r->closed_until = r->sound_until = o->d->size;
    else
        r->closed_until = o->closed_until < r->read_until ? o->closed_until : r->read_until;
    if (o->doubt_at) {
        r->in_doubt = true;
        r->read_until = o->doubt_at < r->read_until ? o->doubt_at : r->read_until;
        r->closed_until = o->closed_before_doubt < r->closed_until ? o->closed_before_doubt : r->closed_until;
        r->sound_until = ORACLE_UNKNOWN;
    }
    r->failed = o->failed;
    r->valid = !o->failed;
    r->findings = o->findings.items;
    for (size_t i = 0; i < o->findings.count; i++)
        if (oracle_settles(r, &r->findings[i])) {
            r->valid = r->valid && is_warning(r->findings[i].rule);
            r->findings[r->finding_count++] = r->findings[i];
        }
    if (r->finding_count)
        qsort(r->findings, r->finding_count, sizeof *r->findings, compare_findings);
}

struct oracle_report *oracle_validate(const uint8_t *bytes, size_t size)
{
    struct dump dump = {.bytes = bytes, .size = size};
    struct known_size known_sizes[KNOWN_SIZES] = {0};
    struct oracle o = {.d = &dump, .known_sizes = known_sizes, .report = calloc(1, sizeof *o.report)};
    if (!o.report)
        abort();
    read_dump(&o, &dump);
    check_all(&o);
    finish_report(&o);
    struct list *lists[] = {&o.unloads,
                            &o.heap_ends,
                            &o.strings,
                            &o.loaded_classes,
                            &o.frames,
                            &o.traces,
                            &o.thread_events,
                            &o.objects,
                            &o.class_dumps,
                            &o.instances,
                            &o.object_arrays,
                            &o.thread_roots,
                            &o.frame_roots,
                            &o.name_uses,
                            &o.trace_uses,
                            &o.frame_uses,
                            &o.class_serial_uses,
                            &o.trace_thread_uses,
                            &o.object_uses,
                            &o.root_thread_uses,
                            &o.kind_uses[KIND_LOADER],
                            &o.kind_uses[KIND_THREAD],
                            &o.kind_uses[KIND_STICKY_CLASS]};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->items);
    return o.report;
}

void oracle_free(struct oracle_report *report)
{
    if (report)
        free(report->findings);
    free(report);
}
