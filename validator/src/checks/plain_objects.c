/* See plain_objects.h. The one place where every instruction counts.
 *
 * Bounds: before a field is read, the bytes up to the end of the sub-record were found to be there; the fields of a class lie
 * within its instances (describe_class). Marks that were set for a sub-record that then turns out not to be plain do no harm:
 * what it refers to is marked again. */
#include "checks/plain_objects.h"

#include <string.h>

#include "format/native.h"
#include "format/subrecord.h"

#define HOT static inline __attribute__((always_inline))

/* The two forms of each loop. */
struct form {
    unsigned id_size;
    bool others; /* other threads mark IDs at the same time */
};

/* ---- IDs ---- */

/* False if the ID is 0 or, without other threads, defined already. */
HOT bool define(struct segment *s, struct recent_page *recent, uint64_t id, const struct form form)
{
    if (__builtin_expect(!id, 0))
        return false;
    if (!form.others)
        return __builtin_expect(!id_set_mark(s->objects, recent, id_to_key(id, form.id_size), ID_DEFINED, form.id_size), 1);
    id_windows_mark(recent, id_to_key(id, form.id_size), ID_DEFINED, form.id_size);
    return true;
}

/* ---- References ---- */

/* References whose marks are not set yet. Whether a reference is null, and how many an instance has, is hard to predict; so
 * they are gathered first, and then marked in a loop of its own, in which the marks of many can be fetched at the same time. */
enum { BATCH = USUAL_OR_SMALL(256, HOT_FIELDS + 2) };
struct batch {
    size_t n;
    uint64_t keys[BATCH];
};

HOT void mark_batch(struct segment *s, struct recent_page *recent, const enum id_set_flag flag, struct batch *b,
                    const struct form form)
{
    struct recent_page near = *recent;

    if (form.others)
        for (size_t i = 0; i < b->n; i++)
            id_windows_fetch(near.windows, b->keys[i], flag, form.id_size);
    else if (s->objects->known)
        for (size_t i = 0; i < b->n; i++)
            id_set_fetch(s->objects, b->keys[i], flag, form.id_size);
    for (size_t i = 0; i < b->n; i++)
        if (form.others)
            id_windows_mark(&near, b->keys[i], flag, form.id_size);
        else
            id_set_mark(s->objects, &near, b->keys[i], flag, form.id_size);
    b->n = 0;
    *recent = near;
}

HOT void gather(struct batch *b, const uint8_t *p, const struct form form)
{
    uint64_t id = get_id(p, form.id_size);

    b->keys[b->n] = id_to_key(id, form.id_size);
    b->n += id != 0;
}

/* Without `except`: an array is not named by itself. */
HOT void refer_all(struct segment *s, struct recent_page *recent, const enum id_set_flag flag, uint64_t except,
                   const uint8_t *p, size_t n, const struct form form)
{
    struct batch b;

    b.n = 0;
    for (; n; n--, p += form.id_size) {
        uint64_t id = get_id(p, form.id_size);

        b.keys[b.n] = id_to_key(id, form.id_size);
        b.n += (id != 0) & (id != except);
        if (b.n == BATCH)
            mark_batch(s, recent, flag, &b, form);
    }
    mark_batch(s, recent, flag, &b, form);
}

void refer_elements(struct segment *s, bool is_object_array, uint64_t array_id, const uint8_t *p, size_t n)
{
    const struct form form = {s->id_size, false};

    if (is_object_array)
        refer_all(s, &s->element, ID_ELEMENT, array_id, p, n, form);
    else
        refer_all(s, &s->referenced, ID_REFERENCED, array_id, p, n, form);
}

/* Whether no element is doubtful (is_doubtful_element()), in loops that a compiler makes vectors of. */
HOT bool elements_are_plain(const uint8_t *p, size_t n, const struct form form)
{
    static const uint8_t first_byte[8] = {0xff}, first_bits[8] = {0xfc}, object_tag[8] = {SUB_CLASS_DUMP};
    const uint64_t mask = native_load(form.id_size == 8 ? first_byte : first_bits, form.id_size),
                   tag = native_load(object_tag, form.id_size);
    uint64_t all = 0;
    uint32_t tags = 0;

    if (form.id_size == 8) {
        for (size_t i = 0; i < n; i++)
            all |= native_load(p + i * 8, 8);
        return !(all & mask);
    }
    for (size_t i = 0; i < n; i++)
        tags |= ((uint32_t)native_load(p + i * 4, 4) & (uint32_t)mask) == (uint32_t)tag;
    return !tags;
}

/* Out of the loops, like check_wide(). */
static __attribute__((noinline)) void log_array(struct segment *s, const uint8_t *p, size_t elements, uint64_t offset)
{
    const uint8_t *ids = p + 1 + SIZE_OF(OBJECT_ARRAY_DUMP, s->id_size);
    struct recent_page near = {.page = NO_PAGE};

    array_log_begin(s->arrays, get_id(p + 1, s->id_size),
                    get_id(p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, s->id_size), s->id_size));
    array_log_add(s->arrays, s->objects, &near, ids, elements);
    array_log_end(s->arrays, s->objects, offset);
}

size_t find_bad_boolean(const uint8_t *p, size_t n)
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

void note_special(struct segment *s, uint64_t id, unsigned special)
{
    for (unsigned flag = SPECIAL_THREAD; flag <= SPECIAL_CLASS; flag <<= 1)
        if (special & flag)
            id_set_set(s->special, id_to_key(id, s->id_size), (enum id_set_flag)flag);
}

/* ---- Fields ---- */

HOT bool booleans_are_right(const struct hot_class *class, const uint8_t *body)
{
    for (unsigned i = class->references; i < (unsigned)class->references + class->booleans; i++)
        if (__builtin_expect(body[class->fields[i]] > 1, 0))
            return false;
    return true;
}

/* The fields of an instance of a wide class, and how many references they have. False if a boolean is wrong. */
HOT bool check_wide_fields(struct segment *s, struct recent_page *recent, const struct hot_class *class, const uint8_t *body,
                           uint64_t *references, const struct form form)
{
    const uint32_t *counts = s->wide.fields + class->first_wide, *field = counts + 2, *end = field + counts[0];
    struct batch b;

    b.n = 0;
    for (; field < end; field++) {
        gather(&b, body + *field, form);
        if (b.n == BATCH)
            mark_batch(s, recent, ID_REFERENCED, &b, form);
    }
    mark_batch(s, recent, ID_REFERENCED, &b, form);
    *references += counts[0];
    for (end += counts[1]; field < end; field++)
        if (body[*field] > 1)
            return false;
    return true;
}

/* Out of the loops, whose own variables stay in registers. */
static __attribute__((noinline)) bool check_wide(struct segment *s, struct recent_page *recent, const struct hot_class *class,
                                                 const uint8_t *body, uint64_t *references, struct form form)
{
    if (class->special)
        note_special(s, get_id(body - SIZE_OF(INSTANCE_DUMP, form.id_size), form.id_size), class->special);
    if (form.others)
        return form.id_size == 8 ? check_wide_fields(s, recent, class, body, references, (struct form){8, true})
                                 : check_wide_fields(s, recent, class, body, references, (struct form){4, true});
    return form.id_size == 8 ? check_wide_fields(s, recent, class, body, references, (struct form){8, false})
                             : check_wide_fields(s, recent, class, body, references, (struct form){4, false});
}

/* Marks what the fields of an instance refer to. False if a boolean is wrong. */
HOT bool check_fields(struct segment *s, struct recent_page *recent, struct batch *b, const struct hot_class *class,
                      const uint8_t *body, uint64_t *references, const struct form form)
{
    if (__builtin_expect(class->is_wide, 0)) {
        struct recent_page near = *recent;
        uint64_t n = 0;
        bool right = check_wide(s, &near, class, body, &n, form);

        *recent = near;
        if (right)
            *references += n;
        return right;
    }
    if (!booleans_are_right(class, body))
        return false;
    if (b->n > BATCH - HOT_FIELDS)
        mark_batch(s, recent, ID_REFERENCED, b, form);
    for (unsigned i = 0; i < class->references; i++)
        gather(b, body + class->fields[i], form);
    *references += class->references;
    return true;
}

/* ---- The loop ---- */

/* What the loop keeps in registers. */
struct tally {
    struct object_counts counts;
    struct recent_page defined, referenced, element;
};

HOT bool trace_is_plain(struct segment *s, const uint8_t *p, enum object_kind kind, uint64_t offset, const struct form form)
{
    uint32_t serial = get_u4(p + 1 + form.id_size);

    return is_known_trace(s, serial) || s->meet->trace(s, serial, kind, offset + 1 + form.id_size);
}

HOT struct hot_class *slot_of(const struct segment *s, const uint8_t *raw_id, const struct form form)
{
    return hot_slot(&s->hot, native_load(raw_id, form.id_size));
}

HOT bool is_class(const struct segment *s, const struct hot_class *class, uint64_t raw_id)
{
    return class->raw_id == raw_id && class->dump == s->dump;
}

HOT bool waits(const struct segment *s, const struct hot_class *class, uint64_t raw_id)
{
    return is_class(s, class, raw_id) && class->kind == HOT_WAITING && class->epoch == s->epoch;
}

/* An instance that waits for its class continues the present run of them, or begins one. */
HOT bool check_waiting_instance(struct segment *s, struct tally *t, const uint8_t *p, uint32_t bytes, uint64_t offset,
                                const struct form form)
{
    uint64_t number = s->instances_before + t->counts.instances;

    if (bytes > WAITING_MOST || !trace_is_plain(s, p, KIND_INSTANCE, offset, form) ||
        (number != s->waiting.next && !s->meet->waiting(s, offset)) ||
        !define(s, &t->defined, get_id(p + 1, form.id_size), form))
        return false;
    s->waiting.instances++;
    s->waiting.next = number + 1;
    t->counts.instances++;
    return true;
}

/* These check one sub-record whose head is complete and of which `left` bytes are available. They return the bytes it takes;
 * 0 if it is not plain. */

HOT size_t check_plain_instance(struct segment *s, struct tally *t, struct batch *b, const struct hot_class *class,
                                const uint8_t *p, size_t left, uint64_t offset, const struct form form)
{
    const size_t head = 1 + SIZE_OF(INSTANCE_DUMP, form.id_size);
    const uint8_t *raw_id_at = p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, form.id_size);
    uint64_t raw_id = native_load(raw_id_at, form.id_size);
    uint32_t bytes = get_u4(p + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, form.id_size));
    uint64_t references = 0;

    if (bytes > left - head)
        return 0;
    if (__builtin_expect(!is_class(s, class, raw_id) || class->bytes != bytes, 0)) {
        if (!waits(s, class, raw_id) && !s->meet->class(s, raw_id_at, bytes))
            return 0;
        if (waits(s, class, raw_id))
            return check_waiting_instance(s, t, p, bytes, offset, form) ? head + bytes : 0;
    }
    if (!trace_is_plain(s, p, KIND_INSTANCE, offset, form) ||
        !check_fields(s, &t->referenced, b, class, p + head, &references, form) ||
        !define(s, &t->defined, get_id(p + 1, form.id_size), form))
        return 0;
    t->counts.references += references;
    t->counts.instances++;
    return head + bytes;
}

HOT size_t check_plain_primitive_array(struct segment *s, struct tally *t, const uint8_t *p, size_t left, uint64_t offset,
                                       const struct form form)
{
    const size_t head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, form.id_size);
    unsigned type = p[1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, type, form.id_size)];
    uint64_t bytes;

    if (!type_is_primitive(type))
        return 0;
    bytes = (uint64_t)get_u4(p + 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, elements, form.id_size)) * type_size(type, form.id_size);
    if (bytes > left - head ||
        (__builtin_expect(type == TYPE_BOOLEAN, 0) && find_bad_boolean(p + head, (size_t)bytes) < bytes) ||
        !trace_is_plain(s, p, KIND_PRIMITIVE_ARRAY, offset, form) || !define(s, &t->defined, get_id(p + 1, form.id_size), form))
        return 0;
    t->counts.primitive_arrays++;
    return head + (size_t)bytes;
}

HOT size_t check_plain_object_array(struct segment *s, struct tally *t, struct batch *b, const struct hot_class *class,
                                    const uint8_t *p, size_t left, uint64_t offset, const struct form form)
{
    const size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, form.id_size);
    const uint8_t *raw_id_at = p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, form.id_size);
    uint64_t raw_id = native_load(raw_id_at, form.id_size), array_id = get_id(p + 1, form.id_size);
    size_t elements = get_u4(p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, elements, form.id_size));

    if (elements > (left - head) / form.id_size ||
        !elements_are_plain(p + head, elements, form)) /* recovery may leave it out */
        return 0;
    if (__builtin_expect(!is_hot_array(s, class, raw_id), 0) && !s->meet->array_class(s, raw_id_at, offset))
        return 0;
    if (!trace_is_plain(s, p, KIND_OBJECT_ARRAY, offset, form))
        return 0;
    if (class->kind == HOT_OBJECT_ARRAY)
        refer_all(s, &t->element, ID_ELEMENT, array_id, p + head, elements, form);
    else
        refer_all(s, &t->referenced, ID_REFERENCED, array_id, p + head, elements, form);
    if (!define(s, &t->defined, array_id, form))
        return 0;
    if (!form.others && s->arrays && class->kind == HOT_OBJECT_ARRAY) {
        mark_batch(s, &t->referenced, ID_REFERENCED, b, form); /* the array may be among these */
        log_array(s, p, elements, offset);
    }
    t->counts.object_arrays++;
    t->counts.references += elements;
    return head + elements * form.id_size;
}

HOT size_t check_in_form(struct segment *s, const uint8_t *const start, size_t n, uint64_t offset, const struct form form,
                         const bool counts)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t instance_head = 1 + SIZE_OF(INSTANCE_DUMP, form.id_size),
                 array_head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, form.id_size),
                 primitive_head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, form.id_size),
                 longest = instance_head > array_head ? instance_head : array_head;
    struct tally t = {.defined = s->defined, .referenced = s->referenced, .element = s->element};
    struct batch b;

    b.n = 0;
    if (counts)
        counted_from(s->counted, offset, form.id_size);
    while ((size_t)(end - p) >= (form.others ? primitive_head : longest)) {
        size_t left = (size_t)(end - p), size = 0;
        uint64_t at = offset + (uint64_t)(p - start);
        struct hot_class *class;
        uint16_t none = 0;

        if (*p == SUB_INSTANCE_DUMP && (!form.others || left >= instance_head)) {
            class = slot_of(s, p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, form.id_size), form);
            size = check_plain_instance(s, &t, &b, class, p, left, at, form);
            if (counts && size)
                counted_object(s->counted, SUB_INSTANCE_DUMP, p, at, size, form.id_size, &class->counted);
        } else if (*p == SUB_PRIMITIVE_ARRAY_DUMP) {
            size = check_plain_primitive_array(s, &t, p, left, at, form);
            if (counts && size)
                counted_object(s->counted, SUB_PRIMITIVE_ARRAY_DUMP, p, at, size, form.id_size, &none);
        } else if (*p == SUB_OBJECT_ARRAY_DUMP && (!form.others || left >= array_head)) {
            class = slot_of(s, p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, form.id_size), form);
            size = check_plain_object_array(s, &t, &b, class, p, left, at, form);
            if (counts && size)
                counted_object(s->counted, SUB_OBJECT_ARRAY_DUMP, p, at, size, form.id_size, &class->counted);
        }
        if (!size)
            break;
        p += size;
    }
    if (counts)
        counted_until(s->counted, offset + (uint64_t)(p - start));
    mark_batch(s, &t.referenced, ID_REFERENCED, &b, form);
    s->defined = t.defined;
    s->referenced = t.referenced;
    s->element = t.element;
    s->counts.instances += t.counts.instances;
    s->counts.object_arrays += t.counts.object_arrays;
    s->counts.primitive_arrays += t.counts.primitive_arrays;
    s->counts.references += t.counts.references;
    return (size_t)(p - start);
}

/* Fewer than any `bytes` of a slot that no instance fits. */
static size_t at_most(size_t n)
{
    return n < UINT32_MAX ? n : UINT32_MAX - 1;
}

HOT size_t check_in_forms(struct segment *s, const uint8_t *p, size_t n, uint64_t offset, const bool others, const bool counts)
{
    if (!s->hot.slots)
        return 0;
    n = at_most(n);
    return s->id_size == 8 ? check_in_form(s, p, n, offset, (struct form){8, others}, counts)
                           : check_in_form(s, p, n, offset, (struct form){4, others}, counts);
}

/* Out of the loops of a check that does not count. */
static __attribute__((noinline)) size_t check_and_count(struct segment *s, const uint8_t *p, size_t n, uint64_t offset,
                                                        bool others)
{
    return others ? check_in_forms(s, p, n, offset, true, true) : check_in_forms(s, p, n, offset, false, true);
}

size_t check_plain_objects(struct segment *s, const uint8_t *p, size_t n, uint64_t offset)
{
    return s->counted ? check_and_count(s, p, n, offset, false) : check_in_forms(s, p, n, offset, false, false);
}

size_t check_plain_objects_with_others(struct segment *s, const uint8_t *p, size_t n, uint64_t offset)
{
    return s->counted ? check_and_count(s, p, n, offset, true) : check_in_forms(s, p, n, offset, true, false);
}

/* ---- Instances that waited: arrays among them were checked ---- */

/* Out of the loops, like check_wide(). */
static __attribute__((noinline)) void note_unknown(struct segment *s, const struct hot_class *class, uint64_t id)
{
    if (class->special && id)
        note_special(s, id, class->special);
}

HOT size_t refer_in_form(struct segment *s, const uint8_t *const start, size_t n, uint64_t *instances, const struct form form)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t head = 1 + SIZE_OF(INSTANCE_DUMP, form.id_size);
    struct recent_page referenced = s->referenced;
    uint64_t references = 0;
    struct batch b;

    b.n = 0;
    while (p < end && *instances) {
        const uint8_t *raw_id_at = p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, form.id_size);
        const struct hot_class *class;
        struct measure m;
        uint64_t raw_id;
        uint32_t bytes;
        bool is_met;

        if (*p != SUB_INSTANCE_DUMP) {
            if ((*p != SUB_OBJECT_ARRAY_DUMP && *p != SUB_PRIMITIVE_ARRAY_DUMP) ||
                measure_subrecord(p, (size_t)(end - p), form.id_size, V101, &m) != MEASURED || m.size > (size_t)(end - p))
                break;
            p += m.size;
            continue;
        }
        if ((size_t)(end - p) < head)
            break;
        raw_id = native_load(raw_id_at, form.id_size);
        bytes = get_u4(p + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, form.id_size));
        class = hot_slot(&s->hot, raw_id);
        is_met = is_class(s, class, raw_id) && (class->bytes == bytes || class->kind == HOT_UNKNOWN);
        if (bytes > (size_t)(end - p) - head || (__builtin_expect(!is_met, 0) && !s->meet->class(s, raw_id_at, bytes)))
            break;
        if (class->kind == HOT_UNKNOWN)
            note_unknown(s, class, get_id(p + 1, form.id_size));
        else if (!check_fields(s, &referenced, &b, class, p + head, &references, form))
            break;
        p += head + bytes;
        --*instances;
    }
    mark_batch(s, &referenced, ID_REFERENCED, &b, form);
    s->referenced = referenced;
    s->counts.references += references;
    return (size_t)(p - start);
}

size_t refer_instances(struct segment *s, const uint8_t *p, size_t n, uint64_t *instances)
{
    if (!s->hot.slots)
        return 0;
    return s->id_size == 8 ? refer_in_form(s, p, n, instances, (struct form){8, false})
                           : refer_in_form(s, p, n, instances, (struct form){4, false});
}

size_t refer_instances_with_others(struct segment *s, const uint8_t *p, size_t n, uint64_t *instances)
{
    if (!s->hot.slots)
        return 0;
    return s->id_size == 8 ? refer_in_form(s, p, n, instances, (struct form){8, true})
                           : refer_in_form(s, p, n, instances, (struct form){4, true});
}
