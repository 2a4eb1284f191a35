/* What is missing at the end of a heap dump (SPEC.md 6.4.3, 6.3.2, 7): each missing ID once, under the gravest rule. */
#include <inttypes.h>

#include "checker.h"

/* Said once: the sweep for dangling references must not say it again. */
static void settle(struct checker *ck, uint64_t id)
{
    if (id && idset_get(&ck->dump.objects, id))
        idset_define(&ck->dump.objects, &ck->dump.near_defined, id_to_key(id, ck->id_size));
}

static void judge_object_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    static const struct {
        enum rule rule;
        enum finding_shape shape;
        const char *path;
    } as[] = {
        [OBJECT_AS_CLASS] = {RULE_OBJ_002, SHAPE_ANY, "INSTANCE_DUMP"},
        [OBJECT_AS_ARRAY_CLASS] = {RULE_OBJ_003, SHAPE_ANY, "OBJECT_ARRAY_DUMP"},
        [OBJECT_AS_SUPERCLASS] = {RULE_CLS_010, SHAPE_ANY, "CLASS_DUMP"},
        [OBJECT_AS_ROOT] = {RULE_REF_001, SHAPE_ANY, "a root"},
        [OBJECT_AS_STICKY_CLASS] = {RULE_REF_001, SHAPE_STICKY_CLASS, "ROOT_STICKY_CLASS"},
    };
    struct checker *ck = context;
    bool defined = id && idset_get(&ck->dump.objects, id) & ID_DEFINED;
    bool is_class = id && classes_layout_of(&ck->classes, id);
    unsigned role = 0;
    char name[NAME_SIZE];

    while (role < OBJECT_AS_STICKY_CLASS && first[role] == NEVER_USED)
        role++;
    if (role >= OBJECT_AS_ROOT) {
        if (defined)
            return;
        report_late(ck, as[role].rule, as[role].shape, first[role], as[role].path, "the ID of an object in this heap dump",
                    "0x%" PRIx64 "%s, not dumped", id, show_class_after(ck, id, name));
    } else {
        if (is_class)
            return;
        report_late(ck, as[role].rule, as[role].shape, first[role], as[role].path, "the ID of a class in this heap dump",
                    "0x%" PRIx64 "%s, %s", id, show_class_after(ck, id, name), defined ? "which is no class" : "not dumped");
    }
    settle(ck, id);
}

static void judge_missing(void *context, uint64_t id, unsigned flags)
{
    struct checker *ck = context;
    struct finding *f;
    char name[NAME_SIZE];

    /* Ordered by ID, not by offset: on a pipe that is all there is, and the findings must be the same. */
    f = report_late(ck, RULE_REF_002, flags & ID_REFERENCED ? SHAPE_ANY : SHAPE_ARRAY_ELEMENT, id, "",
                    "the ID of an object in this heap dump", "0x%" PRIx64 "%s, not dumped; named by %s", id,
                    show_class_after(ck, id, name),
                    !(flags & ID_REFERENCED) ? "elements of object arrays"
                    : flags & ID_ELEMENT     ? "fields and elements of object arrays"
                                             : "fields");
    if (f) {
        f->offset = HPROF_NO_OFFSET;
        diag_seek(&ck->diag, f, flags & ID_REFERENCED ? PLACE_OF_REFERENCE : PLACE_OF_ELEMENT, id);
    }
}

void finish_objects(struct checker *ck)
{
    if (ck->dump.lost)
        return;
    uselog_finish(&ck->dump.object_uses, judge_object_use, ck);
    idset_sweep(&ck->dump.objects, judge_missing, ck);
}
