/* What names an object that is missing: "field next of 0x7001865f0 (java.util.HashMap$Node)". A third look, at the sub-records in
 * which the second one found the references, and then at the class dumps that have the names of the fields. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "format/subrecord.h"
#include "reread/reread.h"

/* A reference, and later the CLASS_DUMP with the name of its field. */
struct place {
    uint64_t at;                  /* where it is sought */
    uint64_t object_id, class_id; /* of the instance */
    uint32_t wanted;              /* an index in findings.wanted */
    uint32_t field;               /* its number in that CLASS_DUMP; NOT_OF_INSTANCE if no name is needed */
};
_Static_assert(sizeof(struct place) <= SORT_SIZE_MAX, "sort_in_place() can move one");
enum { NOT_OF_INSTANCE = UINT32_MAX };

struct search {
    struct place *places; /* in the order of the file */
    size_t count, next;
    void (*look)(struct checker *ck, struct place *place); /* the sub-record is in the window */
};

static void set_name(struct checker *ck, const struct place *place, const char *name)
{
    struct wanted_offset *wanted = chunks_at(&ck->run->findings.wanted, place->wanted);

    findings_name_wanted(&ck->run->findings, wanted, name);
}

static void set_name_of(struct checker *ck, const struct place *place, const char *what, uint64_t id, uint64_t class_id)
{
    char text[2 * NAME_SIZE], class[NAME_SIZE];

    snprintf(text, sizeof text, "%s of 0x%" PRIx64 "%s", what, id, show_class_after(ck->file, class_id, class, sizeof class));
    set_name(ck, place, text);
}

/* ---- The first look: the references ---- */

static void look_at_array(struct checker *ck, struct place *place)
{
    unsigned id_size = ck->file->id_size;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    struct OBJECT_ARRAY_DUMP r;
    char what[NAME_SIZE];

    if (!read_OBJECT_ARRAY_DUMP(&c, id_size, &r))
        return;
    snprintf(what, sizeof what, "element %" PRIu64, (place->at - ck->in->offset - head) / id_size);
    set_name_of(ck, place, what, r.object_id, r.class_id);
}

/* Notes the class that has the field, and its number there. */
static void look_at_instance(struct checker *ck, struct place *place)
{
    const struct classes *classes = &ck->file->classes;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size);
    struct cursor c = {ck->in->at + 1, ck->in->at + head};
    uint64_t at = place->at - ck->in->offset - head;
    struct INSTANCE_DUMP r;
    uint32_t index;

    if (!read_INSTANCE_DUMP(&c, ck->file->id_size, &r))
        return;
    place->object_id = r.object_id;
    place->class_id = r.class_id;
    index = classes_find_layout(classes, r.class_id);
    for (uint32_t i = index; i != LAYOUT_NONE; i = classes_above(classes, i)) {
        const struct layout *part = classes_layout(classes, i);
        uint64_t base = classes_layout(classes, index)->total - part->total;
        struct checked_field field = checked_fields_begin(classes, part);
        unsigned fields = field.left;

        while (checked_fields_next(classes, &field))
            if (base + field.at == at) {
                place->field = fields - field.left - 1U;
                place->at = part->at;
                return;
            }
    }
}

/* The constant or static field at an offset from p on, if there is one. Returns the first byte after all of them. */
static const uint8_t *find_entry(const uint8_t *p, size_t head, unsigned id_size, const uint8_t *wanted, const uint8_t **found)
{
    struct entry e;

    for (uint16_t n = read_count(&p); n; n--) {
        read_entry(&p, head, id_size, &e);
        if (e.value == wanted)
            *found = e.head;
    }
    return p;
}

static void look_at_class(struct checker *ck, struct place *place)
{
    unsigned id = ck->file->id_size;
    const uint8_t *p = ck->in->at + 1, *wanted = ck->in->at + (place->at - ck->in->offset);
    const uint8_t *constant = NULL, *field = NULL;
    struct cursor c = {p, p + SIZE_OF(CLASS_DUMP, id)};
    char what[NAME_SIZE] = "the protection domain", name[NAME_SIZE / 2];
    struct CLASS_DUMP r;

    if (!read_CLASS_DUMP(&c, id, &r))
        return;
    p = find_entry(c.at, SIZE_OF(CONSTANT, id), id, wanted, &constant);
    find_entry(p, SIZE_OF(STATIC_FIELD, id), id, wanted, &field);
    if (constant)
        snprintf(what, sizeof what, "constant %u", get_u2(constant));
    else if (field && strings_show(&ck->file->strings, get_id(field, id), name, sizeof name))
        snprintf(what, sizeof what, "static field %s", name);
    else if (field)
        snprintf(what, sizeof what, "a static field");
    else if (wanted == ck->in->at + 1 + OFFSET_OF(CLASS_DUMP, loader_id, id))
        snprintf(what, sizeof what, "the class loader");
    else if (wanted == ck->in->at + 1 + OFFSET_OF(CLASS_DUMP, signers_id, id))
        snprintf(what, sizeof what, "the signers");
    set_name_of(ck, place, what, r.class_id, r.class_id);
}

static void look_at_reference(struct checker *ck, struct place *place)
{
    if (*ck->in->at == SUB_OBJECT_ARRAY_DUMP)
        look_at_array(ck, place);
    else if (*ck->in->at == SUB_INSTANCE_DUMP)
        look_at_instance(ck, place);
    else if (*ck->in->at == SUB_CLASS_DUMP)
        look_at_class(ck, place);
}

/* ---- The second look: the names of fields ---- */

static void look_at_field(struct checker *ck, struct place *place)
{
    unsigned id = ck->file->id_size;
    const uint8_t *p = ck->in->at + 1 + SIZE_OF(CLASS_DUMP, id), *none = NULL;
    char what[NAME_SIZE] = "a field", name[NAME_SIZE / 2];

    p = find_entry(p, SIZE_OF(CONSTANT, id), id, NULL, &none);
    p = find_entry(p, SIZE_OF(STATIC_FIELD, id), id, NULL, &none);
    if (place->field >= read_count(&p))
        return;
    if (strings_show(&ck->file->strings, get_id(p + place->field * SIZE_OF(INSTANCE_FIELD, id), id), name, sizeof name))
        snprintf(what, sizeof what, "field %s", name);
    set_name_of(ck, place, what, place->object_id, place->class_id);
}

/* ---- Reading ---- */

static bool holds_next(const struct search *s, uint64_t end)
{
    return s->next < s->count && s->places[s->next].at < end;
}

static bool look_at_subrecord(struct checker *ck, void *context, uint64_t size)
{
    struct search *s = context;
    uint64_t end = ck->in->offset + size, rest;
    /* An array may be long, and its head is enough. */
    bool is_there = *ck->in->at == SUB_OBJECT_ARRAY_DUMP || *ck->in->at == SUB_INSTANCE_DUMP ||
                    (holds_next(s, end) && input_need(ck->in, (size_t)size) >= size);

    for (; holds_next(s, end); s->next++)
        if (is_there)
            s->look(ck, &s->places[s->next]);
    rest = end - ck->in->offset;
    return s->next < s->count && input_skip(ck->in, rest) == rest;
}

/* Passes objects in which no place is. */
static size_t pass_many(struct checker *ck, void *context, size_t n)
{
    const struct search *s = context;
    const uint8_t *p = ck->in->at, *const end = p + n;
    struct measure m;

    while (is_whole_object(p, end, ck->file->id_size, &m) &&
           !holds_next(s, ck->in->offset + (uint64_t)(p - ck->in->at) + m.size))
        p += m.size;
    return (size_t)(p - ck->in->at);
}

static bool is_before(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->at < y->at;
}

/* Looks at all places, in the order of the file, up to an offset. */
static void look_at_places(struct checker *ck, struct search *s, uint64_t end)
{
    const struct visitor visitor = {.subrecord = look_at_subrecord, .many = pass_many, .context = s};
    const struct stretches *stretches = &ck->heap->stretches;

    sort_in_place(s->places, s->count, sizeof *s->places, is_before);
    s->next = 0;
    for (size_t i = 0; i < stretches->list.count; i++) {
        const struct stretch *stretch = stretches_at(stretches, i);
        uint64_t stretch_end = i + 1 < stretches->list.count ? stretches_at(stretches, i + 1)->at : end;

        if (holds_next(s, stretch_end))
            read_again(ck, stretch->at, stretch->record_end, stretch_end, &visitor);
    }
}

static bool is_found_reference(const struct wanted_offset *wanted)
{
    return (wanted->kind == WANTED_REFERENCE || wanted->kind == WANTED_ELEMENT) && wanted->at != HPROF_NO_OFFSET;
}

void name_references(struct checker *ck, size_t first, uint64_t end)
{
    const struct chunks *all = &ck->run->findings.wanted;
    struct search s = {.look = look_at_reference};
    uint64_t back = ck->in->offset;
    size_t capacity = 0;

    for (size_t i = first; i < all->count; i++)
        capacity += is_found_reference(chunks_at(all, i));
    s.places = capacity ? memory_get(&ck->run->memory, capacity * sizeof *s.places) : NULL;
    if (!s.places)
        return;
    for (size_t i = first; i < all->count; i++) {
        const struct wanted_offset *wanted = chunks_at(all, i);

        if (is_found_reference(wanted))
            s.places[s.count++] = (struct place){.at = wanted->at, .wanted = (uint32_t)i, .field = NOT_OF_INSTANCE};
    }
    look_at_places(ck, &s, end);

    s.count = 0;
    for (size_t i = 0; i < capacity; i++)
        if (s.places[i].field != NOT_OF_INSTANCE)
            s.places[s.count++] = s.places[i];
    s.look = look_at_field;
    look_at_places(ck, &s, end);
    memory_put(&ck->run->memory, s.places, capacity * sizeof *s.places);
    input_seek(ck->in, back);
}
