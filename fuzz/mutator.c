/* See mutator.h. An input is split into records and sub-records; a few of the changes below are made; the result is joined,
 * with the lengths of the enclosing records set right most of the time: a wrong length ends most checks, so it must stay rare.
 * Most changes of a field are of one at random; lengths, counts and tags have turns of their own, because most bugs were there. */
#include "mutator.h"

#include <stdlib.h>
#include <string.h>

#include "break.h"
#include "dice.h"
#include "family.h"
#include "gzip.h"
#include "pieces.h"

enum {
    AFTER_BANNER = 12, /* bytes of the header after the version: the ID size and the timestamp */
    SMALL = 32,        /* pieces of a dump, below which it may get more */
    BROKEN = 24        /* one dump in so many gets a fault of the generator, which takes longer than other changes */
};

struct mutation {
    struct pieces *pieces;
    const struct pieces *other; /* records to splice in; may have none */
    struct dice dice;
};

/* ---- Choosing ---- */

/* A piece after the header; NULL if there is none. */
static struct piece *choose_piece(struct mutation *m)
{
    if (m->pieces->count < 2)
        return NULL;
    return &m->pieces->list[1 + below(&m->dice, m->pieces->count - 1)];
}

static struct piece *choose_kind(struct mutation *m, enum piece_kind kind)
{
    for (int i = 0; i < 16; i++) {
        struct piece *piece = choose_piece(m);

        if (piece && piece->kind == kind)
            return piece;
    }
    return NULL;
}

static bool is_count(const struct field *f)
{
    static const char *const names[] = {"frames", "sites", "traces", "elements", "bytes"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(f->name, names[i]) == 0)
            return true;
    return false;
}

static bool is_serial(const struct field *f)
{
    return strstr(f->name, "serial") != NULL;
}

/* Most of the time of a tag that the version defines: reading ends at any other. */
static const struct layout *choose_layout(struct mutation *m, bool inner)
{
    const struct layout *layout;

    do
        layout = inner ? &subrecord_layouts[below(&m->dice, subrecord_layout_count)]
                       : &record_layouts[below(&m->dice, record_layout_count)];
    while (layout->since > m->pieces->version && !one_in(&m->dice, 8));
    return layout;
}

struct spot {
    const struct field *field;
    size_t at;
    unsigned width;
};

/* A fixed field of a piece, of the type of `like` if that is not NULL. */
static bool choose_field(struct mutation *m, const struct piece *piece, const struct field *like, struct spot *spot)
{
    const struct layout *layout = layout_of(piece);
    size_t at = fields_at(piece);
    unsigned seen = 0;

    if (!layout)
        return false;
    for (const struct field *f = layout->fields; f->type != FIELD_END; f++) {
        unsigned width = field_width(f->type, m->pieces->id_size);

        if (at + width > piece->size)
            break;
        if ((!like || (f->type == like->type && is_serial(f) == is_serial(like))) && one_in(&m->dice, ++seen))
            *spot = (struct spot){f, at, width};
        at += width;
    }
    return seen > 0;
}

static uint64_t odd_value(struct mutation *m, uint64_t old, unsigned width)
{
    uint64_t highest = width < 8 ? (UINT64_C(1) << 8 * width) - 1 : UINT64_MAX;

    switch (below(&m->dice, 10)) {
    case 0:
        return 0;
    case 1:
        return highest;
    case 2:
        return highest >> 1;
    case 3:
        return (highest >> 1) + 1;
    case 4:
        return old + 1;
    case 5:
        return old - 1;
    case 6:
        return old ^ UINT64_C(1) << below(&m->dice, 8 * width);
    case 7:
        return below(&m->dice, 16);
    case 8: /* times 8 it is the same in this many bytes */
        return old + ((1 + below(&m->dice, 7)) << (8 * width - 3));
    default:
        return throw_dice(&m->dice) >> below(&m->dice, 64);
    }
}

/* The value of a field like this one in another piece: IDs and serials that something defines. */
static uint64_t borrowed_value(struct mutation *m, const struct field *like, uint64_t otherwise)
{
    for (int i = 0; i < 8; i++) {
        const struct piece *piece = choose_piece(m);
        struct spot spot;

        if (piece && choose_field(m, piece, like, &spot))
            return get_number(piece->bytes + spot.at, spot.width);
    }
    return otherwise;
}

static uint64_t new_value(struct mutation *m, const struct field *field, uint64_t old, unsigned width)
{
    if ((field->type == FIELD_ID || is_serial(field)) && !one_in(&m->dice, 4))
        return borrowed_value(m, field, old + 1);
    return odd_value(m, old, width);
}

static void change_bytes(struct mutation *m, struct piece *piece, size_t at, unsigned width, uint64_t value)
{
    uint8_t *bytes = own_bytes(m->pieces, piece, piece->size);

    if (bytes)
        put_number(bytes + at, width, value);
}

/* ---- Changes within a piece ---- */

static void change_field(struct mutation *m)
{
    struct piece *piece = choose_piece(m);
    struct spot spot;

    if (piece && choose_field(m, piece, NULL, &spot))
        change_bytes(m, piece, spot.at, spot.width,
                     new_value(m, spot.field, get_number(piece->bytes + spot.at, spot.width), spot.width));
}

/* The length of a record, which then stays wrong. */
static void change_length(struct mutation *m)
{
    struct piece *piece = choose_kind(m, one_in(&m->dice, 2) ? PIECE_HEAP : PIECE_RECORD);

    if (!piece)
        return;
    uint64_t old = piece->kind == PIECE_RECORD ? piece->size - RECORD_HEAD : get_number(piece->bytes + RECORD_LENGTH_AT, 4);

    change_bytes(m, piece, RECORD_LENGTH_AT, 4, odd_value(m, old, 4));
    piece->keep_length = true;
}

static void change_tag(struct mutation *m)
{
    struct piece *piece = choose_piece(m);

    if (!piece || piece->size == 0)
        return;
    if (one_in(&m->dice, 4))
        change_bytes(m, piece, 0, 1, below(&m->dice, 256));
    else
        change_bytes(m, piece, 0, 1, choose_layout(m, is_inner(piece))->tag);
}

/* The count of a record; half of the time the body grows or shrinks with it. */
static void change_count(struct mutation *m)
{
    for (int i = 0; i < 16; i++) {
        struct piece *piece = choose_piece(m);
        const struct layout *layout = piece ? layout_of(piece) : NULL;
        size_t at = piece ? fields_at(piece) : 0;

        for (const struct field *f = layout ? layout->fields : NULL; f && f->type != FIELD_END; f++) {
            unsigned width = field_width(f->type, m->pieces->id_size);

            if (at + width > piece->size)
                break;
            if (!is_count(f)) {
                at += width;
                continue;
            }
            uint64_t old = get_number(piece->bytes + at, width);
            size_t fixed = fields_at(piece) + fields_size(layout, m->pieces->id_size);

            if (one_in(&m->dice, 2) || old == 0 || piece->size < fixed) {
                change_bytes(m, piece, at, width, odd_value(m, old, width));
            } else {
                size_t unit = (piece->size - fixed) / (old ? (size_t)old : 1);
                uint64_t count = one_in(&m->dice, 2) ? old - 1 : old + 1 + below(&m->dice, 4);
                uint8_t *bytes = own_bytes(m->pieces, piece, fixed + (size_t)count * unit);

                if (bytes)
                    put_number(bytes + at, width, count);
            }
            return;
        }
    }
}

static void change_raw_bytes(struct mutation *m)
{
    struct piece *piece = choose_piece(m);
    uint8_t *bytes = piece && piece->size ? own_bytes(m->pieces, piece, piece->size) : NULL;

    for (uint64_t n = 1 + below(&m->dice, 4); bytes && n; n--) {
        size_t at = (size_t)below(&m->dice, piece->size);

        bytes[at] = (uint8_t)odd_value(m, bytes[at], 1);
    }
}

/* Text of a string: the forms that decoders get wrong. */
static void change_text(struct mutation *m)
{
    static const struct {
        const char *bytes;
        size_t size;
    } texts[] = {
        {"\0", 1},
        {"\xc0\x80", 2},
        {"\xed\xa0\x80", 3},
        {"\xed\xa0\xbd\xed\xb8\x80", 6},
        {"\xf0\x9f\x98\x80", 4},
        {"\xf4\x90\x80\x80", 4},
        {"\xe0\x80\xaf", 3},
        {"\xff", 1},
        {"\xc3", 1},
        {"\x1b[2J", 4},
        {"[Ljava/lang/Object;", 19},
        {"[I", 2},
        {"byte[]", 6},
        {"java/lang/Class", 15},
        {"\xe2\x80\xae", 3},
        {"<>&\"'", 5},
        {"\r\n", 2},
    };
    struct piece *piece = choose_kind(m, PIECE_RECORD);
    size_t fixed = RECORD_HEAD + m->pieces->id_size, i = (size_t)below(&m->dice, sizeof texts / sizeof *texts);

    if (!piece || piece->bytes[0] != 0x01 || piece->size < fixed)
        return;
    if (one_in(&m->dice, 2)) /* the whole text is replaced: the name of a class or field */
        piece->size = fixed;
    size_t at = fixed + (size_t)below(&m->dice, piece->size - fixed + 1), old_size = piece->size;
    uint8_t *bytes = own_bytes(m->pieces, piece, old_size + texts[i].size);

    if (!bytes)
        return;
    memmove(bytes + at + texts[i].size, bytes + at, old_size - at);
    memcpy(bytes + at, texts[i].bytes, texts[i].size);
}

/* A type or a count in the lists of a CLASS_DUMP. */
static void change_class(struct mutation *m)
{
    struct piece *piece = NULL;

    for (int i = 0; i < 32 && (!piece || piece->kind != PIECE_SUBRECORD || piece->bytes[0] != 0x20); i++)
        piece = choose_piece(m);
    if (!piece || piece->kind != PIECE_SUBRECORD || piece->size == 0 || piece->bytes[0] != 0x20)
        return;
    size_t fixed = 1 + fields_size(layout_of(piece), m->pieces->id_size);
    size_t entry = m->pieces->id_size + 1, n = piece->size;
    uint8_t *bytes;

    switch (below(&m->dice, 3)) {
    case 0: /* the type of the last instance field */
        if (n >= fixed + entry)
            change_bytes(m, piece, n - 1, 1, one_in(&m->dice, 4) ? below(&m->dice, 256) : 2 + below(&m->dice, 10));
        break;
    case 1: /* one instance field more, if it is the last list that is not empty; the number of fields is before all of them */
        for (size_t fields = 0; fixed + 4 + 2 + fields * entry <= n; fields++) {
            size_t count_at = n - fields * entry - 2;

            if (get_number(piece->bytes + count_at, 2) != fields)
                continue;
            bytes = own_bytes(m->pieces, piece, n + entry);
            if (!bytes)
                break;
            put_number(bytes + count_at, 2, fields + 1);
            put_number(bytes + n, m->pieces->id_size, below(&m->dice, 64));
            bytes[n + entry - 1] = (uint8_t)(4 + below(&m->dice, 8));
            break;
        }
        break;
    default: /* any byte of the lists */
        if (n > fixed)
            change_bytes(m, piece, fixed + (size_t)below(&m->dice, n - fixed), 1, below(&m->dice, 12));
    }
}

static void change_version(struct mutation *m, struct piece *header)
{
    static const char *const banners[] = {"JAVA PROFILE 1.0",   "JAVA PROFILE 1.0.1", "JAVA PROFILE 1.0.2",
                                          "JAVA PROFILE 1.0.3", "JAVA PROFILE 1.0.4", "JAVA PROFILE 2"};
    const char *banner = banners[below(&m->dice, sizeof banners / sizeof *banners)];
    size_t banner_size = strlen(banner) + 1;
    uint8_t *bytes = take_bytes(m->pieces, banner_size + AFTER_BANNER);

    if (!bytes)
        return;
    memcpy(bytes, banner, banner_size);
    memcpy(bytes + banner_size, header->bytes + header->size - AFTER_BANNER, AFTER_BANNER);
    header->bytes = bytes;
    header->size = banner_size + AFTER_BANNER;
}

static void change_header(struct mutation *m)
{
    struct piece *header = &m->pieces->list[0];

    if (header->size <= AFTER_BANNER) /* it was cut */
        return;
    switch (below(&m->dice, 8)) {
    case 0:
        change_version(m, header);
        break;
    case 1:
        change_bytes(m, header, header->size - AFTER_BANNER, 4,
                     one_in(&m->dice, 2) ? 12 - m->pieces->id_size : odd_value(m, 8, 4));
        break;
    case 2: /* the file ends within the header */
        header->size = (size_t)below(&m->dice, header->size);
        m->pieces->count = 1;
        break;
    default: /* the low half of the timestamp draws options */
        change_bytes(m, header, header->size - 4, 4, throw_dice(&m->dice));
    }
}

/* ---- Changes of the order and number of pieces ---- */

/* How many pieces belong together, from the one at `at`: a heap dump record and its sub-records. */
static size_t group_size(const struct pieces *p, size_t at)
{
    size_t end = at + 1;

    if (p->list[at].kind == PIECE_HEAP)
        while (end < p->count && is_inner(&p->list[end]))
            end++;
    return end - at;
}

static size_t choose_position(struct mutation *m)
{
    return 1 + (size_t)below(&m->dice, m->pieces->count);
}

/* Whether sub-records may lie there. */
static bool is_within_heap(const struct pieces *p, size_t at)
{
    return at > 1 && at <= p->count && (is_inner(&p->list[at - 1]) || p->list[at - 1].kind == PIECE_HEAP);
}

/* A position for a piece: most of the time a sub-record comes into a heap dump record, and a record does not divide one, because
 * reading would end there. */
static size_t choose_position_for(struct mutation *m, const struct piece *piece)
{
    size_t at = choose_position(m);

    if (one_in(&m->dice, 16))
        return at;
    for (int i = 0; i < 16; i++, at = choose_position(m)) {
        bool divides = at < m->pieces->count && is_inner(&m->pieces->list[at]);

        if (is_inner(piece) ? is_within_heap(m->pieces, at) : piece->kind == PIECE_HEAP || !divides)
            break;
    }
    return at;
}

static void drop(struct mutation *m)
{
    struct piece *piece = choose_piece(m);

    if (!piece)
        return;
    size_t at = (size_t)(piece - m->pieces->list);

    remove_pieces(m->pieces, at, one_in(&m->dice, 8) ? 1 : group_size(m->pieces, at));
}

/* Half of the copies get another ID, so that they are objects of their own. */
static void duplicate(struct mutation *m)
{
    struct piece *piece = choose_piece(m);
    const struct layout *layout = piece ? layout_of(piece) : NULL;

    if (!piece)
        return;
    size_t at = one_in(&m->dice, 2) ? (size_t)(piece - m->pieces->list) + 1 : choose_position_for(m, piece);

    if (!insert_piece(m->pieces, at, piece))
        return;
    struct piece *copy = &m->pieces->list[at];

    if (layout && layout->fields[0].type == FIELD_ID && one_in(&m->dice, 2) &&
        copy->size >= fields_at(copy) + m->pieces->id_size)
        change_bytes(m, copy, fields_at(copy), m->pieces->id_size, 0x10000 + below(&m->dice, 0x10000));
}

static void swap(struct mutation *m)
{
    struct piece *a = choose_piece(m), *b = choose_piece(m);

    if (a && b && (a->kind == b->kind || (is_inner(a) == is_inner(b) && one_in(&m->dice, 8)))) {
        struct piece first = *a;

        *a = *b;
        *b = first;
    }
}

static void move(struct mutation *m)
{
    struct piece *piece = choose_piece(m);

    if (!piece)
        return;
    struct piece copy = *piece;

    remove_pieces(m->pieces, (size_t)(piece - m->pieces->list), 1);
    insert_piece(m->pieces, choose_position_for(m, &copy), &copy);
}

static void splice(struct mutation *m)
{
    if (m->other->count < 2)
        return;
    size_t from = 1 + (size_t)below(&m->dice, m->other->count - 1), n = group_size(m->other, from);
    size_t at = choose_position_for(m, &m->other->list[from]);

    if (one_in(&m->dice, 4))
        n = 1 + (size_t)below(&m->dice, m->other->count - from);
    for (size_t i = 0; i < n; i++)
        if (!insert_piece(m->pieces, at + i, &m->other->list[from + i]))
            return;
}

/* A record or sub-record of any kind, with values borrowed from others. */
static void insert_new(struct mutation *m)
{
    size_t at = choose_position(m), fixed, tail;
    bool inner = is_within_heap(m->pieces, at);
    const struct layout *layout = choose_layout(m, inner);
    struct piece piece = {.kind = inner ? PIECE_SUBRECORD : PIECE_RECORD};
    uint64_t count = below(&m->dice, 4), type = 4 + below(&m->dice, 8);
    uint8_t *bytes;

    switch (layout->tail) {
    case TAIL_ids:
        tail = (size_t)count * m->pieces->id_size;
        break;
    case TAIL_sites:
        tail = (size_t)count * 25;
        break;
    case TAIL_traces:
        tail = (size_t)count * 8;
        break;
    case TAIL_class: /* three empty lists */
        tail = 6;
        break;
    case TAIL_bytes:
        tail = (size_t)count * (layout->tag == 0x23 ? value_size((unsigned)type, m->pieces->id_size) : 1);
        break;
    default:
        tail = 0;
    }
    fixed = fields_at(&piece) + fields_size(layout, m->pieces->id_size);
    bytes = take_bytes(m->pieces, fixed + tail);
    if (!bytes)
        return;
    memset(bytes, 0, fixed + tail);
    bytes[0] = layout->tag;
    piece.bytes = bytes;
    piece.size = fixed + tail;
    if (layout->tag == 0x0c || layout->tag == 0x1c)
        piece.kind = inner ? PIECE_RAW : PIECE_HEAP;
    bytes += fields_at(&piece);
    for (const struct field *f = layout->fields; f->type != FIELD_END; f++) {
        unsigned width = field_width(f->type, m->pieces->id_size);

        put_number(bytes, width,
                   is_count(f)                    ? count
                   : strcmp(f->name, "type") == 0 ? type
                   : strstr(f->name, "reserved")  ? 0
                                                  : new_value(m, f, below(&m->dice, 8), width));
        bytes += width;
    }
    insert_piece(m->pieces, at, &piece);
}

/* A new record head within a heap dump record, so that it becomes two; or the end of a heap dump. */
static void split_segment(struct mutation *m)
{
    static const uint8_t heads[3][RECORD_HEAD] = {{0x1c}, {0x0c}, {0x2c}};
    size_t which = (size_t)below(&m->dice, 3);
    struct piece head = {which < 2 ? PIECE_HEAP : PIECE_RECORD, false, heads[which], RECORD_HEAD};

    insert_piece(m->pieces, choose_position_for(m, &head), &head);
}

/* A sub-record crosses into a new segment. */
static void split_subrecord(struct mutation *m)
{
    static const uint8_t segment[RECORD_HEAD] = {0x1c};
    struct piece *piece = choose_kind(m, PIECE_SUBRECORD);

    if (!piece || piece->size < 2)
        return;
    size_t at = (size_t)(piece - m->pieces->list), first = 1 + (size_t)below(&m->dice, piece->size - 1);
    struct piece head = {PIECE_HEAP, false, segment, RECORD_HEAD};
    struct piece rest = {PIECE_RAW, false, piece->bytes + first, piece->size - first};

    if (!insert_piece(m->pieces, at + 1, &rest) || !insert_piece(m->pieces, at + 1, &head))
        return;
    m->pieces->list[at].kind = PIECE_RAW;
    m->pieces->list[at].size = first;
}

static void merge_segments(struct mutation *m)
{
    struct piece *piece = choose_kind(m, PIECE_HEAP);

    if (piece && (is_within_heap(m->pieces, (size_t)(piece - m->pieces->list)) || one_in(&m->dice, 8)))
        remove_pieces(m->pieces, (size_t)(piece - m->pieces->list), 1);
}

static void insert_raw(struct mutation *m)
{
    size_t n = 1 + (size_t)below(&m->dice, 12);
    uint8_t *bytes = take_bytes(m->pieces, n);
    struct piece piece = {PIECE_RAW, false, bytes, n};

    if (!bytes)
        return;
    for (size_t i = 0; i < n; i++)
        bytes[i] = one_in(&m->dice, 2) ? 0 : (uint8_t)throw_dice(&m->dice);
    insert_piece(m->pieces, choose_position(m), &piece);
}

static void truncate_dump(struct mutation *m)
{
    struct piece *piece = choose_piece(m);

    if (!piece)
        return;
    m->pieces->count = (size_t)(piece - m->pieces->list) + 1;
    if (piece->size)
        piece->size = (size_t)below(&m->dice, piece->size);
    if (piece->size < RECORD_HEAD && !is_inner(piece))
        piece->kind = PIECE_REST;
    /* As if the end of a file were lost: the lengths are those of the whole. */
    for (size_t i = 0; i < m->pieces->count; i++)
        m->pieces->list[i].keep_length = !one_in(&m->dice, 8);
}

/* ---- A mutation ---- */

static const struct {
    void (*change)(struct mutation *m);
    unsigned weight;
} changes[] = {
    {change_field, 24},
    {change_length, 5},
    {change_tag, 3},
    {change_count, 10},
    {change_raw_bytes, 6},
    {change_text, 4},
    {change_class, 6},
    {change_header, 3},
    {drop, 8},
    {duplicate, 8},
    {swap, 5},
    {move, 6},
    {splice, 8},
    {insert_new, 8},
    {split_segment, 3},
    {split_subrecord, 1},
    {merge_segments, 2},
    {insert_raw, 2},
    {truncate_dump, 1},
};

static void change_once(struct mutation *m)
{
    unsigned total = 0;

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        total += changes[i].weight;
    uint64_t left = below(&m->dice, total);

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (left < changes[i].weight) {
            changes[i].change(m);
            return;
        }
        left -= changes[i].weight;
    }
}

/* What is no dump: bytes are changed, copied, dropped. */
static size_t mutate_bytes(const uint8_t *data, size_t size, uint8_t *out, size_t max, struct dice *dice)
{
    if (size > max)
        size = max;
    if (size)
        memcpy(out, data, size);
    for (uint64_t n = 1 + below(dice, 6); n; n--) {
        size_t at = (size_t)below(dice, size + 1), length = 1 + (size_t)below(dice, 8);

        switch (below(dice, 4)) {
        case 0:
            if (size + length <= max) {
                memmove(out + at + length, out + at, size - at);
                for (size_t i = 0; i < length; i++)
                    out[at + i] = (uint8_t)throw_dice(dice);
                size += length;
            }
            break;
        case 1:
            if (length <= size - at) {
                memmove(out + at, out + at + length, size - at - length);
                size -= length;
            }
            break;
        default:
            if (at < size)
                out[at] = (uint8_t)(one_in(dice, 2) ? throw_dice(dice) : out[at] ^ UINT64_C(1) << below(dice, 8));
        }
    }
    return size;
}

static size_t mutate_plain(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t max,
                           struct dice dice)
{
    static struct pieces own, others;
    static uint8_t arenas[2][ARENA_SIZE];
    struct mutation m = {.pieces = &own, .other = &others, .dice = dice};

    if (break_dump && one_in(&m.dice, BROKEN)) {
        size_t broken = break_dump(data, size, out, max, &m.dice);

        if (broken)
            return broken;
    }
    own.arena = arenas[0];
    others.arena = arenas[1];
    if (!split(&own, data, size))
        return mutate_bytes(data, size, out, max, &dice);
    if (!split(&others, other, other_size) || others.id_size != own.id_size)
        others.count = 0;
    if (own.count < SMALL && !one_in(&m.dice, 4))
        insert_family(&own, &m.dice);
    do
        change_once(&m);
    while (one_in(&m.dice, 2));
    if (one_in(&m.dice, 16)) { /* the lengths stay as they were */
        for (size_t i = 0; i < own.count; i++)
            own.list[i].keep_length = true;
    }
    return join(&own, out, max);
}

/* A gzip file is changed as such, or unpacked, changed, and packed again; then a trailer may become wrong. */
static size_t mutate_gzip(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t max,
                          struct dice *dice)
{
    static uint8_t plain[2][GZIP_PLAIN_MAX];
    size_t plain_size, changed;

    if (one_in(dice, 2)) {
        size = mutate_bytes(data, size, out, max, dice);
        return one_in(dice, 4) ? size : repair_gzip(out, size);
    }
    plain_size = unpack_gzip(data, size, plain[0], GZIP_PLAIN_MAX);
    changed = mutate_plain(plain[0], plain_size, other, other_size, plain[1], GZIP_PLAIN_MAX, (struct dice){throw_dice(dice)});
    size = pack_gzip(plain[1], changed, out, max, dice);
    return one_in(dice, 3) ? damage_gzip_file(out, size, dice) : size;
}

size_t mutate_dump(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t max,
                   uint64_t seed)
{
    struct dice dice = {seed};

    if (is_gzip(data, size))
        return mutate_gzip(data, size, other, other_size, out, max, &dice);
    return mutate_plain(data, size, other, other_size, out, max, dice);
}
