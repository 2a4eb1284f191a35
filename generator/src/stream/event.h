/* Events: the typed records of a dump (records.def), which pass from a source through filters to a sink. Only the sink knows
 * bytes, lengths and offsets. */
#ifndef HPROF_GEN_EVENT_H
#define HPROF_GEN_EVENT_H

#include "format/header.h"

enum event_kind {
    EVENT_HEADER,    /* first, once */
    EVENT_RECORD,    /* a top-level record other than a heap dump; not between OPEN and CLOSE */
    EVENT_OPEN,      /* the header of a HEAP_DUMP or HEAP_DUMP_SEGMENT */
    EVENT_SUBRECORD, /* between OPEN and CLOSE */
    EVENT_BATCH,     /* likewise: the bytes of several sub-records; see enum detail */
    EVENT_RAW,       /* any bytes, anywhere after the header */
    EVENT_PART,      /* the next part of the body of the RECORD or SUBRECORD before, which does not hold all of it */
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
    uint32_t id_size;   /* as the header states it */
    uint64_t timestamp; /* milliseconds since 1970 */
};

/* False if the version is unknown. */
static inline bool header_version(const struct header *header, enum version *version)
{
    return parse_header_version(header->text, version) && header->text_size == HEADER_STRING_SIZE;
}

#define KEEP_ALL UINT64_MAX
#define QUIRKS_MOST 2

/* An event is valid until take() returns. A filter may change it before it passes it on. */
struct event {
    enum event_kind kind;
    enum layout_id layout;
    uint8_t tag;
    bool length_stated; /* RECORD, OPEN: the length field is `length`, not the true length */
    bool length_wraps;  /* OPEN: if the length has more than 32 bits, the field has the low 32 */
    uint32_t time;      /* RECORD, OPEN: microseconds since the header's timestamp */
    uint32_t length;
    struct header header;
    union fields fields;

    /* What follows the fields. If body is NULL, one or more PART events have the body_size bytes. Counts in `fields` (elements,
     * bytes, frames, sites) are written as they are, even if they are wrong. Of a PART, RAW or BATCH: its bytes. */
    const uint8_t *body;
    uint64_t body_size;
    const uint32_t *sizes; /* BATCH: the sizes of its sub-records, which add up to body_size, */
    uint32_t count;        /* and their number, at least 1 */

    /* A fault: the index of the rule that is broken here, and the offset from the first byte of the event (the tag of a record,
     * the start of the file for the HEADER). NO_RULE for none. */
    int rule;
    uint64_t rule_at;
    const char *variant; /* how the rule is broken, if one is */
    uint64_t keep;       /* the dump ends after this many bytes of the event; KEEP_ALL if it does not end here */

    /* For the manifest, if the source knows them. */
    const char *class_name; /* LOAD_CLASS: the name, NUL-terminated; NULL if it has none, or comes from a file */
    /* INSTANCE_DUMP: its fields of type object, null or not; UNKNOWN_REFERENCES if not known. BATCH: those of its instances. */
    uint32_t references;
    uint32_t nulls; /* the number of these that are null */
    /* Rules, by index, that a quirk of the producer breaks here, and the number of findings of each. */
    unsigned quirk_count;
    struct {
        int rule;
        uint32_t findings;
    } quirks[QUIRKS_MOST];
};

#define UNKNOWN_REFERENCES UINT32_MAX

/* A consumer of events: a filter, which passes them on to `next`, or a sink. The first member of its struct. */
struct stage {
    void (*take)(struct stage *stage, struct event *event);
    struct stage *next; /* NULL for a sink */
    unsigned id_size;   /* bytes of an ID in the dump, 4 or 8; set for all stages before the first event */
};

static inline void give(struct stage *stage, struct event *event)
{
    stage->take(stage, event);
}

/* An event of this kind, tag and layout, without a fault. The caller sets fields and body. */
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

/* This event breaks a rule by a quirk of its producer. */
static inline void quirk(struct event *e, int rule, uint32_t findings)
{
    e->quirks[e->quirk_count].rule = rule;
    e->quirks[e->quirk_count++].findings = findings;
}

/* RECORD_EVENT(LOAD_CLASS), SUBRECORD_EVENT(ROOT_JNI_LOCAL, ROOT_FRAME) */
#define RECORD_EVENT(name) event_of(EVENT_RECORD, TAG_##name, LAYOUT_ID_##name)
#define SUBRECORD_EVENT(name, layout) event_of(EVENT_SUBRECORD, SUB_##name, LAYOUT_ID_##layout)

#endif
