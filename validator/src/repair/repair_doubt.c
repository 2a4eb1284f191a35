/* See repair.h. The last record or sub-record before damage may have lost its end, and taken what follows the damage for it; or it
 * has bytes too many. */
#include "findings/rules.h"
#include "repair/repair_survey.h"

void doubt_note(struct repair *r, uint64_t damage_at)
{
    if (!r->is_first_pass || r->last.end != damage_at ||
        !memory_grow(&r->memory, (void **)&r->doubts, &r->doubt_capacity, r->doubt_count + 1, sizeof *r->doubts))
        return;
    r->has_doubtful_class |= r->last.tag == SUB_CLASS_DUMP;
    r->doubts[r->doubt_count++] = r->last;
}

/* Whether what has its body at an offset of the copy is doubted. They are in order. */
static bool is_doubted(const struct repair *r, uint64_t body)
{
    size_t low = 0, high = r->doubt_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->doubts[middle].body < body)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->doubt_count && r->doubts[low].body == body;
}

/* Whether one of two is wrong: they have the same ID or serial number, or are the same class by different names. */
static bool is_duplicate(enum rule rule)
{
    switch (rule) {
    case RULE_STR_004:
    case RULE_CLS_003:
    case RULE_CLS_009:
    case RULE_CLS_018:
    case RULE_STK_003:
    case RULE_STK_009:
    case RULE_OBJ_004:
        return true;
    default:
        return false;
    }
}

uint64_t doubt_choose(const struct repair *r, enum rule rule, uint64_t offset, uint64_t earlier)
{
    return is_duplicate(rule) && earlier != HPROF_NO_OFFSET && is_doubted(r, earlier) ? earlier : offset;
}

bool doubt_explains(struct repair *r, enum rule rule)
{
    if (rule != RULE_OBJ_006 || !r->may_stand_in)
        return false;
    r->doubts_classes |= r->has_doubtful_class;
    return r->doubts_classes;
}

void doubt_leave_out(struct repair *r)
{
    for (size_t i = 0; r->doubts_classes && i < r->doubt_count; i++)
        if (r->doubts[i].tag == SUB_CLASS_DUMP)
            leave_out_at(r, r->doubts[i].body);
    r->doubts_classes = r->has_doubtful_class = false; /* once */
}

void doubt_end_pass(struct repair *r)
{
    for (size_t i = 0; i < r->doubt_count; i++)
        r->doubts[i].body = damage_moved(r, r->doubts[i].body);
}

/* ---- Classes that their instances contradict ---- */

/* The index of the superclass, if that says another size of its instances than its fields take: then its subclasses do, too. */
static bool contradicts_itself(struct survey *v, uint64_t class_id, size_t *index)
{
    uint64_t at, bytes;

    if (!class_id || !keymap_get(&v->class_index, class_id, &at))
        return false;
    *index = (size_t)at;
    return v->classes[at].is_here && survey_fields_of(v, *index, &bytes) && bytes != v->classes[at].declared;
}

static void leave_out_class(struct survey *v, struct seen_class *c)
{
    if (keymap_add(&v->r->doubted_classes, stand_in_key(v->r, c->id), 0, &(uint64_t){0})) {
        leave_out_at(v->r, c->at);
        v->r->doubts_found = c->is_left_out = true;
    }
}

/* Most instances of a class have another size than its fields: it is wrong, or the topmost of its superclasses that contradict
 * themselves. Each class is passed once. */
static void doubt_class(struct survey *v, size_t index)
{
    size_t above;

    while (!v->classes[index].is_doubted) {
        v->classes[index].is_doubted = true;
        if (!contradicts_itself(v, v->classes[index].super, &above)) {
            leave_out_class(v, &v->classes[index]);
            return;
        }
        index = above;
    }
}

/* ---- Cycles of superclasses ---- */

/* The superclass in this heap dump, or NULL. */
static struct seen_class *super_of(struct survey *v, const struct seen_class *c)
{
    struct seen_class *super = c->super ? survey_class(v, c->super) : NULL;

    return super && super->is_here ? super : NULL;
}

/* In a cycle one class is wrong at least: java.lang.Object, which has no superclass, or the one whose size, as it says, is not that
 * of its superclass and its own fields. */
static struct seen_class *wrong_of_cycle(struct survey *v, struct seen_class *first)
{
    struct seen_class *c = first, *wrong = first;

    do {
        struct seen_class *super = super_of(v, c);

        if (c->id == v->object_class)
            return c;
        if (c->declared != super->declared + c->own)
            wrong = c;
        c = super;
    } while (c != first);
    return wrong;
}

/* Leaves out one class of the cycle to which the superclasses of a class lead, if no earlier walk met that cycle. Each class is
 * passed once, and those of a cycle twice. Whether there is one. */
static bool doubt_cycle_above(struct survey *v, struct seen_class *c, size_t walk)
{
    for (; c && !c->walk; c = super_of(v, c))
        c->walk = walk;
    if (!c || c->walk != walk)
        return false;
    leave_out_class(v, wrong_of_cycle(v, c));
    return true;
}

/* Whether there are any. If java.lang.Object is below a cycle, it is wrong, too: left in, it would make all classes subclasses of
 * the one that is left out, whose size they then say. */
static bool doubt_cycles(struct survey *v)
{
    struct seen_class *object = survey_class(v, v->object_class);
    bool found = object && object->is_here && doubt_cycle_above(v, object, v->touched_count + 1);

    if (found)
        leave_out_class(v, object);
    for (size_t i = 0; i < v->touched_count; i++)
        if (v->classes[v->touched[i]].is_here)
            found |= doubt_cycle_above(v, &v->classes[v->touched[i]], i + 1);
    return found;
}

bool doubt_classes(struct survey *v)
{
    if (doubt_cycles(v)) /* then sizes mean something in the next round only */
        return false;
    for (size_t i = 0; i < v->touched_count; i++) {
        const size_t index = v->touched[i];
        uint64_t bytes;

        if (v->classes[index].is_here && v->classes[index].size.weight && survey_fields_of(v, index, &bytes) &&
            bytes != v->classes[index].size.value)
            doubt_class(v, index);
    }
    return true;
}
