/* Classes that are loaded and unloaded (SPEC.md 4.2, 4.3), and who names a class serial. */
#include <inttypes.h>
#include <string.h>

#include "checker.h"

void use_class_serial(struct checker *ck, uint32_t serial, enum class_serial_role role, uint64_t offset)
{
    if (!keymap_find(&ck->class_serials, serial))
        uselog_add(&ck->class_serial_uses, serial, role, offset);
}

static bool is_array_name(const struct checker *ck, uint64_t name)
{
    size_t n;
    uint64_t size;
    const uint8_t *text = strings_text(&ck->strings, name, &n, &size);

    return text && n && (text[0] == '[' || (size == n && n > 2 && memcmp(text + n - 2, "[]", 2) == 0));
}

/* SPEC.md 4.2 LOAD_CLASS */
void check_load_class(struct checker *ck, const struct LOAD_CLASS *r, uint64_t at)
{
    size_t id = ck->id_size;
    uint64_t *place = keymap_add(&ck->class_serials, r->class_serial);
    bool new_serial = place && !*place;

    if (!place)
        return;
    if (new_serial)
        *place = at + 1;
    if (r->class_serial == 0) {
        report(ck, RULE_CLS_002, at, "a serial above 0", "0");
    } else if (!new_serial) {
        struct finding *f = report(ck, RULE_CLS_003, at, "a serial not yet used", "%" PRIu32, r->class_serial);

        if (f)
            f->related_offset = *place - 1;
    }

    if (r->class_id == 0) {
        report(ck, RULE_CLS_005, at + OFFSET_OF(LOAD_CLASS, class_id, id), "the ID of a class", "0");
    } else {
        struct class *class = classes_add(&ck->classes, r->class_id);

        if (!class)
            return;
        if (class->loaded && class->serial != r->class_serial && new_serial) {
            struct finding *f =
                report_shape(ck, RULE_CLS_004, is_array_name(ck, r->name) ? SHAPE_ARRAY_CLASS : SHAPE_ANY,
                             at + OFFSET_OF(LOAD_CLASS, class_id, id), "a class not yet loaded",
                             "0x%" PRIx64 ", loaded before with serial %" PRIu32, r->class_id, class->serial);
            const uint64_t *first = keymap_find(&ck->class_serials, class->serial);

            if (f && first)
                f->related_offset = *first - 1 + OFFSET_OF(LOAD_CLASS, class_id, id);
        }
        if (!class->loaded) {
            class->loaded = true;
            class->serial = r->class_serial;
            class->name = r->name;
        }
    }
    use_trace(ck, r->trace_serial, TRACE_OF_LOAD, at + OFFSET_OF(LOAD_CLASS, trace_serial, id));
    use_name(ck, r->name, NAME_OF_CLASS, at + OFFSET_OF(LOAD_CLASS, name, id));
}

/* SPEC.md 4.3 UNLOAD_CLASS */
void check_unload_class(struct checker *ck, const struct UNLOAD_CLASS *r, uint64_t at)
{
    if (!keymap_find(&ck->class_serials, r->class_serial) && !(ck->lost & LOST_CLASSES))
        report(ck, RULE_CLS_007, at, "the serial of a loaded class", "%" PRIu32, r->class_serial);
}

static void judge_serial_use(void *context, uint64_t serial, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    bool in_frame = first[SERIAL_OF_FRAME] != NEVER_USED;

    if (!keymap_find(&ck->class_serials, serial))
        report_late(ck, in_frame ? RULE_STK_006 : RULE_PRF_003, SHAPE_ANY, first[in_frame ? SERIAL_OF_FRAME : SERIAL_OF_SITE],
                    in_frame ? "FRAME" : "ALLOC_SITES > site", "the serial of a loaded class", "%" PRIu32, (uint32_t)serial);
}

/* What can be said of a class when all LOAD_CLASS records are known. */
static void judge_class_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    const struct class *class = classes_find(&ck->classes, id);
    char name[NAME_SIZE];
    size_t n;
    uint64_t size;

    if (!class->loaded) {
        if (first[CLASS_IS_DUMPED] != NEVER_USED && !(ck->lost & LOST_CLASSES))
            report_late(ck, RULE_CLS_008, SHAPE_ANY, first[CLASS_IS_DUMPED], "CLASS_DUMP", "a class with a LOAD_CLASS",
                        "0x%" PRIx64, id);
        return;
    }
    if (!strings_text(&ck->strings, class->name, &n, &size) || n < size)
        return; /* the name is not known, or too long to be kept */
    show_class(ck, id, name);
    if (first[CLASS_IS_ARRAY] != NEVER_USED && !is_array_name(ck, class->name))
        report_late(ck, RULE_OBJ_007, SHAPE_ANY, first[CLASS_IS_ARRAY], "OBJECT_ARRAY_DUMP", "an array class",
                    "0x%" PRIx64 " (%s)", id, name);
    if (first[CLASS_IS_ROOTLESS] != NEVER_USED && strcmp(name, "java.lang.Object") != 0)
        report_late(ck, RULE_CLS_012, SHAPE_ANY, first[CLASS_IS_ROOTLESS], "CLASS_DUMP", "the ID of the superclass", "0, of %s",
                    name);
}

void finish_classes(struct checker *ck)
{
    if (!(ck->lost & LOST_CLASSES))
        uselog_finish(&ck->class_serial_uses, judge_serial_use, ck);
    uselog_finish(&ck->class_uses, judge_class_use, ck);
}
