/* See source_profile.h: the parts of a twin, in the order in which the kinds of records first occur in the original. */
#include "twin/source_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin/twin_parts.h"

#define TIMESTAMP UINT64_C(1767225600000) /* 2026-01-01: the same options give the same dump */

static char sentence[PROFILE_FAILURE_SIZE];

/* ---- A run ---- */

static void give_header(struct twin *t)
{
    struct event e = event_of(EVENT_HEADER, 0, LAYOUT_ID_NONE);

    e.header.text_size = HEADER_STRING_SIZE;
    snprintf(e.header.text, sizeof e.header.text, "JAVA PROFILE 1.0.%d", (int)t->p.version);
    e.header.id_size = t->p.id_size;
    e.header.timestamp = TIMESTAMP;
    give(t->to, &e);
}

static void give_all_of(struct twin *t, uint8_t tag)
{
    bool had_traces = t->had_traces, had_frames = t->had_frames || !t->frames;

    switch (tag) {
    case TAG_UTF8:
        twin_give_texts(t);
        break;
    case TAG_LOAD_CLASS:
        twin_give_loads(t);
        break;
    case TAG_FRAME:
        twin_give_frames(t);
        t->had_frames = true;
        if (had_traces)
            twin_give_stacks(t);
        break;
    case TAG_TRACE: /* stacks follow their frames; what is no stack may precede them */
        twin_give_dummies(t);
        t->had_traces = true;
        if (had_frames)
            twin_give_stacks(t);
        break;
    case TAG_START_THREAD:
        twin_give_threads(t);
        break;
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
        twin_give_heap(t, EVENT_OPEN);
        twin_give_subrecords(t);
        twin_give_heap(t, EVENT_CLOSE);
        break;
    case TAG_ALLOC_SITES:
    case TAG_CPU_SAMPLES:
    case TAG_HEAP_SUMMARY:
    case TAG_CONTROL_SETTINGS:
        twin_give_empty(t, tag);
        break;
    default:
        break;
    }
}

static bool run(struct source *source, struct stage *first, const bool *stop)
{
    struct twin *t = (struct twin *)source;
    struct event end = event_of(EVENT_END, 0, LAYOUT_ID_NONE),
                 dump_end = event_of(EVENT_RECORD, TAG_HEAP_DUMP_END, LAYOUT_ID_NONE);

    t->to = first;
    t->stop = stop;
    give_header(t);
    t->had_frames = t->had_traces = false;
    for (unsigned i = 0; i < t->p.record_order_count; i++)
        give_all_of(t, t->p.record_order[i]);
    if (t->p.records[TAG_HEAP_DUMP_END])
        give(t->to, &dump_end);
    give(t->to, &end);
    return true;
}

static void free_source(struct source *source)
{
    struct twin *t = (struct twin *)source;

    addresses_free(&t->addresses);
    graph_free(t->graph);
    texts_free(&t->texts);
    profile_free(&t->p);
    free(t->room);
    free(t->block);
    free(t->arrays);
    free(t);
}

/* ---- Construction ---- */

static bool has_numbers(const struct twin *t, uint64_t objects, const char **failure)
{
    if (objects <= GRAPH_OBJECTS_MOST && t->frames < (t->p.id_size == 8 ? UINT64_MAX : UINT32_MAX) &&
        t->stacks + t->dummies < UINT32_MAX)
        return true;
    *failure = "the profile has more objects, frames or stacks than a twin can have";
    return false;
}

static bool allocate(struct twin *t)
{
    uint64_t room = PIECE;

    for (uint32_t c = 0; c < t->p.class_count; c++) {
        const struct profile_class *class = &t->p.classes[c];
        uint64_t dump = 64 + (uint64_t) class->statics * (SIZE_OF(STATIC_FIELD, 8) + 8) +
                        (uint64_t) class->fields * SIZE_OF(INSTANCE_FIELD, 8);

        room = class->instances && class->bytes > room ? class->bytes : room;
        room = dump > room ? dump : room;
    }
    t->room = malloc(room + FIELDS_MOST);
    t->block = malloc(BLOCK);
    t->arrays = calloc(t->p.class_count + (size_t)1, sizeof *t->arrays);
    if (!t->room || !t->block || !t->arrays)
        return false;
    for (size_t i = 0; i < BLOCK; i++)
        t->block[i] = (uint8_t)('a' + below(mix_of(t->key, i % PIECE, 9), 26));
    return true;
}

static void count_subrecords(struct twin *t, uint64_t objects)
{
    uint64_t in_original = t->p.objects - t->p.unknown;

    t->all = objects;
    for (unsigned i = 0; i < t->p.order_count; i++)
        if (!twin_is_object(t->p.order[i]) && t->p.order[i] != SUB_CLASS_DUMP)
            t->all += t->p.subrecords[t->p.order[i]];
    for (uint32_t c = t->first_class; c < t->p.class_count; c++)
        t->all += t->p.classes[c].is_dumped;
    t->segments = t->p.heap_tag == TAG_HEAP_DUMP ? 1 : t->p.records[t->p.heap_tag];
    if (objects != in_original && in_original)
        t->segments = (uint64_t)((unsigned __int128)t->segments * objects / in_original);
    t->segments = t->segments > t->all ? t->all : t->segments;
    t->segments = t->segments ? t->segments : 1;
}

struct source *source_profile_new(int fd, uint64_t objects, uint64_t seed, const char **failure)
{
    struct twin *t = calloc(1, sizeof *t);

    *failure = NULL;
    if (!t)
        return NULL;
    if (!profile_read(&t->p, fd, sentence)) {
        *failure = *sentence ? sentence : NULL;
        free(t);
        return NULL;
    }
    t->key = mix(seed * 0x9E3779B97F4A7C15U + 2);
    while (t->first_class < t->p.class_count && t->p.classes[t->first_class].number < PRIMITIVES)
        t->first_class++;
    if (t->first_class == t->p.class_count)
        *failure = "the profile has no class";
    t->stacks = count_of(&t->p, t->p.stacks);
    t->dummies = count_of(&t->p, t->p.traces);
    t->frames = t->p.records[TAG_FRAME];
    objects = objects && t->p.objects > t->p.unknown ? objects : t->p.objects - t->p.unknown;
    if (!*failure && has_numbers(t, objects, failure) && texts_make(&t->texts, &t->p, t->first_class) && allocate(t))
        t->graph = graph_new(&t->p, objects, seed);
    if (!t->graph || !addresses_lay_out(&t->addresses, &t->p, t->first_class, t->graph, failure)) {
        free_source(&t->source);
        return NULL;
    }
    count_subrecords(t, objects);
    for (uint32_t c = 0; c < t->p.class_count; c++)
        if (profile_is_a(&t->p, c, "java.lang.Thread"))
            t->threads += graph_count(t->graph, c, false);
    t->source = (struct source){
        .run = run, .free = free_source, .id_size = t->p.id_size, .version = t->p.version, .longest_heap_record = UINT64_MAX};
    return &t->source;
}

uint64_t source_profile_objects(const struct source *source)
{
    return graph_objects(((const struct twin *)source)->graph);
}
