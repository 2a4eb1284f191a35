/* See source_model.h.
 *
 * Here a producer's table meets what the user wants: what cannot be is refused, IDs are laid out, and a run goes through the
 * parts of the dump. The parts themselves: walk.c, objects.c, profiler.c; the tables: like_*.c. */
#include "source_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "segments.h"
#include "walk.h"

static const struct like *const likes[] = {&like_plain,   &like_hotspot, &like_jdk8_agent, &like_sa,
                                           &like_graalvm, &like_mat,     &like_android};
enum { LIKES = sizeof likes / sizeof *likes };

/* 2026-01-01: dumps of the same options are the same. */
#define TIMESTAMP UINT64_C(1767225600000)

static char sentence[256]; /* the latest failure */

struct source_model {
    struct source source;
    struct walk walk;
    uint64_t segment_size; /* 0 for HEAP_DUMP */
};

const struct like *like_at(size_t index)
{
    return index < LIKES ? likes[index] : NULL;
}

const char *like_name(const struct like *like)
{
    return like->name;
}

const char *like_about(const struct like *like)
{
    return like->about;
}

const char *like_profile(const struct like *like)
{
    return like->profile;
}

/* ---- What cannot be ---- */

static const char *records_refusal(const struct like *like, unsigned wanted)
{
    static const char *const names[] = {"ALLOC_SITES",  "CPU_SAMPLES",  "HEAP_SUMMARY",
                                        "START_THREAD", "UNLOAD_CLASS", "CONTROL_SETTINGS"};
    unsigned missing = wanted & ~like->records, first = 0;

    if (!missing)
        return NULL;
    while (!(missing >> first & 1))
        first++;
    snprintf(sentence, sizeof sentence, "--like %s: it never writes %s, and takes --records heap", like->name, names[first]);
    return sentence;
}

static unsigned records_of(const struct like *like, enum records_wanted wanted)
{
    switch (wanted) {
    case RECORDS_DEFAULT:
        return like->usual;
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

static const char *refusal(const struct like *like, const struct source_settings *s)
{
    char allowed[64] = "";

    if (!(like->versions >> s->version & 1)) {
        for (enum version v = V101; v <= V103; v++)
            if (like->versions >> v & 1)
                snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), "%s1.0.%d", *allowed ? " or " : "",
                         (int)v);
        snprintf(sentence, sizeof sentence, "--like %s: its dumps are of version %s", like->name, allowed);
        return sentence;
    }
    if (!(like->id_sizes >> s->id_size & 1)) {
        snprintf(sentence, sizeof sentence, "--like %s: its IDs have %s bytes", like->name,
                 like->id_sizes == 1 << 4   ? "4"
                 : like->id_sizes == 1 << 8 ? "8"
                                            : "4 or 8");
        return sentence;
    }
    if (s->version == V101 && s->segment_size) {
        snprintf(sentence, sizeof sentence, "--segment-size: version 1.0.1 has no segments");
        return sentence;
    }
    return records_refusal(like, records_of(like, s->records));
}

/* ---- Heap dumps ---- */

/* Of so many heap dumps each has the same number of objects, the first ones one more if they cannot. The model's: without those
 * beside classes. */
static uint64_t objects_of(const struct walk *w, unsigned dump)
{
    return w->objects / w->heap_dumps + (dump < w->objects % w->heap_dumps) - w->beside;
}

/* ---- IDs ---- */

/* The IDs of `count` things, below a limit: the stride shrinks as far as it must, and may. */
static bool fit(struct ids *ids, uint64_t count, uint64_t limit, uint64_t least)
{
    uint64_t room = limit - ids->base;

    while (ids->stride > least && count > room / ids->stride)
        ids->stride /= 2;
    return count <= room / least;
}

static bool lay_out_ids(struct walk *w, const char **failure)
{
    const struct like *like = w->like;
    const struct model_options *o = &w->model->options;
    bool small = w->id_size == 4;
    uint64_t limit = small ? UINT64_C(1) << 32 : UINT64_MAX, object_limit = small ? like->id_limit4 : limit;
    uint64_t classes = (uint64_t)w->class_count + 1, others = classes + SPARE_IDS, objects = objects_of(w, 0);
    uint64_t least = like->beside_classes ? 2 : 1; /* what goes with a class has the ID beside */

    w->ids = small ? like->ids4 : like->ids8;
    if (objects > limit - others || !fit(&w->ids.objects, objects + others, object_limit, least)) {
        uint64_t possible = (object_limit - w->ids.objects.base) / least;

        snprintf(sentence, sizeof sentence,
                 "--objects: IDs of %u bytes can name %" PRIu64 " of them in a heap dump, beside these classes", w->id_size,
                 possible > others ? possible - others : 0);
        *failure = sentence;
        return false;
    }
    if (!fit(&w->ids.strings, w->string_count, limit, 1)) {
        snprintf(sentence, sizeof sentence, "--classes: IDs of %u bytes cannot name the %" PRIu32 " strings of so many",
                 w->id_size, w->string_count);
        *failure = sentence;
        return false;
    }
    if (o->threads >= UINT32_MAX - like->thread_start - 8 || o->threads >= UINT32_MAX - like->trace_start - 8 ||
        o->stack_depth > UINT32_MAX || !fit(&w->ids.frames, o->threads * o->stack_depth, limit, 1)) {
        snprintf(sentence, sizeof sentence, "--threads: so many, or so many frames, 32 bits cannot name");
        *failure = sentence;
        return false;
    }
    w->model->first_object_id = id_of(&w->ids.objects, classes);
    w->model->id_stride = w->ids.objects.stride;
    return true;
}

/* ---- Construction ---- */

static uint64_t longest_class_dump(const struct walk *w)
{
    enum { CONSTANTS_MOST = 16 };
    const struct model *m = w->model;
    uint64_t longest = 0, own = 0;

    for (uint32_t c = 0; c < m->class_count; c++) {
        uint64_t size = (uint64_t)m->classes[c].statics * (SIZE_OF(STATIC_FIELD, 8) + 8) +
                        (uint64_t)m->classes[c].fields * SIZE_OF(INSTANCE_FIELD, 8);

        longest = size > longest ? size : longest;
    }
    for (const struct own_static *s = w->like->statics; s && s->each; s++)
        own++;
    return FIELDS_MOST + longest + CONSTANTS_MOST * (SIZE_OF(CONSTANT, 8) + 8) + own * (SIZE_OF(STATIC_FIELD, 8) + 8);
}

/* Without threads there is no stack but the empty one. */
static uint32_t trace_of_class(const struct walk *w, uint32_t class)
{
    uint64_t threads = w->model->options.threads;

    switch (w->like->traces) {
    case TRACE_NONE:
        return 0;
    case TRACE_DUMMY:
        break;
    case TRACE_OF_ALLOCATION:
        if (threads && class % 4)
            return thread_trace(w, class % threads);
    }
    return w->like->trace_start;
}

static bool allocate(struct walk *w)
{
    uint64_t room = longest_class_dump(w);
    size_t bits = w->string_count / 8u + 1;

    room = room > PIECE_SIZE ? room : PIECE_SIZE;
    w->room = malloc((size_t)room + FIELDS_MOST);
    w->written = malloc(bits);
    w->class_names = calloc(bits, 1);
    w->traces = malloc(w->class_count * sizeof *w->traces);
    if (w->records & WRITES_SITES)
        w->sites = calloc(w->model->class_count, sizeof *w->sites);
    if (!w->room || !w->written || !w->class_names || !w->traces || (w->records & WRITES_SITES && !w->sites))
        return false;
    for (uint32_t c = 0; c < w->model->class_count; c++)
        set_bit(w->class_names, w->model->classes[c].name);
    for (uint32_t c = 0; c < w->class_count; c++)
        w->traces[c] = trace_of_class(w, c);
    return prepare_objects(w);
}

/* Objects beside classes take half of those that were asked for at the most, so that a small heap has others too. */
static bool make_model(struct walk *w, const struct source_settings *s, const char **failure)
{
    const struct shape *shape = s->shape ? s->shape : shapes[0];
    struct model_options options;

    w->model = model_new(shape, &s->model, failure);
    if (!w->model || !w->like->beside_classes)
        return w->model;
    options = w->model->options;
    w->beside = w->model->class_count < options.objects / 2 ? w->model->class_count : (uint32_t)(options.objects / 2);
    options.objects -= w->beside;
    model_free(w->model);
    w->model = model_new(shape, &options, failure);
    return w->model;
}

static uint64_t longest_heap_record(const struct source_model *s)
{
    const struct model *m = s->walk.model;
    uint64_t class = longest_class_dump(&s->walk), longest = m->longest_object > class ? m->longest_object : class;

    longest += FIELDS_MOST;
    if (s->segment_size && s->walk.like->segments_cut == CUT_LATE)
        return s->segment_size + longest;
    /* A segment of one long sub-record says its length beforehand: see segments.h. */
    return !s->segment_size ? UINT64_MAX : longest > UINT32_MAX ? longest : s->segment_size;
}

static void count_own(struct walk *w)
{
    const struct like *like = w->like;

    while (like->classes && like->classes[w->own_classes].name)
        w->own_classes++;
    while (like->strings && like->strings[w->own_strings])
        w->own_strings++;
    w->class_count = w->model->class_count + w->own_classes;
    w->string_count = w->model->string_count + w->own_strings + w->own_classes;
}

static void free_source(struct source *source)
{
    struct source_model *s = (struct source_model *)source;

    model_free(s->walk.model);
    free(s->walk.room);
    free(s->walk.written);
    free(s->walk.class_names);
    free(s->walk.traces);
    free(s->walk.hot);
    free(s->walk.patterns);
    free(s->walk.sites);
    free(s);
}

static bool run(struct source *source, struct stage *first, const bool *stop);

struct source *source_model_new(const struct source_settings *settings, const char **failure)
{
    struct source_settings s = *settings;
    const struct like *like = s.like ? s.like : likes[0];
    struct source_model *source;
    struct walk *w;

    if (!s.version)
        s.version = like->version;
    if (!s.id_size)
        s.id_size = like->id_size;
    *failure = refusal(like, &s);
    if (*failure)
        return NULL;
    source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    w = &source->walk;
    w->like = like;
    w->version = s.version;
    w->id_size = s.id_size;
    w->records = records_of(like, s.records) | like->always;
    w->heap_dumps = s.heap_dumps ? s.heap_dumps : 1;
    w->objects = s.model.objects;
    source->segment_size = s.segment_size                                  ? s.segment_size
                           : s.version == V101                             ? 0
                           : s.compressed && like->compressed_segment_size ? like->compressed_segment_size
                                                                           : like->segment_size;
    w->heap_tag = source->segment_size ? TAG_HEAP_DUMP_SEGMENT : TAG_HEAP_DUMP;

    s.model.id_size = s.id_size;
    s.model.objects = objects_of(w, w->heap_dumps - 1); /* the least that one has */
    s.model.mirrors = like->mirrors;
    s.model.loaders = like->loaders;
    if (make_model(w, &s, failure))
        count_own(w);
    if (!w->model || !lay_out_ids(w, failure) || !allocate(w)) {
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

static void give_header(struct walk *w)
{
    struct event e = event_of(EVENT_HEADER, 0, LAYOUT_ID_NONE);

    e.header.text_size = HEADER_STRING_SIZE;
    snprintf(e.header.text, sizeof e.header.text, "JAVA PROFILE 1.0.%d", (int)w->version);
    e.header.id_size = w->id_size;
    e.header.timestamp = w->like->without_clock ? 0 : TIMESTAMP;
    if (w->version == V103)
        habit(&e, RULE_HDR_003, 1);
    if (!e.header.timestamp)
        habit(&e, RULE_HDR_006, 1);
    give(w->to, &e);
}

static void give_parts(struct walk *w, part *const *parts)
{
    for (; *parts && !*w->stop; parts++)
        (*parts)(w);
}

static bool run(struct source *source, struct stage *first, const bool *stop)
{
    struct source_model *s = (struct source_model *)source;
    struct walk *w = &s->walk;
    struct segments segments;

    w->to = first;
    if (s->segment_size) {
        segments_init(&segments, first, s->segment_size);
        segments.stage.id_size = w->id_size;
        segments.states = source->unchanged;
        segments.most_objects = w->like->segment_objects ? w->like->segment_objects : UINT64_MAX;
        segments.cut = w->like->segments_cut;
        segments.resets_heap = w->like->resets_heap;
        w->to = &segments.stage;
    }
    w->stop = stop;
    w->detail = source->detail;
    memset(w->written, 0, w->string_count / 8u + 1);
    w->given = 0;
    w->dump = 0;
    w->pause = w->last_time = 0;

    model_resize(w->model, objects_of(w, 0));
    give_header(w);
    give_parts(w, w->like->before);
    for (; w->dump < w->heap_dumps && !*stop; w->dump++) {
        model_resize(w->model, objects_of(w, w->dump));
        give_open(w);
        give_parts(w, w->like->dump);
        give_close(w);
        if (w->heap_tag == TAG_HEAP_DUMP_SEGMENT) {
            struct event end = event_of(EVENT_RECORD, TAG_HEAP_DUMP_END, LAYOUT_ID_NONE);

            give_record(w, &end);
        }
        if (w->like->beside)
            give_parts(w, w->like->beside);
    }
    give_parts(w, w->like->after);
    give(w->to, &(struct event){.kind = EVENT_END, .rule = NO_RULE, .keep = KEEP_ALL});
    return true;
}
