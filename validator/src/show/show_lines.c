/* See show.h. Writes an item as lines: one for the record, one for each of its parts, and rows of its bytes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "show/show.h"

enum {
    LINE_SIZE = 1200,
    ROW_BYTES = 16,
    PARTS_ALWAYS = 8, /* shown at the start of a list */
    PARTS_AROUND = 2, /* shown on each side of the offset */
    ROWS_ALWAYS = 2,  /* the same for rows of bytes */
    ROWS_WHOLE = 4,   /* so few rows are all shown */
    ROWS_AROUND = 4,
    CLASS_DUMP_MAX = 1 << 22
};

/* ---- Lines ---- */

struct writer {
    struct show *show;
    const struct item *item;
    unsigned depth;
    bool was_here; /* a line contained the offset */
    char text[LINE_SIZE], remark[LINE_SIZE];
    size_t text_size, remark_size;
};

static void append(char *to, size_t *size, const char *format, va_list arguments)
{
    int n = vsnprintf(to + *size, LINE_SIZE - *size, format, arguments);

    if (n > 0)
        *size = *size + (size_t)n < LINE_SIZE ? *size + (size_t)n : LINE_SIZE - 1;
}

__attribute__((format(printf, 2, 3))) static void add(struct writer *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append(w->text, &w->text_size, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void note(struct writer *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append(w->remark, &w->remark_size, format, arguments);
    va_end(arguments);
}

/* Once a read failed, lines would be wrong. */
static void hand_out(struct writer *w, const struct hprof_line *line)
{
    struct show *s = w->show;

    if (!s->in.error && !s->stopped && s->asked.on_line)
        s->stopped = s->asked.on_line(s->asked.context, line) != 0;
}

/* Hands out the line, which describes `size` bytes from `offset` on. */
static void end_line(struct writer *w, unsigned depth, uint64_t offset, uint64_t size)
{
    const struct hprof_show *asked = &w->show->asked;
    struct hprof_line line = {
        .struct_size = sizeof(struct hprof_line),
        .offset = offset,
        .depth = depth,
        .here = asked->offset >= offset && asked->offset - offset < size,
        .text = w->text[0] == ' ' ? w->text + 1 : w->text, /* the first value in a row has a space before it */
        .remark = w->remark,
    };

    hand_out(w, &line);
    w->was_here |= line.here;
    w->text_size = w->remark_size = 0;
    w->text[0] = w->remark[0] = '\0';
}

static void close_bracket(struct writer *w, unsigned depth, const char *bracket)
{
    add(w, "%s", bracket);
    end_line(w, depth, HPROF_NO_OFFSET, 0);
}

/* ---- Names ---- */

static void note_string(struct writer *w, uint64_t id)
{
    char name[NAME_ROOM];

    if (names_string(&w->show->names, id, name))
        note(w, "%s%s", w->remark_size ? " " : "", name);
}

static void note_class(struct writer *w, uint64_t class_id)
{
    char name[NAME_ROOM];

    if (names_class(&w->show->names, class_id, name))
        note(w, "%s%s", w->remark_size ? " " : "", name);
}

/* Names a class by its object ID. Other objects have no names. */
static void note_object(struct writer *w, uint64_t id)
{
    if (keymap_get(&w->show->names.classes, id, NULL)) {
        note(w, "%sclass", w->remark_size ? " " : "");
        note_class(w, id);
    }
}

static void add_id(struct writer *w, uint64_t id)
{
    if (id)
        add(w, " 0x%" PRIx64, id);
    else
        add(w, " null");
}

/* "LOAD_CLASS" as "load-class". */
static void add_word(struct writer *w, const char *name)
{
    for (const char *p = name; *p; p++)
        add(w, "%c", *p == '_' ? '-' : *p >= 'A' && *p <= 'Z' ? *p + ('a' - 'A') : *p);
}

/* ---- Lists ---- */

/* A list of parts of equal size, such as the elements of an array. Parts that are not shown are counted in `hidden`. */
struct parts {
    uint64_t offset, count, per_line, size;
    uint64_t hidden;
};

static bool is_near(const struct show *s, uint64_t offset, uint64_t size, uint64_t margin)
{
    uint64_t target = s->asked.offset, low = offset > margin ? offset - margin : 0;

    return target >= low && target < offset + size + margin;
}

static void end_hidden(struct writer *w, struct parts *p, unsigned depth)
{
    if (!p->hidden)
        return;
    note(w, "%" PRIu64 " more", p->hidden);
    end_line(w, depth, HPROF_NO_OFFSET, 0);
    p->hidden = 0;
}

typedef void add_part(struct writer *w, const uint8_t *bytes, unsigned type);

static void write_parts(struct writer *w, struct parts *p, add_part *add_one, unsigned type)
{
    uint64_t line = p->per_line * p->size, most = PARTS_ALWAYS, target = w->show->asked.offset;
    uint64_t lines = (p->count + p->per_line - 1) / p->per_line;
    /* Show the first lines, and those around the offset if the list contains it. */
    uint64_t middle = target >= p->offset && target - p->offset < p->count * p->size ? (target - p->offset) / line : 0;
    uint64_t from = middle > most + PARTS_AROUND ? middle - PARTS_AROUND : most, to = middle + PARTS_AROUND + 1;

    for (uint64_t i = 0; i < lines; i++) {
        uint64_t n = p->count - i * p->per_line < p->per_line ? p->count - i * p->per_line : p->per_line;
        struct cursor c;

        if (i == most && from > most && from < lines && to > from) {
            p->hidden = (from - most) * p->per_line;
            end_hidden(w, p, w->depth + 1);
            i = from;
            n = p->count - i * p->per_line < p->per_line ? p->count - i * p->per_line : p->per_line;
        } else if (i >= most && (i < from || i >= to)) {
            p->hidden = p->count - i * p->per_line;
            break;
        }
        c = show_bytes(w->show, p->offset + i * line, (size_t)(n * p->size));
        for (uint64_t j = 0; j < n; j++) {
            const uint8_t *bytes = cursor_take(&c, (size_t)p->size);

            if (!bytes) {
                note(w, "the dump ends here");
                end_line(w, w->depth + 1, p->offset + i * line, n * p->size);
                return;
            }
            add_one(w, bytes, type);
        }
        end_line(w, w->depth + 1, p->offset + i * line, n * p->size);
    }
    end_hidden(w, p, w->depth + 1);
}

/* ---- Values ---- */

static const char *type_name(unsigned type)
{
    static const char *const names[] = {[TYPE_OBJECT] = "object", [TYPE_BOOLEAN] = "boolean", [TYPE_CHAR] = "char",
                                        [TYPE_FLOAT] = "float",   [TYPE_DOUBLE] = "double",   [TYPE_BYTE] = "byte",
                                        [TYPE_SHORT] = "short",   [TYPE_INT] = "int",         [TYPE_LONG] = "long"};

    return type < sizeof names / sizeof *names && names[type] ? names[type] : "";
}

static void add_value(struct writer *w, const uint8_t *p, unsigned type)
{
    uint32_t bits4;
    uint64_t bits8;
    float single;
    double real;

    switch (type) {
    case TYPE_OBJECT:
        add_id(w, get_id(p, w->show->id_size));
        note_object(w, get_id(p, w->show->id_size));
        break;
    case TYPE_BOOLEAN:
        add(w, " %u", *p);
        break;
    case TYPE_BYTE:
        add(w, " %d", (int8_t)*p);
        break;
    case TYPE_CHAR:
        add(w, *p || p[1] < 0x20 || p[1] > 0x7e || p[1] == '"' || p[1] == '\\' ? " 0x%04x" : " \"%c\"", get_u2(p));
        break;
    case TYPE_SHORT:
        add(w, " %d", (int16_t)get_u2(p));
        break;
    case TYPE_INT:
        add(w, " %" PRId32, (int32_t)get_u4(p));
        break;
    case TYPE_LONG:
        add(w, " %" PRId64, (int64_t)get_u8(p));
        break;
    case TYPE_FLOAT:
        bits4 = get_u4(p);
        memcpy(&single, &bits4, sizeof single);
        if (single - single == 0)
            add(w, " %.9g", (double)single);
        else
            add(w, " 0x%08" PRIx32, bits4);
        break;
    case TYPE_DOUBLE:
        bits8 = get_u8(p);
        memcpy(&real, &bits8, sizeof real);
        if (real - real == 0)
            add(w, " %.17g", real);
        else
            add(w, " 0x%016" PRIx64, bits8);
        break;
    default:
        break;
    }
}

static void add_id_part(struct writer *w, const uint8_t *p, unsigned type)
{
    (void)type;
    add_value(w, p, TYPE_OBJECT);
}

/* Names of stack frames are not kept. */
static void add_frame(struct writer *w, const uint8_t *p, unsigned type)
{
    (void)type;
    add_id(w, get_id(p, w->show->id_size));
}

/* ---- Records ---- */

/* A string as the corpus writes it: text in quotes, and bytes that text cannot show in hexadecimal. */
static void add_string(struct writer *w, const uint8_t *p, size_t n, bool more)
{
    enum { MOST = LINE_SIZE / 4 }; /* bytes that one piece shows, and about as many more in all */
    size_t begin = w->text_size;

    while (n && w->text_size - begin < MOST) {
        size_t plain = utf8_plain(p, n), size = 0;

        if (plain) {
            size = plain < MOST ? plain : utf8_valid(p, MOST);
            add(w, " \"%.*s\"", (int)size, (const char *)p);
        } else {
            add(w, " 0x");
            for (; size < n && size < MOST / 2 && !utf8_plain(p + size, n - size); size++)
                add(w, "%02x", p[size]);
        }
        p += size;
        n -= size;
    }
    if (n || more)
        add(w, " ...");
    else if (w->text_size == begin)
        add(w, " \"\"");
}

static void write_UTF8(struct writer *w, struct cursor *c, const struct UTF8 *r)
{
    uint64_t size = w->item->length - w->show->id_size, there = cursor_left(c) < size ? cursor_left(c) : size;

    add(w, " 0x%" PRIx64, r->id);
    add_string(w, c->at, (size_t)there, there < size);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_LOAD_CLASS(struct writer *w, struct cursor *c, const struct LOAD_CLASS *r)
{
    (void)c;
    add(w, " serial %" PRIu32 " class 0x%" PRIx64 " trace %" PRIu32 " name 0x%" PRIx64, r->class_serial, r->class_id,
        r->trace_serial, r->name);
    note_string(w, r->name);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_UNLOAD_CLASS(struct writer *w, struct cursor *c, const struct UNLOAD_CLASS *r)
{
    (void)c;
    add(w, " serial %" PRIu32, r->class_serial);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_FRAME(struct writer *w, struct cursor *c, const struct FRAME *r)
{
    (void)c;
    add(w, " 0x%" PRIx64 " method 0x%" PRIx64 " signature 0x%" PRIx64 " source 0x%" PRIx64 " class %" PRIu32 " line %" PRId32,
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
    uint64_t from = w->item->offset + RECORD_HEADER_SIZE + SIZE_OF(TRACE, w->show->id_size);
    struct parts parts = {from, parts_that_fit(w, from, r->frames, w->show->id_size), 4, w->show->id_size, 0};

    (void)c;
    add(w, " serial %" PRIu32 " thread %" PRIu32 " [%s", r->trace_serial, r->thread_serial, parts.count ? "" : " ]");
    end_line(w, 0, w->item->offset, parts.count ? from - w->item->offset : w->item->size);
    if (!parts.count)
        return;
    write_parts(w, &parts, add_frame, 0);
    close_bracket(w, 0, "]");
}

static void add_site(struct writer *w, const uint8_t *p, unsigned type)
{
    struct cursor c = {p, p + SIZE_OF(SITE, w->show->id_size)};
    struct SITE r;

    (void)type;
    if (read_SITE(&c, w->show->id_size, &r))
        add(w,
            "site array %u class %" PRIu32 " trace %" PRIu32 " live-bytes %" PRIu32 " live-instances %" PRIu32
            " allocated-bytes %" PRIu32 " allocated-instances %" PRIu32,
            r.array_type, r.class_serial, r.trace_serial, r.live_bytes, r.live_instances, r.allocated_bytes,
            r.allocated_instances);
}

static void write_ALLOC_SITES(struct writer *w, struct cursor *c, const struct ALLOC_SITES *r)
{
    unsigned id_size = w->show->id_size;
    uint64_t from = w->item->offset + RECORD_HEADER_SIZE + SIZE_OF(ALLOC_SITES, id_size);
    struct parts parts = {from, parts_that_fit(w, from, r->sites, SIZE_OF(SITE, id_size)), 1, SIZE_OF(SITE, id_size), 0};

    (void)c;
    add(w,
        " flags %u cutoff 0x%08" PRIx32 " live-bytes %" PRIu32 " live-instances %" PRIu32 " allocated-bytes %" PRIu64
        " allocated-instances %" PRIu64 " sites %" PRIu32 " {",
        r->flags, r->cutoff, r->live_bytes, r->live_instances, r->allocated_bytes, r->allocated_instances, r->sites);
    end_line(w, 0, w->item->offset, from - w->item->offset);
    write_parts(w, &parts, add_site, 0);
    close_bracket(w, 0, "}");
}

static void write_HEAP_SUMMARY(struct writer *w, struct cursor *c, const struct HEAP_SUMMARY *r)
{
    (void)c;
    add(w, " live-bytes %" PRIu32 " live-instances %" PRIu32 " allocated-bytes %" PRIu64 " allocated-instances %" PRIu64,
        r->live_bytes, r->live_instances, r->allocated_bytes, r->allocated_instances);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_START_THREAD(struct writer *w, struct cursor *c, const struct START_THREAD *r)
{
    (void)c;
    add(w,
        " serial %" PRIu32 " object 0x%" PRIx64 " trace %" PRIu32 " name 0x%" PRIx64 " group 0x%" PRIx64 " parent 0x%" PRIx64,
        r->thread_serial, r->thread_id, r->trace_serial, r->name, r->group, r->parent_group);
    note_string(w, r->name);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_END_THREAD(struct writer *w, struct cursor *c, const struct END_THREAD *r)
{
    (void)c;
    add(w, " serial %" PRIu32, r->thread_serial);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void add_sample(struct writer *w, const uint8_t *p, unsigned type)
{
    (void)type;
    add(w, "sample samples %" PRIu32 " trace %" PRIu32, get_u4(p), get_u4(p + 4));
}

static void write_CPU_SAMPLES(struct writer *w, struct cursor *c, const struct CPU_SAMPLES *r)
{
    uint64_t from = w->item->offset + RECORD_HEADER_SIZE + SIZE_OF(CPU_SAMPLES, 8), size = SIZE_OF(SAMPLE, 8);
    struct parts parts = {from, parts_that_fit(w, from, r->traces, size), 1, size, 0};

    (void)c;
    add(w, " samples %" PRIu32 " traces %" PRIu32 " {", r->samples, r->traces);
    end_line(w, 0, w->item->offset, from - w->item->offset);
    write_parts(w, &parts, add_sample, 0);
    close_bracket(w, 0, "}");
}

static void write_CONTROL_SETTINGS(struct writer *w, struct cursor *c, const struct CONTROL_SETTINGS *r)
{
    (void)c;
    add(w, " flags %" PRIu32 " depth %u", r->flags, r->depth);
    end_line(w, 0, w->item->offset, w->item->size);
}

/* Writes a record of wrong length or of undefined tag. */
static void write_any(struct writer *w, uint8_t tag)
{
    if (w->text_size == 0)
        add(w, "record 0x%02x", tag);
    note(w, "%sa body of %" PRIu64 " bytes", w->remark_size ? ", " : "", w->item->length);
    end_line(w, 0, w->item->offset, w->item->size);
}

static void write_record(struct writer *w)
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
        add(w, "end");
    else if (name)
        add_word(w, name);
    if (time)
        add(w, " at %" PRIu32, time);
    switch (tag) {
#define WRITE(layout) \
    case TAG_##layout: { \
        struct layout r; \
        if (w->item->length >= SIZE_OF(layout, s->id_size) && read_##layout(&c, s->id_size, &r)) { \
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

static void write_heap(struct writer *w)
{
    struct cursor c = show_bytes(w->show, w->item->offset, RECORD_HEADER_SIZE);

    add(w, cursor_left(&c) && *c.at == TAG_HEAP_DUMP ? "heap-dump" : "segment");
    if (cursor_left(&c) == RECORD_HEADER_SIZE && get_u4(c.at + RECORD_TIME_AT))
        add(w, " at %" PRIu32, get_u4(c.at + RECORD_TIME_AT));
    add(w, " {");
    note(w, "%" PRIu64 " bytes", w->item->length);
    end_line(w, 0, w->item->offset, RECORD_HEADER_SIZE);
}

/* ---- Sub-records ---- */

static void end_subrecord(struct writer *w)
{
    end_line(w, 1, w->item->offset, w->item->size);
}

static void write_ROOT_OBJECT(struct writer *w, const struct ROOT_OBJECT *r)
{
    add_id(w, r->object_id);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_JNI_GLOBAL(struct writer *w, const struct ROOT_JNI_GLOBAL *r)
{
    add_id(w, r->object_id);
    add(w, " reference 0x%" PRIx64, r->reference_id);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_FRAME(struct writer *w, const struct ROOT_FRAME *r)
{
    add_id(w, r->object_id);
    add(w, " thread %" PRIu32 " frame %" PRId32, r->thread_serial, r->frame);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_THREAD(struct writer *w, const struct ROOT_THREAD *r)
{
    add_id(w, r->object_id);
    add(w, " thread %" PRIu32, r->thread_serial);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_THREAD_OBJECT(struct writer *w, const struct ROOT_THREAD_OBJECT *r)
{
    add_id(w, r->object_id);
    add(w, " thread %" PRIu32 " trace %" PRIu32, r->thread_serial, r->trace_serial);
    end_subrecord(w);
}

static void write_ROOT_JNI_MONITOR(struct writer *w, const struct ROOT_JNI_MONITOR *r)
{
    add_id(w, r->object_id);
    add(w, " thread %" PRIu32 " depth %" PRIu32, r->thread_serial, r->depth);
    end_subrecord(w);
}

static void write_HEAP_DUMP_INFO(struct writer *w, const struct HEAP_DUMP_INFO *r)
{
    add(w, " heap %" PRIu32 " name 0x%" PRIx64, r->heap, r->name);
    note_string(w, r->name);
    end_subrecord(w);
}

static void write_PRIMITIVE_ARRAY_NODATA(struct writer *w, const struct PRIMITIVE_ARRAY_NODATA *r)
{
    add_id(w, r->object_id);
    add(w, " type %s elements %" PRIu32, type_name(r->type), r->elements);
    end_subrecord(w);
}

/* Ends the line of a field. Most classes have few fields; of many, those far from the offset are hidden. */
static void end_part(struct writer *w, struct parts *p, uint64_t index, uint64_t offset, uint64_t size)
{
    if (index < 4 * PARTS_ALWAYS || is_near(w->show, offset, size, 4 * PARTS_AROUND)) {
        char text[LINE_SIZE], remark[LINE_SIZE];

        memcpy(text, w->text, sizeof text);
        memcpy(remark, w->remark, sizeof remark);
        w->text_size = w->remark_size = 0;
        end_hidden(w, p, 2);
        add(w, "%s", text);
        note(w, "%s", remark);
        end_line(w, 2, offset, size);
        return;
    }
    w->text_size = w->remark_size = 0;
    w->text[0] = w->remark[0] = '\0';
    p->hidden++;
}

/* Writes a count of entries only if it contains the offset, since the notation of corpus/ has no counts. */
static void write_count(struct writer *w, uint64_t offset, unsigned count, const char *of)
{
    uint64_t target = w->show->asked.offset;

    if (target < offset || target >= offset + 2)
        return;
    note(w, "%u %s", count, of);
    end_line(w, 2, offset, 2);
}

static bool write_entries(struct writer *w, struct cursor *c, const uint8_t *first, bool is_static)
{
    unsigned id_size = w->show->id_size;
    size_t head = is_static ? SIZE_OF(STATIC_FIELD, id_size) : SIZE_OF(CONSTANT, id_size);
    const uint8_t *count = cursor_take(c, 2);
    struct parts parts = {0};

    if (count)
        write_count(w, w->item->offset + (uint64_t)(count - first), get_u2(count), is_static ? "static fields" : "constants");
    for (unsigned i = 0; count && i < get_u2(count); i++) {
        const uint8_t *entry = cursor_take(c, head);
        unsigned type = entry ? get_u1(entry + head - 1) : 0;
        const uint8_t *value = entry ? cursor_take(c, type_size(type, id_size)) : NULL;

        if (!value)
            return false;
        if (is_static) {
            add(w, "static 0x%" PRIx64 " %s", get_id(entry, id_size), type_name(type));
            note_string(w, get_id(entry, id_size));
        } else {
            add(w, "constant %u %s", get_u2(entry), type_name(type));
        }
        add_value(w, value, type);
        end_part(w, &parts, i, w->item->offset + (uint64_t)(entry - first), (uint64_t)(c->at - entry));
    }
    end_hidden(w, &parts, 2);
    return count != NULL;
}

static void write_class_dump(struct writer *w)
{
    unsigned id_size = w->show->id_size;
    size_t most = w->item->size < CLASS_DUMP_MAX ? (size_t)w->item->size : CLASS_DUMP_MAX;
    struct cursor c = show_bytes(w->show, w->item->offset, most);
    const uint8_t *first = c.at, *count;
    struct parts parts = {0};
    struct CLASS_DUMP r;

    if (!cursor_take(&c, 1) || !read_CLASS_DUMP(&c, id_size, &r))
        return;
    add_id(w, r.class_id);
    add(w, " trace %" PRIu32 " super", r.trace_serial);
    add_id(w, r.super_id);
    add(w, " loader");
    add_id(w, r.loader_id);
    if (r.signers_id || r.domain_id) {
        add(w, " signers");
        add_id(w, r.signers_id);
        add(w, " domain");
        add_id(w, r.domain_id);
    }
    if (r.reserved1 || r.reserved2)
        add(w, " reserved1 0x%" PRIx64 " reserved2 0x%" PRIx64, r.reserved1, r.reserved2);
    add(w, " instance-size %" PRIu32 " {", r.instance_size);
    note_class(w, r.class_id);
    if (r.super_id) {
        note(w, " extends");
        note_class(w, r.super_id);
    }
    end_line(w, 1, w->item->offset, (uint64_t)(c.at - first));
    if (!write_entries(w, &c, first, false) || !write_entries(w, &c, first, true) || !(count = cursor_take(&c, 2)))
        return;
    write_count(w, w->item->offset + (uint64_t)(count - first), get_u2(count), "fields");
    for (unsigned i = 0; i < get_u2(count); i++) {
        const uint8_t *entry = c.at;
        struct INSTANCE_FIELD field;

        if (!read_INSTANCE_FIELD(&c, id_size, &field))
            return;
        add(w, "field 0x%" PRIx64 " %s", field.name, type_name(field.type));
        note_string(w, field.name);
        end_part(w, &parts, i, w->item->offset + (uint64_t)(entry - first), (uint64_t)(c.at - entry));
    }
    end_hidden(w, &parts, 2);
    close_bracket(w, 1, "}");
}

/* Writes the first bytes of a range that belongs to no field. */
static void write_raw(struct writer *w, uint64_t from, uint64_t end)
{
    enum { BYTES_MAX = 32 };
    struct cursor c = show_bytes(w->show, from, end - from < BYTES_MAX ? (size_t)(end - from) : BYTES_MAX);

    for (size_t i = 0; c.at < c.end; i++)
        add(w, "%s%02x", i ? "" : "raw 0x", *c.at++);
    end_line(w, 2, from, end - from);
}

/* The instance fields of a class, and its superclass; an empty cursor if its CLASS_DUMP was not found. */
static struct cursor fields_of(const struct show *s, uint64_t class_id, uint64_t *super_id)
{
    uint64_t copy;
    const uint8_t *p;
    struct cursor c = {NULL, NULL};

    *super_id = 0;
    if (!keymap_get(&s->classes, class_id, &copy))
        return c;
    p = (const uint8_t *)(uintptr_t)copy;
    *super_id = get_id(p + 1 + OFFSET_OF(CLASS_DUMP, super_id, s->id_size), s->id_size);
    p += 1 + SIZE_OF(CLASS_DUMP, s->id_size);
    /* Only measured class dumps are kept, so all entries are complete. */
    for (int is_static = 0; is_static < 2; is_static++) {
        size_t head = is_static ? SIZE_OF(STATIC_FIELD, s->id_size) : SIZE_OF(CONSTANT, s->id_size);
        unsigned count = get_u2(p);

        for (p += 2; count; count--)
            p += head + type_size(get_u1(p + head - 1), s->id_size);
    }
    c.at = p + 2;
    c.end = c.at + (size_t)get_u2(p) * SIZE_OF(INSTANCE_FIELD, s->id_size);
    return c;
}

static void write_INSTANCE_DUMP(struct writer *w, const struct INSTANCE_DUMP *r)
{
    enum { DEPTH_MAX = 1 << 12, VALUES_MAX = 1 << 20 };
    struct show *s = w->show;
    uint64_t at = w->item->offset + 1 + SIZE_OF(INSTANCE_DUMP, s->id_size), end = at + r->bytes, index = 0,
             class_id = r->class_id;
    struct parts parts = {0};
    struct cursor values;

    add_id(w, r->object_id);
    add(w, " trace %" PRIu32 " class", r->trace_serial);
    add_id(w, r->class_id);
    add(w, " [%s", r->bytes ? "" : " ]");
    note_class(w, r->class_id);
    end_line(w, 1, w->item->offset, at - w->item->offset);
    if (!r->bytes)
        return;
    values = show_bytes(s, at, r->bytes < VALUES_MAX ? r->bytes : VALUES_MAX);
    for (unsigned depth = 0; class_id && depth < DEPTH_MAX && at < end; depth++) {
        struct cursor fields = fields_of(s, class_id, &class_id);
        struct INSTANCE_FIELD field;

        while (read_INSTANCE_FIELD(&fields, s->id_size, &field)) {
            unsigned size = type_size(field.type, s->id_size);
            const uint8_t *value = size ? cursor_take(&values, size) : NULL;

            if (!value) {
                class_id = 0;
                break;
            }
            add(w, "%s", type_name(field.type));
            note_string(w, field.name);
            add_value(w, value, field.type);
            end_part(w, &parts, index++, at, size);
            at += size;
        }
    }
    end_hidden(w, &parts, 2);
    if (at < end) {
        note(w, "%" PRIu64 " bytes of unknown fields", end - at);
        write_raw(w, at, end);
    }
    close_bracket(w, 1, "]");
}

static void write_OBJECT_ARRAY_DUMP(struct writer *w, const struct OBJECT_ARRAY_DUMP *r)
{
    uint64_t from = w->item->offset + 1 + SIZE_OF(OBJECT_ARRAY_DUMP, w->show->id_size);
    struct parts parts = {from, r->elements, 4, w->show->id_size, 0};

    add_id(w, r->object_id);
    add(w, " trace %" PRIu32 " class", r->trace_serial);
    add_id(w, r->class_id);
    add(w, " [%s", r->elements ? "" : " ]");
    note_class(w, r->class_id);
    note(w, "%s%" PRIu32 " element%s", w->remark_size ? ", " : "", r->elements, r->elements == 1 ? "" : "s");
    end_line(w, 1, w->item->offset, from - w->item->offset);
    if (!r->elements)
        return;
    write_parts(w, &parts, add_id_part, 0);
    close_bracket(w, 1, "]");
}

static void write_PRIMITIVE_ARRAY_DUMP(struct writer *w, const struct PRIMITIVE_ARRAY_DUMP *r)
{
    uint64_t from = w->item->offset + 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, w->show->id_size);
    unsigned size = type_size(r->type, 0);
    struct parts parts = {from, r->elements, size > 4 ? 4 : 16 / size, size, 0};

    add_id(w, r->object_id);
    add(w, " trace %" PRIu32 " type %s [%s", r->trace_serial, type_name(r->type), r->elements ? "" : " ]");
    note(w, "%" PRIu32 " element%s", r->elements, r->elements == 1 ? "" : "s");
    end_line(w, 1, w->item->offset, from - w->item->offset);
    if (!r->elements)
        return;
    write_parts(w, &parts, add_value, r->type);
    close_bracket(w, 1, "]");
}

static void write_subrecord(struct writer *w)
{
    struct show *s = w->show;
    struct cursor c = show_bytes(s, w->item->offset, 1 + SIZE_OF(CLASS_DUMP, s->id_size));
    const uint8_t *start = cursor_take(&c, 1);
    uint8_t tag;

    if (!start) /* a read failed, or memory ran out */
        return;
    tag = *start;
    add_word(w, hprof_subrecord_name(tag));
    switch ((enum subrecord_tag)tag) {
    case SUB_CLASS_DUMP:
        write_class_dump(w);
        break;
#define WRITE(sub, layout) \
    case SUB_##sub: { \
        struct layout r; \
        if (read_##layout(&c, s->id_size, &r)) \
            write_##layout(w, &r); \
        break; \
    }
        WRITE(INSTANCE_DUMP, INSTANCE_DUMP)
        WRITE(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP)
        WRITE(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP)
        WRITE(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL)
        WRITE(ROOT_JNI_LOCAL, ROOT_FRAME)
        WRITE(ROOT_JAVA_FRAME, ROOT_FRAME)
        WRITE(ROOT_NATIVE_STACK, ROOT_THREAD)
        WRITE(ROOT_STICKY_CLASS, ROOT_OBJECT)
        WRITE(ROOT_THREAD_BLOCK, ROOT_THREAD)
        WRITE(ROOT_MONITOR_USED, ROOT_OBJECT)
        WRITE(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT)
        WRITE(ROOT_UNKNOWN, ROOT_OBJECT)
        WRITE(HEAP_DUMP_INFO, HEAP_DUMP_INFO)
        WRITE(ROOT_INTERNED_STRING, ROOT_OBJECT)
        WRITE(ROOT_FINALIZING, ROOT_OBJECT)
        WRITE(ROOT_DEBUGGER, ROOT_OBJECT)
        WRITE(ROOT_REFERENCE_CLEANUP, ROOT_OBJECT)
        WRITE(ROOT_VM_INTERNAL, ROOT_OBJECT)
        WRITE(ROOT_JNI_MONITOR, ROOT_JNI_MONITOR)
        WRITE(ROOT_UNREACHABLE, ROOT_OBJECT)
        WRITE(PRIMITIVE_ARRAY_NODATA, PRIMITIVE_ARRAY_NODATA)
#undef WRITE
    }
}

/* ---- Bytes ---- */

/* Writes bytes in rows, up to `end` or the end of the dump. Returns where the rows end. */
static uint64_t write_rows(struct writer *w, uint64_t from, uint64_t end)
{
    const struct hprof_show *asked = &w->show->asked;

    while (from < end) {
        size_t n = end - from < ROW_BYTES ? (size_t)(end - from) : ROW_BYTES;
        struct cursor c = show_bytes(w->show, from, n);
        struct hprof_line line = {
            .struct_size = sizeof(struct hprof_line),
            .offset = from,
            .depth = w->depth,
            .here = asked->offset >= from && asked->offset - from < n,
            .text = "",
            .remark = "",
            .bytes = c.at,
            .byte_count = cursor_left(&c),
        };

        if (!line.byte_count)
            break;
        hand_out(w, &line);
        from += line.byte_count;
    }
    return from;
}

/* Writes the first rows of an item, and those around the offset if the item contains it. */
static void write_bytes(struct writer *w, uint64_t size)
{
    uint64_t start = w->item->offset, end = start + size, target = w->show->asked.offset;
    uint64_t at = start + (size <= ROWS_WHOLE * ROW_BYTES ? size : ROWS_ALWAYS * ROW_BYTES);

    at = write_rows(w, start, at < end ? at : end);
    if (target >= start && target < end) {
        uint64_t row = start + (target - start) / ROW_BYTES * ROW_BYTES, margin = ROWS_AROUND * ROW_BYTES;
        uint64_t from = row > at + margin ? row - margin : at, to = row + margin + ROW_BYTES;

        if (from > at) {
            note(w, "%" PRIu64 " bytes", from - at);
            end_line(w, w->depth, HPROF_NO_OFFSET, 0);
        }
        if (to > from)
            at = write_rows(w, from, to < end ? to : end);
    }
    if (at < end) {
        struct cursor next = show_bytes(w->show, at, 1);

        if (cursor_left(&next))
            note(w, "%" PRIu64 " more bytes", end - at);
        else
            note(w, "the dump ends here, %" PRIu64 " bytes early", end - at);
        end_line(w, w->depth, HPROF_NO_OFFSET, 0);
    }
}

/* ---- Items ---- */

/* Writes the bytes of an item, after a line for the offset if no field contains it. */
static void end_item(struct writer *w, uint64_t size)
{
    uint64_t target = w->show->asked.offset;

    if (!w->was_here && target >= w->item->offset && target - w->item->offset < size) {
        note(w, "bytes outside of all fields");
        end_line(w, w->depth + 1, w->item->offset, size);
    }
    write_bytes(w, size);
}

static void write_header(struct writer *w)
{
    struct cursor c = show_bytes(w->show, 0, HEADER_SIZE);
    const uint8_t *p = cursor_take(&c, HEADER_SIZE);
    time_t seconds;
    struct tm utc;
    char date[40];

    if (!p)
        return;
    p += HEADER_STRING_SIZE;
    add(w, "hprof \"JAVA PROFILE 1.0.%d\" id-size %u time %" PRIu64, (int)w->show->version, w->show->id_size, get_u8(p + 4));
    seconds = (time_t)(get_u8(p + 4) / 1000);
    if (gmtime_r(&seconds, &utc) && strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", &utc))
        note(w, "%s", date);
    end_line(w, 0, 0, HEADER_SIZE);
}

void show_item(struct show *s, const struct item *item)
{
    struct writer w = {.show = s, .item = item, .depth = item->heap ? 1 : 0};

    switch (item->kind) {
    case ITEM_HEADER:
        write_header(&w);
        break;
    case ITEM_RECORD:
        write_record(&w);
        break;
    case ITEM_HEAP:
        write_heap(&w);
        break;
    case ITEM_SUBRECORD:
        write_subrecord(&w);
        break;
    case ITEM_UNREADABLE:
        add(&w, "raw");
        note(&w, "%s", item->why);
        end_line(&w, w.depth, item->offset, item->size);
        break;
    }
    end_item(&w, item->kind == ITEM_HEAP ? RECORD_HEADER_SIZE : item->size);
}

void show_heap_end(struct show *s)
{
    struct writer w = {.show = s};

    close_bracket(&w, 0, "}");
}
