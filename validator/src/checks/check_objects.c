/* Instances and arrays (SPEC.md 6.4 to 6.7) that are not plain (plain_objects.h), one at a time; also the first use of each
 * class and stack trace, and waiting instances. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks/checker.h"
#include "checks/heap.h"
#include "checks/plain_objects.h"
#include "format/native.h"

#define COLD __attribute__((noinline, cold))

/* ---- IDs ---- */

COLD void report_duplicate(struct checker *ck, uint64_t id, bool is_class, uint64_t offset)
{
    const struct layout *class = classes_layout_of(&ck->file->classes, id);
    bool was_class = class && class->at < offset;
    struct finding *f;

    if (was_class == is_class)
        f = report(ck, RULE_OBJ_004, offset, "an object ID not yet defined in this heap dump", "0x%" PRIx64, id);
    else
        f = report(ck, RULE_OBJ_005, offset, is_class ? "an ID that no object has" : "an ID that no class has", "0x%" PRIx64,
                   id);
    if (f && was_class)
        f->related_offset = jumps_offset(&ck->file->jumps, class->at);
    else if (f)
        findings_want_offset(&ck->run->findings, f, WANTED_OBJECT, id);
}

void define_object(struct checker *ck, uint64_t id, bool is_class, uint64_t offset)
{
    if (!id)
        report(ck, RULE_OBJ_001, offset, "an ID other than 0", "0");
    else if (id_set_define(&ck->heap->objects, &ck->heap->segment.defined, id_to_key(id, ck->file->id_size)) &&
             !ck->file->losses.heap.end && !is_subrecord_read_again(ck, offset)) {
        if (ck->heap->reports_twice_later)
            id_set_set(&ck->heap->twice, id_to_key(id, ck->file->id_size), ID_ELEMENT);
        else
            report_duplicate(ck, id, is_class, offset);
    }
}

static COLD void use_object_trace(struct checker *ck, uint32_t serial, enum object_kind kind, uint64_t offset)
{
    static const enum trace_role roles[] = {
        [KIND_INSTANCE] = TRACE_OF_INSTANCE,
        [KIND_OBJECT_ARRAY] = TRACE_OF_OBJECT_ARRAY,
        [KIND_PRIMITIVE_ARRAY] = TRACE_OF_PRIMITIVE_ARRAY,
    };

    use_trace(ck, serial, roles[kind], offset);
    ck->heap->segment.known_traces[serial % KNOWN_TRACES] = serial;
}

void check_object_head(struct checker *ck, uint64_t id, uint32_t trace_serial, enum object_kind kind, uint64_t at)
{
    define_object(ck, id, false, at);
    if (!is_known_trace(&ck->heap->segment, trace_serial))
        use_object_trace(ck, trace_serial, kind, at + ck->file->id_size);
}

/* ---- Classes of instances ---- */

/* Puts the class of instances of `bytes` bytes into its slot. NULL if there are no slots, or the class does not fit. */
static COLD const struct hot_class *load_hot(struct checker *ck, const uint8_t *raw_id, uint64_t bytes)
{
    const struct classes *classes = &ck->file->classes;
    struct hot_class hot = {.raw_id = native_load(raw_id, ck->file->id_size), .dump = classes->dump}, *slot;
    uint32_t index = classes_find_layout(classes, get_id(raw_id, ck->file->id_size));
    const struct layout *l = index == LAYOUT_NONE ? NULL : classes_layout(classes, index);

    if (!l || l->state != LAYOUT_VALID || l->total != bytes || !ck->heap->segment.hot.slots ||
        (!describe_class(classes, index, &hot) && !describe_wide(&ck->heap->segment.wide, classes, index, &hot)))
        return NULL;
    slot = hot_slot(&ck->heap->segment.hot, hot.raw_id);
    *slot = hot;
    return slot;
}

const struct hot_class *hot_class_of(struct checker *ck, const uint8_t *raw_id, uint64_t bytes)
{
    uint64_t raw = native_load(raw_id, ck->file->id_size);
    const struct hot_class *class = ck->heap->segment.hot.slots ? hot_slot(&ck->heap->segment.hot, raw) : NULL;

    if (!class || class->raw_id != raw || class->bytes != bytes || class->dump != ck->file->classes.dump)
        class = load_hot(ck, raw_id, bytes);
    return class && !class->is_wide ? class : NULL;
}

/* The layout of the class of an instance; LAYOUT_NONE if it or a superclass is undefined or still follows. */
static uint32_t known_layout(struct checker *ck, uint64_t class_id)
{
    uint32_t index = classes_find_layout(&ck->file->classes, class_id);

    if (index == LAYOUT_NONE || classes_resolve(&ck->file->classes, index) == LAYOUT_OPEN)
        return LAYOUT_NONE;
    classes_layout(&ck->file->classes, index)->has_instances = true;
    return index;
}

/* What an instance is by its class; NULL if that is unknown. Where the class or the length is at fault, the instance may be
 * anything. */
static void note_instance(struct checker *ck, const struct INSTANCE_DUMP *r, const struct layout *l)
{
    bool is_known = l && l->state == LAYOUT_VALID && l->total == r->bytes;
    unsigned special = is_known ? l->special : SPECIAL_THREAD | SPECIAL_LOADER | SPECIAL_CLASS;

    if (r->object_id)
        note_special(&ck->heap->segment, r->object_id, special);
}

/* The place for the first instance of a class: its own, a new one, or that of the class whose first instance is the last. */
static struct first_instance *place_of_first(struct heap *heap, uint64_t class_id)
{
    struct first_instance *last = heap->first_instances;

    for (unsigned i = 0; i < heap->first_instance_count; i++) {
        struct first_instance *one = &heap->first_instances[i];

        if (one->class_id == class_id)
            return one;
        if (one->offset > last->offset)
            last = one;
    }
    if (heap->first_instance_count == FIRST_INSTANCES)
        return last;
    last = &heap->first_instances[heap->first_instance_count++];
    last->offset = UINT64_MAX;
    return last;
}

/* In any order: threads leave some for later. */
void use_missing_class(struct checker *ck, uint64_t class_id, uint64_t object_id, uint64_t offset)
{
    struct first_instance *first = class_id ? place_of_first(ck->heap, class_id) : NULL;

    pending_uses_add(&ck->heap->object_uses, class_id, OBJECT_AS_CLASS, offset);
    if (first && offset < first->offset)
        *first = (struct first_instance){class_id, offset, object_id};
}

/* ---- Fields ---- */

void check_value(struct checker *ck, unsigned type, const uint8_t *value, uint64_t offset)
{
    if (type == TYPE_OBJECT) {
        refer(ck->heap, get_id(value, ck->file->id_size));
        ck->run->sum.references++;
    } else if (type == TYPE_BOOLEAN && *value > 1) {
        report(ck, RULE_OBJ_010, offset, "0 or 1", "%u", *value);
    }
}

/* Checks the parts of a chain that have checked fields, the class itself first. `get` returns n bytes at an offset of the
 * dump. */
static bool check_chain(struct checker *ck, uint32_t index, uint64_t offset,
                        const uint8_t *(*get)(struct checker *ck, uint64_t at, size_t n))
{
    uint64_t total = classes_layout(&ck->file->classes, index)->total;

    for (uint32_t i = index; i != LAYOUT_NONE; i = classes_above(&ck->file->classes, i)) {
        const struct layout *part = classes_layout(&ck->file->classes, i);
        uint64_t base = total - part->total;

        if (part->has_checked_fields) {
            const uint8_t *p = get(ck, offset + base, checked_fields_bytes(&ck->file->classes, part));

            if (!p)
                return false;
            for (struct checked_field field = checked_fields_begin(&ck->file->classes, part);
                 checked_fields_next(&ck->file->classes, &field);)
                check_value(ck, field.type, p + field.at, offset + base + field.at);
        }
    }
    return true;
}

/* Reads from the window, and moves it. */
const uint8_t *get_from_input(struct checker *ck, uint64_t offset, size_t n)
{
    uint64_t skip = offset - ck->in->offset;

    if (input_skip(ck->in, skip) < skip || input_need(ck->in, n) < n)
        return NULL;
    return ck->in->at;
}

/* ---- Instances, the long way ---- */

/* SPEC.md 6.5: the length of an instance. */
static void report_length(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t total, uint64_t at)
{
    char expected[80];

    snprintf(expected, sizeof expected, "%" PRIu64 " bytes, the fields of class 0x%" PRIx64, total, r->class_id);
    report(ck, RULE_OBJ_006, at + OFFSET_OF(INSTANCE_DUMP, bytes, ck->file->id_size), expected, "%" PRIu32, r->bytes);
}

static void hold_wrong_instance(struct checker *ck, const uint8_t *first, uint64_t total, uint64_t at)
{
    struct wrong_instance *wrong = &ck->heap->wrong;

    *wrong = (struct wrong_instance){.held = true, .at = at, .total = total};
    memcpy(wrong->first, first, 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size));
}

static void report_held_instance(struct checker *ck, bool leads_on)
{
    struct wrong_instance *wrong = &ck->heap->wrong;
    struct cursor c = {wrong->first + 1, wrong->first + sizeof wrong->first};
    struct INSTANCE_DUMP r;

    if (!wrong->held || !read_INSTANCE_DUMP(&c, ck->file->id_size, &r))
        return;
    wrong->held = false;
    if (leads_on)
        classes_note_other_size(&ck->file->classes, r.class_id, r.bytes, wrong->at);
    ck->position->sub = wrong->first;
    ck->position->sub_size = 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size);
    report_length(ck, &r, wrong->total, wrong->at);
    ck->position->sub = NULL;
}

void report_wrong_instance(struct checker *ck)
{
    report_held_instance(ck, true);
}

bool check_known_instance(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t at, bool led_to_failure,
                          const uint8_t *(*get)(struct checker *ck, uint64_t offset, size_t n))
{
    uint32_t index = known_layout(ck, r->class_id);
    const struct layout *l;

    if (index == LAYOUT_NONE) {
        note_instance(ck, r, NULL);
        use_missing_class(ck, r->class_id, r->object_id, at + OFFSET_OF(INSTANCE_DUMP, class_id, ck->file->id_size));
        return true;
    }
    l = classes_layout(&ck->file->classes, index);
    note_instance(ck, r, l);
    if (l->state != LAYOUT_VALID)
        return true;
    if (l->total == r->bytes)
        return check_chain(ck, index, at + SIZE_OF(INSTANCE_DUMP, ck->file->id_size), get);
    if (!led_to_failure)
        report_length(ck, r, l->total, at);
    return true;
}

bool check_instance(struct checker *ck)
{
    unsigned id = ck->file->id_size;
    uint64_t at = ck->in->offset + 1, end;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, id);
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
    const struct layout *l;
    struct INSTANCE_DUMP r;
    uint32_t index;

    if (!read_INSTANCE_DUMP(&c, id, &r))
        return false;
    memcpy(first, ck->in->at, head); /* kept for the path of a finding, because the window may move */
    ck->position->sub = first;
    ck->position->sub_size = head;
    end = ck->in->offset + head + r.bytes;

    check_object_head(ck, r.object_id, r.trace_serial, KIND_INSTANCE, at);
    index = known_layout(ck, r.class_id);
    l = index == LAYOUT_NONE ? NULL : classes_layout(&ck->file->classes, index);
    if (!l && r.class_id)
        return wait_for_class(ck, head + (uint64_t)r.bytes);
    note_instance(ck, &r, l);
    if (!l)
        use_missing_class(ck, r.class_id, r.object_id, at + OFFSET_OF(INSTANCE_DUMP, class_id, id));
    else if (l->state == LAYOUT_VALID && l->total != r.bytes)
        hold_wrong_instance(ck, first, l->total, at);
    else if (l->state == LAYOUT_VALID && !check_chain(ck, index, at - 1 + head, get_from_input))
        return false;
    end -= ck->in->offset;
    return input_skip(ck->in, end) == end;
}

uint64_t size_by_class(struct checker *ck, const uint8_t *p)
{
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size);
    struct cursor c = {p + 1, p + head};
    const struct layout *l;
    struct INSTANCE_DUMP r;
    uint32_t index;

    if (!read_INSTANCE_DUMP(&c, ck->file->id_size, &r))
        return 0;
    index = known_layout(ck, r.class_id);
    l = index == LAYOUT_NONE ? NULL : classes_layout(&ck->file->classes, index);
    return l && l->state == LAYOUT_VALID && l->total != r.bytes ? head + l->total : 0;
}

bool knows_class_of(struct checker *ck, const uint8_t *p)
{
    return known_layout(ck, get_id(p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, ck->file->id_size), ck->file->id_size)) !=
           LAYOUT_NONE;
}

void check_wrong_instance(struct checker *ck)
{
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size);
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    struct INSTANCE_DUMP r;

    if (!read_INSTANCE_DUMP(&c, ck->file->id_size, &r))
        return;
    ck->position->sub = ck->in->at;
    ck->position->sub_size = head;
    check_object_head(ck, r.object_id, r.trace_serial, KIND_INSTANCE, ck->in->offset + 1);
    note_instance(ck, &r, NULL);
    ck->position->sub = NULL;
    hold_wrong_instance(ck, ck->in->at, size_by_class(ck, ck->in->at) - head, ck->in->offset + 1);
    report_held_instance(ck, false);
}

/* ---- Object arrays ---- */

bool is_object_array(const struct file *file, uint64_t class_id)
{
    const struct class *class = classes_find(&file->classes, class_id);
    struct string_text name;

    return !class || !strings_text(&file->strings, class->name, &name) || string_is_stand_in(&name) ||
           string_is(&name, "[Ljava/lang/Object;") || string_is(&name, "java.lang.Object[]");
}

void use_array_class(struct checker *ck, uint64_t class_id, uint64_t offset)
{
    struct layout *l = classes_layout_of(&ck->file->classes, class_id);

    if (!l) {
        pending_uses_add(&ck->heap->object_uses, class_id, OBJECT_AS_ARRAY_CLASS, offset);
        if (class_id) /* so that a class that is dumped later is not taken for a stray one */
            id_set_set(&ck->heap->objects, id_to_key(class_id, ck->file->id_size), ID_REFERENCED);
    }
    if (!class_id || (l && l->array_kind))
        return;
    if (l)
        l->array_kind = is_object_array(ck->file, class_id) ? ARRAY_OF_OBJECT : ARRAY_OF_OTHERS;
    pending_uses_add(&ck->file->class_uses, class_id, CLASS_IS_ARRAY, offset);
}

/* SPEC.md 6.4.3, 6.6: the class of an object array, whose ID is at an offset. Returns whether it is Object[], or may be. */
static bool check_array_class(struct checker *ck, const uint8_t *raw_id, uint64_t offset)
{
    const struct segment *s = &ck->heap->segment;
    uint64_t raw = native_load(raw_id, s->id_size), class_id = get_id(raw_id, s->id_size);
    const struct layout *l = classes_layout_of(&ck->file->classes, class_id);
    bool in_object_array;

    use_array_class(ck, class_id, offset);
    in_object_array = l ? l->array_kind == ARRAY_OF_OBJECT : is_object_array(ck->file, class_id);
    if (class_id && s->hot.slots)
        make_hot_class(&s->hot, raw, s->dump, hot_array_kind(in_object_array), l ? ALWAYS : s->epoch);
    return in_object_array;
}

bool check_object_array(struct checker *ck, uint64_t size)
{
    unsigned id = ck->file->id_size;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id);
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    const uint8_t *raw_id = c.at + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, id);
    uint64_t at = ck->in->offset + 1, left, most = ck->run->sizes.piece;
    struct recent_page near = {.page = NO_PAGE};
    struct OBJECT_ARRAY_DUMP r;
    bool in_object_array;

    if (!read_OBJECT_ARRAY_DUMP(&c, id, &r))
        return false;
    check_object_head(ck, r.object_id, r.trace_serial, KIND_OBJECT_ARRAY, at);
    in_object_array = check_array_class(ck, raw_id, at + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, id));
    if (ck->heap->segment.arrays)
        array_log_begin(ck->heap->segment.arrays, r.object_id, r.class_id);
    input_advance(ck->in, head);
    for (left = (size - head) / id * id; left;) {
        size_t wanted = (size_t)(left < most ? left : most);

        if (input_need(ck->in, wanted) < wanted)
            return false;
        refer_elements(&ck->heap->segment, in_object_array, r.object_id, ck->in->at, wanted / id);
        if (in_object_array && ck->heap->segment.arrays)
            array_log_add(ck->heap->segment.arrays, &ck->heap->objects, &near, ck->in->at, wanted / id);
        ck->run->sum.references += wanted / id;
        input_advance(ck->in, wanted);
        left -= wanted;
    }
    if (ck->heap->segment.arrays)
        array_log_end(ck->heap->segment.arrays, &ck->heap->objects, at);
    return true;
}

/* ---- Primitive arrays ---- */

bool check_primitive_array(struct checker *ck)
{
    unsigned id = ck->file->id_size;
    size_t head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id);
    uint64_t at = ck->in->offset + 1, left, element = 0;
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    struct PRIMITIVE_ARRAY_DUMP r;
    uint8_t start[1 + sizeof(struct PRIMITIVE_ARRAY_DUMP_in8)];

    if (!read_PRIMITIVE_ARRAY_DUMP(&c, id, &r))
        return false;
    check_object_head(ck, r.object_id, r.trace_serial, KIND_PRIMITIVE_ARRAY, at);
    memcpy(start, ck->in->at, head);
    input_advance(ck->in, head);
    left = (uint64_t)r.elements * type_size(r.type, id);
    while (r.type == TYPE_BOOLEAN && left) {
        size_t wanted = left < ck->run->sizes.piece ? (size_t)left : ck->run->sizes.piece, bad;

        if (input_need(ck->in, wanted) < wanted)
            return false;
        bad = find_bad_boolean(ck->in->at, wanted);
        if (bad < wanted) {
            ck->position->sub = start;
            ck->position->sub_size = head;
            report(ck, RULE_OBJ_009, ck->in->offset + bad, "0 or 1", "%u in element %" PRIu64, ck->in->at[bad], element + bad);
            break;
        }
        element += wanted;
        input_advance(ck->in, wanted);
        left -= wanted;
    }
    return input_skip(ck->in, left) == left;
}

/* ---- What the fast way meets for the first time ---- */

/* What is checked is in the window. */
static COLD bool meet_class(struct segment *s, const uint8_t *raw_id, uint32_t bytes)
{
    struct checker *ck = s->context;
    uint64_t raw = native_load(raw_id, s->id_size), class_id = get_id(raw_id, s->id_size);
    uint32_t index = known_layout(ck, class_id);

    if (index != LAYOUT_NONE &&
        (!ck->file->classes.complete || classes_layout(&ck->file->classes, index)->state == LAYOUT_VALID))
        return load_hot(ck, raw_id, bytes) != NULL;
    if (!class_id || !waits_in_ranges(ck))
        return false;
    if (!ck->file->classes.complete) {
        make_hot_class(&s->hot, raw, s->dump, HOT_WAITING, s->epoch);
        return true;
    }
    if (index == LAYOUT_NONE)
        use_missing_class(ck, class_id, get_id(raw_id - OFFSET_OF(INSTANCE_DUMP, class_id, s->id_size), s->id_size),
                          ck->in->offset + (uint64_t)(raw_id - ck->in->at));
    make_unknown_class(&s->hot, raw, &ck->file->classes);
    return true;
}

static COLD bool meet_array_class(struct segment *s, const uint8_t *raw_id, uint64_t offset)
{
    check_array_class(s->context, raw_id, offset + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, s->id_size));
    return is_hot_array(s, hot_slot(&s->hot, native_load(raw_id, s->id_size)), native_load(raw_id, s->id_size));
}

static COLD bool meet_trace(struct segment *s, uint32_t serial, enum object_kind kind, uint64_t offset)
{
    use_object_trace(s->context, serial, kind, offset);
    return true;
}

static COLD bool meet_waiting(struct segment *s, uint64_t offset)
{
    begin_waiting_range(s->context, offset);
    return true;
}

const struct first_meetings meetings_in_order = {meet_class, meet_array_class, meet_trace, meet_waiting};

void add_counts(struct checker *ck, const struct object_counts *counts)
{
    ck->run->sum.subrecord_counts[SUB_INSTANCE_DUMP] += counts->instances;
    ck->run->sum.subrecord_counts[SUB_OBJECT_ARRAY_DUMP] += counts->object_arrays;
    ck->run->sum.subrecord_counts[SUB_PRIMITIVE_ARRAY_DUMP] += counts->primitive_arrays;
    ck->run->sum.references += counts->references;
}
