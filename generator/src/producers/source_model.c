/* See source_model.h. Combines the table of a producer with the options: refuses what the producer cannot write,
 * lays out the IDs, and goes through the parts of the dump (emitter.c, objects.c, profiler.c). */
#include "producers/source_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producers/emitter.h"
#include "stream/encode.h"
#include "stream/segments.h"

static const struct producer *const producers[] = {
    &producer_plain,      &producer_hotspot,    &producer_hotspot_8,  &producer_hotspot_11, &producer_hotspot_17,
    &producer_hotspot_21, &producer_hotspot_25, &producer_hotspot_28, &producer_jdk8_agent, &producer_jvmpi_agent,
    &producer_sa,         &producer_sa_11,      &producer_sa_17,      &producer_sa_21,      &producer_sa_25,
    &producer_sa_28,      &producer_graalvm,    &producer_mat,        &producer_android};
enum { PRODUCERS = sizeof producers / sizeof *producers };

/* 2026-01-01: the same options give the same dump. */
#define TIMESTAMP UINT64_C(1767225600000)

static char sentence[256]; /* the latest failure */

struct source_model {
    struct source source;
    struct emitter emitter;
    uint64_t segment_size; /* 0 for HEAP_DUMP */
};

const struct producer *producer_at(size_t index)
{
    return index < PRODUCERS ? producers[index] : NULL;
}

const char *producer_name(const struct producer *producer)
{
    return producer->name;
}

const char *producer_about(const struct producer *producer)
{
    return producer->about;
}

const char *producer_profile(const struct producer *producer)
{
    return producer->profile;
}

/* ---- What a producer cannot write ---- */

static const char *records_refusal(const struct producer *producer, unsigned wanted)
{
    static const char *const names[] = {"ALLOC_SITES",  "CPU_SAMPLES",  "HEAP_SUMMARY",
                                        "START_THREAD", "UNLOAD_CLASS", "CONTROL_SETTINGS"};
    unsigned missing = wanted & ~producer->records, first = 0;

    if (!missing)
        return NULL;
    while (!(missing >> first & 1))
        first++;
    snprintf(sentence, sizeof sentence, "--like %s: it never writes %s, and takes --records heap", producer->name,
             names[first]);
    return sentence;
}

static unsigned records_of(const struct producer *producer, enum records_wanted wanted)
{
    switch (wanted) {
    case RECORDS_DEFAULT:
        return producer->usual;
    case RECORDS_HEAP:
        return 0;
    case RECORDS_SITES:
        return WRITES_SETTINGS | WRITES_SITES;
    case RECORDS_SAMPLES:
        return WRITES_SETTINGS | WRITES_SAMPLES;
    case RECORDS_ALL:
        break;
    }
    return WRITES_ALL;
}

static const char *refusal(const struct producer *producer, const struct source_settings *s)
{
    char allowed[64] = "";

    if (!(producer->file.versions >> s->version & 1)) {
        for (enum version v = V101; v <= V103; v++)
            if (producer->file.versions >> v & 1)
                snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), "%s1.0.%d", *allowed ? " or " : "",
                         (int)v);
        snprintf(sentence, sizeof sentence, "--like %s: its dumps are of version %s", producer->name, allowed);
        return sentence;
    }
    if (!(producer->file.id_sizes >> s->id_size & 1)) {
        snprintf(sentence, sizeof sentence, "--like %s: its IDs have %s bytes", producer->name,
                 producer->file.id_sizes == 1 << 4   ? "4"
                 : producer->file.id_sizes == 1 << 8 ? "8"
                                                     : "4 or 8");
        return sentence;
    }
    if (s->version == V101 && s->segment_size) {
        snprintf(sentence, sizeof sentence, "--segment-size: version 1.0.1 has no segments");
        return sentence;
    }
    return records_refusal(producer, records_of(producer, s->records));
}

/* ---- Heap dumps ---- */

/* The objects of one heap dump: all have the same number, or the first ones have one more. Without those that are not of the
 * model. */
static uint64_t objects_of(const struct emitter *em, unsigned dump)
{
    return em->objects / em->heap_dumps + (dump < em->objects % em->heap_dumps) - em->counts.companions;
}

/* ---- IDs ---- */

/* The IDs of `count` things, below a limit. The stride shrinks if necessary and possible. */
static bool fit(struct ids *ids, uint64_t count, uint64_t limit, uint64_t least)
{
    uint64_t room = limit - ids->base;

    while (ids->stride > least && count > room / ids->stride)
        ids->stride /= 2;
    return count <= room / least;
}

static bool lay_out_ids(struct emitter *em, const char **failure)
{
    const struct producer *producer = em->producer;
    const struct model_options *o = &em->model->options;
    bool small = em->id_size == 4;
    uint64_t limit = small ? UINT64_C(1) << 32 : UINT64_MAX, object_limit = small ? producer->numbers.id_limit4 : limit;
    uint64_t classes = (uint64_t)em->counts.class_count + 1, others = classes + SPARE_IDS + em->counts.archived,
             objects = objects_of(em, 0);
    uint64_t least = producer->heap.companion_objects ? 2 : 1; /* the object beside a class has the next ID */

    em->ids = small ? producer->numbers.ids4 : producer->numbers.ids8;
    if (objects > limit - others || !fit(&em->ids.objects, objects + others, object_limit, least)) {
        uint64_t possible = (object_limit - em->ids.objects.base) / least;

        snprintf(sentence, sizeof sentence,
                 "--objects: IDs of %u bytes can name %" PRIu64 " of them in a heap dump, beside these classes", em->id_size,
                 possible > others ? possible - others : 0);
        *failure = sentence;
        return false;
    }
    if (!fit(&em->ids.strings, em->counts.string_count, limit, 1)) {
        snprintf(sentence, sizeof sentence,
                 "--classes: IDs of %u bytes are too few for the %" PRIu32 " strings that these classes need", em->id_size,
                 em->counts.string_count);
        *failure = sentence;
        return false;
    }
    if (o->threads >= UINT32_MAX - producer->numbers.thread_start - 8 ||
        o->threads >= UINT32_MAX - producer->numbers.trace_start - 8 || o->stack_depth > UINT32_MAX ||
        !fit(&em->ids.frames, o->threads * o->stack_depth, limit, 1)) {
        snprintf(sentence, sizeof sentence, "--threads: more threads or frames than 32 bits can number");
        *failure = sentence;
        return false;
    }
    em->model->first_object_id = id_of(&em->ids.objects, classes);
    em->model->id_stride = em->ids.objects.stride;
    return true;
}

/* ---- Construction ---- */

static uint64_t longest_class_dump(const struct emitter *em)
{
    enum { CONSTANTS_MOST = 16 };
    const struct model *m = em->model;
    uint64_t longest = 0, own = 0;

    for (uint32_t c = 0; c < m->class_count; c++) {
        uint64_t size = (uint64_t)m->classes[c].statics * (SIZE_OF(STATIC_FIELD, 8) + 8) +
                        (uint64_t)m->classes[c].fields * SIZE_OF(INSTANCE_FIELD, 8);

        longest = size > longest ? size : longest;
    }
    for (const struct own_static *s = em->producer->own.statics; s && s->each; s++)
        own++;
    return FIELDS_MOST + longest + CONSTANTS_MOST * (SIZE_OF(CONSTANT, 8) + 8) + own * (SIZE_OF(STATIC_FIELD, 8) + 8);
}

/* Without threads, the only stack is the empty one. */
static uint32_t trace_of_class(const struct emitter *em, uint32_t class)
{
    uint64_t threads = em->model->options.threads;

    switch (em->producer->style.traces) {
    case TRACE_NONE:
        return 0;
    case TRACE_DUMMY:
        break;
    case TRACE_OF_ALLOCATION:
        if (threads && class % 4)
            return thread_trace(em, class % threads);
    }
    return em->producer->numbers.trace_start;
}

static bool allocate(struct emitter *em)
{
    uint64_t room = longest_class_dump(em);
    size_t bits = em->counts.string_count / 8u + 1;

    room = room > PIECE_SIZE ? room : PIECE_SIZE;
    em->room = malloc((size_t)room + FIELDS_MOST);
    em->run.written = malloc(bits);
    em->class_names = calloc(bits, 1);
    em->traces = malloc(em->counts.class_count * sizeof *em->traces);
    if (em->records & WRITES_SITES)
        em->sites = calloc(em->model->class_count, sizeof *em->sites);
    if (!em->room || !em->run.written || !em->class_names || !em->traces || (em->records & WRITES_SITES && !em->sites))
        return false;
    for (uint32_t c = 0; c < em->model->class_count; c++)
        set_bit(em->class_names, em->model->classes[c].name);
    for (uint32_t c = 0; c < em->counts.class_count; c++)
        em->traces[c] = trace_of_class(em, c);
    return prepare_objects(em);
}

/* The objects that are not of the model. At most half of the requested objects are beside classes, so that a small heap has others,
 * too. */
static uint32_t count_companions(const struct emitter *em)
{
    uint64_t objects = em->model->options.objects;

    if (em->producer->heap.archived_mirrors)
        return objects > 1 && em->counts.archived > 0;
    return em->model->class_count < objects / 2 ? em->model->class_count : (uint32_t)(objects / 2);
}

static bool make_model(struct emitter *em, const struct source_settings *s, const char **failure)
{
    const struct shape *shape = s->shape ? s->shape : shapes[0];
    struct model_options options;

    em->model = model_new(shape, &s->model, failure);
    if (!em->model || !(em->producer->heap.companion_objects || em->producer->heap.archived_mirrors))
        return em->model;
    options = em->model->options;
    em->counts.archived = (uint32_t)model_share_of_idle(em->model, em->producer->heap.archived_mirrors);
    em->counts.companions = count_companions(em);
    options.objects -= em->counts.companions;
    model_free(em->model);
    em->model = model_new(shape, &options, failure);
    return em->model;
}

static uint64_t longest_heap_record(const struct source_model *s)
{
    const struct model *m = s->emitter.model;
    uint64_t class = longest_class_dump(&s->emitter), longest = m->longest_object > class ? m->longest_object : class;

    longest += FIELDS_MOST;
    if (s->segment_size && s->emitter.producer->file.segments_cut == CUT_LATE)
        return s->segment_size + longest;
    /* A segment of one long sub-record states its length: see segments.h. */
    return !s->segment_size ? UINT64_MAX : longest > UINT32_MAX ? longest : s->segment_size;
}

static void count_own(struct emitter *em)
{
    const struct producer *producer = em->producer;

    while (producer->own.classes && producer->own.classes[em->counts.own_classes].name)
        em->counts.own_classes++;
    while (producer->own.strings && producer->own.strings[em->counts.own_strings])
        em->counts.own_strings++;
    em->counts.class_count = em->model->class_count + em->counts.own_classes;
    em->counts.string_count = em->model->string_count + em->counts.own_strings + em->counts.own_classes;
}

static void free_source(struct source *source)
{
    struct source_model *s = (struct source_model *)source;

    model_free(s->emitter.model);
    free(s->emitter.room);
    free(s->emitter.run.written);
    free(s->emitter.class_names);
    free(s->emitter.traces);
    free(s->emitter.hot);
    free(s->emitter.patterns);
    free(s->emitter.sites);
    free(s);
}

static bool run(struct source *source, struct stage *first, const bool *stop);

static void settle_model(const struct producer *producer, struct model_options *o)
{
    o->mirrors = producer->heap.mirrors;
    o->loaders = producer->heap.loaders;
    o->idle = producer->heap.idle;
    o->virtual_threads = producer->heap.virtual_threads;
    o->declared_order = producer->heap.declared_order;
}

uint64_t source_model_most(const struct source_settings *settings)
{
    enum { MORE_THAN_IDLE = 100000000 };
    const struct producer *producer = settings->producer ? settings->producer : producers[0];
    struct model_options o = settings->model;
    struct model *m;
    const char *failure;
    uint64_t most;

    if (!o.load || !load_is_none(o.load))
        return UINT64_MAX;
    settle_model(producer, &o);
    o.objects = MORE_THAN_IDLE;
    o.id_size = settings->id_size ? settings->id_size : producer->file.id_size;
    m = model_new(settings->shape ? settings->shape : shapes[0], &o, &failure);
    if (!m)
        return failure ? UINT64_MAX : 0; /* what is wrong with the options is reported by source_model_new() */
    most = model_idle_objects(m) + (producer->heap.archived_mirrors > 0);
    model_free(m);
    return most * (settings->heap_dumps ? settings->heap_dumps : 1);
}

struct source *source_model_new(const struct source_settings *settings, const char **failure)
{
    struct source_settings s = *settings;
    const struct producer *producer = s.producer ? s.producer : producers[0];
    struct source_model *source;
    struct emitter *em;

    if (!s.version)
        s.version = producer->file.version;
    if (!s.id_size)
        s.id_size = producer->file.id_size;
    *failure = refusal(producer, &s);
    if (*failure)
        return NULL;
    source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    em = &source->emitter;
    em->producer = producer;
    em->version = s.version;
    em->id_size = s.id_size;
    em->records = records_of(producer, s.records) | producer->always;
    em->heap_dumps = s.heap_dumps ? s.heap_dumps : 1;
    em->objects = s.model.objects;
    source->segment_size = s.segment_size                                           ? s.segment_size
                           : s.version == V101                                      ? 0
                           : s.compressed && producer->file.compressed_segment_size ? producer->file.compressed_segment_size
                                                                                    : producer->file.segment_size;
    em->heap_tag = source->segment_size ? TAG_HEAP_DUMP_SEGMENT : TAG_HEAP_DUMP;

    s.model.id_size = s.id_size;
    s.model.objects = objects_of(em, em->heap_dumps - 1); /* the shortest sub-record */
    settle_model(producer, &s.model);
    if (make_model(em, &s, failure))
        count_own(em);
    if (!em->model || !lay_out_ids(em, failure) || !allocate(em)) {
        free_source(&source->source);
        return NULL;
    }
    source->source = (struct source){.run = run,
                                     .free = free_source,
                                     .id_size = s.id_size,
                                     .version = s.version,
                                     .longest_heap_record = longest_heap_record(source)};
    return &source->source;
}

/* ---- A run ---- */

static void give_header(struct emitter *em)
{
    struct event e = event_of(EVENT_HEADER, 0, LAYOUT_ID_NONE);

    e.header.text_size = HEADER_STRING_SIZE;
    snprintf(e.header.text, sizeof e.header.text, "JAVA PROFILE 1.0.%d", (int)em->version);
    e.header.id_size = em->id_size;
    e.header.timestamp = em->producer->file.without_clock ? 0 : TIMESTAMP;
    if (em->version == V103)
        quirk(&e, RULE_HDR_003, 1);
    if (!e.header.timestamp)
        quirk(&e, RULE_HDR_006, 1);
    give(em->run.to, &e);
}

static void give_parts(struct emitter *em, part *const *parts)
{
    for (; *parts && !*em->run.stop; parts++)
        (*parts)(em);
}

static bool run(struct source *source, struct stage *first, const bool *stop)
{
    struct source_model *s = (struct source_model *)source;
    struct emitter *em = &s->emitter;
    struct segments segments;

    em->run.to = first;
    if (s->segment_size) {
        segments_init(&segments, first, s->segment_size);
        segments.stage.id_size = em->id_size;
        segments.states = source->unchanged;
        segments.most_objects = em->producer->file.segment_objects ? em->producer->file.segment_objects : UINT64_MAX;
        segments.cut = em->producer->file.segments_cut;
        segments.resets_heap = em->producer->file.resets_heap;
        em->run.to = &segments.stage;
    }
    em->run.stop = stop;
    em->run.detail = source->detail;
    memset(em->run.written, 0, em->counts.string_count / 8u + 1);
    em->run.given = 0;
    em->run.dump = 0;
    em->run.pause = em->run.last_time = 0;
    em->run.has_ints = false;

    model_resize(em->model, objects_of(em, 0));
    give_header(em);
    give_parts(em, em->producer->parts.before);
    for (; em->run.dump < em->heap_dumps && !*stop; em->run.dump++) {
        model_resize(em->model, objects_of(em, em->run.dump));
        give_open(em);
        give_parts(em, em->producer->parts.dump);
        give_close(em);
        if (em->heap_tag == TAG_HEAP_DUMP_SEGMENT) {
            struct event end = event_of(EVENT_RECORD, TAG_HEAP_DUMP_END, LAYOUT_ID_NONE);

            give_record(em, &end);
        }
        if (em->producer->parts.beside)
            give_parts(em, em->producer->parts.beside);
    }
    give_parts(em, em->producer->parts.after);
    give(em->run.to, &(struct event){.kind = EVENT_END, .rule = NO_RULE, .keep = KEEP_ALL});
    return true;
}
