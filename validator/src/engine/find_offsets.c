/* The second look finds, for findings that will be shown, the offsets that one pass cannot keep: of the first reference to
 * an undefined object (REF-002), and of the earlier definition of an object, string, frame, class serial or thread root that
 * is defined twice. Only for input that can be read again. */
#include <string.h>

#include "engine/checker.h"
#include "format/native.h"

/* IDs or serials whose first occurrence is wanted. Few others pass the range and the filter. */
struct targets {
    struct keymap found; /* to 0, and to the offset plus 1 once that is known */
    uint64_t lowest, span;
    uint64_t filter[1024];
    size_t left;
};

struct finder {
    struct checker *ck;
    struct targets defined, referenced, serials;
    struct page_filter defined_pages, referenced_pages, element_pages; /* of the targets */
};

static void targets_init(struct targets *t, struct checker *ck)
{
    memset(t, 0, sizeof *t);
    keymap_init(&t->found, &ck->memory, &ck->key, sizeof(uint64_t), sizeof(uint64_t));
}

static void targets_add(struct targets *t, uint64_t id)
{
    if (keymap_get(&t->found, id, NULL) || !keymap_put(&t->found, id, 0))
        return;
    t->filter[id >> 9 & 1023] |= UINT64_C(1) << (id >> 3 & 63);
    if (!t->left++) {
        t->lowest = id;
        t->span = 0;
    } else if (id < t->lowest) {
        t->span += t->lowest - id;
        t->lowest = id;
    } else if (id - t->lowest > t->span) {
        t->span = id - t->lowest;
    }
}

static __attribute__((noinline, cold)) void targets_find(struct targets *t, uint64_t id, uint64_t offset)
{
    uint64_t found;

    if (keymap_get(&t->found, id, &found) && !found) {
        keymap_put(&t->found, id, offset + 1);
        t->left--;
    }
}

static inline bool is_in_range(const struct targets *t, uint64_t id)
{
    return id - t->lowest <= t->span;
}

static inline void targets_try(struct targets *t, uint64_t id, uint64_t offset)
{
    if (__builtin_expect(is_in_range(t, id), 0) && t->filter[id >> 9 & 1023] >> (id >> 3 & 63) & 1)
        targets_find(t, id, offset);
}

/* ---- Sub-records ---- */

static void find_in_elements(struct targets *t, const uint8_t *p, size_t n, uint64_t offset, const unsigned id_size)
{
    /* In blocks, since most have no ID in the range; the compiler vectorizes that test. */
    for (size_t i = 0, block; i < n; i += block) {
        bool any = false;

        block = n - i < 256 ? n - i : 256;
        for (size_t j = i; j < i + block; j++)
            any |= is_in_range(t, get_id(p + j * id_size, id_size));
        for (size_t j = i; any && j < i + block; j++)
            targets_try(t, get_id(p + j * id_size, id_size), offset + j * id_size);
    }
}

/* Searches constants or static fields, whose type is the last of `head` bytes before each value. Returns the first byte
 * after them. */
static const uint8_t *find_in_values(struct finder *f, const uint8_t *p, size_t head, const uint8_t *start, uint64_t at)
{
    unsigned id_size = f->ck->id_size, n = get_u2(p);

    for (p += 2; n; n--) {
        unsigned type = get_u1(p + head - 1);

        p += head;
        if (type == TYPE_OBJECT)
            targets_try(&f->referenced, get_id(p, id_size), at + (uint64_t)(p - start));
        p += type_size(type, id_size);
    }
    return p;
}

/* p follows the tag. References are in the order of the file. */
static void find_in_class_dump(struct finder *f, const uint8_t *p, uint64_t at)
{
    unsigned id = f->ck->id_size;
    struct cursor c = {p, p + SIZE_OF(CLASS_DUMP, id)};
    struct CLASS_DUMP r;

    if (!read_CLASS_DUMP(&c, id, &r))
        return;
    targets_try(&f->defined, r.class_id, at);
    targets_try(&f->referenced, r.loader_id, at + OFFSET_OF(CLASS_DUMP, loader_id, id));
    targets_try(&f->referenced, r.signers_id, at + OFFSET_OF(CLASS_DUMP, signers_id, id));
    targets_try(&f->referenced, r.domain_id, at + OFFSET_OF(CLASS_DUMP, domain_id, id));
    find_in_values(f, find_in_values(f, c.at, SIZE_OF(CONSTANT, id), p, at), SIZE_OF(STATIC_FIELD, id), p, at);
}

/* Searches the references of an instance at an offset of the dump, moving the window. */
static bool find_in_fields(struct finder *f, uint32_t layout, uint64_t offset)
{
    const struct classes *classes = &f->ck->classes;
    struct input *in = &f->ck->in;
    uint64_t total = classes_layout(classes, layout)->total;

    for (uint32_t i = layout; i != LAYOUT_NONE; i = classes_above(classes, i)) {
        const struct layout *part = classes_layout(classes, i);

        for (struct checked_field field = checked_fields_begin(classes, part); checked_fields_next(classes, &field);) {
            uint64_t at = offset + (total - part->total) + field.at, skip = at - in->offset;

            if (field.type != TYPE_OBJECT)
                continue;
            if (input_skip(in, skip) < skip || input_need(in, f->ck->id_size) < f->ck->id_size)
                return false;
            targets_try(&f->referenced, get_id(in->at, f->ck->id_size), at);
        }
    }
    return true;
}

/* These three begin at the tag, with the fixed part in the window, and leave the input within the sub-record. False if the dump
 * ends before. */

static bool find_in_instance(struct finder *f)
{
    struct checker *ck = f->ck;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->id_size);
    struct cursor c = {ck->in.at + 1, ck->in.at + head};
    uint64_t at = ck->in.offset;
    struct INSTANCE_DUMP r;
    const struct layout *l;
    uint32_t index;

    if (!read_INSTANCE_DUMP(&c, ck->id_size, &r))
        return false;
    targets_try(&f->defined, r.object_id, at + 1);
    index = r.class_id && f->referenced.left ? classes_find_layout(&ck->classes, r.class_id) : LAYOUT_NONE;
    l = index == LAYOUT_NONE ? NULL : classes_layout(&ck->classes, index);
    return !l || l->state != LAYOUT_VALID || l->total != r.bytes || find_in_fields(f, index, at + head);
}

static bool find_in_object_array(struct finder *f)
{
    unsigned id = f->ck->id_size;
    struct input *in = &f->ck->in;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id);
    struct cursor c = {in->at + 1, in->at + head};
    struct OBJECT_ARRAY_DUMP r;

    if (!read_OBJECT_ARRAY_DUMP(&c, id, &r))
        return false;
    targets_try(&f->defined, r.object_id, in->offset + 1);
    input_advance(in, head);
    for (uint64_t left = f->referenced.left ? (uint64_t)r.elements * id : 0; left;) {
        size_t wanted = left < PIECE ? (size_t)left : PIECE;

        if (input_need(in, wanted) < wanted)
            return false;
        find_in_elements(&f->referenced, in->at, wanted / id, in->offset, id);
        input_advance(in, wanted);
        left -= wanted;
    }
    return true;
}

static bool find_in_others(struct finder *f, uint64_t size)
{
    struct checker *ck = f->ck;
    unsigned id = ck->id_size;
    uint64_t at = ck->in.offset + 1;
    const uint8_t *p;

    if (input_need(&ck->in, (size_t)size) < size)
        return false;
    p = ck->in.at + 1;
    switch (*ck->in.at) {
    case SUB_CLASS_DUMP:
        find_in_class_dump(f, p, at);
        break;
    case SUB_PRIMITIVE_ARRAY_NODATA:
        targets_try(&f->defined, get_id(p, id), at);
        break;
    case SUB_ROOT_THREAD_OBJECT:
        targets_try(&f->serials, get_u4(p + OFFSET_OF(ROOT_THREAD_OBJECT, thread_serial, id)),
                    at + OFFSET_OF(ROOT_THREAD_OBJECT, thread_serial, id));
        break;
    default:
        break;
    }
    return true;
}

/* Searches one sub-record, `left` bytes before the end of its record, and moves past it, or along the jump that begins here.
 * False where the first look stopped. */
static bool find_in_subrecord(struct finder *f, uint64_t left, const struct jump *jump)
{
    struct checker *ck = f->ck;
    uint64_t at = ck->in.offset, end, rest;
    bool ended, complete = true, jumps = jump->from == at;
    struct measure m = {0};
    enum measured result = measure_next(ck, left, &m, &ended);

    if (jumps && jump->to == UINT64_MAX)
        return false;
    if (!jumps && (result != MEASURED || m.size > left))
        return false;
    end = jumps ? jump->to : at + m.size;
    if (!jumps || !jump->failed)
        switch (*ck->in.at) {
        case SUB_INSTANCE_DUMP:
            complete = find_in_instance(f);
            break;
        case SUB_OBJECT_ARRAY_DUMP:
            complete = find_in_object_array(f);
            break;
        case SUB_PRIMITIVE_ARRAY_DUMP:
            targets_try(&f->defined, get_id(ck->in.at + 1, ck->id_size), at + 1);
            break;
        default:
            complete = find_in_others(f, m.size);
            break;
        }
    rest = end - ck->in.offset;
    return complete && input_skip(&ck->in, rest) == rest;
}

/* Searches the instances and arrays at p that are complete and whose classes are in slots. Returns the bytes they take. */
static inline __attribute__((always_inline)) size_t find_in_many(struct finder *f, const uint8_t *const start, size_t n,
                                                                 uint64_t offset, const unsigned id_size)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t instance_head = 1 + SIZE_OF(INSTANCE_DUMP, id_size), array_head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size),
                 primitive_head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size),
                 longest_head = instance_head > array_head ? instance_head : array_head;
    const bool references = f->referenced.left != 0;

    while ((size_t)(end - p) >= longest_head) {
        size_t left = (size_t)(end - p);
        uint64_t at = offset + (uint64_t)(p - start), bytes;

        if (*p == SUB_INSTANCE_DUMP) {
            const uint8_t *body = p + instance_head;

            bytes = get_u4(p + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, id_size));
            if (bytes > left - instance_head)
                break;
            if (references) {
                const struct hot_class *class = hot_class_of(f->ck, p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id_size), bytes);

                if (!class)
                    break;
                for (unsigned i = 0; i < class->references; i++)
                    targets_try(&f->referenced, get_id(body + class->fields[i], id_size),
                                at + instance_head + class->fields[i]);
            }
            bytes += instance_head;
        } else if (*p == SUB_PRIMITIVE_ARRAY_DUMP) {
            unsigned type = p[1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, type, id_size)];

            bytes = (uint64_t)get_u4(p + 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, elements, id_size)) * type_size(type, id_size);
            if (!type_is_primitive(type) || bytes > left - primitive_head)
                break;
            bytes += primitive_head;
        } else if (*p == SUB_OBJECT_ARRAY_DUMP) {
            bytes = (uint64_t)get_u4(p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, elements, id_size)) * id_size;
            if (bytes > left - array_head)
                break;
            if (references)
                find_in_elements(&f->referenced, p + array_head, (size_t)bytes / id_size, at + array_head, id_size);
            bytes += array_head;
        } else {
            break;
        }
        targets_try(&f->defined, get_id(p + 1, id_size), at + 1);
        p += bytes;
    }
    return (size_t)(p - start);
}

/* ---- Stretches ---- */

/* Passes the header of a record, and the record unless it has sub-records. Returns their end. */
static bool pass_record_again(struct input *in, const struct jump *jump, uint64_t *record_end)
{
    uint64_t length;
    unsigned tag;

    if (input_need(in, RECORD_HEADER_SIZE) < RECORD_HEADER_SIZE)
        return false;
    tag = get_u1(in->at);
    length = get_u4(in->at + RECORD_LENGTH_AT);
    *record_end = in->offset + RECORD_HEADER_SIZE + length;
    if (jump->from == in->offset)
        length = (*record_end = jump->to) - in->offset;
    else if (tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT)
        length = RECORD_HEADER_SIZE;
    else
        length += RECORD_HEADER_SIZE;
    return input_skip(in, length) == length;
}

static size_t least(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t ab = a < b ? a : b;

    return (size_t)(ab < c ? ab : c);
}

/* Searches a stretch from its first sub-record. False where the first look stopped. */
static bool find_in_stretch(struct finder *f, size_t number, uint64_t end)
{
    struct input *in = &f->ck->in;
    size_t next = find_jump(f->ck, in->offset);
    struct jump jump = jump_at(f->ck, next);
    uint64_t record_end = stretches_at(&f->ck->dump.stretches, number)->record_end;

    while (in->offset < end) {
        uint64_t at = in->offset, left = record_end - at, stop = end < jump.from ? end : jump.from;
        size_t n = least((size_t)(in->end - in->at), left, stop - at);

        n = f->ck->id_size == 8 ? find_in_many(f, in->at, n, at, 8) : find_in_many(f, in->at, n, at, 4);
        input_advance(in, n);
        if (n)
            continue;
        if (left ? !input_need(in, 1) || !find_in_subrecord(f, left, &jump) : !pass_record_again(in, &jump, &record_end))
            return false;
        if (jump.from == at)
            jump = jump_at(f->ck, ++next);
    }
    return true;
}

static bool may_hold_targets(const struct finder *f, const struct stretch *s)
{
    return (f->defined.left && page_filters_meet(&s->defined, &f->defined_pages)) || (f->serials.left && s->has_thread_roots) ||
           (f->referenced.left &&
            (page_filters_meet(&s->referenced, &f->referenced_pages) || page_filters_meet(&s->elements, &f->referenced_pages) ||
             page_filters_meet(&s->elements, &f->element_pages)));
}

/* Searches the stretches that may hold targets, in the order of the file, up to an offset. */
static void find_in_dump(struct finder *f, uint64_t end)
{
    const struct stretches *stretches = &f->ck->dump.stretches;

    for (size_t i = 0; i < stretches->list.count && (f->defined.left || f->referenced.left || f->serials.left); i++) {
        const struct stretch *s = stretches_at(stretches, i);

        if (may_hold_targets(f, s) &&
            (!input_seek(&f->ck->in, s->at) ||
             !find_in_stretch(f, i, i + 1 < stretches->list.count ? stretches_at(stretches, i + 1)->at : end)))
            return;
    }
}

/* ---- What is sought ---- */

/* Definitions in top-level records are searched in the whole file, others within one heap dump. */
static bool is_top_level(enum wanted_kind kind)
{
    return kind == WANTED_STRING || kind == WANTED_FRAME || kind == WANTED_CLASS_SERIAL;
}

/* Kinds that are searched together have sets of their own. */
static struct targets *targets_of(struct finder *f, enum wanted_kind kind)
{
    if (kind == WANTED_THREAD_ROOT || kind == WANTED_CLASS_SERIAL)
        return &f->serials;
    return kind == WANTED_STRING || kind == WANTED_OBJECT ? &f->defined : &f->referenced;
}

static bool may_look_again(const struct checker *ck)
{
    return input_can_reread(&ck->in) && !ck->in.error && !ck->memory.exhausted;
}

/* Takes the wanted offsets from index `first` on as targets. False if there are none. */
static bool finder_begin(struct finder *f, struct checker *ck, size_t first, bool top_level)
{
    const struct chunks *all = &ck->findings.wanted;
    size_t i = first;

    while (i < all->count && is_top_level(((const struct wanted_offset *)chunks_at(all, i))->kind) != top_level)
        i++;
    if (i == all->count || !may_look_again(ck))
        return false;
    memset(f, 0, sizeof *f);
    f->ck = ck;
    targets_init(&f->defined, ck);
    targets_init(&f->referenced, ck);
    targets_init(&f->serials, ck);
    for (; i < all->count; i++) {
        const struct wanted_offset *wanted = chunks_at(all, i);
        uint64_t page = id_to_key(wanted->subject, ck->id_size) >> PAGE_BITS;

        if (is_top_level(wanted->kind) != top_level)
            continue;
        targets_add(targets_of(f, wanted->kind), wanted->subject);
        page_filter_add(wanted->kind == WANTED_ELEMENT     ? &f->element_pages
                        : wanted->kind == WANTED_REFERENCE ? &f->referenced_pages
                                                           : &f->defined_pages,
                        page);
    }
    return true;
}

/* Stores the offsets that were found. */
static void finder_end(struct finder *f, size_t first, bool top_level)
{
    struct checker *ck = f->ck;

    for (size_t i = first; i < ck->findings.wanted.count; i++) {
        struct wanted_offset *wanted = chunks_at(&ck->findings.wanted, i);
        uint64_t found;

        if (is_top_level(wanted->kind) == top_level &&
            keymap_get(&targets_of(f, wanted->kind)->found, wanted->subject, &found) && found)
            wanted->at = found - 1;
    }
    keymap_clear(&f->defined.found);
    keymap_clear(&f->referenced.found);
    keymap_clear(&f->serials.found);
}

void find_offsets_in_dump(struct checker *ck)
{
    uint64_t end = ck->in.offset, checked = checked_until(ck);
    struct finder f;

    if (!finder_begin(&f, ck, ck->dump.first_wanted, false))
        return;
    find_in_dump(&f, end < checked ? end : checked);
    finder_end(&f, ck->dump.first_wanted, false);
    input_seek(&ck->in, end);
}

/* The record whose body is in the window. False when all was found. */
static bool find_in_record(struct checker *ck, void *context, unsigned tag, uint64_t length)
{
    struct finder *f = context;
    unsigned id = ck->id_size;

    if (length >= id && input_need(&ck->in, id) >= id) {
        if (tag == TAG_UTF8)
            targets_try(&f->defined, get_id(ck->in.at, id), ck->in.offset);
        else if (tag == TAG_FRAME)
            targets_try(&f->referenced, get_id(ck->in.at, id), ck->in.offset);
        else if (tag == TAG_LOAD_CLASS)
            targets_try(&f->serials, get_u4(ck->in.at), ck->in.offset);
    }
    return f->defined.left || f->referenced.left || f->serials.left;
}

void find_offsets_of_records(struct checker *ck)
{
    struct finder f;

    if (!finder_begin(&f, ck, 0, true))
        return;
    read_again(ck, HEADER_SIZE, 0, UINT64_MAX, &(struct visitor){.record = find_in_record, .context = &f});
    finder_end(&f, 0, true);
}
