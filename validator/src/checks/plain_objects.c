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

/* False if the ID is 0 or defined already. */
HOT bool define(struct segment *s, struct recent_page *recent, uint64_t id, const struct form form)
{
    if (__builtin_expect(!id, 0))
        return false;
    if (__builtin_expect(!id_set_define_with(s->objects, recent, id_to_key(id, form.id_size), form.id_size, form.others), 1))
        return true;
    s->defined_twice = true;
    return false;
}

HOT void refer(struct segment *s, struct recent_page *recent, uint64_t id, const struct form form)
{
    if (id)
        id_set_refer_with(s->objects, recent, id_to_key(id, form.id_size), form.others);
}

HOT void refer_all(struct segment *s, struct recent_page *recent, bool is_object_array, const uint8_t *p, size_t n,
                   const struct form form)
{
    struct recent_page near = *recent;

    if (is_object_array) {
        for (size_t i = 0; i < n; i++) {
            uint64_t id = get_id(p + i * form.id_size, form.id_size);

            if (id)
                id_set_refer_element_with(s->objects, &near, id_to_key(id, form.id_size), form.others);
        }
    } else {
        for (size_t i = 0; i < n; i++)
            refer(s, &near, get_id(p + i * form.id_size, form.id_size), form);
    }
    *recent = near;
}

void refer_elements(struct segment *s, bool is_object_array, const uint8_t *p, size_t n)
{
    refer_all(s, is_object_array ? &s->element : &s->referenced, is_object_array, p, n, (struct form){s->id_size, false});
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

/* ---- Fields ---- */

HOT bool booleans_are_right(const struct hot_class *class, const uint8_t *body)
{
    for (unsigned i = class->references; i < (unsigned)class->references + class->booleans; i++)
        if (__builtin_expect(body[class->fields[i]] > 1, 0))
            return false;
    return true;
}

/* The fields of an instance of a wide class. False if a boolean is wrong. */
static bool check_wide(struct segment *s, struct recent_page *recent, const uint32_t *fields, const uint8_t *body,
                       const struct form form)
{
    const uint32_t *field = fields + 2, *end = field + fields[0];

    for (; field < end; field++)
        refer(s, recent, get_id(body + *field, form.id_size), form);
    for (end += fields[1]; field < end; field++)
        if (body[*field] > 1)
            return false;
    return true;
}

/* ---- The loop ---- */

/* What the loop keeps in registers. */
struct tally {
    struct object_counts counts;
    struct recent_page defined, referenced, element;
};

/* Checks an instance of a wide class, or one that waits for its class. Works on a copy of the tally, so that the original
 * stays in registers. */
static __attribute__((noinline)) bool check_rare(struct segment *s, struct tally *t, const struct hot_class *class,
                                                 const uint8_t *p, uint64_t offset, const struct form form)
{
    if (class->kind == HOT_WAITING) {
        if (!define(s, &t->defined, get_id(p + 1, form.id_size), form))
            return false;
        s->meet->waiting(s, offset, t->counts.instances);
    } else {
        const uint32_t *fields = s->wide->fields + class->first;

        if (!check_wide(s, &t->referenced, fields, p + 1 + SIZE_OF(INSTANCE_DUMP, form.id_size), form) ||
            !define(s, &t->defined, get_id(p + 1, form.id_size), form))
            return false;
        t->counts.references += fields[0];
    }
    t->counts.instances++;
    return true;
}

HOT bool trace_is_plain(struct segment *s, const uint8_t *p, enum object_kind kind, uint64_t offset, const struct form form)
{
    uint32_t serial = get_u4(p + 1 + form.id_size);

    return is_known_trace(s, serial) || s->meet->trace(s, serial, kind, offset + 1 + form.id_size);
}

HOT bool is_class(const struct segment *s, const struct hot_class *class, uint64_t raw_id)
{
    return class->raw_id == raw_id && class->dump == s->dump;
}

/* These check one sub-record whose head is complete and of which `left` bytes are available. They return the bytes it takes;
 * 0 if it is not plain. */

HOT size_t check_plain_instance(struct segment *s, struct tally *t, const uint8_t *p, size_t left, uint64_t offset,
                                const struct form form)
{
    const size_t head = 1 + SIZE_OF(INSTANCE_DUMP, form.id_size);
    const uint8_t *raw_id_at = p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, form.id_size), *body = p + head;
    uint64_t raw_id = native_load(raw_id_at, form.id_size);
    uint32_t bytes = get_u4(p + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, form.id_size));
    const struct hot_class *class = hot_slot(&s->hot, raw_id);

    if (bytes > left - head)
        return 0;
    if (__builtin_expect(!is_class(s, class, raw_id) || class->bytes != bytes, 0) && !s->meet->class(s, raw_id_at, bytes))
        return 0;
    if (!trace_is_plain(s, p, KIND_INSTANCE, offset, form))
        return 0;
    if (__builtin_expect(class->is_rare, 0)) {
        struct tally copy = *t;
        bool is_plain = check_rare(s, &copy, class, p, offset, form);

        *t = copy;
        return is_plain ? head + bytes : 0;
    }
    if (!booleans_are_right(class, body))
        return 0;
    for (unsigned i = 0; i < class->references; i++)
        refer(s, &t->referenced, get_id(body + class->fields[i], form.id_size), form);
    if (!define(s, &t->defined, get_id(p + 1, form.id_size), form))
        return 0;
    t->counts.references += class->references;
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

HOT size_t check_plain_object_array(struct segment *s, struct tally *t, const uint8_t *p, size_t left, uint64_t offset,
                                    const struct form form)
{
    const size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, form.id_size);
    const uint8_t *raw_id_at = p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, form.id_size);
    uint64_t raw_id = native_load(raw_id_at, form.id_size);
    size_t elements = get_u4(p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, elements, form.id_size));
    const struct hot_class *class = hot_slot(&s->hot, raw_id);

    if (elements > (left - head) / form.id_size)
        return 0;
    if (__builtin_expect(!is_class(s, class, raw_id) || (class->kind != HOT_OBJECT_ARRAY && class->kind != HOT_OTHER_ARRAY),
                         0) &&
        !s->meet->array_class(s, raw_id_at, offset))
        return 0;
    if (!trace_is_plain(s, p, KIND_OBJECT_ARRAY, offset, form))
        return 0;
    refer_all(s, class->kind == HOT_OBJECT_ARRAY ? &t->element : &t->referenced, class->kind == HOT_OBJECT_ARRAY, p + head,
              elements, form);
    if (!define(s, &t->defined, get_id(p + 1, form.id_size), form))
        return 0;
    t->counts.object_arrays++;
    t->counts.references += elements;
    return head + elements * form.id_size;
}

HOT size_t check_in_form(struct segment *s, const uint8_t *const start, size_t n, uint64_t offset, const struct form form)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t instance_head = 1 + SIZE_OF(INSTANCE_DUMP, form.id_size),
                 array_head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, form.id_size),
                 primitive_head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, form.id_size),
                 longest = instance_head > array_head ? instance_head : array_head;
    struct tally t = {.defined = s->defined, .referenced = s->referenced, .element = s->element};

    while ((size_t)(end - p) >= (form.others ? primitive_head : longest)) {
        size_t left = (size_t)(end - p), size = 0;
        uint64_t at = offset + (uint64_t)(p - start);

        if (*p == SUB_INSTANCE_DUMP && (!form.others || left >= instance_head))
            size = check_plain_instance(s, &t, p, left, at, form);
        else if (*p == SUB_PRIMITIVE_ARRAY_DUMP)
            size = check_plain_primitive_array(s, &t, p, left, at, form);
        else if (*p == SUB_OBJECT_ARRAY_DUMP && (!form.others || left >= array_head))
            size = check_plain_object_array(s, &t, p, left, at, form);
        if (!size)
            break;
        p += size;
    }
    if (form.others) {
        id_set_flush(&t.referenced);
        id_set_flush(&t.element);
    }
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

size_t check_plain_objects(struct segment *s, const uint8_t *p, size_t n, uint64_t offset)
{
    if (!s->hot.slots)
        return 0;
    n = at_most(n);
    return s->id_size == 8 ? check_in_form(s, p, n, offset, (struct form){8, false})
                           : check_in_form(s, p, n, offset, (struct form){4, false});
}

size_t check_plain_objects_with_others(struct segment *s, const uint8_t *p, size_t n, uint64_t offset)
{
    if (!s->hot.slots)
        return 0;
    n = at_most(n);
    return s->id_size == 8 ? check_in_form(s, p, n, offset, (struct form){8, true})
                           : check_in_form(s, p, n, offset, (struct form){4, true});
}

/* ---- Instances that waited: arrays among them were checked ---- */

HOT size_t refer_in_form(struct segment *s, const uint8_t *const start, size_t n, uint64_t *instances, const struct form form)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t head = 1 + SIZE_OF(INSTANCE_DUMP, form.id_size);
    struct recent_page referenced = s->referenced;
    uint64_t references = 0;

    while (p < end && *instances) {
        const uint8_t *raw_id_at = p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, form.id_size);
        const struct hot_class *class;
        struct measure m;
        uint64_t raw_id;
        uint32_t bytes;

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
        if (bytes > (size_t)(end - p) - head ||
            (__builtin_expect(!is_class(s, class, raw_id) || class->bytes != bytes, 0) &&
             !s->meet->class(s, raw_id_at, bytes)) ||
            class->is_rare || !booleans_are_right(class, p + head))
            break;
        for (unsigned i = 0; i < class->references; i++)
            refer(s, &referenced, get_id(p + head + class->fields[i], form.id_size), form);
        references += class->references;
        p += head + bytes;
        --*instances;
    }
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
