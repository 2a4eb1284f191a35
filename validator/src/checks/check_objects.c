/* Instances and arrays (SPEC.md 6.4 to 6.7): nearly all of a dump, so the one place where every instruction counts.
 *
 * check_plain_objects is the fast way: sub-records that lie whole in memory, of classes it has met. Its bounds: before a field is read,
 * the bytes up to the end of the sub-record were found to be there; checked fields of a class lie within its instances (make_hot). All
 * else goes the long way, one sub-record at a time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/checker.h"
#include "format/native.h"

#define COLD __attribute__((noinline, cold))
enum { WIDE_FIELDS = 1 << 18 /* of all wide classes: 1 MiB */ };

#define HOT static inline __attribute__((always_inline))

/* ---- IDs ---- */

static COLD void report_duplicate(struct checker *ck, uint64_t id, bool is_class, uint64_t offset)
{
    const struct layout *class = classes_layout_of(&ck->classes, id);
    bool was_class = class != NULL;
    struct finding *f;

    if (ck->dump.end_lost)
        return;
    if (was_class == is_class)
        f = report(ck, RULE_OBJ_004, offset, "an object ID not yet defined in this heap dump", "0x%" PRIx64, id);
    else
        f = report(ck, RULE_OBJ_005, offset, is_class ? "a class ID that is no object's" : "an object ID that is no class's",
                   "0x%" PRIx64, id);
    if (f && was_class)
        f->related_offset = class->at;
    else if (f)
        findings_want_offset(&ck->findings, f, WANTED_OBJECT, id);
}

static COLD void report_id_zero(struct checker *ck, uint64_t offset)
{
    report(ck, RULE_OBJ_001, offset, "an ID other than 0", "0");
}

void define_object(struct checker *ck, uint64_t id, bool is_class, uint64_t offset)
{
    if (!id)
        report_id_zero(ck, offset);
    else if (id_set_define(&ck->dump.objects, &ck->dump.recent_defined, id_to_key(id, ck->id_size)))
        report_duplicate(ck, id, is_class, offset);
}

static COLD void use_object_trace(struct checker *ck, uint32_t serial, enum trace_role role, uint64_t offset)
{
    use_trace(ck, serial, role, offset);
    ck->dump.known_traces[serial % KNOWN_TRACES] = serial;
}

HOT bool is_known_trace(const struct checker *ck, uint32_t serial)
{
    return __builtin_expect(ck->dump.known_traces[serial % KNOWN_TRACES] == serial, 1);
}

/* ---- Classes of instances ---- */

HOT struct hot_class *hot_slot(const struct hot_classes *hot, uint64_t raw_id)
{
    return &hot->slots[(raw_id * hot->multiply) >> (64 - hot->bits)];
}

static size_t hot_bytes(unsigned bits)
{
    return sizeof(struct hot_class) << bits;
}

void fit_hot_classes(struct checker *ck, uint64_t classes)
{
    enum { SLOTS_A_CLASS = 8 }; /* or classes that share one take turns */
    unsigned bits = HOT_BITS_LEAST;
    struct hot_class *slots;

    while (bits < HOT_BITS_MOST && UINT64_C(1) << bits < classes * SLOTS_A_CLASS)
        bits++;
    if (ck->dump.hot.slots && bits <= ck->dump.hot.bits)
        return;
    slots = memory_get_zeroed(&ck->memory, hot_bytes(bits));
    if (!slots)
        return;
    clear_hot_classes(ck);
    ck->dump.hot = (struct hot_classes){slots, ck->key.multiply ^ 0x9E3779B97F4A7C14U, bits};
}

void clear_hot_classes(struct checker *ck)
{
    memory_put(&ck->memory, ck->dump.hot.slots, hot_bytes(ck->dump.hot.bits));
    ck->dump.hot.slots = NULL;
}

/* Gathers the checked fields of a class and its superclasses. Only when they are few and near: the others are walked along the chain,
 * so that no class costs more than its cache line. */
static bool gather_fields(const struct classes *classes, uint32_t index, struct hot_class *hot)
{
    const struct layout *l = classes_layout(classes, index);
    unsigned references = 0, total = 0;

    for (int booleans = 0; booleans < 2; booleans++) {
        unsigned parts = 0;

        for (uint32_t i = index; i != LAYOUT_NONE; i = classes_above(classes, i)) {
            const struct layout *part = classes_layout(classes, i);
            uint64_t base = l->total - part->total;

            if (++parts > HOT_FIELDS + 1) /* all but the first have fields of one kind or the other: keep walks short */
                return false;
            for (struct checked_field field = checked_fields_begin(classes, part); checked_fields_next(classes, &field);) {
                if ((field.type == TYPE_BOOLEAN) != booleans)
                    continue;
                if (total == HOT_FIELDS || base + field.at > UINT16_MAX)
                    return false;
                hot->fields[total++] = (uint16_t)(base + field.at);
            }
        }
        if (!booleans)
            references = total;
    }
    hot->references = (uint8_t)references;
    hot->booleans = (uint8_t)(total - references);
    return true;
}

void begin_wide_classes(struct checker *ck)
{
    ck->dump.wide = (struct wide_classes){0};
    keymap_init(&ck->dump.wide.first, &ck->memory, &ck->key, sizeof(uint32_t), sizeof(uint32_t));
}

void clear_wide_classes(struct checker *ck)
{
    struct wide_classes *wide = &ck->dump.wide;

    memory_put(&ck->memory, wide->fields, wide->capacity * sizeof *wide->fields);
    keymap_clear(&wide->first);
    *wide = (struct wide_classes){0};
}

static bool add_wide(struct checker *ck, uint32_t field)
{
    struct wide_classes *wide = &ck->dump.wide;
    void *fields = wide->fields;

    if (wide->count == WIDE_FIELDS ||
        !memory_grow(&ck->memory, &fields, &wide->capacity, wide->count + 1, sizeof *wide->fields))
        return false;
    wide->fields = fields;
    wide->fields[wide->count++] = field;
    return true;
}

/* Gathers and counts the checked fields of one type of a class and its superclasses. */
static bool gather_wide(struct checker *ck, uint32_t index, uint8_t type, size_t number_at)
{
    const struct classes *classes = &ck->classes;
    uint64_t total = classes_layout(classes, index)->total;

    for (uint32_t i = index; i != LAYOUT_NONE; i = classes_above(classes, i)) {
        const struct layout *part = classes_layout(classes, i);

        for (struct checked_field field = checked_fields_begin(classes, part); checked_fields_next(classes, &field);)
            if (field.type == type) {
                if (!add_wide(ck, (uint32_t)(total - part->total + field.at)))
                    return false;
                ck->dump.wide.fields[number_at]++;
            }
    }
    return true;
}

/* A class with many checked fields: they are gathered once. */
static bool find_wide(struct checker *ck, uint32_t index, struct hot_class *hot)
{
    struct wide_classes *wide = &ck->dump.wide;
    size_t first = wide->count;
    uint64_t found;

    if (!keymap_get(&wide->first, index, &found)) {
        bool there_is_room = add_wide(ck, 0) && add_wide(ck, 0) && gather_wide(ck, index, TYPE_OBJECT, first) &&
                             gather_wide(ck, index, TYPE_BOOLEAN, first + 1);

        if (!there_is_room)
            wide->count = first;
        found = there_is_room ? first : UINT32_MAX;
        keymap_put(&wide->first, index, found);
    }
    hot->is_wide = true;
    hot->references = hot->booleans = 0;
    hot->first_wide = (uint32_t)found;
    return found != UINT32_MAX;
}

static void make_hot(struct checker *ck, uint64_t raw_id, uint32_t index)
{
    const struct layout *l = classes_layout(&ck->classes, index);
    struct hot_class hot = {.raw_id = raw_id, .bytes = (uint32_t)l->total, .dump = ck->classes.dump};

    if (ck->dump.hot.slots && l->total < UINT32_MAX && (gather_fields(&ck->classes, index, &hot) || find_wide(ck, index, &hot)))
        *hot_slot(&ck->dump.hot, raw_id) = hot;
}

static COLD const struct hot_class *load_hot(struct checker *ck, const uint8_t *raw_id, uint64_t bytes)
{
    uint64_t raw = native_load(raw_id, ck->id_size), class_id = get_id(raw_id, ck->id_size);
    uint32_t index = class_id ? classes_find_layout(&ck->classes, class_id) : LAYOUT_NONE;
    const struct hot_class *class;

    if (index == LAYOUT_NONE || !ck->dump.hot.slots || classes_layout(&ck->classes, index)->state != LAYOUT_VALID ||
        classes_layout(&ck->classes, index)->total != bytes)
        return NULL;
    make_hot(ck, raw, index);
    class = hot_slot(&ck->dump.hot, raw);
    return class->raw_id == raw && class->bytes == bytes && class->dump == ck->classes.dump && !class->is_wide ? class : NULL;
}

const struct hot_class *hot_class_of(struct checker *ck, const uint8_t *raw_id, uint64_t bytes)
{
    uint64_t raw = native_load(raw_id, ck->id_size);
    const struct hot_class *class = ck->dump.hot.slots ? hot_slot(&ck->dump.hot, raw) : NULL;

    if (class && class->raw_id == raw && class->bytes == bytes && class->dump == ck->classes.dump)
        return class->is_wide ? NULL : class;
    return load_hot(ck, raw_id, bytes);
}

/* The layout of the class of an instance; LAYOUT_NONE when it or a superclass is not known yet, or never. */
static uint32_t known_layout(struct checker *ck, uint64_t class_id)
{
    uint32_t index = class_id ? classes_find_layout(&ck->classes, class_id) : LAYOUT_NONE;

    if (index == LAYOUT_NONE || classes_resolve(&ck->classes, index) == LAYOUT_OPEN)
        return LAYOUT_NONE;
    classes_layout(&ck->classes, index)->has_instances = true;
    return index;
}

/* A class that instances wait for, as long as no other class is dumped: in the slot of a class that no instance fits. */
static void note_waiting_class(struct checker *ck, uint64_t raw_id)
{
    if (ck->dump.hot.slots)
        *hot_slot(&ck->dump.hot, raw_id) = (struct hot_class){.raw_id = raw_id,
                                                              .bytes = UINT32_MAX,
                                                              .dump = ck->classes.dump,
                                                              .is_wide = true,
                                                              .first_wide = (uint32_t)ck->classes.layouts.count};
}

HOT bool class_waits(const struct checker *ck, const struct hot_class *class, uint64_t raw_id)
{
    return class->raw_id == raw_id && class->bytes == UINT32_MAX && class->dump == ck->classes.dump && class->is_wide &&
           !class->array_kind && class->first_wide == (uint32_t)ck->classes.layouts.count && waits_in_ranges(ck);
}

/* The class of an instance is 0, or it is not dumped, and all classes are known. */
static void use_missing_class(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t at)
{
    uint64_t offset = at + OFFSET_OF(INSTANCE_DUMP, class_id, ck->id_size);
    unsigned i = 0;

    pending_uses_add(&ck->dump.object_uses, r->class_id, OBJECT_AS_CLASS, offset);
    while (i < ck->dump.first_instance_count && ck->dump.first_instances[i].class_id != r->class_id)
        i++;
    if (r->class_id && i == ck->dump.first_instance_count && i < FIRST_INSTANCES)
        ck->dump.first_instances[ck->dump.first_instance_count++] = (struct first_instance){r->class_id, offset, r->object_id};
}

/* ---- Fields ---- */

static COLD void report_boolean(struct checker *ck, unsigned value, uint64_t offset)
{
    report(ck, RULE_OBJ_010, offset, "0 or 1", "%u", value);
}

/* Checks the fields of one class of the chain: its part is at p, and at `offset` in the dump. */
static void check_part(struct checker *ck, const struct layout *part, const uint8_t *p, uint64_t offset)
{
    for (struct checked_field field = checked_fields_begin(&ck->classes, part); checked_fields_next(&ck->classes, &field);) {
        if (field.type == TYPE_OBJECT) {
            refer(ck, get_id(p + field.at, ck->id_size));
            ck->sum.references++;
        } else if (p[field.at] > 1) {
            report_boolean(ck, p[field.at], offset + field.at);
        }
    }
}

/* Checks the parts of a chain that have checked fields, the class itself first. `get` gives n bytes at an offset within the instance. */
static bool check_chain(struct checker *ck, uint32_t index, uint64_t offset,
                        const uint8_t *(*get)(struct checker *ck, uint64_t at, size_t n))
{
    uint64_t total = classes_layout(&ck->classes, index)->total;

    for (uint32_t i = index; i != LAYOUT_NONE; i = classes_above(&ck->classes, i)) {
        const struct layout *part = classes_layout(&ck->classes, i);
        uint64_t base = total - part->total;

        if (part->has_checked_fields) {
            const uint8_t *p = get(ck, offset + base, checked_fields_bytes(&ck->classes, part));

            if (!p)
                return false;
            check_part(ck, part, p, offset + base);
        }
    }
    return true;
}

/* From the window, which moves along. */
const uint8_t *get_from_input(struct checker *ck, uint64_t offset, size_t n)
{
    uint64_t skip = offset - ck->in.offset;

    if (input_skip(&ck->in, skip) < skip || input_need(&ck->in, n) < n)
        return NULL;
    return ck->in.at;
}

/* ---- Instances, the long way ---- */

/* SPEC.md 6.5: the length of an instance. */
static void report_length(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t total, uint64_t at)
{
    char name[NAME_SIZE], expected[NAME_SIZE + 80];

    snprintf(expected, sizeof expected, "%" PRIu64 " bytes, the fields of 0x%" PRIx64 "%s and its superclasses", total,
             r->class_id, show_class_after(ck, r->class_id, name, sizeof name));
    report(ck, RULE_OBJ_006, at + OFFSET_OF(INSTANCE_DUMP, bytes, ck->id_size), expected, "%" PRIu32, r->bytes);
}

static void hold_wrong_instance(struct checker *ck, const uint8_t *first, uint64_t total, uint64_t at)
{
    struct wrong_instance *wrong = &ck->dump.wrong;

    *wrong = (struct wrong_instance){.held = true, .at = at, .total = total};
    memcpy(wrong->first, first, 1 + SIZE_OF(INSTANCE_DUMP, ck->id_size));
}

void report_wrong_instance(struct checker *ck)
{
    struct wrong_instance *wrong = &ck->dump.wrong;
    struct cursor c = {wrong->first + 1, wrong->first + sizeof wrong->first};
    struct INSTANCE_DUMP r;

    if (!wrong->held || !read_INSTANCE_DUMP(&c, ck->id_size, &r))
        return;
    wrong->held = false;
    ck->sub = wrong->first;
    ck->sub_size = 1 + SIZE_OF(INSTANCE_DUMP, ck->id_size);
    report_length(ck, &r, wrong->total, wrong->at);
    ck->sub = NULL;
}

bool check_known_instance(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t at, bool led_to_failure,
                          const uint8_t *(*get)(struct checker *ck, uint64_t offset, size_t n))
{
    uint32_t index = known_layout(ck, r->class_id);
    const struct layout *l;

    if (index == LAYOUT_NONE) {
        use_missing_class(ck, r, at);
        return true;
    }
    l = classes_layout(&ck->classes, index);
    if (l->state != LAYOUT_VALID)
        return true;
    if (l->total == r->bytes)
        return check_chain(ck, index, at + SIZE_OF(INSTANCE_DUMP, ck->id_size), get);
    if (!led_to_failure)
        report_length(ck, r, l->total, at);
    return true;
}

/* What the first bytes of an instance say that does not depend on its class. */
static void check_instance_head(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t at)
{
    define_object(ck, r->object_id, false, at);
    if (!is_known_trace(ck, r->trace_serial))
        use_object_trace(ck, r->trace_serial, TRACE_OF_INSTANCE, at + OFFSET_OF(INSTANCE_DUMP, trace_serial, ck->id_size));
}

bool check_instance(struct checker *ck)
{
    unsigned id = ck->id_size;
    uint64_t at = ck->in.offset + 1, raw_id, end;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, id);
    struct cursor c = {ck->in.at + 1, ck->in.at + head};
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
    const struct layout *l;
    struct INSTANCE_DUMP r;
    uint32_t index;

    if (!read_INSTANCE_DUMP(&c, id, &r))
        return false;
    raw_id = native_load(ck->in.at + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id), id);
    memcpy(first, ck->in.at, head); /* for the path of a finding: the window may move */
    ck->sub = first;
    ck->sub_size = head;
    end = ck->in.offset + head + r.bytes;

    check_instance_head(ck, &r, at);
    index = known_layout(ck, r.class_id);
    l = index == LAYOUT_NONE ? NULL : classes_layout(&ck->classes, index);
    if (!l && r.class_id) {
        note_waiting_class(ck, raw_id);
        return wait_for_class(ck, head + (uint64_t)r.bytes);
    }
    if (!l) {
        use_missing_class(ck, &r, at);
    } else if (l->state == LAYOUT_VALID && l->total != r.bytes) {
        hold_wrong_instance(ck, first, l->total, at);
    } else if (l->state == LAYOUT_VALID) {
        make_hot(ck, raw_id, index);
        if (!check_chain(ck, index, at - 1 + head, get_from_input))
            return false;
    }
    end -= ck->in.offset;
    return input_skip(&ck->in, end) == end;
}

uint64_t size_by_class(struct checker *ck, const uint8_t *p)
{
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->id_size);
    struct cursor c = {p + 1, p + head};
    const struct layout *l;
    struct INSTANCE_DUMP r;
    uint32_t index;

    if (!read_INSTANCE_DUMP(&c, ck->id_size, &r))
        return 0;
    index = known_layout(ck, r.class_id);
    l = index == LAYOUT_NONE ? NULL : classes_layout(&ck->classes, index);
    return l && l->state == LAYOUT_VALID && l->total != r.bytes ? head + l->total : 0;
}

void check_wrong_instance(struct checker *ck)
{
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->id_size);
    struct cursor c = {ck->in.at + 1, ck->in.at + head};
    struct INSTANCE_DUMP r;

    if (!read_INSTANCE_DUMP(&c, ck->id_size, &r))
        return;
    ck->sub = ck->in.at;
    ck->sub_size = head;
    check_instance_head(ck, &r, ck->in.offset + 1);
    ck->sub = NULL;
    hold_wrong_instance(ck, ck->in.at, size_by_class(ck, ck->in.at) - head, ck->in.offset + 1);
    report_wrong_instance(ck);
}

/* ---- Object arrays ---- */

HOT void check_elements(struct checker *ck, struct recent_page *referenced, struct recent_page *element, const uint8_t *p,
                        size_t n, unsigned id_size)
{
    if (element) {
        struct recent_page near = *element;

        for (size_t i = 0; i < n; i++) {
            uint64_t id = get_id(p + i * id_size, id_size);

            if (id)
                id_set_refer_element(&ck->dump.objects, &near, id_to_key(id, id_size));
        }
        *element = near;
    } else {
        struct recent_page near = *referenced;

        for (size_t i = 0; i < n; i++) {
            uint64_t id = get_id(p + i * id_size, id_size);

            if (id)
                id_set_refer(&ck->dump.objects, &near, id_to_key(id, id_size));
        }
        *referenced = near;
    }
}

/* Whether a class is that of Object[], as far as is known here: elsewhere no producer is known to name what it does not dump. */
static bool is_object_array(const struct checker *ck, uint64_t class_id)
{
    static const char *const names[] = {"[Ljava/lang/Object;", "java.lang.Object[]"};
    const struct class *class = classes_find(&ck->classes, class_id);
    const uint8_t *text;
    uint64_t size;
    size_t n;

    if (!class || !(text = strings_text(&ck->strings, class->name, &n, &size)))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n == size && n == strlen(names[i]) && memcmp(text, names[i], n) == 0)
            return true;
    return false;
}

/* SPEC.md 6.4.3, 6.6: the class of an object array. */
static void check_array_class(struct checker *ck, uint64_t class_id, uint64_t offset)
{
    struct layout *l = class_id ? classes_layout_of(&ck->classes, class_id) : NULL;

    if (!l) {
        pending_uses_add(&ck->dump.object_uses, class_id, OBJECT_AS_ARRAY_CLASS, offset);
        refer(ck, class_id); /* a class that is dumped later is no stray one */
    }
    if (class_id && !(l && l->is_array_class)) {
        if (l) {
            l->is_array_class = true;
            l->is_object_array = is_object_array(ck, class_id);
        }
        pending_uses_add(&ck->class_uses, class_id, CLASS_IS_ARRAY, offset);
    }
    ck->dump.in_object_array = l ? l->is_object_array : is_object_array(ck, class_id);
    ck->dump.array_class_is_dumped = l != NULL;
    ck->dump.last_array_class = class_id;
}

static void check_array_head(struct checker *ck, const struct OBJECT_ARRAY_DUMP *r, uint64_t raw_class_id, uint64_t at)
{
    unsigned id = ck->id_size;

    define_object(ck, r->object_id, false, at);
    if (!is_known_trace(ck, r->trace_serial))
        use_object_trace(ck, r->trace_serial, TRACE_OF_OBJECT_ARRAY, at + OFFSET_OF(OBJECT_ARRAY_DUMP, trace_serial, id));
    if (r->class_id != ck->dump.last_array_class || !r->class_id)
        check_array_class(ck, r->class_id, at + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, id));
    if (ck->dump.array_class_is_dumped && ck->dump.hot.slots)
        *hot_slot(&ck->dump.hot, raw_class_id) =
            (struct hot_class){.raw_id = raw_class_id,
                               .bytes = UINT32_MAX,
                               .dump = ck->classes.dump,
                               .array_kind = ck->dump.in_object_array ? OBJECT_ARRAY : OTHER_ARRAY};
}

bool check_object_array(struct checker *ck)
{
    unsigned id = ck->id_size;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id);
    struct cursor c = {ck->in.at + 1, ck->in.at + head};
    struct OBJECT_ARRAY_DUMP r;
    uint64_t left;

    if (!read_OBJECT_ARRAY_DUMP(&c, id, &r))
        return false;
    check_array_head(ck, &r, native_load(ck->in.at + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, id), id), ck->in.offset + 1);
    input_advance(&ck->in, head);
    for (left = (uint64_t)r.elements * id; left;) {
        size_t wanted = left < PIECE ? (size_t)left : PIECE;

        if (input_need(&ck->in, wanted) < wanted)
            return false;
        check_elements(ck, &ck->dump.recent_referenced, ck->dump.in_object_array ? &ck->dump.recent_element : NULL, ck->in.at,
                       wanted / id, id);
        ck->sum.references += wanted / id;
        input_advance(&ck->in, wanted);
        left -= wanted;
    }
    return true;
}

/* ---- Primitive arrays ---- */

/* Where the first element is that is neither 0 nor 1; n if none is. */
static size_t find_bad_boolean(const uint8_t *p, size_t n)
{
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        uint64_t eight;

        memcpy(&eight, p + i, 8);
        if (eight & UINT64_C(0xfefefefefefefefe))
            break;
    }
    while (i < n && p[i] <= 1)
        i++;
    return i;
}

static COLD void report_boolean_element(struct checker *ck, unsigned value, uint64_t element, uint64_t offset)
{
    report(ck, RULE_OBJ_009, offset, "0 or 1", "%u in element %" PRIu64, value, element);
}

bool check_primitive_array(struct checker *ck)
{
    unsigned id = ck->id_size;
    size_t head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id);
    uint64_t at = ck->in.offset + 1, left, element = 0;
    struct cursor c = {ck->in.at + 1, ck->in.at + head};
    struct PRIMITIVE_ARRAY_DUMP r;
    uint8_t start[1 + sizeof(struct PRIMITIVE_ARRAY_DUMP_in8)];

    if (!read_PRIMITIVE_ARRAY_DUMP(&c, id, &r))
        return false;
    define_object(ck, r.object_id, false, at);
    if (!is_known_trace(ck, r.trace_serial))
        use_object_trace(ck, r.trace_serial, TRACE_OF_PRIMITIVE_ARRAY, at + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, trace_serial, id));
    memcpy(start, ck->in.at, head);
    input_advance(&ck->in, head);
    left = (uint64_t)r.elements * type_size(r.type, id);
    while (r.type == TYPE_BOOLEAN && left) {
        size_t wanted = left < PIECE ? (size_t)left : PIECE, bad;

        if (input_need(&ck->in, wanted) < wanted)
            return false;
        bad = find_bad_boolean(ck->in.at, wanted);
        if (bad < wanted) {
            ck->sub = start;
            ck->sub_size = head;
            report_boolean_element(ck, ck->in.at[bad], element + bad, ck->in.offset + bad);
            break;
        }
        element += wanted;
        input_advance(&ck->in, wanted);
        left -= wanted;
    }
    return input_skip(&ck->in, left) == left;
}

/* ---- The fast way ---- */

/* What the loop counts, in registers. */
struct tally {
    uint64_t instances, object_arrays, primitive_arrays, references;
    struct recent_page defined, referenced, element;
};

HOT void define_fast(struct checker *ck, struct tally *t, const uint8_t *sub, size_t size, uint64_t id, uint64_t offset)
{
    if (__builtin_expect(!id, 0) ||
        __builtin_expect(id_set_define(&ck->dump.objects, &t->defined, id_to_key(id, ck->id_size)), 0)) {
        ck->sub = sub;
        ck->sub_size = size;
        if (!id)
            report_id_zero(ck, offset);
        else
            report_duplicate(ck, id, false, offset);
        ck->sub = NULL;
    }
}

/* The fields of an instance at p, of a wide class. Returns what `near` moves to. */
static __attribute__((noinline)) struct recent_page
check_wide(struct checker *ck, struct recent_page near, const uint32_t *fields, const uint8_t *p, size_t head, uint64_t offset)
{
    const uint32_t *field = fields + 2, *end = field + fields[0];
    const uint8_t *body = p + head;

    for (; field < end; field++) {
        uint64_t id = get_id(body + *field, ck->id_size);

        if (id)
            id_set_refer(&ck->dump.objects, &near, id_to_key(id, ck->id_size));
    }
    for (end += fields[1]; field < end; field++)
        if (__builtin_expect(body[*field] > 1, 0)) {
            ck->sub = p;
            ck->sub_size = head;
            report_boolean(ck, body[*field], offset + head + *field);
            ck->sub = NULL;
        }
    return near;
}

/* ---- The fast way for instances that waited: arrays among them were checked ---- */

static COLD const struct hot_class *load_known(struct checker *ck, const uint8_t *raw_id, uint32_t bytes)
{
    uint32_t index = known_layout(ck, get_id(raw_id, ck->id_size));

    return index == LAYOUT_NONE ? NULL : load_hot(ck, raw_id, bytes);
}

HOT bool booleans_are_right(const struct hot_class *class, const uint8_t *body)
{
    for (unsigned i = class->references; i < class->references + class->booleans; i++)
        if (body[class->fields[i]] > 1)
            return false;
    return true;
}

HOT size_t refer_many(struct checker *ck, const uint8_t *const start, size_t n, uint64_t *instances, const unsigned id_size)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t head = 1 + SIZE_OF(INSTANCE_DUMP, id_size);
    struct recent_page referenced = ck->dump.recent_referenced;
    uint64_t references = 0;

    while (p < end && *instances) {
        const struct hot_class *class;
        const uint8_t *raw_id = p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id_size);
        struct measure m;
        uint64_t raw;
        uint32_t bytes;

        if (*p != SUB_INSTANCE_DUMP) {
            if ((*p != SUB_OBJECT_ARRAY_DUMP && *p != SUB_PRIMITIVE_ARRAY_DUMP) ||
                measure_subrecord(p, (size_t)(end - p), id_size, V101, &m) != MEASURED || m.size > (size_t)(end - p))
                break;
            p += m.size;
            continue;
        }
        if ((size_t)(end - p) < head)
            break;
        raw = native_load(raw_id, id_size);
        bytes = get_u4(p + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, id_size));
        class = hot_slot(&ck->dump.hot, raw);
        if (__builtin_expect(class->raw_id != raw || class->bytes != bytes || class->dump != ck->classes.dump, 0))
            class = load_known(ck, raw_id, bytes);
        if (!class || class->is_wide || bytes > (size_t)(end - p) - head || !booleans_are_right(class, p + head))
            break;
        for (unsigned i = 0; i < class->references; i++) {
            uint64_t id = get_id(p + head + class->fields[i], id_size);

            if (id)
                id_set_refer(&ck->dump.objects, &referenced, id_to_key(id, id_size));
        }
        references += class->references;
        p += head + bytes;
        --*instances;
    }
    ck->dump.recent_referenced = referenced;
    ck->sum.references += references;
    return (size_t)(p - start);
}

size_t refer_instances(struct checker *ck, const uint8_t *p, size_t n, uint64_t *instances)
{
    if (!ck->dump.hot.slots)
        return 0;
    return ck->id_size == 8 ? refer_many(ck, p, n, instances, 8) : refer_many(ck, p, n, instances, 4);
}

/* ---- The fast way ---- */

HOT size_t walk(struct checker *ck, const uint8_t *const start, size_t n, uint64_t offset, const unsigned id_size)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t instance_head = 1 + SIZE_OF(INSTANCE_DUMP, id_size), array_head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size),
                 primitive_head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size);
    const size_t trace_at = 1 + id_size, longest_head = instance_head > array_head ? instance_head : array_head;
    const uint32_t dump = ck->classes.dump;
    const struct hot_classes hot = ck->dump.hot;
    struct tally t = {
        .defined = ck->dump.recent_defined, .referenced = ck->dump.recent_referenced, .element = ck->dump.recent_element};

    while ((size_t)(end - p) >= longest_head) {
        size_t left = (size_t)(end - p);
        uint32_t trace;

        if (*p == SUB_INSTANCE_DUMP) {
            uint64_t raw_id = native_load(p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id_size), id_size);
            uint32_t bytes = get_u4(p + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, id_size));
            const struct hot_class *class = hot_slot(&hot, raw_id);
            const uint8_t *body = p + instance_head;
            unsigned i = 0;

            bool known = class->raw_id == raw_id && class->bytes == bytes && class->dump == dump;

            if ((__builtin_expect(!known, 0) && !class_waits(ck, class, raw_id)) || bytes > left - instance_head)
                break;
            define_fast(ck, &t, p, instance_head, get_id(p + 1, id_size), offset + (uint64_t)(p - start) + 1);
            trace = get_u4(p + trace_at);
            if (!is_known_trace(ck, trace))
                use_object_trace(ck, trace, TRACE_OF_INSTANCE, offset + (uint64_t)(p - start) + trace_at);
            if (__builtin_expect(!known, 0)) {
                wait_in_range(ck, offset + (uint64_t)(p - start), ck->sum.subrecord_counts[SUB_INSTANCE_DUMP] + t.instances);
                t.instances++;
                p = body + bytes;
                continue;
            }
            for (; i < class->references; i++) {
                uint64_t id = get_id(body + class->fields[i], id_size);

                if (id)
                    id_set_refer(&ck->dump.objects, &t.referenced, id_to_key(id, id_size));
            }
            t.references += i;
            for (unsigned all = i + class->booleans; i < all; i++)
                if (__builtin_expect(body[class->fields[i]] > 1, 0)) {
                    ck->sub = p;
                    ck->sub_size = instance_head;
                    report_boolean(ck, body[class->fields[i]], offset + (uint64_t)(body - start) + class->fields[i]);
                    ck->sub = NULL;
                }
            if (__builtin_expect(class->is_wide, 0)) {
                const uint32_t *fields = ck->dump.wide.fields + class->first_wide;

                t.referenced = check_wide(ck, t.referenced, fields, p, instance_head, offset + (uint64_t)(p - start));
                t.references += fields[0];
            }
            t.instances++;
            p = body + bytes;
        } else if (*p == SUB_PRIMITIVE_ARRAY_DUMP) {
            unsigned type = p[1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, type, id_size)];
            uint64_t bytes;

            if (!type_is_primitive(type))
                break;
            bytes = (uint64_t)get_u4(p + 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, elements, id_size)) * type_size(type, id_size);
            if (bytes > left - primitive_head)
                break;
            if (__builtin_expect(type == TYPE_BOOLEAN, 0) && find_bad_boolean(p + primitive_head, (size_t)bytes) < bytes)
                break; /* the long way will tell */
            define_fast(ck, &t, p, primitive_head, get_id(p + 1, id_size), offset + (uint64_t)(p - start) + 1);
            trace = get_u4(p + trace_at);
            if (!is_known_trace(ck, trace))
                use_object_trace(ck, trace, TRACE_OF_PRIMITIVE_ARRAY, offset + (uint64_t)(p - start) + trace_at);
            t.primitive_arrays++;
            p += primitive_head + bytes;
        } else if (*p == SUB_OBJECT_ARRAY_DUMP) {
            uint64_t raw_id = native_load(p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, id_size), id_size);
            size_t elements = get_u4(p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, elements, id_size));
            const struct hot_class *class = hot_slot(&hot, raw_id);

            if (__builtin_expect(class->raw_id != raw_id || !class->array_kind || class->dump != dump, 0) ||
                elements > (left - array_head) / id_size)
                break;
            define_fast(ck, &t, p, array_head, get_id(p + 1, id_size), offset + (uint64_t)(p - start) + 1);
            trace = get_u4(p + trace_at);
            if (!is_known_trace(ck, trace))
                use_object_trace(ck, trace, TRACE_OF_OBJECT_ARRAY, offset + (uint64_t)(p - start) + trace_at);
            check_elements(ck, &t.referenced, class->array_kind == OBJECT_ARRAY ? &t.element : NULL, p + array_head, elements,
                           id_size);
            t.object_arrays++;
            t.references += elements;
            p += array_head + elements * id_size;
        } else {
            break;
        }
    }
    ck->dump.recent_defined = t.defined;
    ck->dump.recent_referenced = t.referenced;
    ck->dump.recent_element = t.element;
    ck->sum.subrecord_counts[SUB_INSTANCE_DUMP] += t.instances;
    ck->sum.subrecord_counts[SUB_OBJECT_ARRAY_DUMP] += t.object_arrays;
    ck->sum.subrecord_counts[SUB_PRIMITIVE_ARRAY_DUMP] += t.primitive_arrays;
    ck->sum.references += t.references;
    return (size_t)(p - start);
}

size_t check_plain_objects(struct checker *ck, const uint8_t *p, size_t n, uint64_t offset)
{
    return ck->id_size == 8 ? walk(ck, p, n, offset, 8) : walk(ck, p, n, offset, 4);
}
