/* See violate.h. Chooses the rows and their places, and decides when each row acts; not what it does. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

struct wanted_kind {
    fault_place *is;
    const char *words;
};

struct fault {
    enum rule rule;
    const char *variant;
    const struct wanted_kind *place;
    fault_act *prepare, *act;
    int number;
    unsigned flags;
    const char *about;
};

enum place_id {
#define PLACE(name, words) PLACE_ID_##name,
#include "faults.def"
};

static const struct wanted_kind places[] = {
#define PLACE(name, words) {place_##name, words},
#include "faults.def"
};

static const struct fault rows[] = {
#define FAULT(rule, variant, place, prepare, act, number, flags, about) \
    {RULE_##rule, variant, &places[PLACE_ID_##place], prepare, act, number, flags, about},
#include "faults.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- The rows, for --list-violations ---- */

const struct fault *fault_at(size_t index)
{
    return index < ROWS ? &rows[index] : NULL;
}

const char *fault_rule(const struct fault *row)
{
    return hprof_rule_at(row->rule)->id;
}

const char *fault_variant(const struct fault *row)
{
    return row->variant;
}

bool fault_is_alone(const struct fault *row)
{
    return row->flags & (ALONE | GZIP);
}

bool fault_is_once(const struct fault *row)
{
    return row->flags & (ONCE | ALONE | GZIP);
}

bool fault_is_huge(const struct fault *row)
{
    return row->flags & HUGE_DUMP;
}

const char *fault_about(const struct fault *row)
{
    return row->about;
}

/* ---- Refusals ---- */

/* Only one refusal is kept: the caller gives up. */
static char sentence[300];

static void refuse(const char **failure, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(const char **failure, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    *failure = sentence;
}

static const struct {
    unsigned flag;
    const char *words;
} versions[] = {
    {ONLY_101, "1.0.1"}, {NOT_101, "1.0.2 or 1.0.3"}, {ONLY_103, "1.0.3"}, {NOT_103, "1.0.1 or 1.0.2"}, {ONLY_102, "1.0.2"}};

/* NULL if the version is right, else the right ones. */
static const char *other_version(const struct fault *row, enum version version)
{
    unsigned bad = version == V101   ? NOT_101 | ONLY_103 | ONLY_102
                   : version == V102 ? ONLY_101 | ONLY_103
                                     : ONLY_101 | NOT_103 | ONLY_102;

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (row->flags & bad & versions[i].flag)
            return versions[i].words;
    return NULL;
}

static bool has_variant(const struct fault *row, const char *variant)
{
    return !variant || strcmp(row->variant, variant) == 0;
}

/* "RULE" means the first variant that the version allows. */
static const struct fault *find_row(const char *what, enum version version, const char **failure)
{
    const char *slash = strchr(what, '/'), *variant = slash ? slash + 1 : NULL;
    size_t n = slash ? (size_t)(slash - what) : strlen(what);
    const struct fault *refused = NULL;
    const struct hprof_rule *rule;
    bool known = false;

    if (!n) {
        refuse(failure, "--violate: the name of a rule is missing; --list-violations lists all");
        return NULL;
    }

    for (size_t i = 0; i < ROWS; i++) {
        const char *id = fault_rule(&rows[i]);

        if (strlen(id) != n || memcmp(id, what, n) != 0)
            continue;
        known = true;
        if (!has_variant(&rows[i], variant))
            continue;
        if (!other_version(&rows[i], version))
            return &rows[i];
        refused = &rows[i];
    }
    if (refused) {
        refuse(failure, "--violate %s: only in version %s", what, other_version(refused, version));
    } else if (known) {
        refuse(failure, "--violate %s: no such variant; --list-violations lists those of %.*s", what, (int)n, what);
    } else {
        for (size_t i = 0; (rule = hprof_rule_at(i)); i++)
            if (strlen(rule->id) == n && memcmp(rule->id, what, n) == 0)
                break;
        refuse(failure,
               rule ? "--violate %s: no dump can be made that breaks this rule alone"
                    : "--violate %s: no such rule; --list-violations lists all",
               what);
    }
    return NULL;
}

static bool may_stand_together(const struct faults *v, const char **failure)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct fault *row = v->chosen[i].row;

        if (row->flags & ALONE && v->count > 1) {
            refuse(failure, "--violate %s/%s: alone; what it does hides other faults", fault_rule(row), row->variant);
            return false;
        }
        if (row->flags & ONCE && v->options.count > 1) {
            refuse(failure, "--violate %s/%s: once; a second one in the same dump would not be seen", fault_rule(row),
                   row->variant);
            return false;
        }
        for (size_t j = 0; j < i; j++)
            if (v->chosen[j].row == row || (row->flags & ONCE && v->chosen[j].row->rule == row->rule)) {
                refuse(failure, "--violate %s/%s: given twice", fault_rule(row), row->variant);
                return false;
            }
    }
    return true;
}

/* ---- The row at work ---- */

uint64_t fresh_id(const struct faults *v, enum fresh_id which)
{
    return v->ids.free[(v->present->base + v->turn) * FRESH_IDS + which];
}

uint32_t fresh_serial(const struct faults *v, enum fresh_serial which)
{
    return (uint32_t)v->serials.free[(v->present->base + v->turn) * FRESH_SERIALS + which];
}

enum rule rule_at_work(const struct faults *v)
{
    return v->present->row->rule;
}

const char *variant_at_work(const struct faults *v)
{
    return v->present->row->variant;
}

uint64_t chosen_place(const struct faults *v)
{
    return v->present->first;
}

bool is_chosen_place(struct faults *v)
{
    return v->present->at++ == v->present->first;
}

/* ---- What the first pass finds out ---- */

#define MEET_ID(field) fresh_ids_meet(&v->ids, r->field);
#define MEET_U4(field) fresh_ids_meet(&v->serials, r->field);
#define MEET_U1(field)
#define MEET_U2(field)
#define MEET_U8(field)
#define MEET_I4(field)
#define MEET(type, field, meaning) MEET_##type(field)

static void meet_fields(struct faults *v, const struct event *e)
{
    switch (e->layout) {
    case LAYOUT_ID_NONE:
        break;
#define MEET_CASE(name) \
    case LAYOUT_ID_##name: { \
        const struct name *r = &e->fields.name; \
        (void)r; \
        LAYOUT_##name(MEET, NO_TAIL) break; \
    }
        LAYOUTS_WITH_FIELDS(MEET_CASE)
#undef MEET_CASE
    }
}

static void meet_numbers(struct faults *v, const struct event *e)
{
    if (e->kind != EVENT_PART) {
        v->scanning = e->layout == LAYOUT_ID_TRACE || e->layout == LAYOUT_ID_CLASS_DUMP ||
                      e->layout == LAYOUT_ID_INSTANCE_DUMP || e->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP;
        v->scanning_serials = e->layout == LAYOUT_ID_ALLOC_SITES || e->layout == LAYOUT_ID_CPU_SAMPLES;
        v->ids.carried = v->serials.carried = 0;
        meet_fields(v, e);
    }
    if (v->scanning && e->body)
        fresh_ids_scan_on(&v->ids, e->body, e->body_size);
    if (v->scanning_serials && e->body)
        fresh_ids_scan_on(&v->serials, e->body, e->body_size);
}

/* A heap dump record that ends. */
static void note_sample(struct facts *f, const struct flow *flow)
{
    if (!flow->in_record)
        return;
    if (f->seen++ % f->stride)
        return;
    if (f->sample_count == SAMPLES) {
        for (size_t i = 0; i < SAMPLES / 2; i++)
            f->samples[i] = f->samples[2 * i];
        f->sample_count = SAMPLES / 2;
        f->stride *= 2;
        if ((f->seen - 1) % f->stride)
            return;
    }
    f->samples[f->sample_count++] = (struct sample){flow->opened, flow->subrecords - flow->in_record, flow->in_record};
}

/* Whether a number was met before. Sometimes true for a number that was not. */
static bool seen_before(struct facts *f, uint64_t number)
{
    size_t bit = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 44);
    uint8_t mask = (uint8_t)(1 << (bit & 7)), before = f->seen_frames[bit >> 3];

    f->seen_frames[bit >> 3] = before | mask;
    return before & mask;
}

static void note_facts(struct faults *v, const struct event *e)
{
    struct facts *f = &v->facts;

    if (e->kind == EVENT_OPEN) {
        f->last_segment = 0;
        f->segments_end = e->tag == TAG_HEAP_DUMP_SEGMENT ? v->flow.opened + 1 : f->segments_end;
    } else if (e->kind == EVENT_RECORD && e->tag == TAG_HEAP_DUMP_END) {
        f->last_segment = v->flow.series_open ? f->segments_end : 0;
    } else if (e->kind == EVENT_CLOSE) {
        note_sample(f, &v->flow);
        if (v->flow.heap_tag == TAG_HEAP_DUMP && v->flow.record_size > UINT32_MAX && !f->long_heap_dump)
            f->long_heap_dump = v->flow.opened;
    } else if (e->layout == LAYOUT_ID_UTF8) {
        f->string_zero |= !e->fields.UTF8.id;
    } else if (e->layout == LAYOUT_ID_FRAME) {
        f->frames_again |= seen_before(f, e->fields.FRAME.id);
    } else if (e->layout == LAYOUT_ID_TRACE) {
        f->frames_again |= seen_before(f, ~(uint64_t)e->fields.TRACE.trace_serial);
    } else if (e->kind == EVENT_SUBRECORD) {
        f->subrecords++;
        f->classes_late |= e->layout == LAYOUT_ID_CLASS_DUMP && v->flow.instances;
        f->thread_zero |= (e->layout == LAYOUT_ID_ROOT_FRAME && !e->fields.ROOT_FRAME.thread_serial) ||
                          (e->layout == LAYOUT_ID_ROOT_THREAD && !e->fields.ROOT_THREAD.thread_serial) ||
                          (e->layout == LAYOUT_ID_ROOT_THREAD_OBJECT && !e->fields.ROOT_THREAD_OBJECT.thread_serial) ||
                          (e->layout == LAYOUT_ID_ROOT_JNI_MONITOR && !e->fields.ROOT_JNI_MONITOR.thread_serial);
    }
}

/* After the event has passed. */
static void flow_on(struct faults *v, const struct event *e)
{
    static const uint8_t no_lists[6] = {0};
    struct flow *f = &v->flow;

    switch (e->kind) {
    case EVENT_OPEN:
        f->time = e->time;
        f->heap_tag = e->tag;
        f->opened++;
        f->in_use = true;
        f->in_record = f->record_size = 0;
        if (!f->series_open) {
            f->top_class = 0;
            f->instances = false;
        }
        f->series_open |= e->tag == TAG_HEAP_DUMP_SEGMENT;
        break;
    case EVENT_CLOSE:
        f->heap_tag = 0;
        f->after_empty = !f->in_record;
        break;
    case EVENT_RECORD:
        f->time = e->time;
        f->after_empty = false;
        if (e->tag == TAG_HEAP_DUMP_END)
            f->series_open = false;
        f->in_use |= !needs_no_other_record(e);
        break;
    case EVENT_SUBRECORD:
        f->subrecords++;
        f->in_record++;
        f->record_size += fixed_part_size(e, v->id_size) + e->body_size;
        f->instances |= e->layout == LAYOUT_ID_INSTANCE_DUMP;
        if (e->layout == LAYOUT_ID_CLASS_DUMP && !f->top_class && !e->fields.CLASS_DUMP.super_id && e->body &&
            e->body_size >= 6 && memcmp(e->body + e->body_size - 2, no_lists, 2) == 0 && !e->fields.CLASS_DUMP.instance_size)
            f->top_class = e->fields.CLASS_DUMP.class_id;
        break;
    case EVENT_HEADER:
    case EVENT_BATCH: /* with DETAIL_FIELDS, events have no body */
    case EVENT_RAW:
    case EVENT_PART:
    case EVENT_END:
        break;
    }
}

/* Whether an event can be changed. */
static bool is_free(const struct fault *row, const struct event *e)
{
    bool has_quirk = e->quirk_count && e->kind != EVENT_HEADER;

    return e->rule == NO_RULE && (!has_quirk || row->flags & BESIDE_QUIRK);
}

static bool is_place(const struct faults *v, const struct chosen *c, const struct event *e)
{
    return (!(c->row->flags & CHANGES) || is_free(c->row, e)) && c->row->place->is(v, e);
}

static void start_run(struct faults *v)
{
    memset(&v->flow, 0, sizeof v->flow);
    v->prepared = v->marked = false;
    for (size_t i = 0; i < v->count; i++)
        v->chosen[i].at = v->chosen[i].done = v->chosen[i].due = 0;
}

static void note_places(struct faults *v, const struct event *e)
{
    struct chosen *first = NULL; /* of the rows that would change the event */

    for (size_t i = 0; i < v->count; i++) {
        struct chosen *c = &v->chosen[i];

        if (!is_place(v, c, e))
            continue;
        c->places++;
        if (c->row->flags & CHANGES && first)
            c->shared = first->shared = true;
        else if (c->row->flags & CHANGES)
            first = c;
    }
}

static void take_look(struct stage *stage, struct event *e)
{
    struct faults *v = (struct faults *)((char *)stage - offsetof(struct faults, look));

    if (e->kind == EVENT_HEADER)
        start_run(v);
    meet_numbers(v, e);
    note_facts(v, e);
    note_places(v, e);
    flow_on(v, e);
}

/* ---- Breaking ---- */

static void start_work(struct faults *v, struct chosen *c, uint64_t turn)
{
    v->present = c;
    v->turn = turn;
}

/* The records that rows need before the first heap dump. */
static void prepare_all(struct faults *v, struct event *e)
{
    for (size_t i = 0; i < v->count; i++)
        for (uint64_t turn = 0; v->chosen[i].row->prepare && turn < v->options.count; turn++) {
            start_work(v, &v->chosen[i], turn);
            v->chosen[i].row->prepare(v, e, v->chosen[i].row->number);
        }
    v->prepared = true;
}

static void define_late(struct faults *v)
{
    for (size_t i = 0; i < v->count; i++)
        for (uint64_t turn = 0; v->chosen[i].row->flags & LATE && turn < v->options.count; turn++) {
            start_work(v, &v->chosen[i], turn);
            insert_utf8(v, fresh_id(v, NAME), "late");
        }
}

/* The place of the n-th fault. */
static uint64_t place_of(const struct faults *v, const struct chosen *c, uint64_t turn)
{
    uint64_t n = v->options.count;

    return c->first + c->left / n * turn + c->left % n * turn / n;
}

static void come_to(struct faults *v, struct chosen *c, struct event *e)
{
    if (c->row->flags & EVERYWHERE) {
        start_work(v, c, 0);
        c->row->act(v, e, c->row->number);
        return;
    }
    if (c->done + c->due < v->options.count && c->at == place_of(v, c, c->done + c->due))
        c->due++;
    c->at++;
    while (c->due && (!(c->row->flags & CHANGES) || is_free(c->row, e))) {
        start_work(v, c, c->done);
        c->due--;
        c->done++;
        c->row->act(v, e, c->row->number);
    }
}

static void take_break(struct stage *stage, struct event *e)
{
    struct faults *v = (struct faults *)((char *)stage - offsetof(struct faults, break_));
    struct event now = *e; /* changed below; places are found in the unchanged event */

    if (e->kind == EVENT_HEADER)
        start_run(v);
    if (!v->prepared && e->kind == EVENT_OPEN)
        prepare_all(v, e);
    if (e->kind == EVENT_END)
        define_late(v);
    v->swallow = false;
    /* Insertions come first, because a changed event may have its body in the scratch buffer. */
    for (unsigned changes = 0; changes <= CHANGES; changes += CHANGES)
        for (size_t i = 0; i < v->count; i++)
            if ((v->chosen[i].row->flags & CHANGES) == changes &&
                (v->chosen[i].row->flags & EVERYWHERE || is_place(v, &v->chosen[i], e)))
                come_to(v, &v->chosen[i], &now);
    flow_on(v, e);
    if (!v->swallow)
        give(stage->next, &now);
}

/* ---- Choosing ---- */

/* Places that other rows may take first. */
static uint64_t places_of_others(const struct faults *v, const struct chosen *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < v->count; i++)
        if (&v->chosen[i] != c && c->shared && v->chosen[i].shared)
            n += v->options.count;
    return n;
}

static bool choose(struct faults *v, struct chosen *c, const char **failure)
{
    uint64_t n = v->options.count, others = places_of_others(v, c), most;

    if (!c->places) {
        refuse(failure, "--violate %s/%s: the dump has no %s", fault_rule(c->row), c->row->variant, c->row->place->words);
        return false;
    }
    if (c->places < n + others) {
        refuse(failure, "--violations %" PRIu64 ": %s/%s can be broken %" PRIu64 " times in this dump (%s)%s", n,
               fault_rule(c->row), c->row->variant, c->places, c->row->place->words,
               others ? ", less what other rules take" : "");
        return false;
    }
    if ((c->row->flags & NO_STRING_ZERO && v->facts.string_zero) || (c->row->flags & NO_THREAD_ZERO && v->facts.thread_zero)) {
        refuse(failure, "--violate %s/%s: the dump has that already", fault_rule(c->row), c->row->variant);
        return false;
    }
    if (c->row->flags & CLASSES_FIRST && v->facts.classes_late) {
        refuse(failure,
               "--violate %s/%s: the dump has instances before classes, so a consequence of the wrong length would be reported "
               "instead",
               fault_rule(c->row), c->row->variant);
        return false;
    }
    if (c->row->flags & LAST_END && !v->facts.last_segment) {
        refuse(failure,
               "--violate %s/%s: another heap dump follows the last HEAP_DUMP_END, and would be taken for a part of that one",
               fault_rule(c->row), c->row->variant);
        return false;
    }
    most = c->places - others;
    /* at * (most - 1) / UINT32_MAX, whose product may not fit in 64 bits */
    c->first = v->options.at * ((most - 1) / UINT32_MAX) + v->options.at * ((most - 1) % UINT32_MAX) / UINT32_MAX;
    if (c->first > most - n)
        c->first = most - n;
    c->left = most - c->first;
    return true;
}

static uint64_t faults_wanted(const struct faults *v)
{
    return v->count * v->options.count;
}

bool faults_settle(struct faults *v, const char **failure)
{
    for (size_t i = 0; i < v->count; i++)
        if (!choose(v, &v->chosen[i], failure))
            return false;
    if (!fresh_ids_settle(&v->ids, faults_wanted(v) * FRESH_IDS, v->options.seed) ||
        !fresh_ids_settle(&v->serials, faults_wanted(v) * FRESH_SERIALS, v->options.seed)) {
        refuse(failure, "--violate: no IDs are left that the dump does not have already; another --seed may find some");
        return false;
    }
    return true;
}

/* ---- Interface ---- */

struct faults *faults_new(const char *const *what, size_t count, const struct violate_options *options, unsigned id_size,
                          enum version version, const char **failure)
{
    struct faults *v = calloc(1, sizeof *v);

    *failure = NULL;
    if (!v || !(v->chosen = calloc(count + 1, sizeof *v->chosen))) {
        free(v);
        return NULL;
    }
    v->options = *options;
    v->id_size = id_size;
    v->version = version;
    v->count = count;
    v->look = (struct stage){.take = take_look, .id_size = id_size};
    v->break_ = (struct stage){.take = take_break, .id_size = id_size};
    v->facts.stride = 1;
    for (size_t i = 0; i < count; i++) {
        v->chosen[i].row = find_row(what[i], version, failure);
        v->chosen[i].base = i * (size_t)options->count;
        if (!v->chosen[i].row) {
            faults_free(v);
            return NULL;
        }
    }
    if (!may_stand_together(v, failure)) {
        faults_free(v);
        return NULL;
    }
    if (options->count > VIOLATIONS_MOST / (count ? count : 1)) {
        refuse(failure, "--violations %" PRIu64 ": %d in all are the most", options->count, VIOLATIONS_MOST);
        faults_free(v);
        return NULL;
    }
    if (!fresh_ids_fill(&v->ids, faults_wanted(v) * FRESH_IDS, id_size, false, options->seed) ||
        !fresh_ids_fill(&v->serials, faults_wanted(v) * FRESH_SERIALS, 4, true, options->seed)) {
        faults_free(v);
        return NULL;
    }
    return v;
}

void faults_free(struct faults *v)
{
    if (!v)
        return;
    fresh_ids_free(&v->ids);
    fresh_ids_free(&v->serials);
    free(v->chosen);
    free(v);
}

struct stage *faults_look(struct faults *v)
{
    return &v->look;
}

struct stage *faults_break(struct faults *v, struct stage *next)
{
    v->break_.next = next;
    return &v->break_;
}

int faults_gzip_rule(const struct faults *v, const char **variant)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->chosen[i].row->flags & GZIP) {
            *variant = v->chosen[i].row->variant;
            return (int)v->chosen[i].row->rule;
        }
    return NO_RULE;
}

bool violate_gzip(const char *const *what, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < ROWS; row++) {
            const char *id = fault_rule(&rows[row]);

            if (rows[row].flags & GZIP && strncmp(what[i], id, strlen(id)) == 0)
                return true;
        }
    return false;
}
