/* Loaded and unloaded classes (SPEC.md 4.2, 4.3). */
#include <inttypes.h>

#include "checks/checker.h"

static bool is_unloaded(struct checker *ck, uint32_t serial)
{
    return id_set_get(&ck->file->unloaded_serials, serial) & ID_DEFINED;
}

static void set_class(struct checker *ck, struct class *class, const struct LOAD_CLASS *r)
{
    *class = (struct class){.name = r->name, .serial = r->class_serial, .named = strings_defined(&ck->file->strings, r->name)};
}

/* A class ID that was already loaded under another serial. Once its class is unloaded, an ID may be reused. */
static void check_reload(struct checker *ck, struct class *class, const struct LOAD_CLASS *r, uint64_t at)
{
    struct finding *f;

    if (is_unloaded(ck, class->serial)) {
        bool reused = class->reused || (class->name != r->name && !strings_equal(&ck->file->strings, class->name, r->name));

        set_class(ck, class, r);
        class->reused = reused;
        class->named = class->named && !reused;
        return;
    }
    if (class->name && r->name && strings_defined(&ck->file->strings, class->name) &&
        strings_defined(&ck->file->strings, r->name) && !strings_equal(&ck->file->strings, class->name, r->name))
        f = report(ck, RULE_CLS_018, at + OFFSET_OF(LOAD_CLASS, name, ck->file->id_size),
                   "the name under which the class was loaded",
                   "0x%" PRIx64 ", another; 0x%" PRIx64 " was loaded before with serial %" PRIu32, r->name, r->class_id,
                   class->serial);
    else
        f = report_shape(ck, RULE_CLS_004,
                         is_array_name(strings_name_kind(&ck->file->strings, r->name)) ? SHAPE_ARRAY_CLASS : SHAPE_ANY,
                         at + OFFSET_OF(LOAD_CLASS, class_id, ck->file->id_size), "a class not yet loaded",
                         "0x%" PRIx64 ", loaded before with serial %" PRIu32, r->class_id, class->serial);
    if (f)
        findings_want_offset(&ck->run->findings, f, WANTED_CLASS_SERIAL, class->serial);
}

static bool is_numbered_by_agent(const struct LOAD_CLASS *r)
{
    return r->class_serial >= AGENT_FIRST_CLASS && r->class_serial < AGENT_FIRST_THREAD && r->trace_serial >= AGENT_FIRST_TRACE;
}

/* SPEC.md 4.2 LOAD_CLASS */
void check_load_class(struct checker *ck, const struct LOAD_CLASS *r, uint64_t at)
{
    size_t id = ck->file->id_size;
    struct recent_page near = {.page = NO_PAGE};
    bool new_serial = !id_set_define(&ck->file->class_serials, &near, id_to_key(r->class_serial, sizeof(uint32_t)));

    ck->file->signs.agent_loads += is_numbered_by_agent(r);
    ck->file->classes.has_other_serials |= r->class_serial != r->class_id;
    if (r->class_serial == 0) {
        report(ck, RULE_CLS_002, at, "a serial above 0", "0");
    } else if (!new_serial && !is_read_again(ck, at)) {
        struct finding *f = report(ck, RULE_CLS_003, at, "a serial not yet used", "%" PRIu32, r->class_serial);

        if (f)
            findings_want_offset(&ck->run->findings, f, WANTED_CLASS_SERIAL, r->class_serial);
    }

    if (r->class_id == 0) {
        report(ck, RULE_CLS_005, at + OFFSET_OF(LOAD_CLASS, class_id, id), "the ID of a class", "0");
    } else {
        struct class *class = classes_find(&ck->file->classes, r->class_id);

        if (class) {
            if (class->serial != r->class_serial && new_serial)
                check_reload(ck, class, r, at);
        } else {
            class = classes_add(&ck->file->classes, r->class_id);
            if (class)
                set_class(ck, class, r);
        }
    }
    use_trace(ck, r->trace_serial, TRACE_OF_LOAD, at + OFFSET_OF(LOAD_CLASS, trace_serial, id));
    use_name(ck, r->name, NAME_OF_CLASS, at + OFFSET_OF(LOAD_CLASS, name, id));
}

/* SPEC.md 4.3 UNLOAD_CLASS */
void check_unload_class(struct checker *ck, const struct UNLOAD_CLASS *r, uint64_t at)
{
    struct recent_page near = {.page = NO_PAGE};

    if (!class_is_loaded(ck, r->class_serial)) {
        if (!(ck->file->losses.definitions & MAY_DEFINE_CLASSES))
            pending_uses_add(&ck->file->class_serial_uses, r->class_serial, SERIAL_OF_UNLOAD, at);
    } else if (id_set_define(&ck->file->unloaded_serials, &near, id_to_key(r->class_serial, sizeof(uint32_t)))) {
        report(ck, RULE_CLS_019, at, "a class not yet unloaded", "%" PRIu32 ", unloaded before", r->class_serial);
    }
}

/* A frame or a site may precede its LOAD_CLASS; an UNLOAD_CLASS may not. */
static void report_serial_use(void *context, uint64_t serial, const uint64_t first[USE_ROLES])
{
    static const struct {
        enum rule rule;
        const char *path;
    } roles[] = {
        [SERIAL_OF_FRAME] = {RULE_STK_006, "FRAME"},
        [SERIAL_OF_SITE] = {RULE_PRF_003, "ALLOC_SITES > site"},
        [SERIAL_OF_UNLOAD] = {RULE_CLS_007, "UNLOAD_CLASS"},
    };
    struct checker *ck = context;
    bool may_be_loaded = ck->file->losses.definitions & MAY_DEFINE_CLASSES || class_is_loaded(ck, (uint32_t)serial);
    unsigned role = may_be_loaded ? SERIAL_OF_UNLOAD : SERIAL_OF_FRAME;

    while (role < SERIAL_OF_UNLOAD && first[role] == NEVER_USED)
        role++;
    if (first[role] != NEVER_USED && !(role == SERIAL_OF_UNLOAD && ck->file->losses.unknown & MAY_DEFINE_CLASSES))
        report_late(ck, roles[role].rule, SHAPE_ANY, first[role], roles[role].path, "the serial of a loaded class", "%" PRIu32,
                    (uint32_t)serial);
}

/* The checks of a class that need all LOAD_CLASS records. */
static void report_class_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    const struct class *class = classes_find(&ck->file->classes, id);
    enum name_kind kind = class && !class->reused ? strings_name_kind(&ck->file->strings, class->name) : NAME_UNKNOWN;
    char path[NAME_SIZE], name[NAME_SIZE];

    if (first[CLASS_IS_DUMPED] != NEVER_USED && !class && !(ck->file->losses.definitions & MAY_DEFINE_CLASSES))
        report_within(ck, RULE_CLS_008, SHAPE_ANY, first[CLASS_IS_DUMPED], show_class_dump(ck->file, id, path, sizeof path),
                      "a class with a LOAD_CLASS", "0x%" PRIx64, id);
    if (kind == NAME_UNKNOWN)
        return;
    show_class_after(ck->file, id, name, sizeof name);
    if (first[CLASS_IS_ARRAY] != NEVER_USED && !is_array_name(kind))
        report_within(ck, RULE_OBJ_007, SHAPE_ANY, first[CLASS_IS_ARRAY], "OBJECT_ARRAY_DUMP", "an array class",
                      "0x%" PRIx64 "%s", id, name);
    if (first[CLASS_IS_ARRAY] != NEVER_USED && kind == NAME_OF_PRIMITIVE_ARRAY)
        report_within(ck, RULE_OBJ_012, SHAPE_ANY, first[CLASS_IS_ARRAY], "OBJECT_ARRAY_DUMP",
                      "the class of an array of objects", "0x%" PRIx64 "%s", id, name);
    if (first[CLASS_HAS_INSTANCES] != NEVER_USED && is_array_name(kind))
        report_within(ck, RULE_OBJ_011, SHAPE_ANY, first[CLASS_HAS_INSTANCES], show_class_dump(ck->file, id, path, sizeof path),
                      "a class whose objects are INSTANCE_DUMPs", "0x%" PRIx64 "%s", id, name);
    if (first[CLASS_HAS_FIELDS] != NEVER_USED && is_array_name(kind))
        report_within(ck, RULE_CLS_020, SHAPE_ANY, first[CLASS_HAS_FIELDS], show_class_dump(ck->file, id, path, sizeof path),
                      "no instance fields", "instance fields, of 0x%" PRIx64 "%s", id, name);
    if (first[CLASS_IS_FAR_FROM_ROOT] != NEVER_USED && is_array_name(kind))
        report_within(ck, RULE_CLS_021, SHAPE_ANY, first[CLASS_IS_FAR_FROM_ROOT],
                      show_class_dump(ck->file, id, path, sizeof path), "java.lang.Object, or 0",
                      "a class with a superclass, of 0x%" PRIx64 "%s", id, name);
    if (first[CLASS_HAS_NO_SUPERCLASS] != NEVER_USED && kind != NAME_OF_JAVA_LANG_OBJECT)
        report_within(ck, RULE_CLS_012, SHAPE_ANY, first[CLASS_HAS_NO_SUPERCLASS],
                      show_class_dump(ck->file, id, path, sizeof path), "the ID of the superclass", "0, of 0x%" PRIx64 "%s", id,
                      name);
}

void finish_classes(struct checker *ck)
{
    pending_uses_finish(&ck->file->class_serial_uses, report_serial_use, ck);
    pending_uses_finish(&ck->file->class_uses, report_class_use, ck);
}
