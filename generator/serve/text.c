
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "format/format.h"

#include "text_parts.h"

/* ---- Threads and traces ---- */

static void write_frame(struct text *t, uint64_t id)
{
    struct FRAME frame;

    if (!read_frame(t, id, &frame))
        return;
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

double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

bool read_trace(const struct text *t, uint32_t trace_serial, struct TRACE *trace, struct cursor *frames)
{
    uint64_t at;

    if (!keymap_get(&t->maps[TRACES], trace_serial, &at))
        return false;
    *frames = (struct cursor){.at = t->dump + at, .end = t->dump + t->size};
    return read_TRACE(frames, ID_SIZE, trace);
}

uint64_t first_frame(const struct text *t, uint32_t trace_serial)
{
    struct TRACE trace;
    struct cursor frames;

    return read_trace(t, trace_serial, &trace, &frames) && trace.frames ? get_u4(frames.at) : 0;
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
        counted += sample.samples;
        write_format(t, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu32 " %6" PRIu32 " ", i + 1,
                     percent(sample.samples, samples.samples), percent((double)counted, samples.samples), sample.samples,
                     sample.trace_serial);
        write_method(t, first_frame(t, sample.trace_serial));
        write_format(t, "\n");
    }
    write_format(t, "CPU SAMPLES END\n");
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
    const uint8_t *fields;

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
        fields = c.at;
        if (!read_TRACE(&c, ID_SIZE, &trace) || cursor_left(&c) / ID_SIZE < trace.frames)
            return false;
        t->any_trace = t->any_trace ? t->any_trace : trace.trace_serial;
        return keymap_put(&t->maps[TRACES], trace.trace_serial, (uint64_t)(fields - t->dump));
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
    write_format(t, "\nText in the manner of the HPROF agent of JDK 8, sent by hprof-serve.\n\n--------\n\n");
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
