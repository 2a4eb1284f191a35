/* See pieces.h. */
#include "pieces.h"

#include <string.h>

#include "format/records.def"

/* ---- Layouts ---- */
/* clang-format off */

#define FIELD(type, name, meaning) {FIELD_##type, #name},
#define NO_FIELD(type, name, meaning)
#define FORM(form, meaning) + TAIL_##form
#define NO_TAIL(form, meaning)

#define SUBRECORD(name, tag, since, clause, layout) \
    static const struct field fields_of_sub_##name[] = {LAYOUT_##layout(FIELD, NO_TAIL) {FIELD_END, NULL}};
#define RECORD(name, tag, since, clause, layout) \
    static const struct field fields_of_##name[] = {LAYOUT_##layout(FIELD, NO_TAIL) {FIELD_END, NULL}};
#include "format/records.def"
#undef SUBRECORD
#undef RECORD

const struct layout record_layouts[] = {
#define RECORD(name, tag, since, clause, layout) \
    {tag, since, fields_of_##name, (enum tail_form)(0 LAYOUT_##layout(NO_FIELD, FORM))},
#include "format/records.def"
#undef RECORD
};
const size_t record_layout_count = sizeof record_layouts / sizeof *record_layouts;

const struct layout subrecord_layouts[] = {
#define SUBRECORD(name, tag, since, clause, layout) \
    {tag, since, fields_of_sub_##name, (enum tail_form)(0 LAYOUT_##layout(NO_FIELD, FORM))},
#include "format/records.def"
#undef SUBRECORD
};
const size_t subrecord_layout_count = sizeof subrecord_layouts / sizeof *subrecord_layouts;
/* clang-format on */

static const struct layout *find_layout(const struct layout *layouts, size_t count, uint8_t tag)
{
    for (size_t i = 0; i < count; i++)
        if (layouts[i].tag == tag)
            return &layouts[i];
    return NULL;
}

const struct layout *layout_of(const struct piece *piece)
{
    if (piece->size == 0)
        return NULL;
    if (piece->kind == PIECE_SUBRECORD)
        return find_layout(subrecord_layouts, subrecord_layout_count, piece->bytes[0]);
    if (piece->kind == PIECE_RECORD)
        return find_layout(record_layouts, record_layout_count, piece->bytes[0]);
    return NULL;
}

size_t fields_at(const struct piece *piece)
{
    return piece->kind == PIECE_SUBRECORD ? 1 : RECORD_HEAD;
}

unsigned field_width(enum field_type type, unsigned id_size)
{
    static const uint8_t widths[] = {
        [FIELD_END] = 0, [FIELD_U1] = 1, [FIELD_U2] = 2, [FIELD_U4] = 4, [FIELD_U8] = 8, [FIELD_I4] = 4};

    return type == FIELD_ID ? id_size : widths[type];
}

size_t fields_size(const struct layout *layout, unsigned id_size)
{
    size_t size = 0;

    for (const struct field *f = layout->fields; f->type != FIELD_END; f++)
        size += field_width(f->type, id_size);
    return size;
}

unsigned value_size(unsigned type, unsigned id_size)
{
    static const uint8_t sizes[] = {[4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8};

    return type == 2 ? id_size : type < sizeof sizes ? sizes[type] : 0;
}

/* ---- Splitting ---- */

/* After a list of a CLASS_DUMP whose entries have `head` bytes, the last of which is a type, and perhaps a value; 0 if it is longer
 * than `size`. */
static size_t skip_list(const uint8_t *p, size_t at, size_t size, size_t head, bool has_values, unsigned id_size)
{
    if (size - at < 2)
        return 0;
    uint64_t count = get_number(p + at, 2);

    at += 2;
    for (; count; count--) {
        if (size - at < head)
            return 0;
        unsigned value = value_size(p[at + head - 1], id_size);

        at += head;
        if (!has_values)
            continue;
        if (!value || size - at < value)
            return 0;
        at += value;
    }
    return at;
}

size_t measure(const uint8_t *at, size_t size, unsigned id_size)
{
    const struct layout *layout = size ? find_layout(subrecord_layouts, subrecord_layout_count, at[0]) : NULL;
    size_t fixed = layout ? 1 + fields_size(layout, id_size) : 0;
    uint64_t count = 0, tail = 0;
    size_t end = 1;
    bool typed = false; /* the count is one of elements of the type in the last field */

    if (!layout || fixed > size)
        return 0;
    for (const struct field *f = layout->fields; f->type != FIELD_END; f++) {
        if (strcmp(f->name, "elements") == 0 || strcmp(f->name, "bytes") == 0)
            count = get_number(at + end, 4);
        typed = strcmp(f->name, "type") == 0;
        end += field_width(f->type, id_size);
    }
    if (layout->tail == TAIL_class) {
        end = skip_list(at, fixed, size, 3, true, id_size);
        if (end)
            end = skip_list(at, end, size, id_size + 1, true, id_size);
        return end ? skip_list(at, end, size, id_size + 1, false, id_size) : 0;
    }
    if (layout->tail == TAIL_ids)
        tail = count * id_size;
    else if (layout->tail == TAIL_bytes)
        tail = typed ? count * value_size(at[fixed - 1], id_size) : count;
    return tail <= size - fixed ? fixed + (size_t)tail : 0;
}

static bool add(struct pieces *p, enum piece_kind kind, const uint8_t *bytes, size_t size, bool keep_length)
{
    if (p->count == PIECES_MAX)
        return false;
    p->list[p->count++] = (struct piece){kind, keep_length, bytes, size};
    return true;
}

static void split_heap(struct pieces *p, const uint8_t *at, size_t size)
{
    while (size) {
        size_t n = measure(at, size, p->id_size);

        if (!n || p->count >= PIECES_MAX - 2) {
            add(p, PIECE_RAW, at, size, false);
            return;
        }
        add(p, PIECE_SUBRECORD, at, n, false);
        at += n;
        size -= n;
    }
}

bool split(struct pieces *p, const uint8_t *bytes, size_t size)
{
    enum { BANNER_MAX = 32, AFTER_BANNER = 12 };
    const uint8_t *nul = size ? memchr(bytes, 0, size < BANNER_MAX ? size : BANNER_MAX) : NULL;
    size_t at = nul ? (size_t)(nul + 1 - bytes) + AFTER_BANNER : 0;

    p->count = 0;
    p->arena_used = 0;
    if (!nul || at > size)
        return false;
    p->version = nul == bytes || nul[-1] == '2' ? V102 : nul[-1] == '3' ? V103 : V101;
    p->id_size = get_number(nul + 1, 4) == 4 ? 4 : 8;
    add(p, PIECE_HEADER, bytes, at, false);
    while (size - at >= RECORD_HEAD && p->count < PIECES_MAX - 2) {
        uint8_t tag = bytes[at];
        uint64_t length = get_number(bytes + at + RECORD_LENGTH_AT, 4);
        bool too_long = length > size - at - RECORD_HEAD;
        size_t body = too_long ? size - at - RECORD_HEAD : (size_t)length;

        if (tag == 0x0c || tag == 0x1c) {
            add(p, PIECE_HEAP, bytes + at, RECORD_HEAD, too_long);
            split_heap(p, bytes + at + RECORD_HEAD, body);
        } else {
            add(p, PIECE_RECORD, bytes + at, RECORD_HEAD + body, too_long);
        }
        at += RECORD_HEAD + body;
    }
    if (at < size)
        add(p, PIECE_REST, bytes + at, size - at, false);
    return true;
}

size_t join(const struct pieces *p, uint8_t *out, size_t max)
{
    size_t at = 0, length_at = 0, heap_from = 0;
    bool open = false;

    for (size_t i = 0; i <= p->count; i++) {
        const struct piece *piece = i < p->count ? &p->list[i] : NULL;

        if (open && (!piece || !is_inner(piece))) {
            put_number(out + length_at, 4, at - heap_from);
            open = false;
        }
        if (!piece || piece->size > max - at)
            break;
        if (piece->size)
            memcpy(out + at, piece->bytes, piece->size);
        if (piece->kind == PIECE_RECORD && !piece->keep_length && piece->size >= RECORD_HEAD)
            put_number(out + at + RECORD_LENGTH_AT, 4, piece->size - RECORD_HEAD);
        at += piece->size;
        if (piece->kind == PIECE_HEAP && !piece->keep_length) {
            length_at = at - RECORD_HEAD + RECORD_LENGTH_AT;
            heap_from = at;
            open = true;
        }
    }
    if (open)
        put_number(out + length_at, 4, at - heap_from);
    return at;
}

/* ---- Editing ---- */

uint8_t *take_bytes(struct pieces *p, size_t size)
{
    if (size > ARENA_SIZE - p->arena_used)
        return NULL;
    p->arena_used += size;
    return p->arena + p->arena_used - size;
}

uint8_t *own_bytes(struct pieces *p, struct piece *piece, size_t new_size)
{
    uint8_t *bytes = take_bytes(p, new_size);
    size_t kept = piece->size < new_size ? piece->size : new_size;

    if (!bytes)
        return NULL;
    if (kept)
        memcpy(bytes, piece->bytes, kept);
    memset(bytes + kept, 0, new_size - kept);
    piece->bytes = bytes;
    piece->size = new_size;
    return bytes;
}

bool insert_piece(struct pieces *p, size_t at, const struct piece *piece)
{
    struct piece copy = *piece;

    if (p->count == PIECES_MAX)
        return false;
    memmove(&p->list[at + 1], &p->list[at], (p->count - at) * sizeof copy);
    p->list[at] = copy;
    p->count++;
    return true;
}

void remove_pieces(struct pieces *p, size_t at, size_t n)
{
    memmove(&p->list[at], &p->list[at + n], (p->count - at - n) * sizeof *p->list);
    p->count -= n;
}
