/* See repair.h. The last sub-record before damage may have lost its end, and taken what follows the damage for it. */
#include "findings/rules.h"
#include "repair/repair_survey.h"

void doubt_note(struct repair *r, uint64_t damage_at)
{
    if (!r->is_first_pass || r->last.end != damage_at ||
        !memory_grow(&r->memory, (void **)&r->doubts, &r->doubt_capacity, r->doubt_count + 1, sizeof *r->doubts))
        return;
    r->doubts[r->doubt_count++] = r->last;
}

/* Whether the sub-record at an offset of the copy is doubted. They are in order. */
static bool is_doubted(const struct repair *r, uint64_t at)
{
    size_t low = 0, high = r->doubt_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->doubts[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->doubt_count && r->doubts[low].at == at;
}

uint64_t doubt_choose(const struct repair *r, enum rule rule, uint64_t offset, uint64_t earlier)
{
    bool is_duplicate = rule == RULE_OBJ_004 || rule == RULE_CLS_009;

    return is_duplicate && earlier != HPROF_NO_OFFSET && earlier && is_doubted(r, earlier - 1) ? earlier : offset;
}

bool doubt_explains(struct repair *r, enum rule rule)
{
    if (rule != RULE_OBJ_006 || !r->may_stand_in)
        return false;
    for (size_t i = 0; i < r->doubt_count && !r->doubts_classes; i++)
        r->doubts_classes = r->doubts[i].tag == SUB_CLASS_DUMP;
    return r->doubts_classes;
}

void doubt_leave_out(struct repair *r)
{
    for (size_t i = 0; r->doubts_classes && i < r->doubt_count; i++)
        if (r->doubts[i].tag == SUB_CLASS_DUMP)
            leave_out_at(r, r->doubts[i].at);
    r->doubt_count = 0; /* the next pass writes them elsewhere */
    r->doubts_classes = false;
}

/* ---- Classes that their instances contradict ---- */

/* The bytes that the fields of an instance take by the CLASS_DUMPs, from a class up. False if one is missing. */
static bool size_by_fields(struct survey *v, const struct seen_class *c, uint64_t *size)
{
    *size = 0;
    for (size_t steps = 0; steps <= v->touched_count; steps++) {
        *size += c->own;
        if (!c->super)
            return true;
        c = survey_class(v, c->super);
        if (!c || !c->is_here || c->heap_dump != v->r->heap_dump)
            return false;
    }
    return false;
}

/* The class or superclass that is wrong, if most instances of a class have another size than its fields: the topmost one that
 * contradicts itself, else the class. */
static struct seen_class *find_wrong(struct survey *v, struct seen_class *c)
{
    struct seen_class *wrong = c;
    uint64_t size;

    for (struct seen_class *at = c; at; at = at->super ? survey_class(v, at->super) : NULL)
        if (size_by_fields(v, at, &size) && size != at->declared)
            wrong = at;
    return wrong;
}

void doubt_classes(struct survey *v)
{
    for (size_t i = 0; i < v->touched_count; i++) {
        struct seen_class *c = &v->classes[v->touched[i]], *wrong;
        uint64_t size;

        if (!c->is_here || !c->size.weight || !size_by_fields(v, c, &size) || size == c->size.value)
            continue;
        wrong = find_wrong(v, c);
        if (!keymap_add(&v->r->doubted_classes, stand_in_key(v->r, wrong->id), 0, &(uint64_t){0}))
            continue;
        leave_out_at(v->r, wrong->at);
        v->r->doubts_found = true;
    }
}
