#include "oracle_doubt.h"

/* The bytes that the values of an instance should take by the classes read so far; UINT64_MAX if that is not known. */
static uint64_t find_size_by_class(const struct oracle *o, uint64_t class_id)
{
    const struct class_dump *classes = o->class_dumps.items;
    uint64_t size = 0;
    for (size_t steps = 0; class_id != 0 && steps <= o->class_dumps.count; steps++) {
        size_t i = 0;
        while (i < o->class_dumps.count && !(classes[i].heap == o->heap && classes[i].id == class_id))
            i++;
        if (i == o->class_dumps.count || classes[i].untyped)
            return UINT64_MAX;
        size += classes[i].own_size;
        class_id = classes[i].super_id;
    }
    return class_id ? UINT64_MAX : size;
}

/* The same. Objects of few classes follow each other, and classes seldom come between them. */
static uint64_t size_by_class(const struct oracle *o, uint64_t class_id)
{
    struct known_size *known = &o->known_sizes[class_id / 8 % KNOWN_SIZES];
    if (class_id == 0)
        return UINT64_MAX;
    if (known->class_id != class_id || known->classes != o->class_dumps.count || known->heap != o->heap)
        *known = (struct known_size){class_id, o->class_dumps.count, o->heap, find_size_by_class(o, class_id)};
    return known->size;
}

struct doubtful_instance doubt_instance(const struct oracle *o, uint64_t tag_at, uint64_t limit)
{
    uint64_t class_at = tag_at + 1 + o->d->id_size + 4, bytes_at = class_at + o->d->id_size, values_at = bytes_at + 4;
    if (!tag_at || values_at > limit || u1(o->d, tag_at) != INSTANCE_DUMP)
        return (struct doubtful_instance){0};
    uint64_t size = size_by_class(o, id(o->d, class_at));
    if (size == UINT64_MAX || size == u4(o->d, bytes_at))
        return (struct doubtful_instance){0};
    return (struct doubtful_instance){tag_at, bytes_at, values_at - tag_at + size};
}

bool may_be_overlong(const struct oracle *o, uint64_t tag_at, uint64_t size, uint64_t limit)
{
    struct doubtful_instance doubt = doubt_instance(o, tag_at, limit);
    if (!doubt.at || doubt.by_class >= size)
        return false;
    uint64_t at = tag_at + doubt.by_class, end = tag_at + size;
    if (end < limit && !(extent_of_subrecord(o->d, end, limit).kind == EXTENT_KNOWN &&
                         extent_of_subrecord(o->d, end, limit).size <= limit - end))
        return false;
    while (at < limit) {
        struct extent e = extent_of_subrecord(o->d, at, limit);
        if (e.kind != EXTENT_KNOWN || e.size > limit - at)
            return false;
        if (at >= end)
            return true;
        at += e.size;
    }
    return at == limit;
}

void doubt(struct oracle *o, uint64_t at)
{
    if (o->doubt_at)
        return;
    o->doubt_at = at;
    o->closed_before_doubt = o->closed_until;
}

void doubt_long_instance(struct oracle *o, uint64_t tag_at)
{
    enum { WAITING_MOST = 1024, NO_CHAIN = 64 /* bytes: other sub-records that begin in so few are no evidence */ };
    uint64_t class_at = tag_at + 1 + o->d->id_size + 4, bytes_at = class_at + o->d->id_size;
    if (u1(o->d, tag_at) != INSTANCE_DUMP)
        return;
    uint64_t bytes = u4(o->d, bytes_at), right = size_by_class(o, id(o->d, class_at));
    if (right == UINT64_MAX ? bytes > WAITING_MOST : bytes > right + NO_CHAIN)
        doubt(o, tag_at);
}

void doubt_elements(struct oracle *o, uint64_t tag_at, uint64_t size)
{
    uint64_t id_size = o->d->id_size;
    if (u1(o->d, tag_at) != OBJECT_ARRAY_DUMP)
        return;
    for (uint64_t at = tag_at + 1 + 2 * id_size + 8; at < tag_at + size; at += id_size) {
        uint64_t first = u1(o->d, at);
        if (id_size == 8 ? first != 0 : first >= CLASS_DUMP && first <= PRIMITIVE_ARRAY_DUMP)
            doubt(o, tag_at);
    }
}

/* Whether other items may begin in the body of the record at `at`, were it of this length. */
static bool may_hold_items(const struct dump *d, uint64_t at, uint64_t length)
{
    uint64_t begin = at + RECORD_HEADER_SIZE, left = d->size - begin;
    uint64_t end = begin + (length < left ? length : left);
    for (uint64_t i = begin; i < end; i++) {
        uint64_t rest = d->size - i;
        if (u1(d, i) >= CLASS_DUMP && u1(d, i) <= PRIMITIVE_ARRAY_DUMP)
            return true;
        if (rest >= RECORD_HEADER_SIZE && is_record_tag(u1(d, i)) && u4(d, i + LENGTH_AT) <= rest - RECORD_HEADER_SIZE &&
            kind_allows_length(d, u1(d, i), u4(d, i + LENGTH_AT)))
            return true;
    }
    return false;
}

/* The same of records of unknown tag, the first of which is at `at`. */
static bool unknown_may_hold_items(const struct dump *d, uint64_t at)
{
    while (at < d->size && d->size - at >= RECORD_HEADER_SIZE && !is_record_tag(u1(d, at))) {
        uint64_t length = u4(d, at + LENGTH_AT);
        if (may_hold_items(d, at, length))
            return true;
        at += RECORD_HEADER_SIZE + length;
    }
    return false;
}

/* Whether the string at `at` has zero bytes, and bytes that are not ASCII. */
static bool may_be_no_string(const struct dump *d, uint64_t at)
{
    uint64_t begin = at + RECORD_HEADER_SIZE, length = u4(d, at + LENGTH_AT), left = d->size - begin;
    bool has_zero = false, has_high = false;
    for (uint64_t i = begin + d->id_size; i < begin + (length < left ? length : left); i++) {
        has_zero |= u1(d, i) == 0;
        has_high |= u1(d, i) >= 0x80;
    }
    return has_zero && has_high;
}

void doubt_long_record(struct oracle *o, uint64_t at)
{
    enum { LONG = 64 << 10, FAR = 512 << 10, LEAST = 256 };
    uint64_t tag = u1(o->d, at), length = u4(o->d, at + LENGTH_AT), body_at = at + RECORD_HEADER_SIZE;
    bool is_counted = is_heap_dump_record(tag) || tag == TRACE || tag == ALLOC_SITES || tag == CPU_SAMPLES;
    if (!is_counted && o->d->size > FAR && length >= LONG)
        doubt(o, at);
    if (tag == UTF8 && length >= LEAST && body_at < o->d->size && is_subrecord_tag(u1(o->d, body_at)))
        doubt(o, at);
    if (unknown_may_hold_items(o->d, at) || (tag == UTF8 && may_be_no_string(o->d, at) && may_hold_items(o->d, at, length)))
        doubt(o, at);
    if (is_record_tag(tag) && !is_heap_dump_record(tag) && !has_right_length(o->d, at)) {
        uint64_t right = right_length_of_record(o->d, at);
        if (right != UINT64_MAX && right > length)
            length = right;
        if (length >= LEAST && may_hold_items(o->d, at, length))
            doubt(o, at);
    }
}
