/* See writer.h. Writes records that are not heap dump records, and the headers of those. */
#include <inttypes.h>

#include "base/utf8.h"
#include "show/writer.h"

/* Names of stack frames are not kept. */
static void add_frame(struct writer *w, const uint8_t *p, unsigned type)
{
    (void)type;
    add_text_id(w, get_id(p, w->show->replay.id_size));
}

/* A string as the corpus writes it: text in quotes, and bytes that text cannot show in hexadecimal. */
static void add_string(struct writer *w, const uint8_t *p, size_t n, bool more)
{
    enum { MOST = LINE_SIZE / 4 }; /* bytes that one piece shows, and about as many more in all */
    size_t begin = w->text_size;

    while (n && w->text_size - begin < MOST) {
        size_t plain = utf8_plain(p, n), size = 0;

        if (plain) {
            size = plain < MOST ? plain : utf8_valid(p, MOST);
            add_text(w, " \"%.*s\"", (int)size, (const char *)p);
        } else {
            add_text(w, " 0x");
            for (; size < n && size < MOST / 2 && !utf8_plain(p + size, n - size); size++)
                add_text(w, "%02x", p[size]);
        }
        p += size;
        n -= size;
    }
    if (n || more)
        add_text(w, " ...");
    else if (w->text_size == begin)
        add_text(w, " \"\"");
}

static void write_UTF8(struct writer *w, struct cursor *c, const struct UTF8 *r)
{
    uint64_t size = w->item->length - w->show->replay.id_size, there = cursor_left(c) < size ? cursor_left(c) : size;

    add_text(w, " 0x%" PRIx64, r->id);
    add_string(w, c->at, (size_t)there, there < size);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_LOAD_CLASS(struct writer *w, struct cursor *c, const struct LOAD_CLASS *r)
{
    (void)c;
    add_text(w, " serial %" PRIu32 " class 0x%" PRIx64 " trace %" PRIu32 " name 0x%" PRIx64, r->class_serial, r->class_id,
             r->trace_serial, r->name);
    note_string(w, r->name);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_UNLOAD_CLASS(struct writer *w, struct cursor *c, const struct UNLOAD_CLASS *r)
{
    (void)c;
    add_text(w, " serial %" PRIu32, r->class_serial);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_FRAME(struct writer *w, struct cursor *c, const struct FRAME *r)
{
    (void)c;
    add_text(w,
             " 0x%" PRIx64 " method 0x%" PRIx64 " signature 0x%" PRIx64 " source 0x%" PRIx64 " class %" PRIu32 " line %" PRId32,
             r->id, r->method, r->signature, r->source, r->class_serial, r->line);
    note_string(w, r->method);
    note_string(w, r->signature);
    note_string(w, r->source);
    end_line(w, 0, w->item->offset, w->item->size);
}

/* The number of parts of a list that fit into the record. */
static uint64_t parts_that_fit(const struct writer *w, uint64_t from, uint64_t count, uint64_t size)
{
    uint64_t end = w->item->offset + w->item->size, most = end > from ? (end - from) / size : 0;

    return count < most ? count : most;
}

static void write_TRACE(struct writer *w, struct cursor *c, const struct TRACE *r)
{
    uint64_t from = w->item->offset + RECORD_HEADER_SIZE + SIZE_OF(TRACE, w->show->replay.id_size);
    struct parts parts = {from, parts_that_fit(w, from, r->frames, w->show->replay.id_size), 4, w->show->replay.id_size, 0};

    (void)c;
    add_text(w, " serial %" PRIu32 " thread %" PRIu32 " [%s", r->trace_serial, r->thread_serial, parts.count ? "" : " ]");
    end_line(w, 0, w->item->offset, parts.count ? from - w->item->offset : w->item->size);
    if (!parts.count)
        return;
    show_parts(w, &parts, add_frame, 0);
    close_bracket(w, 0, "]");
}

static void add_site(struct writer *w, const uint8_t *p, unsigned type)
{
    struct cursor c = {p, p + SIZE_OF(SITE, w->show->replay.id_size)};
    struct SITE r;

    (void)type;
    if (read_SITE(&c, w->show->replay.id_size, &r))
        add_text(w,
                 "site array %u class %" PRIu32 " trace %" PRIu32 " live-bytes %" PRIu32 " live-instances %" PRIu32
                 " allocated-bytes %" PRIu32 " allocated-instances %" PRIu32,
                 r.array_type, r.class_serial, r.trace_serial, r.live_bytes, r.live_instances, r.allocated_bytes,
                 r.allocated_instances);
}

static void write_ALLOC_SITES(struct writer *w, struct cursor *c, const struct ALLOC_SITES *r)
{
    unsigned id_size = w->show->replay.id_size;
    uint64_t from = w->item->offset + RECORD_HEADER_SIZE + SIZE_OF(ALLOC_SITES, id_size);
    struct parts parts = {from, parts_that_fit(w, from, r->sites, SIZE_OF(SITE, id_size)), 1, SIZE_OF(SITE, id_size), 0};

    (void)c;
    add_text(w,
             " flags %u cutoff 0x%08" PRIx32 " live-bytes %" PRIu32 " live-instances %" PRIu32 " allocated-bytes %" PRIu64
             " allocated-instances %" PRIu64 " sites %" PRIu32 " {",
             r->flags, r->cutoff, r->live_bytes, r->live_instances, r->allocated_bytes, r->allocated_instances, r->sites);
    end_line(w, 0, w->item->offset, from - w->item->offset);
    show_parts(w, &parts, add_site, 0);
    close_bracket(w, 0, "}");
}

static void write_HEAP_SUMMARY(struct writer *w, struct cursor *c, const struct HEAP_SUMMARY *r)
{
    (void)c;
    add_text(w, " live-bytes %" PRIu32 " live-instances %" PRIu32 " allocated-bytes %" PRIu64 " allocated-instances %" PRIu64,
             r->live_bytes, r->live_instances, r->allocated_bytes, r->allocated_instances);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_START_THREAD(struct writer *w, struct cursor *c, const struct START_THREAD *r)
{
    (void)c;
    add_text(w,
             " serial %" PRIu32 " object 0x%" PRIx64 " trace %" PRIu32 " name 0x%" PRIx64 " group 0x%" PRIx64
             " parent 0x%" PRIx64,
             r->thread_serial, r->thread_id, r->trace_serial, r->name, r->group, r->parent_group);
    note_string(w, r->name);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_END_THREAD(struct writer *w, struct cursor *c, const struct END_THREAD *r)
{
    (void)c;
    add_text(w, " serial %" PRIu32, r->thread_serial);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void add_sample(struct writer *w, const uint8_t *p, unsigned type)
{
    (void)type;
    add_text(w, "sample samples %" PRIu32 " trace %" PRIu32, get_u4(p), get_u4(p + 4));
}

static void write_CPU_SAMPLES(struct writer *w, struct cursor *c, const struct CPU_SAMPLES *r)
{
    uint64_t from = w->item->offset + RECORD_HEADER_SIZE + SIZE_OF(CPU_SAMPLES, 8), size = SIZE_OF(SAMPLE, 8);
    struct parts parts = {from, parts_that_fit(w, from, r->traces, size), 1, size, 0};

    (void)c;
    add_text(w, " samples %" PRIu32 " traces %" PRIu32 " {", r->samples, r->traces);
    end_line(w, 0, w->item->offset, from - w->item->offset);
    show_parts(w, &parts, add_sample, 0);
    close_bracket(w, 0, "}");
}

static void write_CONTROL_SETTINGS(struct writer *w, struct cursor *c, const struct CONTROL_SETTINGS *r)
{
    (void)c;
    add_text(w, " flags %" PRIu32 " depth %u", r->flags, r->depth);
    end_line(w, 0, w->item->offset, w->item->size);
}

/* Writes a record of wrong length or of undefined tag. */
static void write_any(struct writer *w, uint8_t tag)
{
    if (w->text_size == 0)
        add_text(w, "record 0x%02x", tag);
    add_remark(w, "%sa body of %" PRIu64 " bytes", w->remark_size ? ", " : "", w->item->length);
    end_line(w, 0, w->item->offset, w->item->size);
}

void show_record(struct writer *w)
{
    struct show *s = w->show;
    size_t most = w->item->size < 1024 ? (size_t)w->item->size : 1024;
    struct cursor c = show_bytes(s, w->item->offset, most);
    const uint8_t *header = cursor_take(&c, RECORD_HEADER_SIZE);
    uint8_t tag;
    const char *name;
    uint32_t time;

    if (!header) /* a read failed, or memory ran out */
        return;
    tag = *header;
    name = hprof_record_name(tag);
    time = get_u4(header + RECORD_TIME_AT);
    if (tag == TAG_HEAP_DUMP_END)
        add_text(w, "end");
    else if (name)
        add_text_word(w, name);
    if (time)
        add_text(w, " at %" PRIu32, time);
    switch (tag) {
#define WRITE(layout) \
    case TAG_##layout: { \
        struct layout r; \
        if (w->item->length >= SIZE_OF(layout, s->replay.id_size) && read_##layout(&c, s->replay.id_size, &r)) { \
            write_##layout(w, &c, &r); \
            return; \
        } \
        break; \
    }
        WRITE(UTF8)
        WRITE(LOAD_CLASS)
        WRITE(UNLOAD_CLASS)
        WRITE(FRAME)
        WRITE(TRACE)
        WRITE(ALLOC_SITES)
        WRITE(HEAP_SUMMARY)
        WRITE(START_THREAD)
        WRITE(END_THREAD)
        WRITE(CPU_SAMPLES)
        WRITE(CONTROL_SETTINGS)
#undef WRITE
    case TAG_HEAP_DUMP_END:
        if (w->item->length == 0) {
            end_line(w, 0, w->item->offset, w->item->size);
            return;
        }
        break;
    default:
        break;
    }
    write_any(w, tag);
}

void show_heap(struct writer *w)
{
    struct cursor c = show_bytes(w->show, w->item->offset, RECORD_HEADER_SIZE);

    add_text(w, cursor_left(&c) && *c.at == TAG_HEAP_DUMP ? "heap-dump" : "segment");
    if (cursor_left(&c) == RECORD_HEADER_SIZE && get_u4(c.at + RECORD_TIME_AT))
        add_text(w, " at %" PRIu32, get_u4(c.at + RECORD_TIME_AT));
    add_text(w, " {");
    if (w->item->why_open)
        add_remark(w, "%s", w->item->why_open);
    else
        add_remark(w, "%" PRIu64 " bytes", w->item->length);
    end_line(w, 0, w->item->why_open ? HPROF_NO_OFFSET : w->item->offset, w->item->why_open ? 0 : RECORD_HEADER_SIZE);
}
