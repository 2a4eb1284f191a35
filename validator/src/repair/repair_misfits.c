/* See repair.h. Objects that the name of their class does not fit: an object array whose class is no array class, or an instance
 * whose class is one. Either the name is wrong, or the class of these objects: most objects of the class say which. And objects
 * whose class is an object. */
#include "format/subrecord.h"
#include "repair/repair_survey.h"

static bool kind_of_misfit(enum rule rule, enum misfit_kind *kind)
{
    if (rule != RULE_OBJ_007 && rule != RULE_OBJ_011 && rule != RULE_OBJ_012)
        return false;
    *kind = rule == RULE_OBJ_011 ? MISFIT_INSTANCE : MISFIT_ARRAY;
    return true;
}

bool misfit_note(struct repair *r, enum rule rule, uint64_t offset)
{
    enum misfit_kind kind;
    uint8_t id[8];

    if (!kind_of_misfit(rule, &kind) || !copy_read(r, offset, id, r->id_size) ||
        keymap_get(&r->misfits[kind].classes, get_id(id, r->id_size), NULL))
        return false;
    keymap_put(r->may_stand_in ? &r->misfits[kind].found : &r->misfits[kind].classes, get_id(id, r->id_size), 0);
    r->wants_stand_in |= r->may_stand_in;
    return true;
}

bool misfit_note_no_class(struct repair *r, enum rule rule, uint64_t offset)
{
    const enum misfit_kind kind = rule == RULE_OBJ_002 ? MISFIT_INSTANCE : MISFIT_ARRAY;
    uint8_t id[8];

    if (rule == RULE_CLS_010 || !copy_read(r, offset, id, r->id_size) || !get_id(id, r->id_size))
        return false;
    return keymap_put(&r->misfits[kind].found, get_id(id, r->id_size), 0);
}

void misfits_init(struct repair *r)
{
    keymap_init(&r->renamed, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    for (struct misfits *m = r->misfits; m < r->misfits + MISFIT_KINDS; m++) {
        keymap_init(&m->found, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
        keymap_init(&m->classes, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    }
}

void misfits_forget(struct repair *r)
{
    for (struct misfits *m = r->misfits; m < r->misfits + MISFIT_KINDS; m++) {
        keymap_clear(&m->found);
        keymap_init(&m->found, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    }
}

void misfits_clear(struct repair *r)
{
    keymap_clear(&r->renamed);
    for (struct misfits *m = r->misfits; m < r->misfits + MISFIT_KINDS; m++) {
        keymap_clear(&m->found);
        keymap_clear(&m->classes);
    }
}

/* ---- Which is wrong ---- */

static void decide(struct survey *v, enum misfit_kind kind, const struct seen_class *c)
{
    struct repair *r = v->r;
    uint64_t misfits = kind == MISFIT_ARRAY ? c->arrays : c->instances + c->subclasses;
    uint64_t fitting = survey_primitive_arrays(v, c->id) + c->arrays + c->instances + c->subclasses - misfits;
    uint64_t other = c->id;

    if (!c->is_loaded || fitting >= misfits || !keymap_add(&r->renamed, c->id, 0, &(uint64_t){0}))
        other = survey_new_class(v);
    keymap_put(&r->misfits[kind].classes, c->id, other);
}

/* In the order of the dump, so that a repair gives new classes the same IDs each time. */
void misfits_decide(struct survey *v)
{
    for (int kind = 0; kind < MISFIT_KINDS; kind++)
        for (size_t i = 0; i < v->class_count; i++)
            if (keymap_get(&v->r->misfits[kind].found, v->classes[i].id, &(uint64_t){0}))
                decide(v, (enum misfit_kind)kind, &v->classes[i]);
}

/* ---- The next pass ---- */

bool is_renamed(struct repair *r, uint64_t class_id)
{
    uint64_t pass;

    if (!keymap_get(&r->renamed, class_id, &pass) || (pass && pass != r->pass))
        return false;
    keymap_put(&r->renamed, class_id, r->pass);
    return true;
}

bool is_misfit(const struct repair *r, struct cursor c, struct other_class *other)
{
    const uint8_t *tag = cursor_take(&c, 1);
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;

    if (!tag)
        return false;
    if (*tag == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, r->id_size, &instance)) {
        other->at = 1 + OFFSET_OF(INSTANCE_DUMP, class_id, r->id_size);
        return keymap_get(&r->misfits[MISFIT_INSTANCE].classes, instance.class_id, &other->id) &&
               other->id != instance.class_id;
    }
    if (*tag == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&c, r->id_size, &objects)) {
        other->at = 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, r->id_size);
        return keymap_get(&r->misfits[MISFIT_ARRAY].classes, objects.class_id, &other->id) && other->id != objects.class_id;
    }
    return false;
}
