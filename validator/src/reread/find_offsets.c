/* The second look finds, for findings that will be shown, the offsets that one pass cannot keep: of the first reference to
 * an undefined object (REF-002), and of the earlier definition of an object, string, frame, class serial or thread root that
 * is defined twice. It also finds all definitions of IDs that were defined twice while several threads checked. Only for input
 * that can be read again. */
#include <string.h>

#include "reread/reread.h"

/* IDs or serials whose first occurrence is wanted, or all. Few others pass the range and the filter. */
struct targets {
    void (*each)(struct checker *ck, uint64_t id, uint64_t offset); /* called for all; NULL if the first is wanted */
    struct checker *ck;
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
    t->ck = ck;
    keymap_init(&t->found, &ck->run->memory, &ck->run->key, sizeof(uint64_t), sizeof(uint64_t));
}

static void targets_widen(struct targets *t, uint64_t id)
{
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

static void targets_add(struct targets *t, uint64_t id)
{
    if (!keymap_get(&t->found, id, NULL) && keymap_put(&t->found, id, 0))
        targets_widen(t, id);
}

static __attribute__((noinline, cold)) void targets_find(struct targets *t, uint64_t id, uint64_t offset)
{
    uint64_t found;

    if (t->each)
        t->each(t->ck, id, offset);
    else if (keymap_get(&t->found, id, &found) && !found) {
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
    unsigned id_size = f->ck->file->id_size;
    struct entry e;

    for (uint16_t n = read_count(&p); n; n--) {
        read_entry(&p, head, id_size, &e);
        if (e.type == TYPE_OBJECT)
            targets_try(&f->referenced, get_id(e.value, id_size), at + (uint64_t)(e.value - start));
    }
    return p;
}

/* p follows the tag. References are in the order of the file. */
static void find_in_class_dump(struct finder *f, const uint8_t *p, uint64_t at)
{
    unsigned id = f->ck->file->id_size;
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
    const struct classes *classes = &f->ck->file->classes;
    struct input *in = f->ck->in;
    uint64_t total = classes_layout(classes, layout)->total;

    for (uint32_t i = layout; i != LAYOUT_NONE; i = classes_above(classes, i)) {
        const struct layout *part = classes_layout(classes, i);

        for (struct checked_field field = checked_fields_begin(classes, part); checked_fields_next(classes, &field);) {
            uint64_t at = offset + (total - part->total) + field.at, skip = at - in->offset;

            if (field.type != TYPE_OBJECT)
                continue;
            if (input_skip(in, skip) < skip || input_need(in, f->ck->file->id_size) < f->ck->file->id_size)
                return false;
            targets_try(&f->referenced, get_id(in->at, f->ck->file->id_size), at);
        }
    }
    return true;
}

/* These three begin at the tag, with the fixed part in the window, and leave the input within the sub-record. False if the dump
 * ends before. */

static bool find_in_instance(struct finder *f)
{
    struct checker *ck = f->ck;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size);
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    uint64_t at = ck->in->offset;
    struct INSTANCE_DUMP r;
    const struct layout *l;
    uint32_t index;

    if (!read_INSTANCE_DUMP(&c, ck->file->id_size, &r))
        return false;
    targets_try(&f->defined, r.object_id, at + 1);
    index = r.class_id && f->referenced.left ? classes_find_layout(&ck->file->classes, r.class_id) : LAYOUT_NONE;
    l = index == LAYOUT_NONE ? NULL : classes_layout(&ck->file->classes, index);
    return !l || l->state != LAYOUT_VALID || l->total != r.bytes || find_in_fields(f, index, at + head);
}

static bool find_in_object_array(struct finder *f, uint64_t size)
{
    unsigned id = f->ck->file->id_size;
    struct input *in = f->ck->in;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id);
    struct cursor c = {in->at + 1, in->at + head};
    struct OBJECT_ARRAY_DUMP r;

    if (!read_OBJECT_ARRAY_DUMP(&c, id, &r))
        return false;
    targets_try(&f->defined, r.object_id, in->offset + 1);
    input_advance(in, head);
    for (uint64_t left = f->referenced.left ? (size - head) / id * id : 0; left;) {
        size_t wanted = left < f->ck->run->sizes.piece ? (size_t)left : f->ck->run->sizes.piece;

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
    unsigned id = ck->file->id_size;
    uint64_t at = ck->in->offset + 1;
    const uint8_t *p;

    if (input_need(ck->in, (size_t)size) < size)
        return false;
    p = ck->in->at + 1;
    switch (*ck->in->at) {
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

/* Searches one sub-record, and moves past it. False where the first look stopped. */
static bool find_in_subrecord(struct checker *ck, void *context, uint64_t size)
{
    struct finder *f = context;
    uint64_t at = ck->in->offset, rest;
    bool complete = true;

    switch (*ck->in->at) {
    case SUB_INSTANCE_DUMP:
        complete = find_in_instance(f);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        complete = find_in_object_array(f, size);
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        targets_try(&f->defined, get_id(ck->in->at + 1, ck->file->id_size), at + 1);
        break;
    default:
        complete = find_in_others(f, size);
        break;
    }
    rest = at + size - ck->in->offset;
    return complete && input_skip(ck->in, rest) == rest;
}

/* Searches the instances and arrays at p that are complete and whose classes are in slots. Returns the bytes they take. */
static inline __attribute__((always_inline)) size_t find_in_plain(struct finder *f, const uint8_t *const start, size_t n,
                                                                  uint64_t offset, const unsigned id_size)
{
    const uint8_t *p = start, *const end = start + n;
    const size_t instance_head = 1 + SIZE_OF(INSTANCE_DUMP, id_size), array_head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
    const bool references = f->referenced.left != 0;
    struct measure m;

    while (is_whole_object(p, end, id_size, &m)) {
        uint64_t at = offset + (uint64_t)(p - start);

        if (references && *p == SUB_INSTANCE_DUMP) {
            const uint8_t *raw_id = p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id_size), *body = p + instance_head;
            const struct hot_class *class = hot_class_of(f->ck, raw_id, m.size - instance_head);

            if (!class)
                break;
            for (unsigned i = 0; i < class->references; i++)
                targets_try(&f->referenced, get_id(body + class->fields[i], id_size), at + instance_head + class->fields[i]);
        } else if (references && *p == SUB_OBJECT_ARRAY_DUMP) {
            find_in_elements(&f->referenced, p + array_head, (size_t)(m.size - array_head) / id_size, at + array_head, id_size);
        }
        targets_try(&f->defined, get_id(p + 1, id_size), at + 1);
        p += m.size;
    }
    return (size_t)(p - start);
}

static size_t find_in_many(struct checker *ck, void *context, size_t n)
{
    const struct input *in = ck->in;

    return ck->file->id_size == 8 ? find_in_plain(context, in->at, n, in->offset, 8)
                                  : find_in_plain(context, in->at, n, in->offset, 4);
}

/* ---- Stretches ---- */

static bool may_hold_targets(const struct finder *f, const struct stretch *s)
{
    return (f->defined.left && page_filters_meet(&s->defined, &f->defined_pages)) || (f->serials.left && s->has_thread_roots) ||
           (f->referenced.left &&
            (page_filters_meet(&s->referenced, &f->referenced_pages) || page_filters_meet(&s->elements, &f->referenced_pages) ||
             page_filters_meet(&s->elements, &f->element_pages)));
}

/* Searches the stretches that may hold targets, in the order of the file, up to an offset. Leaves the input where it is. */
static void find_in_dump(struct finder *f, uint64_t end)
{
    const struct stretches *stretches = &f->ck->heap->stretches;
    const struct visitor visitor = {.subrecord = find_in_subrecord, .many = find_in_many, .context = f};
    uint64_t back = f->ck->in->offset;

    for (size_t i = 0; i < stretches->list.count && (f->defined.left || f->referenced.left || f->serials.left); i++) {
        const struct stretch *s = stretches_at(stretches, i);
        uint64_t stretch_end = i + 1 < stretches->list.count ? stretches_at(stretches, i + 1)->at : end;

        if (may_hold_targets(f, s))
            read_again(f->ck, s->at, s->record_end, stretch_end, &visitor);
    }
    input_seek(f->ck->in, back);
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
    return input_can_reread(ck->in) && !ck->in->error && !ck->run->memory.exhausted;
}

static void finder_init(struct finder *f, struct checker *ck)
{
    memset(f, 0, sizeof *f);
    f->ck = ck;
    targets_init(&f->defined, ck);
    targets_init(&f->referenced, ck);
    targets_init(&f->serials, ck);
}

/* Takes the wanted offsets from index `first` on as targets. False if there are none. */
static bool finder_begin(struct finder *f, struct checker *ck, size_t first, bool top_level)
{
    const struct chunks *all = &ck->run->findings.wanted;
    size_t i = first;

    while (i < all->count && is_top_level(((const struct wanted_offset *)chunks_at(all, i))->kind) != top_level)
        i++;
    if (i == all->count || !may_look_again(ck))
        return false;
    finder_init(f, ck);
    for (; i < all->count; i++) {
        const struct wanted_offset *wanted = chunks_at(all, i);
        uint64_t page = id_to_key(wanted->subject, ck->file->id_size) >> PAGE_BITS;

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

/* Stores the offsets that were found, as they are where parts of a sub-record are joined. */
static void finder_end(struct finder *f, size_t first, bool top_level)
{
    struct checker *ck = f->ck;

    for (size_t i = first; i < ck->run->findings.wanted.count; i++) {
        struct wanted_offset *wanted = chunks_at(&ck->run->findings.wanted, i);
        uint64_t found;

        if (is_top_level(wanted->kind) == top_level &&
            keymap_get(&targets_of(f, wanted->kind)->found, wanted->subject, &found) && found)
            wanted->at = found - 1;
    }
    keymap_clear(&f->defined.found);
    keymap_clear(&f->referenced.found);
    keymap_clear(&f->serials.found);
}

void find_offsets_in_dump(struct checker *ck, uint64_t end)
{
    size_t first = ck->heap->first_wanted;
    struct finder f;

    if (!finder_begin(&f, ck, first, false))
        return;
    find_in_dump(&f, end);
    finder_end(&f, first, false);
    name_references(ck, first, end);
    for (size_t i = first; i < ck->run->findings.wanted.count; i++) {
        struct wanted_offset *wanted = chunks_at(&ck->run->findings.wanted, i);

        if (!is_top_level(wanted->kind) && wanted->at != HPROF_NO_OFFSET)
            wanted->at = jumps_offset(&ck->file->jumps, wanted->at);
    }
}

/* ---- IDs that are defined twice ---- */

/* The sub-record in which an ID is defined at an offset is in the window, or begins there. */
static void meet_definition(struct checker *ck, uint64_t id, uint64_t offset)
{
    uint64_t key = id_to_key(id, ck->file->id_size);
    const uint8_t *sub = ck->in->at + (offset - 1 - ck->in->offset);
    bool is_class = get_u1(sub) == SUB_CLASS_DUMP;

    if (!(id_set_get(&ck->heap->twice, id) & ID_ELEMENT) ||
        (is_class && classes_layout_of(&ck->file->classes, id)->at < offset)) /* CLS-009 */
        return;
    if (id_set_set(&ck->heap->twice, key, ID_REFERENCED) && offset >= ck->heap->twice_from &&
        !(ck->file->losses.heap.end && offset >= ck->file->losses.heap.end_at)) {
        ck->position->sub = sub;
        ck->position->sub_size = (size_t)(ck->in->end - sub);
        report_duplicate(ck, id, is_class, offset);
        ck->position->sub = NULL;
    }
}

static void add_twice(void *context, uint64_t id, unsigned flags)
{
    struct finder *f = context;

    (void)flags;
    targets_widen(&f->defined, id);
    page_filter_add(&f->defined_pages, id_to_key(id, f->ck->file->id_size) >> PAGE_BITS);
}

void report_duplicates(struct checker *ck, uint64_t end)
{
    struct finder f;

    if (!ck->heap->reports_twice_later || !may_look_again(ck))
        return;
    finder_init(&f, ck);
    f.defined.each = meet_definition;
    id_set_sweep(&ck->heap->twice, add_twice, &f);
    find_in_dump(&f, end);
}

/* ---- Top-level records ---- */

/* The record whose body is in the window. False when all was found. */
static bool find_in_record(struct checker *ck, void *context, unsigned tag, uint64_t length)
{
    struct finder *f = context;
    unsigned id = ck->file->id_size;

    if (length >= id && input_need(ck->in, id) >= id) {
        if (tag == TAG_UTF8)
            targets_try(&f->defined, get_id(ck->in->at, id), ck->in->offset);
        else if (tag == TAG_FRAME)
            targets_try(&f->referenced, get_id(ck->in->at, id), ck->in->offset);
        else if (tag == TAG_LOAD_CLASS)
            targets_try(&f->serials, get_u4(ck->in->at), ck->in->offset);
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
