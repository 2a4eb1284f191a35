/* See source_file.h. The bytes come through the validator's own input layer; a record with
 * well-formed framing is passed on unchanged, whatever it holds: without a fault the same bytes come out again. */
#include "stream/source_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/subrecord.h"
#include "input/input.h"
#include "stream/encode.h"

enum {
    WHOLE = 64 << 10, /* bodies of up to this many bytes are passed on as a whole, */
    HEAD = 64         /* and fixed parts, except that of a CLASS_DUMP, are not longer */
};

struct source_file {
    struct source source;
    int fd;
    struct stat seen; /* at the beginning: later passes must read the same */
    char sentence[200];

    /* These are of a pass. */
    struct memory memory;
    struct input in;
    struct stage *first;
    const bool *stop;
};

static bool fail(struct source_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct source_file *f, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (!f->source.failure)
        vsnprintf(f->sentence, sizeof f->sentence, format, list);
    va_end(list);
    f->source.failure = f->sentence;
    return false;
}

/* The bytes at an offset are not part of a valid dump. */
static bool end_sound_part(struct source_file *f, uint64_t offset, const char *what)
{
    f->source.malformed = true;
    return fail(f, "%s at offset 0x%" PRIx64 ": hprof-validate says more; a dump to break must have well-formed framing", what,
                offset);
}

/* The file has changed since the first pass. */
static bool differs(struct source_file *f)
{
    return fail(f, "the file was changed while it was read");
}

/* The bytes end too early. Without memory, the failure has no sentence. */
static bool cut_short(struct source_file *f)
{
    char reason[80] = "";

    if (f->memory.exhausted)
        return false;
    if (f->in.error == ESTALE)
        return fail(f, "the file became shorter while it was read");
    if (f->in.error) {
        input_reason(&f->in, reason, sizeof reason);
        return fail(f, "cannot be read on from offset 0x%" PRIx64 ": %s", f->in.offset, reason);
    }
    return end_sound_part(f, f->in.offset, "the dump ends within a record");
}

static void on_gzip_fault(void *context, const struct gzip_finding *g)
{
    struct source_file *f = context;

    f->source.malformed = true;
    fail(f, "the gzip file is damaged at offset 0x%" PRIx64 ": hprof-validate says more", g->offset);
}

/* Whether the next `size` bytes are in memory. */
static bool need(struct source_file *f, size_t size)
{
    return input_need(&f->in, size) >= size || cut_short(f);
}

/* ---- Layouts ---- */

static bool read_fields(struct cursor *c, enum layout_id layout, unsigned id_size, union fields *fields)
{
    switch (layout) {
    case LAYOUT_ID_NONE:
        return true;
#define READ_CASE(name) \
    case LAYOUT_ID_##name: \
        return read_##name(c, id_size, &fields->name);
        LAYOUTS_WITH_FIELDS(READ_CASE)
#undef READ_CASE
    }
    return false;
}

static enum layout_id record_layout(uint8_t tag)
{
    enum { LAYOUT_ID_HEAP_DUMP = LAYOUT_ID_NONE, LAYOUT_ID_HEAP_DUMP_END = LAYOUT_ID_NONE };

    switch (tag) {
#define RECORD(name, tag, since, clause, layout) \
    case tag: \
        return (enum layout_id)LAYOUT_ID_##layout;
#include "format/records.def"
#undef RECORD
    default:
        return LAYOUT_ID_NONE;
    }
}

static enum layout_id subrecord_layout(uint8_t tag)
{
    switch (tag) {
#define SUBRECORD(name, tag, since, clause, layout) \
    case tag: \
        return LAYOUT_ID_##layout;
#include "format/records.def"
#undef SUBRECORD
    default:
        return LAYOUT_ID_NONE;
    }
}

/* ---- Events ---- */

static void hand_on(struct source_file *f, struct event *e)
{
    if (!*f->stop)
        give(f->first, e);
}

static void hand_on_mark(struct source_file *f, enum event_kind kind, uint8_t tag)
{
    struct event e = event_of(kind, tag, LAYOUT_ID_NONE);

    hand_on(f, &e);
}

/* The event at the start of the window: `head` bytes, its fields, and body_size bytes. A `whole` body comes in one event,
 * whatever its length. */
static bool give_bytes(struct source_file *f, struct event *e, size_t head, uint64_t body_size, bool whole)
{
    size_t fixed = head + fields_size(e->layout, f->source.id_size);
    struct cursor c;

    whole |= body_size <= WHOLE;
    if (!need(f, fixed + (whole ? (size_t)body_size : 0)))
        return false;
    c = (struct cursor){f->in.at + head, f->in.at + fixed};
    if (!read_fields(&c, e->layout, f->source.id_size, &e->fields))
        return false;
    e->body_size = body_size;
    e->body = whole && body_size ? f->in.at + fixed : NULL;
    hand_on(f, e);
    input_advance(&f->in, fixed + (whole ? (size_t)body_size : 0));

    while (!whole && body_size && !*f->stop) {
        size_t n = body_size < WHOLE ? (size_t)body_size : WHOLE;
        struct event part = event_of(EVENT_PART, e->tag, LAYOUT_ID_NONE);

        if (!need(f, n))
            return false;
        part.body = f->in.at;
        part.body_size = n;
        hand_on(f, &part);
        input_advance(&f->in, n);
        body_size -= n;
    }
    return true;
}

static bool give_subrecord(struct source_file *f, uint64_t left)
{
    unsigned id_size = f->source.id_size;
    struct measure m = {0};
    enum measured result;
    struct event e;

    for (size_t wanted = HEAD;; wanted *= 2) {
        size_t n = wanted < left ? wanted : (size_t)left;

        if (!need(f, n))
            return false;
        result = measure_subrecord(f->in.at, n, id_size, f->source.version, &m);
        if (result != MEASURE_MORE || n == left)
            break;
    }
    if (result == MEASURE_TAG)
        return end_sound_part(f, f->in.offset, "no sub-record begins");
    if (result == MEASURE_TYPE)
        return end_sound_part(f, f->in.offset + m.bad_at, "no type is");
    if (result == MEASURE_MORE || m.size > left)
        return end_sound_part(f, f->in.offset, "a sub-record does not fit its record");
    e = event_of(EVENT_SUBRECORD, *f->in.at, subrecord_layout(*f->in.at));
    e.references = UNKNOWN_REFERENCES;
    return give_bytes(f, &e, 1, m.size - 1 - fields_size(e.layout, id_size), e.tag == SUB_CLASS_DUMP);
}

static bool give_heap_dump(struct source_file *f, struct event *e)
{
    uint64_t end = f->in.offset + e->length;
    uint8_t tag = e->tag;

    hand_on(f, e);
    while (f->in.offset < end && !*f->stop)
        if (!give_subrecord(f, end - f->in.offset))
            return false;
    hand_on_mark(f, EVENT_CLOSE, tag);
    return true;
}

static bool give_record(struct source_file *f)
{
    size_t fixed;
    struct event e;

    if (!need(f, RECORD_HEADER_SIZE))
        return false;
    e = event_of(EVENT_RECORD, *f->in.at, record_layout(*f->in.at));
    e.time = get_u4(f->in.at + RECORD_TIME_AT);
    e.length = get_u4(f->in.at + RECORD_LENGTH_AT);
    if (e.tag == TAG_HEAP_DUMP || e.tag == TAG_HEAP_DUMP_SEGMENT) {
        e.kind = EVENT_OPEN;
        input_advance(&f->in, RECORD_HEADER_SIZE);
        return give_heap_dump(f, &e);
    }
    fixed = fields_size(e.layout, f->source.id_size);
    if (e.length < fixed) { /* too short for its fields, so it is given as bytes */
        e.layout = LAYOUT_ID_NONE;
        fixed = 0;
    }
    return give_bytes(f, &e, RECORD_HEADER_SIZE, e.length - fixed, false);
}

/* ---- The header ---- */

static bool read_header(struct source_file *f, struct event *e, enum version *version)
{
    const uint8_t *p;

    if (input_need(&f->in, HEADER_SIZE) < HEADER_SIZE)
        return f->in.error || f->memory.exhausted ? cut_short(f) : fail(f, "no HPROF dump: it is shorter than a header");
    p = f->in.at;
    *e = event_of(EVENT_HEADER, 0, LAYOUT_ID_NONE);
    e->header.text_size = HEADER_STRING_SIZE;
    memcpy(e->header.text, p, HEADER_STRING_SIZE);
    if (!header_version(&e->header, version))
        return fail(f, "no HPROF dump of version 1.0.1, 1.0.2 or 1.0.3");
    e->header.id_size = get_u4(p + HEADER_STRING_SIZE);
    e->header.timestamp = get_u8(p + HEADER_STRING_SIZE + 4);
    if (e->header.id_size != 4 && e->header.id_size != 8)
        return fail(f, "its IDs take %" PRIu32 " bytes: 4 or 8 are what is known", e->header.id_size);
    input_advance(&f->in, HEADER_SIZE);
    return true;
}

/* ---- The source ---- */

static bool open_dump(struct source_file *f, struct event *header, enum version *version)
{
    memory_init(&f->memory, NULL, 0);
    if (!input_open(&f->in, source_of_fd(f->fd), 0, &usual_sizes, &f->memory, on_gzip_fault, f))
        return cut_short(f);
    return read_header(f, header, version);
}

/* For example a file that is still being written. */
static bool is_changed(const struct source_file *f)
{
    struct stat now;

    return fstat(f->fd, &now) != 0 || now.st_size != f->seen.st_size || now.st_mtim.tv_sec != f->seen.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != f->seen.st_mtim.tv_nsec;
}

static bool run(struct source *source, struct stage *first, const bool *stop)
{
    struct source_file *f = (struct source_file *)source;
    struct event e;
    enum version version;
    bool good = open_dump(f, &e, &version);

    f->first = first;
    f->stop = stop;
    if (good && (e.header.id_size != source->id_size || version != source->version))
        good = differs(f);
    if (good)
        hand_on(f, &e);
    while (good && !*stop && input_need(&f->in, 1))
        good = give_record(f);
    if (good && !*stop && (f->in.error || f->memory.exhausted))
        good = cut_short(f);
    if (good && !*stop && is_changed(f))
        good = differs(f);
    if (good)
        hand_on_mark(f, EVENT_END, 0);
    input_close(&f->in);
    return good && (!source->failure || *stop);
}

static void free_source(struct source *source)
{
    free(source);
}

struct source *source_file_new(int fd, const char **failure)
{
    static char sentence[sizeof((struct source_file *)NULL)->sentence];
    struct source_file *f = calloc(1, sizeof *f);
    struct event header;
    enum version version = V101;
    bool good;

    *failure = NULL;
    if (!f)
        return NULL;
    *f = (struct source_file){.source = {.run = run, .free = free_source, .longest_heap_record = UINT64_MAX}, .fd = fd};
    if (fstat(fd, &f->seen) == 0 && !S_ISREG(f->seen.st_mode) && !S_ISDIR(f->seen.st_mode)) {
        good = fail(f, "it cannot be read twice, as is needed: give a file, no pipe");
    } else {
        good = open_dump(f, &header, &version);
        input_close(&f->in);
    }
    if (!good) {
        memcpy(sentence, f->sentence, sizeof sentence);
        *failure = f->source.failure ? sentence : NULL;
        free(f);
        return NULL;
    }
    f->source.id_size = header.header.id_size;
    f->source.version = version;
    return &f->source;
}
