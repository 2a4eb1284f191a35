#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/keymap.h"
#include "base/memory.h"
#include "format/format.h"
#include "format/subrecord.h"

enum { ID_SIZE = 4, OBJECT_HEADER = 16, OBJECT_ALIGNMENT = 8, BUFFER = 64 << 10, LINE_MOST = 256 };

enum map {
    STRINGS,      /* ID to the offset of the record */
    NAMES,        /* class ID to string ID */
    SERIALS,      /* class serial to string ID */
    FRAMES,       /* ID to the offset of the fields */
    FIRST_FRAMES, /* trace serial to frame ID; 0 of an empty trace */
    CLASSES,      /* ID to the offset of the CLASS_DUMP */
    STARTED,      /* thread serial to nothing */
    OBJECTS,      /* ID of an object or class of the heap dump to nothing */
    MAPS
};

struct text {
    const uint8_t *dump;
    size_t size;
    text_put *put;
    void *context;
    bool is_read; /* somebody reads what is put */

    struct memory memory;
    struct keymap maps[MAPS];
    uint32_t any_trace;      /* JNI global references have none in a binary dump */
    uint64_t objects, bytes; /* of the heap dump */

    size_t used;
    uint8_t buffer[BUFFER];
};

/* ---- Writing ---- */

static void flush(struct text *t)
{
    if (t->is_read && t->used)
        t->is_read = t->put(t->context, t->buffer, t->used);
    t->used = 0;
}

static void write_bytes(struct text *t, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t part = size < BUFFER - t->used ? size : BUFFER - t->used;

        memcpy(t->buffer + t->used, bytes, part);
        t->used += part;
        bytes += part;
        size -= part;
        if (t->used == BUFFER)
            flush(t);
    }
}

__attribute__((format(printf, 2, 3))) static void write_format(struct text *t, const char *format, ...)
{
    char line[LINE_MOST];
    va_list values;
    int size;

    va_start(values, format);
    size = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    write_bytes(t, (const uint8_t *)line, (size_t)size);
}

/* "Thu Jan  1 00:00:00 2026" */
static void write_date(struct text *t)
{
    time_t now = time(NULL);
    struct tm parts;
    char date[32];

    localtime_r(&now, &parts);
    strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &parts);
    write_format(t, "%s\n", date);
}

/* ---- Names ---- */

static size_t write_string(struct text *t, uint64_t id, const char *without)
{
    uint64_t at;
    size_t size;

    if (!id || !keymap_get(&t->maps[STRINGS], id, &at)) {
        write_format(t, "%s", without);
        return strlen(without);
    }
    size = get_u4(t->dump + at + RECORD_LENGTH_AT) - ID_SIZE;
    write_bytes(t, t->dump + at + RECORD_HEADER_SIZE + ID_SIZE, size);
    return size;
}

static void write_class(struct text *t, const struct keymap *map, uint64_t key)
{
    uint64_t name = 0;

    keymap_get(map, key, &name);
    write_string(t, name, "<Unknown>");
}

static void write_method(struct text *t, uint64_t frame_id)
{
    struct FRAME frame = {0};
    struct cursor c;
    uint64_t at;

    if (!frame_id || !keymap_get(&t->maps[FRAMES], frame_id, &at)) {
        write_format(t, "<empty trace>");
        return;
    }
    c = (struct cursor){.at = t->dump + at, .end = t->dump + t->size};
    read_FRAME(&c, ID_SIZE, &frame);
    write_class(t, &t->maps[SERIALS], frame.class_serial);
    write_format(t, ".");
    write_string(t, frame.method, "<Unknown Method>");
}

/* ---- Threads and traces ---- */

static void write_frame(struct text *t, uint64_t id)
{
    struct FRAME frame = {0};
    struct cursor c;
    uint64_t at;

    if (!keymap_get(&t->maps[FRAMES], id, &at))
        return;
    c = (struct cursor){.at = t->dump + at, .end = t->dump + t->size};
    read_FRAME(&c, ID_SIZE, &frame);
    write_format(t, "\t");
    write_method(t, id);
    write_format(t, "(");
    write_string(t, frame.source, "<Unknown Source>");
    if (frame.line > 0)
        write_format(t, ":%" PRId32 ")\n", frame.line);
    else
        write_format(t, ":%s)\n", frame.line == -2 ? "Compiled method" : frame.line == -3 ? "Native method" : "Unknown line");
}

static void write_trace(struct text *t, struct cursor *c)
{
    struct TRACE trace;

    if (!read_TRACE(c, ID_SIZE, &trace))
        return;
    write_format(t, "TRACE %" PRIu32 ":", trace.trace_serial);
    if (trace.thread_serial)
        write_format(t, " (thread=%" PRIu32 ")", trace.thread_serial);
    write_format(t, trace.frames ? "\n" : "\n\t<empty>\n");
    for (uint32_t i = 0; i < trace.frames; i++) {
        const uint8_t *id = cursor_take(c, ID_SIZE);

        if (id)
            write_frame(t, get_u4(id));
    }
}

static void write_start(struct text *t, struct cursor *c)
{
    struct START_THREAD start;

    if (!read_START_THREAD(c, ID_SIZE, &start))
        return;
    write_format(t, "THREAD START (obj=%" PRIx64 ", id = %" PRIu32 ", name=\"", start.thread_id, start.thread_serial);
    write_string(t, start.name, "");
    write_format(t, "\", group=\"");
    write_string(t, start.group, "");
    write_format(t, "\")\n");
}

/* ---- Tables ---- */

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void write_sites(struct text *t, struct cursor *c)
{
    enum { BY_ALLOCATION = 2 };
    struct ALLOC_SITES sites;
    struct SITE site;
    double accumulated = 0;

    if (!read_ALLOC_SITES(c, ID_SIZE, &sites))
        return;
    write_format(t, "SITES BEGIN (ordered by %s bytes) ", sites.flags & BY_ALLOCATION ? "allocated" : "live");
    write_date(t);
    write_format(t, "          percent          live          alloc'ed  stack class\n"
                    " rank   self  accum     bytes objs     bytes  objs trace name\n");
    for (uint32_t i = 0; i < sites.sites && read_SITE(c, ID_SIZE, &site); i++) {
        double share = percent(site.live_bytes, sites.live_bytes);

        accumulated += share;
        write_format(t, "%5" PRIu32 " %5.2f%% %5.2f%% %9" PRIu32 " %4" PRIu32 " %9" PRIu32 " %5" PRIu32 " %5" PRIu32 " ", i + 1,
                     share, accumulated, site.live_bytes, site.live_instances, site.allocated_bytes, site.allocated_instances,
                     site.trace_serial ? site.trace_serial : t->any_trace);
        write_class(t, &t->maps[SERIALS], site.class_serial);
        write_format(t, "\n");
    }
    write_format(t, "SITES END\n");
}

static void write_samples(struct text *t, struct cursor *c)
{
    struct CPU_SAMPLES samples;
    struct SAMPLE sample;
    uint64_t counted = 0;

    if (!read_CPU_SAMPLES(c, ID_SIZE, &samples) || !samples.samples)
        return;
    write_format(t, "CPU SAMPLES BEGIN (total = %" PRIu32 ") ", samples.samples);
    write_date(t);
    if (samples.traces)
        write_format(t, "rank   self  accum   count trace method\n");
    for (uint32_t i = 0; i < samples.traces && read_SAMPLE(c, ID_SIZE, &sample); i++) {
        uint64_t frame = 0;

        counted += sample.samples;
        keymap_get(&t->maps[FIRST_FRAMES], sample.trace_serial, &frame);
        write_format(t, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu32 " %6" PRIu32 " ", i + 1,
                     percent(sample.samples, samples.samples), percent((double)counted, samples.samples), sample.samples,
                     sample.trace_serial);
        write_method(t, frame);
        write_format(t, "\n");
    }
    write_format(t, "CPU SAMPLES END\n");
}

/* ---- Heap dumps ---- */

static uint64_t align(uint64_t size)
{
    return (size + OBJECT_ALIGNMENT - 1) / OBJECT_ALIGNMENT * OBJECT_ALIGNMENT;
}

static uint64_t array_size(uint64_t elements, unsigned type)
{
    return align(OBJECT_HEADER + elements * type_size(type, ID_SIZE));
}

/* A field name of less than a tab stop has a second tab. */
static void write_reference(struct text *t, uint64_t name, uint64_t id)
{
    enum { TAB_STOP = 8 };

    write_format(t, "\t");
    write_format(t, write_string(t, name, "") < TAB_STOP ? "\t\t%" PRIx64 "\n" : "\t%" PRIx64 "\n", id);
}

/* The head of a class's dump, and what follows it; false if the class has none. */
static bool find_class(const struct text *t, uint64_t id, struct CLASS_DUMP *class, const uint8_t **rest)
{
    struct cursor c;
    uint64_t at;

    if (!keymap_get(&t->maps[CLASSES], id, &at))
        return false;
    c = (struct cursor){.at = t->dump + at + 1, .end = t->dump + t->size};
    if (!read_CLASS_DUMP(&c, ID_SIZE, class))
        return false;
    *rest = c.at;
    return true;
}

static void write_fields(struct text *t, uint64_t class_id, struct cursor values)
{
    struct CLASS_DUMP class;
    const uint8_t *p;
    struct entry entry;

    while (cursor_left(&values) && find_class(t, class_id, &class, &p)) {
        for (unsigned left = read_count(&p); left; left--)
            read_entry(&p, sizeof(struct CONSTANT_in4), ID_SIZE, &entry);
        for (unsigned left = read_count(&p); left; left--)
            read_entry(&p, sizeof(struct STATIC_FIELD_in4), ID_SIZE, &entry);
        for (unsigned left = read_count(&p); left; left--, p += sizeof(struct INSTANCE_FIELD_in4)) {
            unsigned type = p[offsetof(struct INSTANCE_FIELD_in4, type)];
            const uint8_t *value = cursor_take(&values, type_size(type, ID_SIZE));

            if (value && type == TYPE_OBJECT && get_u4(value))
                write_reference(t, get_u4(p), get_u4(value));
        }
        class_id = class.super_id;
    }
}

static void write_instance(struct text *t, struct cursor *c)
{
    struct INSTANCE_DUMP one;

    if (!read_INSTANCE_DUMP(c, ID_SIZE, &one))
        return;
    write_format(t, "OBJ %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", class=", one.object_id,
                 align(OBJECT_HEADER + one.bytes), one.trace_serial);
    write_class(t, &t->maps[NAMES], one.class_id);
    write_format(t, "@%" PRIx64 ")\n", one.class_id);
    write_fields(t, one.class_id, *c);
}

/* The agent counts elements up to the last one that is not null. */
static void write_object_array(struct text *t, struct cursor *c)
{
    struct OBJECT_ARRAY_DUMP one;
    uint32_t elements;

    if (!read_OBJECT_ARRAY_DUMP(c, ID_SIZE, &one))
        return;
    elements = one.elements;
    while (elements && !get_u4(c->at + (size_t)(elements - 1) * ID_SIZE))
        elements--;
    write_format(t, "ARR %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", nelems=%" PRIu32 ", elem type=", one.object_id,
                 array_size(one.elements, TYPE_OBJECT), one.trace_serial, elements);
    write_class(t, &t->maps[NAMES], one.class_id);
    write_format(t, "@%" PRIx64 ")\n", one.class_id);
    for (uint32_t i = 0; i < elements; i++) {
        uint32_t id = get_u4(c->at + (size_t)i * ID_SIZE);

        if (id)
            write_format(t, "\t[%" PRIu32 "]\t\t%" PRIx32 "\n", i, id);
    }
}

static void write_primitive_array(struct text *t, struct cursor *c)
{
    static const char *const names[] = {
        [TYPE_BOOLEAN] = "boolean", [TYPE_CHAR] = "char",   [TYPE_FLOAT] = "float", [TYPE_DOUBLE] = "double",
        [TYPE_BYTE] = "byte",       [TYPE_SHORT] = "short", [TYPE_INT] = "int",     [TYPE_LONG] = "long"};
    struct PRIMITIVE_ARRAY_DUMP one;

    if (!read_PRIMITIVE_ARRAY_DUMP(c, ID_SIZE, &one) || !type_is_primitive(one.type))
        return;
    write_format(t, "ARR %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", nelems=%" PRIu32 ", elem type=%s[])\n", one.object_id,
                 array_size(one.elements, one.type), one.trace_serial, one.elements, names[one.type]);
}

static void write_named(struct text *t, const char *name, uint64_t id)
{
    if (id)
        write_format(t, "\t%s\t\t%" PRIx64 "\n", name, id);
}

static void write_class_dump(struct text *t, struct cursor *c)
{
    struct CLASS_DUMP class;
    struct entry entry;
    const uint8_t *p;

    if (!read_CLASS_DUMP(c, ID_SIZE, &class))
        return;
    write_format(t, "CLS %" PRIx64 " (name=", class.class_id);
    write_class(t, &t->maps[NAMES], class.class_id);
    write_format(t, ", trace=%" PRIu32 ")\n", class.trace_serial);
    write_named(t, "super", class.super_id);
    write_named(t, "loader", class.loader_id);
    write_named(t, "signers", class.signers_id);
    write_named(t, "domain", class.domain_id);
    p = c->at;
    for (unsigned left = read_count(&p); left; left--) {
        read_entry(&p, sizeof(struct CONSTANT_in4), ID_SIZE, &entry);
        if (entry.type == TYPE_OBJECT && get_u4(entry.value))
            write_format(t, "\tconstant pool entry %u\t%" PRIx32 "\n", (unsigned)get_u2(entry.head), get_u4(entry.value));
    }
    for (unsigned left = read_count(&p); left; left--) {
        read_entry(&p, sizeof(struct STATIC_FIELD_in4), ID_SIZE, &entry);
        if (entry.type != TYPE_OBJECT || !get_u4(entry.value))
            continue;
        write_format(t, "\tstatic ");
        write_string(t, get_u4(entry.head), "");
        write_format(t, "\t%" PRIx32 "\n", get_u4(entry.value));
    }
}

/* In text the agent writes no root that dangles, no thread that only ends, and no site without a trace, as it does in records. */
static void write_root(struct text *t, uint8_t tag, const uint8_t *p)
{
    uint32_t first = get_u4(p + ID_SIZE); /* roots of one field have other bytes here, which are not used */

    if (get_u4(p) && !keymap_get(&t->maps[OBJECTS], get_u4(p), NULL))
        return;
    write_format(t, "ROOT %" PRIx32 " (kind=<", get_u4(p));
    switch (tag) {
    case SUB_ROOT_THREAD_OBJECT:
        write_format(t, "thread>, id=%" PRIu32 ", trace=%" PRIu32, first,
                     get_u4(p + offsetof(struct ROOT_THREAD_OBJECT_in4, trace_serial)));
        break;
    case SUB_ROOT_JNI_GLOBAL:
        write_format(t, "JNI global ref>, id=%" PRIx32 ", trace=%" PRIu32, first, t->any_trace);
        break;
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_JAVA_FRAME:
        write_format(t, "%s>, thread=%" PRIu32 ", frame=%" PRId32, tag == SUB_ROOT_JNI_LOCAL ? "JNI local ref" : "Java stack",
                     first, (int32_t)get_u4(p + offsetof(struct ROOT_FRAME_in4, frame)));
        break;
    case SUB_ROOT_NATIVE_STACK:
    case SUB_ROOT_THREAD_BLOCK:
        write_format(t, "%s>, thread=%" PRIu32, tag == SUB_ROOT_NATIVE_STACK ? "native stack" : "thread block", first);
        break;
    case SUB_ROOT_STICKY_CLASS:
        write_format(t, "system class>, name=");
        write_class(t, &t->maps[NAMES], get_u4(p));
        break;
    case SUB_ROOT_MONITOR_USED:
        write_format(t, "busy monitor>");
        break;
    default:
        write_format(t, "unknown>");
        break;
    }
    write_format(t, ")\n");
}

static void write_subrecord(struct text *t, const uint8_t *p, uint64_t size)
{
    struct cursor c = {.at = p + 1, .end = p + size};

    switch (p[0]) {
    case SUB_INSTANCE_DUMP:
        write_instance(t, &c);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        write_object_array(t, &c);
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        write_primitive_array(t, &c);
        break;
    case SUB_CLASS_DUMP:
        write_class_dump(t, &c);
        break;
    default:
        write_root(t, p[0], p + 1);
        break;
    }
}

typedef bool each_subrecord(struct text *t, const uint8_t *p, uint64_t size);

/* False if `each` is, or at bytes that are no sub-record. */
static bool walk_heap(struct text *t, const uint8_t *p, size_t left, each_subrecord *each)
{
    struct measure m;

    while (left) {
        if (measure_subrecord(p, left, ID_SIZE, V102, &m) != MEASURED || m.size > left || !each(t, p, m.size))
            return false;
        p += m.size;
        left -= (size_t)m.size;
    }
    return true;
}

static bool write_each(struct text *t, const uint8_t *p, uint64_t size)
{
    write_subrecord(t, p, size);
    return t->is_read;
}

/* ---- Names of the whole dump ---- */

/* HEAP DUMP BEGIN counts what follows it. */
static bool note_subrecord(struct text *t, const uint8_t *p, uint64_t size)
{
    struct cursor c = {.at = p + 1, .end = p + size};
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP array;
    struct PRIMITIVE_ARRAY_DUMP primitive;

    switch (p[0]) {
    case SUB_INSTANCE_DUMP:
        t->bytes += read_INSTANCE_DUMP(&c, ID_SIZE, &instance) ? align(OBJECT_HEADER + instance.bytes) : 0;
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        t->bytes += read_OBJECT_ARRAY_DUMP(&c, ID_SIZE, &array) ? array_size(array.elements, TYPE_OBJECT) : 0;
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        t->bytes += read_PRIMITIVE_ARRAY_DUMP(&c, ID_SIZE, &primitive) ? array_size(primitive.elements, primitive.type) : 0;
        break;
    case SUB_CLASS_DUMP:
        if (!keymap_put(&t->maps[CLASSES], get_u4(p + 1), (uint64_t)(p - t->dump)))
            return false;
        break;
    default: /* a root */
        return true;
    }
    t->objects++;
    return keymap_put(&t->maps[OBJECTS], get_u4(p + 1), 0);
}

static bool note_record(struct text *t, const uint8_t *record, struct cursor c)
{
    struct LOAD_CLASS load;
    struct TRACE trace;

    switch (record[0]) {
    case TAG_UTF8:
        return keymap_put(&t->maps[STRINGS], get_u4(c.at), (uint64_t)(record - t->dump));
    case TAG_LOAD_CLASS:
        return read_LOAD_CLASS(&c, ID_SIZE, &load) && keymap_put(&t->maps[NAMES], load.class_id, load.name) &&
               keymap_put(&t->maps[SERIALS], load.class_serial, load.name);
    case TAG_START_THREAD:
        return keymap_put(&t->maps[STARTED], get_u4(c.at), 0);
    case TAG_FRAME:
        return keymap_put(&t->maps[FRAMES], get_u4(c.at), (uint64_t)(c.at - t->dump));
    case TAG_TRACE:
        if (!read_TRACE(&c, ID_SIZE, &trace))
            return false;
        t->any_trace = t->any_trace ? t->any_trace : trace.trace_serial;
        return keymap_put(&t->maps[FIRST_FRAMES], trace.trace_serial, trace.frames ? get_u4(c.at) : 0);
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
        return walk_heap(t, c.at, cursor_left(&c), note_subrecord);
    default:
        return true;
    }
}

static bool note_all(struct text *t)
{
    size_t at = HEADER_SIZE;

    while (t->size - at >= RECORD_HEADER_SIZE) {
        const uint8_t *record = t->dump + at;
        uint32_t length = get_u4(record + RECORD_LENGTH_AT);

        if (length > t->size - at - RECORD_HEADER_SIZE)
            return false;
        at += RECORD_HEADER_SIZE + length;
        if (!note_record(t, record, (struct cursor){.at = record + RECORD_HEADER_SIZE, .end = t->dump + at}))
            return false;
    }
    return true;
}

struct text *text_new(const uint8_t *dump, size_t size, text_put *put, void *context)
{
    struct text *t = calloc(1, sizeof *t);
    struct hash_key key = hash_key_draw();

    if (!t)
        return NULL;
    t->dump = dump;
    t->size = size;
    t->put = put;
    t->context = context;
    t->is_read = true;
    memory_init(&t->memory, NULL, 0);
    for (enum map m = 0; m < MAPS; m++)
        keymap_init(&t->maps[m], &t->memory, &key, sizeof(uint64_t), sizeof(uint64_t));
    if (size < HEADER_SIZE || !note_all(t)) {
        text_free(t);
        return NULL;
    }
    return t;
}

void text_free(struct text *t)
{
    if (!t)
        return;
    for (enum map m = 0; m < MAPS; m++)
        keymap_clear(&t->maps[m]);
    free(t);
}

/* ---- Records ---- */

void text_header(struct text *t)
{
    write_format(t, "JAVA PROFILE 1.0.1, created ");
    write_date(t);
    write_format(t, "\nText in the manner of the HPROF agent of JDK 8, made by hprof-gen.\n\n--------\n\n");
    flush(t);
}

void text_record(struct text *t, uint8_t tag, const uint8_t *body, uint32_t size)
{
    struct cursor c = {.at = body, .end = body + size};

    switch (tag) {
    case TAG_START_THREAD:
        write_start(t, &c);
        break;
    case TAG_END_THREAD:
        if (keymap_get(&t->maps[STARTED], get_u4(body), NULL))
            write_format(t, "THREAD END (id = %" PRIu32 ")\n", get_u4(body));
        break;
    case TAG_TRACE:
        write_trace(t, &c);
        break;
    case TAG_ALLOC_SITES:
        write_sites(t, &c);
        break;
    case TAG_CPU_SAMPLES:
        write_samples(t, &c);
        break;
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
        walk_heap(t, body, size, write_each);
        break;
    default:
        break;
    }
    flush(t);
}

void text_heap_begin(struct text *t)
{
    write_format(t, "HEAP DUMP BEGIN (%" PRIu64 " objects, %" PRIu64 " bytes) ", t->objects, t->bytes);
    write_date(t);
}

void text_heap_end(struct text *t)
{
    write_format(t, "HEAP DUMP END\n");
    flush(t);
}
