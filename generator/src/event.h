/* What flows from a source through filters to a sink: a dump as typed records, the same that the validator reads
 * (records.def). Bytes, lengths and offsets are the sink's business alone. */
#ifndef HPROF_GEN_EVENT_H
#define HPROF_GEN_EVENT_H

#include "format/format.h"

enum event_kind {
    EVENT_HEADER,    /* first, once */
    EVENT_RECORD,    /* a top-level record that is no heap dump; between a CLOSE and an OPEN */
    EVENT_OPEN,      /* the header of a HEAP_DUMP or HEAP_DUMP_SEGMENT */
    EVENT_SUBRECORD, /* between OPEN and CLOSE */
    EVENT_BATCH,     /* likewise: several sub-records as their bytes, one after the other; see enum detail */
    EVENT_RAW,       /* bytes as they are, anywhere after the header */
    EVENT_PART,      /* more of the body of the RECORD or SUBRECORD before, whose body is not at hand as a whole */
    EVENT_CLOSE,     /* the end of that heap dump record */
    EVENT_END        /* last, once */
};

/* Which member of `union fields` an event fills, and which fields it has. */
enum layout_id {
    LAYOUT_ID_NONE, /* no fields: HEAP_DUMP_END, an undefined tag */
#define LAYOUT_ID(name) LAYOUT_ID_##name,
    LAYOUTS_WITH_FIELDS(LAYOUT_ID)
#undef LAYOUT_ID
};

union fields {
#define MEMBER(name) struct name name;
    LAYOUTS_WITH_FIELDS(MEMBER)
#undef MEMBER
};

enum { HEADER_TEXT_SIZE = 32, NO_RULE = -1 };

/* The file's header. */
struct header {
    char text[HEADER_TEXT_SIZE]; /* the format string, its NUL among text_size */
    uint8_t text_size;
    uint32_t id_size;   /* as the header says */
    uint64_t timestamp; /* milliseconds since 1970 */
};

/* False if the header has no known version. */
static inline bool header_version(const struct header *header, enum version *version)
{
    static const char magic[] = "JAVA PROFILE 1.0.";
    char last = header->text[sizeof magic - 1];

    *version = (enum version)(last - '0');
    return header->text_size == HEADER_STRING_SIZE && memcmp(header->text, magic, sizeof magic - 1) == 0 && last >= '1' &&
           last <= '3' && !header->text[sizeof magic];
}

#define KEEP_ALL UINT64_MAX
#define QUIRKS_MOST 2

/* An event is good until take() returns. A filter may change it before it hands it on. */
struct event {
    enum event_kind kind;
    enum layout_id layout;
    uint8_t tag;
    bool length_stated; /* RECORD, OPEN: the length field says `length`, not the true one */
    bool length_wraps;  /* OPEN: of a length of more than 32 bits, the field says the low ones */
    uint32_t time;      /* RECORD, OPEN: microseconds since the header's timestamp */
    uint32_t length;
    struct header header;
    union fields fields;

    /* What follows the fields. If body is NULL, PART events bring body_size bytes, one or more of them. Counts within
     * `fields` (elements, bytes, frames, sites) say what they say: nobody makes them agree. Of a PART, RAW or BATCH: its bytes. */
    const uint8_t *body;
    uint64_t body_size;
    const uint32_t *sizes; /* BATCH: of each of its sub-records, whose sum is body_size, */
    uint32_t count;        /* and how many they are: at least one */

    /* A fault: the rule that is broken here, by its index, and where, in bytes from the event's first byte (a record's
     * tag; of the HEADER, the file's start). NO_RULE for none. */
    int rule;
    uint64_t rule_at;
    const char *variant; /* of the rule, if one is broken: how */
    uint64_t keep;       /* the dump ends after so many bytes of this event; KEEP_ALL for not here */

    /* Known to whoever made it, for the manifest. */
    const char *class_name; /* LOAD_CLASS: the name, NUL-terminated; NULL if it has none, or comes from a file */
    /* INSTANCE_DUMP: its fields of type object, null or not; UNKNOWN_REFERENCES if not known. BATCH: those of its instances. */
    uint32_t references;
    uint32_t nulls; /* of them, those that are null */
    /* Rules, by their index, that the producer's quirks break here, and how many findings of each this event gives rise to. */
    unsigned quirk_count;
    struct {
        int rule;
        uint32_t findings;
    } quirks[QUIRKS_MOST];
};

#define UNKNOWN_REFERENCES UINT32_MAX

/* Something that takes events: a filter, which hands them on to `next`, or a sink. The first member of its own struct. */
struct stage {
    void (*take)(struct stage *stage, struct event *event);
    struct stage *next; /* NULL for a sink */
    unsigned id_size;   /* of IDs as they are written, 4 or 8: set for all stages before the first event */
};

static inline void give(struct stage *stage, struct event *event)
{
    stage->take(stage, event);
}

/* An event without a fault, of the given kind, tag and layout; fields, body and the rest are for the caller. */
static inline struct event event_of(enum event_kind kind, uint8_t tag, enum layout_id layout)
{
    struct event e;

    memset(&e, 0, sizeof e);
    e.kind = kind;
    e.tag = tag;
    e.layout = layout;
    e.rule = NO_RULE;
    e.keep = KEEP_ALL;
    return e;
}

/* This event breaks a rule, as its producer is known to do. */
static inline void quirk(struct event *e, int rule, uint32_t findings)
{
    e->quirks[e->quirk_count].rule = rule;
    e->quirks[e->quirk_count++].findings = findings;
}

/* RECORD_EVENT(LOAD_CLASS), SUBRECORD_EVENT(ROOT_JNI_LOCAL, ROOT_FRAME) */
#define RECORD_EVENT(name) event_of(EVENT_RECORD, TAG_##name, LAYOUT_ID_##name)
#define SUBRECORD_EVENT(name, layout) event_of(EVENT_SUBRECORD, SUB_##name, LAYOUT_ID_##layout)

#endif
