/* See findings.h. */
#include "findings/findings.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"

/* A finding with its severity. */
struct shown {
    const struct finding *finding;
    enum rule rule;
    enum hprof_severity severity;
    const char *quirk;
};
_Static_assert(sizeof(struct shown) <= SORT_SIZE_MAX, "sort_in_place() can move one");

void findings_init(struct findings *d, struct memory *memory, uint64_t max_errors)
{
    memset(d, 0, sizeof *d);
    d->memory = memory;
    d->cap = max_errors && max_errors < UINT64_MAX - WITHDRAWN_MOST ? max_errors + WITHDRAWN_MOST : UINT64_MAX;
    chunks_init(&d->wanted, memory, sizeof(struct wanted_offset));
    d->wants_offsets = d->wants_references = true;
}

static void free_texts(struct findings *d, struct finding *f)
{
    memory_put(d->memory, f->texts, f->texts_size);
    f->texts = NULL;
    f->texts_size = 0;
}

static void free_shown(struct findings *d)
{
    memory_put(d->memory, d->shown, d->shown_capacity * sizeof *d->shown);
    d->shown = NULL;
}

static void free_wanted(struct findings *d)
{
    for (size_t i = 0; i < d->wanted.count; i++) {
        struct wanted_offset *wanted = chunks_at(&d->wanted, i);

        if (wanted->name)
            memory_put(d->memory, wanted->name, strlen(wanted->name) + 1);
    }
    chunks_clear(&d->wanted);
}

void findings_clear(struct findings *d)
{
    for (struct finding_group *g = d->groups; g < d->groups + GROUP_COUNT; g++) {
        if (!g->total && !g->kept)
            continue;
        for (size_t i = 0; i < g->count; i++)
            free_texts(d, &g->kept[i]);
        memory_put(d->memory, g->kept, g->capacity * sizeof *g->kept);
        *g = (struct finding_group){0};
    }
    free_wanted(d);
    free_shown(d);
}

/* Whether finding a follows b. */
static bool comes_later(const struct finding *a, const struct finding *b)
{
    return a->order != b->order ? a->order > b->order : a->dump > b->dump;
}

static bool is_gzip_rule(enum rule rule)
{
    return rule >= RULE_GZ_001;
}

/* Moves the hole in the heap `kept` up to where the new finding belongs, and puts it there. */
static struct finding *sift_up(struct finding *kept, size_t hole, struct finding new)
{
    for (size_t parent; hole; hole = parent) {
        parent = (hole - 1) / 2;
        if (!comes_later(&new, &kept[parent]))
            break;
        kept[hole] = kept[parent];
    }
    kept[hole] = new;
    return &kept[hole];
}

/* The same from the top of a heap of `count` findings down. */
static struct finding *sift_down(struct finding *kept, size_t count, struct finding new)
{
    size_t hole = 0;

    for (size_t child; (child = 2 * hole + 1) < count; hole = child) {
        if (child + 1 < count && comes_later(&kept[child + 1], &kept[child]))
            child++;
        if (!comes_later(&kept[child], &new))
            break;
        kept[hole] = kept[child];
    }
    kept[hole] = new;
    return &kept[hole];
}

void findings_expect_again(struct findings *d, uint64_t from, uint64_t until)
{
    d->again_from = from;
    d->again_until = until;
}

/* The number of the finding if it was counted before it was expected again; else 0. */
static uint64_t known_number(const struct findings *d, enum rule rule, enum finding_shape shape, uint64_t order)
{
    if (order < d->again_from || order >= d->again_until)
        return 0;
    for (size_t i = 0; i < LATEST_FINDINGS; i++) {
        const struct counted_finding *f = &d->latest[i];

        if (f->number && f->order == order && f->rule == rule && f->shape == shape)
            return f->number;
    }
    return 0;
}

/* The kept finding with a number, without what was said of it; NULL if it is not kept. */
static struct finding *find_again(struct findings *d, struct finding_group *g, uint64_t number)
{
    for (struct finding *f = g->kept; f < g->kept + g->count; f++)
        if (f->number == number) {
            free_texts(d, f);
            f->related_offset = HPROF_NO_OFFSET;
            f->wanted = 0;
            return f;
        }
    return NULL;
}

struct finding *findings_count(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t order)
{
    struct finding_group *g = &d->groups[group_of(rule, shape)];
    struct finding new = {.order = order, .dump = d->dump, .offset = order, .related_offset = HPROF_NO_OFFSET};
    uint64_t known = known_number(d, rule, shape, order);
    void *block = g->kept;

    if (d->silent && !is_gzip_rule(rule))
        return NULL;
    if (known)
        return find_again(d, g, known);
    new.number = ++d->counted;
    d->latest[new.number % LATEST_FINDINGS] = (struct counted_finding){rule, shape, order, new.number};
    g->rule = rule;
    g->shape = shape;
    g->total++;
    if (g->count < d->cap) {
        if (!memory_grow(d->memory, &block, &g->capacity, g->count + 1, sizeof *g->kept))
            return NULL;
        g->kept = block;
        return sift_up(g->kept, g->count++, new);
    }
    if (!comes_later(&g->kept[0], &new))
        return NULL;
    free_texts(d, &g->kept[0]);
    return sift_down(g->kept, g->count, new);
}

void findings_withdraw(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t from, uint64_t until,
                       uint64_t findings)
{
    if (!d->silent && d->withdrawn_count < sizeof d->withdrawn / sizeof *d->withdrawn)
        d->withdrawn[d->withdrawn_count++] = (struct withdrawal){&d->groups[group_of(rule, shape)], from, until, findings};
}

void findings_end(struct findings *d)
{
    while (d->withdrawn_count) {
        const struct withdrawal *w = &d->withdrawn[--d->withdrawn_count];
        struct finding_group *g = w->group;
        size_t count = g->count;

        g->total -= w->findings;
        g->count = 0;
        for (size_t i = 0; i < count; i++) {
            if (g->kept[i].order >= w->from && g->kept[i].order < w->until)
                free_texts(d, &g->kept[i]);
            else
                sift_up(g->kept, g->count++, g->kept[i]);
        }
    }
}

void findings_checkpoint(const struct findings *d, struct findings_checkpoint *checkpoint)
{
    checkpoint->counted = d->counted;
    checkpoint->again_from = d->again_from;
    checkpoint->again_until = d->again_until;
    for (size_t i = 0; i < GROUP_COUNT; i++)
        checkpoint->totals[i] = d->groups[i].total;
}

/* Removes the findings of a group that were counted after a checkpoint. */
static void drop_later(struct findings *d, struct finding_group *g, const struct findings_checkpoint *checkpoint)
{
    size_t count = g->count;

    g->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (g->kept[i].number > checkpoint->counted)
            free_texts(d, &g->kept[i]);
        else
            sift_up(g->kept, g->count++, g->kept[i]);
    }
}

void findings_roll_back(struct findings *d, const struct findings_checkpoint *checkpoint)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        struct finding_group *g = &d->groups[i];

        if (!g->total || is_gzip_rule(g->rule))
            continue;
        drop_later(d, g, checkpoint);
        g->total = checkpoint->totals[i];
    }
    for (size_t i = 0; i < LATEST_FINDINGS; i++)
        if (d->latest[i].number > checkpoint->counted)
            d->latest[i].number = 0;
    d->withdrawn_count = 0;
    findings_expect_again(d, checkpoint->again_from, checkpoint->again_until);
}

void findings_silence(struct findings *d)
{
    d->silent = true;
}

void findings_describe(struct findings *d, struct finding *f, const char *path, const char *expected, const char *found)
{
    const char *part[3] = {path ? path : "", expected, found};
    size_t size = 0;
    char *p;

    for (int i = 0; i < 3; i++)
        size += strlen(part[i]) + 1;
    p = memory_get(d->memory, size);
    if (!p)
        return;
    f->texts = p;
    f->texts_size = size;
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(part[i]) + 1;

        memcpy(p, part[i], n);
        p += n;
    }
}

enum hprof_severity findings_severity(const struct severity_choice *choice, enum rule rule, enum finding_shape shape,
                                      const char **quirk)
{
    enum hprof_severity severity = rule_severity(rule, shape, choice->profile, quirk);

    if (choice->changed && choice->changed[rule] != HPROF_UNCHANGED && !hprof_rule_at(rule)->framing) {
        severity = (enum hprof_severity)choice->changed[rule];
        *quirk = NULL;
    }
    if (choice->in_baseline && choice->in_baseline[rule] && severity > HPROF_NOTE) {
        *quirk = NULL;
        return HPROF_NOTE;
    }
    return choice->werror && severity == HPROF_WARNING ? HPROF_ERROR : severity;
}

void findings_verdict(const struct findings *d, const struct severity_choice *choice, const struct severity_choice *other,
                      struct verdict *v)
{
    *v = (struct verdict){0};
    for (const struct finding_group *g = d->groups; g < d->groups + GROUP_COUNT; g++) {
        const char *quirk;
        enum hprof_severity severity;

        if (!g->total || (other && (findings_severity(other, g->rule, g->shape, &quirk) != HPROF_NOTE || !quirk)))
            continue;
        severity = findings_severity(choice, g->rule, g->shape, &quirk);
        if (severity == HPROF_OFF)
            continue;
        v->totals[g->rule] += g->total;
        if (severity == HPROF_ERROR)
            v->errors += g->total;
        else if (severity == HPROF_WARNING)
            v->warnings += g->total;
        else
            v->notes += g->total;
        if (severity == HPROF_NOTE && quirk)
            v->quirk_notes[g->rule] += g->total;
    }
}

void findings_want(struct findings *d, bool offsets, bool references)
{
    d->wants_offsets = offsets;
    d->wants_references = references;
}

void findings_want_offset(struct findings *d, struct finding *f, enum wanted_kind kind, uint64_t subject)
{
    bool is_reference = kind == WANTED_REFERENCE || kind == WANTED_ELEMENT;
    struct wanted_offset *wanted = d->wants_offsets && (d->wants_references || !is_reference) ? chunks_add(&d->wanted) : NULL;

    if (!wanted)
        return;
    *wanted = (struct wanted_offset){subject, HPROF_NO_OFFSET, kind, NULL};
    f->wanted = d->wanted.count;
}

void findings_name_wanted(struct findings *d, struct wanted_offset *wanted, const char *name)
{
    size_t size = strlen(name) + 1;

    wanted->name = memory_get(d->memory, size);
    if (wanted->name)
        memcpy(wanted->name, name, size);
}

static bool is_graver(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;

    return x->severity != y->severity ? x->severity > y->severity : comes_later(y->finding, x->finding);
}

/* By offset. REF-002 comes last and by ID: on a pipe its offsets are unknown, and the order must be the same there. */
static bool is_shown_before(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    bool x_last = x->rule == RULE_REF_002, y_last = y->rule == RULE_REF_002;

    if (x_last != y_last)
        return y_last;
    if (x->finding->order == y->finding->order && x->rule != y->rule)
        return x->rule < y->rule;
    return comes_later(y->finding, x->finding);
}

/* Writes the findings of one rule that are to be shown to `out`: the gravest, then the first. */
static size_t choose(const struct findings *d, const struct severity_choice *choice, enum rule rule, uint64_t max_errors,
                     struct shown *out)
{
    size_t n = 0;

    for (unsigned shape = 0; shape < SHAPE_COUNT; shape++) {
        const struct finding_group *g = &d->groups[group_of(rule, (enum finding_shape)shape)];
        const char *quirk;
        enum hprof_severity severity;

        if (!g->count || g->rule != rule)
            continue;
        severity = findings_severity(choice, rule, g->shape, &quirk);
        for (size_t i = 0; i < g->count && severity != HPROF_OFF; i++)
            out[n++] = (struct shown){&g->kept[i], rule, severity, quirk};
    }
    if (max_errors && n > max_errors) {
        sort_in_place(out, n, sizeof *out, is_graver);
        n = (size_t)max_errors;
    }
    return n;
}

bool findings_prepare(struct findings *d)
{
    size_t capacity = 0;

    free_shown(d);
    for (size_t i = 0; i < GROUP_COUNT; i++)
        capacity += d->groups[i].count;
    d->shown = memory_get(d->memory, capacity * sizeof *d->shown);
    d->shown_capacity = d->shown ? capacity : 0;
    return d->shown;
}

int findings_show(struct findings *d, const struct severity_choice *choice, uint64_t max_errors,
                  int (*on_finding)(void *context, const struct hprof_finding *finding), void *context)
{
    enum { FOUND_SIZE = 1024 };
    struct shown *shown = d->shown;
    size_t n = 0;
    int result = 0;

    if (!shown)
        return 0;
    for (unsigned rule = 0; rule < RULE_COUNT; rule++)
        n += choose(d, choice, (enum rule)rule, max_errors, shown + n);
    sort_in_place(shown, n, sizeof *shown, is_shown_before);

    for (size_t i = 0; i < n && !result; i++) {
        const struct finding *f = shown[i].finding;
        const char *path = f->texts ? f->texts : "";
        const char *expected = f->texts ? path + strlen(path) + 1 : "";
        const char *found = f->texts ? expected + strlen(expected) + 1 : "";
        const struct wanted_offset *wanted = f->wanted ? chunks_at(&d->wanted, f->wanted - 1) : NULL;
        char with_name[FOUND_SIZE];
        bool is_offset = wanted && (wanted->kind == WANTED_REFERENCE || wanted->kind == WANTED_ELEMENT);

        if (wanted && wanted->name) {
            snprintf(with_name, sizeof with_name, "%s; named by %s", found, wanted->name);
            found = with_name;
        }
        result = on_finding(context,
                            &(struct hprof_finding){.struct_size = sizeof(struct hprof_finding),
                                                    .rule = shown[i].rule,
                                                    .severity = shown[i].severity,
                                                    .offset = is_offset ? wanted->at : f->offset,
                                                    .related_offset = wanted && !is_offset ? wanted->at : f->related_offset,
                                                    .path = path,
                                                    .message = hprof_rule_at(shown[i].rule)->summary,
                                                    .expected = expected,
                                                    .found = found,
                                                    .quirk = shown[i].quirk,
                                                    .in_baseline = choice->in_baseline && choice->in_baseline[shown[i].rule]});
    }
    return result;
}
