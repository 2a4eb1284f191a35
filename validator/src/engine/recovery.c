/* See recovery.h. */
#include "engine/recovery.h"

#include "format/tags.h"

/* ---- Lengths by kind and count ---- */

/* The length of a kind of record, from records.def. */
struct kind {
    unsigned fixed;  /* bytes of the fixed part */
    unsigned entry;  /* bytes of an entry; the last u4 of the fixed part counts them. 0 if there are none */
    bool has_tail;   /* more follows the fixed part */
    bool is_defined; /* the tag is defined */
};

#define NO_FIELD(type, field, meaning)
#define FIELD_BYTES(type, field, meaning) +WIDTH_##type(id_size)
#define ENTRY_BYTES(form, meaning) +ENTRY_##form
#define ONE_TAIL(form, meaning) +1
#define ENTRY_bytes 0
#define ENTRY_subrecords 0
#define ENTRY_ids id_size
#define ENTRY_sites (unsigned)SIZE_OF(SITE, id_size)
#define ENTRY_traces (unsigned)SIZE_OF(SAMPLE, id_size)

static struct kind kind_of(unsigned tag, unsigned id_size)
{
    switch (tag) {
#define RECORD(name, tag, since, clause, layout) \
    case tag: \
        return (struct kind){0 LAYOUT_##layout(FIELD_BYTES, NO_TAIL), 0 LAYOUT_##layout(NO_FIELD, ENTRY_BYTES), \
                             0 LAYOUT_##layout(NO_FIELD, ONE_TAIL), true};
#include "format/records.def"
#undef RECORD
    default:
        return (struct kind){0};
    }
}

/* From the count of a body whose fixed part is there. */
static uint64_t counted_length(const uint8_t *body, struct kind kind)
{
    return kind.fixed + (uint64_t)get_u4(body + kind.fixed - 4) * kind.entry;
}

uint64_t right_length(unsigned tag, const struct sight *body, uint64_t *least)
{
    struct kind kind = kind_of(tag, body->id_size);

    *least = kind.fixed;
    if (!kind.is_defined || (kind.has_tail && (!kind.entry || body->size < kind.fixed)))
        return LENGTH_ANY;
    return kind.entry ? counted_length(body->at, kind) : kind.fixed;
}

/* ---- What follows ---- */

/* Whether a long record, which may end out of sight, is what its header says: it has the length of its count, unless that is out of
 * sight. Any bytes may resemble the header of a long string. */
static bool may_be_long(const struct sight *s, uint64_t body, const struct walk_item *record, struct kind kind)
{
    return kind.entry && (body + kind.fixed > s->size || record->length == counted_length(s->at + body, kind));
}

/* Whether a record at an offset is plausible: its tag is defined, its kind allows its length, and a heap dump record begins with
 * the tag of a sub-record. */
static bool may_be_record(const struct sight *s, uint64_t at, const struct walk_item *record)
{
    enum { LONG = 64 << 10 };
    struct kind kind = kind_of(record->tag, s->id_size);
    uint64_t body = at + RECORD_HEADER_SIZE;

    if (is_heap_dump_record(record->tag)) {
        if (record->length && body < s->size && !is_subrecord_tag(s->at[body]))
            return false;
    } else if (record->length > LONG && !may_be_long(s, body, record, kind)) {
        return false;
    }
    return kind.is_defined && (kind.has_tail ? record->length >= kind.fixed : record->length == kind.fixed);
}

/* An empty heap dump record is too little evidence; so many in a row are enough, and bound the time. */
enum { EMPTY_MOST = 64 };

bool records_follow(const struct sight *s, uint64_t at, unsigned count)
{
    unsigned empty = 0;

    for (; count && at < s->size; count--) {
        struct walk_item record;
        enum frame frame = walk_record(s, at, &record);

        if (frame != FRAME_RIGHT || !may_be_record(s, at, &record))
            return frame == FRAME_UNSEEN;
        at += record.size;
        if (!record.length && is_heap_dump_record(record.tag) && ++empty < EMPTY_MOST)
            count++;
    }
    return at <= s->size || !s->ended;
}

bool subrecords_follow(const struct sight *s, uint64_t at, uint64_t left)
{
    return at > s->size ? !s->ended : plausible_subrecords(s->at + at, s->size - (size_t)at, left, s->id_size, s->version);
}

/* Whether a chain of sub-records, at least `whole` of them complete, crosses the end of a segment of `length` bytes, after which
 * another one follows. */
static bool chain_crosses(const struct sight *segment, uint64_t at, uint64_t length, unsigned whole)
{
    struct walk_item item = {0};

    if (length < segment->size ? segment->at[length] != TAG_HEAP_DUMP_SEGMENT : segment->ended)
        return false;
    for (; at < length && at < segment->size; at += item.size) {
        switch (walk_subrecord(segment, at, length - at, &item)) {
        case FRAME_RIGHT:
            whole -= whole > 0;
            break;
        case FRAME_UNSEEN:
        case FRAME_TRUNCATED:
        case FRAME_CROSSES:
            return !whole;
        case FRAME_TAG:
        case FRAME_TYPE:
            return false;
        }
    }
    return false;
}

bool segment_continues(const struct sight *segment, uint64_t length, uint64_t rest)
{
    if (subrecords_follow(segment, 0, length))
        return false;
    if (rest >= length || rest >= segment->size || subrecords_follow(segment, rest, length - rest))
        return true;
    return !chain_crosses(segment, 0, length, 1) && chain_crosses(segment, rest, length, 0);
}

/* ---- Where checking resumes ---- */

enum resume resume_after_record(const struct sight *body, uint64_t declared, uint64_t right)
{
    struct sight whole = *body;

    /* A record that is completely in sight is better evidence than the header of a long one, which any bytes may resemble. */
    whole.ended = true;
    /* A declared length that is too long leads to a record by chance, too: there are records before its end, then. */
    if (right < declared && right <= body->size && records_follow(&whole, right, 2))
        return RESUME_AT_RIGHT;
    if (declared <= body->size && records_follow(&whole, declared, 1))
        return RESUME_AT_DECLARED;
    if (right <= body->size && records_follow(body, right, 1))
        return RESUME_AT_RIGHT;
    if (declared <= body->size && records_follow(body, declared, 1))
        return RESUME_AT_DECLARED;
    return declared > body->size && !body->ended ? RESUME_UNSEEN : RESUME_NOWHERE;
}

/* Whether a sub-record may begin at an offset, `left` bytes before the end of its heap dump record. */
static bool subrecord_fits(const struct sight *s, uint64_t at, uint64_t left)
{
    struct walk_item item;
    enum frame frame;

    if (!left)
        return true;
    frame = walk_subrecord(s, at, left, &item);
    return frame == FRAME_RIGHT || frame == FRAME_UNSEEN || frame == FRAME_TRUNCATED;
}

bool subrecord_follows(const struct sight *s)
{
    return s->size && subrecord_fits(s, 0, s->ended ? s->size : UINT64_MAX);
}

bool leads_on(const struct sight *s, uint64_t declared, uint64_t left)
{
    return declared <= left && (declared > s->size || subrecord_fits(s, declared, left - declared));
}

bool resume_by_class(const struct sight *s, uint64_t declared, uint64_t by_class, uint64_t left)
{
    return !leads_on(s, declared, left) && by_class < left && by_class <= s->size &&
           subrecords_follow(s, by_class, left - by_class);
}

/* ---- What may be missing ---- */

unsigned definitions_of_length(uint64_t length, unsigned id_size)
{
    unsigned may = 0;

    if (length >= SIZE_OF(UTF8, id_size))
        may |= MAY_DEFINE_STRINGS;
    if (length == SIZE_OF(LOAD_CLASS, id_size))
        may |= MAY_DEFINE_CLASSES;
    if (length == SIZE_OF(FRAME, id_size))
        may |= MAY_DEFINE_FRAMES;
    if (length >= SIZE_OF(TRACE, id_size) && (length - SIZE_OF(TRACE, id_size)) % id_size == 0)
        may |= MAY_DEFINE_TRACES;
    if (length == SIZE_OF(START_THREAD, id_size) || length == SIZE_OF(END_THREAD, id_size))
        may |= MAY_DEFINE_THREADS;
    return may;
}

unsigned definitions_of_tag(unsigned tag)
{
    switch (tag) {
    case TAG_UTF8:
        return MAY_DEFINE_STRINGS;
    case TAG_LOAD_CLASS:
        return MAY_DEFINE_CLASSES;
    case TAG_FRAME:
        return MAY_DEFINE_FRAMES;
    case TAG_TRACE:
        return MAY_DEFINE_TRACES;
    case TAG_START_THREAD:
    case TAG_END_THREAD:
        return MAY_DEFINE_THREADS;
    default:
        return 0;
    }
}
