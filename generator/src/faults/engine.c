/* See engine.h. Chooses the places of the rows, and decides when each acts; not what it does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "faults/rows.h"

static bool may_stand_together(const struct faults *v, const char **failure)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct fault *row = v->chosen[i].row;

        if (row->flags & ALONE && v->count > 1) {
            refuse_fault(failure, "--violate %s/%s: alone; what it does hides other faults", fault_rule(row), row->variant);
            return false;
        }
        if (row->flags & ONCE && v->options.count > 1) {
            refuse_fault(failure, "--violate %s/%s: once; a second one in the same dump would not be seen", fault_rule(row),
                         row->variant);
            return false;
        }
        for (size_t j = 0; j < i; j++)
            if (v->chosen[j].row == row || (row->flags & ONCE && v->chosen[j].row->rule == row->rule)) {
                refuse_fault(failure, "--violate %s/%s: given twice", fault_rule(row), row->variant);
                return false;
            }
    }
    return true;
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

static void take_look(struct stage *stage, struct event *e)
{
    struct faults *v = (struct faults *)((char *)stage - offsetof(struct faults, look));

    if (e->kind == EVENT_HEADER)
        start_pass(v);
    look_at(v, e);
    v->seen = e->kind == EVENT_HEADER && faults_are_of_header(v);
}

static void take_break(struct stage *stage, struct event *e)
{
    struct faults *v = (struct faults *)((char *)stage - offsetof(struct faults, break_));
    struct event now = *e; /* changed below; places are found in the unchanged event */

    if (e->kind == EVENT_HEADER)
        start_pass(v);
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
        refuse_fault(failure, "--violate %s/%s: the dump has no %s", fault_rule(c->row), c->row->variant, c->row->place->words);
        return false;
    }
    if (c->places < n + others) {
        refuse_fault(failure, "--violations %" PRIu64 ": %s/%s can be broken %" PRIu64 " times in this dump (%s)%s", n,
                     fault_rule(c->row), c->row->variant, c->places, c->row->place->words,
                     others ? ", less what other rules take" : "");
        return false;
    }
    if ((c->row->flags & NO_STRING_ZERO && v->facts.string_zero) || (c->row->flags & NO_THREAD_ZERO && v->facts.thread_zero)) {
        refuse_fault(failure, "--violate %s/%s: the dump has that already", fault_rule(c->row), c->row->variant);
        return false;
    }
    if (c->row->flags & CLASSES_FIRST && v->facts.classes_late) {
        refuse_fault(
            failure,
            "--violate %s/%s: the dump has instances before classes, so a consequence of the wrong length would be reported "
            "instead",
            fault_rule(c->row), c->row->variant);
        return false;
    }
    if (c->row->flags & LAST_END && !v->facts.last_segment) {
        refuse_fault(
            failure,
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
        refuse_fault(failure, "--violate: no IDs are left that the dump does not have already; another --seed may find some");
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
        v->chosen[i].row = find_fault(what[i], version, failure);
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
        refuse_fault(failure, "--violations %" PRIu64 ": %d in all are the most", options->count, VIOLATIONS_MOST);
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

const bool *faults_seen(const struct faults *v)
{
    return &v->seen;
}

bool faults_are_of_header(const struct faults *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->chosen[i].row->place->is != place_header && v->chosen[i].row->place->is != place_header_with_time)
            return false;
    return true;
}

/* A fault adds at most a few bodies to a record, or joins it with the next one. */
bool faults_fit(const struct faults *v, uint64_t longest, uint64_t most)
{
    uint64_t added = faults_wanted(v) * 4 * SCRATCH;

    for (size_t i = 0; i < v->count; i++)
        if (v->chosen[i].row->flags & (EVERYWHERE | GZIP | HUGE_DUMP))
            return false;
    return faults_are_of_header(v) ? longest <= most : added <= most && longest <= (most - added) / 2;
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
