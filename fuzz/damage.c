/* Structured damage of dumps of some megabytes, in place of the mutator, which knows the first few thousand pieces of a dump
 * only. Most changes keep the framing right, so that the oracle has something to say; offsets near multiples of the library's
 * sizes come more often. */
#include <string.h>

#include "dice.h"
#include "mutator.h"
#include "pieces.h"

enum { PLACES_MOST = 1 << 20, LONGEST = 5 << 20, TAG_UTF8 = 0x01, TAG_TRACE = 0x05, TAG_HEAP_DUMP = 0x0c, TAG_SEGMENT = 0x1c };
enum {
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE = 0x21,
    SUB_OBJECT_ARRAY = 0x22,
    SUB_PRIMITIVE_ARRAY = 0x23,
    TYPE_BOOLEAN = 4,
    TYPE_BYTE = 8
};

/* A record or sub-record. */
struct place {
    size_t at, size;
    size_t record; /* offset of the heap dump record with the sub-record; 0 for a record */
};

struct dump {
    uint8_t *bytes;
    size_t size, max;
    unsigned id_size;
    struct place *places;
    size_t count;
    struct dice dice;
};

static size_t header_size(const uint8_t *bytes, size_t size)
{
    const uint8_t *nul = memchr(bytes, 0, size < 32 ? size : 32);

    return nul && size - (size_t)(nul - bytes) > 12 ? (size_t)(nul - bytes) + 13 : 0;
}

static void add_place(struct dump *d, size_t at, size_t size, size_t record)
{
    if (d->count < PLACES_MOST)
        d->places[d->count++] = (struct place){at, size, record};
}

static void find_places(struct dump *d)
{
    static struct place places[PLACES_MOST];
    size_t at = header_size(d->bytes, d->size);

    d->places = places;
    d->count = 0;
    d->id_size = at >= 12 && d->bytes[at - 9] == 4 ? 4 : 8;
    while (at && d->size - at >= RECORD_HEAD) {
        uint64_t length = get_number(d->bytes + at + RECORD_LENGTH_AT, 4);
        size_t body = at + RECORD_HEAD, size;

        if (length > d->size - body)
            return;
        add_place(d, at, RECORD_HEAD + (size_t)length, 0);
        if (d->bytes[at] == TAG_HEAP_DUMP || d->bytes[at] == TAG_SEGMENT)
            for (size_t sub = body;
                 sub < body + length && (size = measure(d->bytes + sub, body + (size_t)length - sub, d->id_size)); sub += size)
                add_place(d, sub, size, at);
        at = body + (size_t)length;
    }
}

/* ---- Drawing ---- */

/* A number from 1 to `most`: each power of two is as likely as any other; half are near one. */
static size_t draw_length(struct dump *d, size_t most)
{
    unsigned doublings = 0;
    size_t n;

    while ((size_t)2 << doublings <= most)
        doublings++;
    n = (size_t)1 << below(&d->dice, doublings + 1);
    n += one_in(&d->dice, 2) ? below(&d->dice, n) : below(&d->dice, 5);
    n -= n > 2 ? below(&d->dice, 3) : 0;
    return n < most ? n : most;
}

static size_t draw_offset(struct dump *d)
{
    static const unsigned near[] = {10, 12, 16, 18, 20};
    size_t offset = below(&d->dice, d->size), unit = (size_t)1 << near[below(&d->dice, sizeof near / sizeof *near)];

    if (one_in(&d->dice, 2))
        offset = offset / unit * unit + below(&d->dice, 33) - (offset >= unit ? 16 : 0);
    return offset < d->size ? offset : d->size - 1;
}

/* A place of a tag, or of any tag if it is 0; NULL if none is found soon. */
static const struct place *draw_place(struct dump *d, bool within, uint8_t tag)
{
    for (unsigned tries = 0; d->count && tries < 1000; tries++) {
        const struct place *p = &d->places[below(&d->dice, d->count)];

        if ((p->record != 0) == within && (!tag || d->bytes[p->at] == tag))
            return p;
    }
    return NULL;
}

/* ---- Bytes ---- */

static void add_to_record(struct dump *d, size_t record, uint64_t more)
{
    uint8_t *length = d->bytes + record + RECORD_LENGTH_AT;

    if (record)
        put_number(length, 4, get_number(length, 4) + more);
}

/* Makes room for n bytes, and counts them in the heap dump record. False if there is too little room. */
static bool open_gap(struct dump *d, size_t at, size_t n, size_t record)
{
    if (n > d->max - d->size)
        return false;
    memmove(d->bytes + at + n, d->bytes + at, d->size - at);
    d->size += n;
    add_to_record(d, record, n);
    return true;
}

static void close_gap(struct dump *d, size_t at, size_t n, size_t record)
{
    memmove(d->bytes + at, d->bytes + at + n, d->size - at - n);
    d->size -= n;
    add_to_record(d, record, -(uint64_t)n);
}

/* ---- Changes that keep the framing ---- */

/* An ID that is undefined, or of another object, where an object or a class is named. */
static void change_id(struct dump *d)
{
    const struct place *p = draw_place(d, true, 0), *other = draw_place(d, true, SUB_INSTANCE);
    size_t words, at;

    if (!p || p->size < 1 + d->id_size)
        return;
    words = (p->size - 1) / d->id_size;
    at = p->at + p->size - (one_in(&d->dice, 3) ? words : 1 + below(&d->dice, words)) * d->id_size;
    if (d->bytes[p->at] != SUB_OBJECT_ARRAY && d->bytes[p->at] != SUB_INSTANCE)
        at = p->at + 1;
    if (other && one_in(&d->dice, 2))
        memcpy(d->bytes + at, d->bytes + other->at + 1, d->id_size);
    else
        put_number(d->bytes + at, d->id_size, throw_dice(&d->dice) >> below(&d->dice, 64));
}

/* Some IDs that are undefined, or of another object, where an object or a class is named. */
static void change_ids(struct dump *d)
{
    for (size_t n = draw_length(d, 40); n; n--)
        change_id(d);
}

static void copy_subrecords(struct dump *d)
{
    const struct place *from = draw_place(d, true, one_in(&d->dice, 3) ? SUB_CLASS_DUMP : 0), *to = draw_place(d, true, 0);
    static uint8_t copy[LONGEST];

    if (!from || !to || from->size > sizeof copy)
        return;
    memcpy(copy, d->bytes + from->at, from->size);
    if (open_gap(d, to->at, from->size, to->record))
        memcpy(d->bytes + to->at, copy, from->size);
}

/* Moves some sub-records to the end of the heap dump: of a class, so that its instances precede it. */
static void move_subrecords(struct dump *d)
{
    static uint8_t copy[LONGEST];

    for (size_t moves = draw_length(d, 40); moves; moves--) {
        const struct place *from = draw_place(d, true, one_in(&d->dice, 4) ? 0 : SUB_CLASS_DUMP), *to = from;
        size_t size;

        for (unsigned tries = 0; to && tries < 4; tries++) {
            const struct place *later = draw_place(d, true, 0);

            to = later && later->at > to->at ? later : to;
        }
        if (!from || from->record == to->record || from->size > sizeof copy)
            continue;
        size = from->size;
        memcpy(copy, d->bytes + from->at, size);
        if (!open_gap(d, to->at, size, to->record))
            return;
        memcpy(d->bytes + to->at, copy, size);
        close_gap(d, from->at, size, from->record);
        find_places(d);
    }
}

static void remove_subrecord(struct dump *d)
{
    const struct place *p = draw_place(d, true, one_in(&d->dice, 3) ? SUB_CLASS_DUMP : 0);

    if (p)
        close_gap(d, p->at, p->size, p->record);
}

/* A long array, whose last elements, and some near a multiple of 64 KiB, are not what they should be. */
static void insert_array(struct dump *d)
{
    const struct place *to = draw_place(d, true, 0), *of = draw_place(d, true, SUB_OBJECT_ARRAY);
    const struct place *element = draw_place(d, true, SUB_INSTANCE);
    bool objects = of && element && one_in(&d->dice, 2);
    size_t id = d->id_size, unit = objects ? id : 1, count = draw_length(d, LONGEST / unit);
    size_t head = objects ? 1 + id + 8 + id : 1 + id + 9, size = head + count * unit;
    uint8_t class_id[8], object[8], *p;

    if (!to)
        return;
    if (objects) {
        memcpy(class_id, d->bytes + of->at + 1 + id + 8, id);
        memcpy(object, d->bytes + element->at + 1, id);
    }
    if (!open_gap(d, to->at, size, to->record))
        return;
    p = d->bytes + to->at;
    memset(p, 0, size);
    p[0] = objects ? SUB_OBJECT_ARRAY : SUB_PRIMITIVE_ARRAY;
    put_number(p + 1, (unsigned)id, throw_dice(&d->dice) << 3);
    put_number(p + 1 + id + 4, 4, count);
    if (objects)
        memcpy(p + 1 + id + 8, class_id, id);
    else
        p[1 + id + 8] = one_in(&d->dice, 3) ? TYPE_BYTE : TYPE_BOOLEAN; /* bytes are passed over, not read */
    for (size_t i = 0; objects && i < count; i++)
        memcpy(p + head + i * id, object, id);
    for (unsigned bad = 0; bad < 3; bad++) {
        size_t i = one_in(&d->dice, 2) ? count - 1 : below(&d->dice, count);

        if (one_in(&d->dice, 2))
            i = i >= 65536 ? i / 65536 * 65536 - below(&d->dice, 2) : i;
        if (objects)
            put_number(p + head + i * id, (unsigned)id, throw_dice(&d->dice) << 3);
        else
            p[head + i] = 2;
    }
}

/* A long string or stack trace before another record outside heap dumps. */
static void insert_record(struct dump *d)
{
    const struct place *to = draw_place(d, false, one_in(&d->dice, 2) ? TAG_UTF8 : TAG_TRACE);
    bool is_string = to && d->bytes[to->at] == TAG_UTF8;
    uint64_t seed = throw_dice(&d->dice);
    size_t fixed = is_string ? d->id_size : 12, unit = is_string ? 1 : d->id_size, count;
    uint8_t *p;

    count = draw_length(d, (LONGEST - 100) / unit);
    if (!to || !open_gap(d, to->at, RECORD_HEAD + fixed + count * unit, 0))
        return;
    p = d->bytes + to->at;
    memset(p, 0, RECORD_HEAD + fixed);
    p[0] = is_string ? TAG_UTF8 : TAG_TRACE;
    put_number(p + RECORD_LENGTH_AT, 4, fixed + count * unit);
    p += RECORD_HEAD;
    if (!is_string) {
        put_number(p, 4, 0x7f000000 + below(&d->dice, 1 << 20));
        put_number(p + 8, 4, count);
        for (size_t i = 0; i < count; i++)
            put_number(p + fixed + i * unit, (unsigned)unit, one_in(&d->dice, 1000) ? i : 1);
        return;
    }
    put_number(p, (unsigned)fixed, seed >> 1);
    memset(p + fixed, 'a', count);
    for (size_t i = 1; i + 2 < count && seed % 2; i += 2) { /* characters of two bytes, which the ends of pieces split */
        p[fixed + i] = 0xc3;
        p[fixed + i + 1] = 0xa9;
    }
    if (one_in(&d->dice, 2) && count > 4) /* a character of two bytes, or half of one */
        p[fixed + (count > 65540 ? 65535 : count / 2)] = 0xc3;
    if (one_in(&d->dice, 2) && count > 4)
        p[fixed + (count > 65540 ? 65536 : count / 2 + 1)] = 0xa9;
}

/* The segment at `record` ends at an offset, where another begins. */
static void divide_at(struct dump *d, size_t record, size_t at)
{
    size_t end = record + RECORD_HEAD + (size_t)get_number(d->bytes + record + RECORD_LENGTH_AT, 4);

    if (d->bytes[record] != TAG_SEGMENT || at == record + RECORD_HEAD || !open_gap(d, at, RECORD_HEAD, 0))
        return;
    put_number(d->bytes + record + RECORD_LENGTH_AT, 4, at - record - RECORD_HEAD);
    memset(d->bytes + at, 0, RECORD_HEAD);
    d->bytes[at] = TAG_SEGMENT;
    put_number(d->bytes + at + RECORD_LENGTH_AT, 4, end - at);
}

/* Before a sub-record or within it. */
static void divide_segment(struct dump *d)
{
    const struct place *p = draw_place(d, true, 0);

    if (p)
        divide_at(d, p->record, p->at + (one_in(&d->dice, 4) ? below(&d->dice, p->size) : 0));
}

/* A sub-record goes on through several segments. */
static void chop_subrecord(struct dump *d)
{
    const struct place *p = draw_place(d, true, one_in(&d->dice, 2) ? SUB_OBJECT_ARRAY : 0);
    size_t cuts = draw_length(d, 60);

    for (size_t i = cuts; p && i; i--)
        if (p->size * i / (cuts + 1))
            divide_at(d, p->record, p->at + p->size * i / (cuts + 1));
}

static void join_segments(struct dump *d)
{
    const struct place *p = draw_place(d, false, TAG_SEGMENT);

    for (size_t joined = draw_length(d, 4000); p && joined; joined--) {
        size_t next = p->at + RECORD_HEAD + (size_t)get_number(d->bytes + p->at + RECORD_LENGTH_AT, 4);

        if (next + RECORD_HEAD > d->size || d->bytes[next] != TAG_SEGMENT)
            return;
        add_to_record(d, p->at, get_number(d->bytes + next + RECORD_LENGTH_AT, 4));
        close_gap(d, next, RECORD_HEAD, 0);
    }
}

/* ---- Changes that may break the framing ---- */

static void lose_bytes(struct dump *d)
{
    size_t at = draw_offset(d);

    close_gap(d, at, draw_length(d, d->size - at), 0);
}

static void double_bytes(struct dump *d)
{
    size_t at = draw_offset(d), n = draw_length(d, d->size - at);

    if (open_gap(d, at, n, 0))
        memmove(d->bytes + at, d->bytes + at + n, n);
}

static void zero_bytes(struct dump *d)
{
    size_t at = draw_offset(d), n = draw_length(d, d->size - at);

    memset(d->bytes + at, 0, n < LONGEST ? n : LONGEST);
}

static void change_byte(struct dump *d)
{
    d->bytes[draw_offset(d)] ^= (uint8_t)(1U << below(&d->dice, 8));
}

static void change_tag(struct dump *d)
{
    const struct place *p = draw_place(d, !one_in(&d->dice, 3), 0);

    if (p)
        d->bytes[p->at] = (uint8_t)below(&d->dice, one_in(&d->dice, 2) ? 0x30 : 256);
}

/* The length of a record, or what an instance or array says of its own. */
static void change_length(struct dump *d)
{
    const struct place *p = draw_place(d, one_in(&d->dice, 2), 0);
    size_t at;
    uint64_t old;

    if (!p)
        return;
    at = p->at + (p->record ? 1 + d->id_size + 4 : (size_t)RECORD_LENGTH_AT);
    if (p->record && d->bytes[p->at] == SUB_INSTANCE)
        at += d->id_size;
    if (at + 4 > d->size)
        return;
    old = get_number(d->bytes + at, 4);
    switch (below(&d->dice, 4)) {
    case 0:
        old += draw_length(d, LONGEST);
        break;
    case 1:
        old -= draw_length(d, old + 1 < LONGEST ? (size_t)old + 1 : LONGEST);
        break;
    case 2:
        old = 0;
        break;
    default:
        old = throw_dice(&d->dice);
        break;
    }
    put_number(d->bytes + at, 4, old);
}

static void truncate_dump(struct dump *d)
{
    d->size = draw_offset(d) + 1;
}

/* The other file is not needed: a dump of this size has enough of its own. */
size_t mutate_dump(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t max,
                   uint64_t seed)
{
    static void (*const keeping[])(struct dump *) = {change_ids,       copy_subrecords, move_subrecords, move_subrecords,
                                                     remove_subrecord, insert_array,    insert_array,    insert_record,
                                                     divide_segment,   chop_subrecord,  join_segments};
    static void (*const breaking[])(struct dump *) = {lose_bytes, double_bytes,  zero_bytes,   change_byte,
                                                      change_tag, change_length, truncate_dump};
    struct dump d = {.bytes = out, .size = size < max ? size : max, .max = max, .dice = {seed}};

    (void)other;
    (void)other_size;
    memmove(out, data, d.size);
    for (size_t changes = below(&d.dice, 5); changes; changes--) {
        find_places(&d);
        keeping[below(&d.dice, sizeof keeping / sizeof *keeping)](&d);
    }
    if (one_in(&d.dice, 4)) {
        find_places(&d);
        breaking[below(&d.dice, sizeof breaking / sizeof *breaking)](&d);
    }
    return d.size;
}
