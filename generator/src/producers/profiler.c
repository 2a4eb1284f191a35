/* What the HPROF agent counts: ALLOC_SITES, CPU_SAMPLES, HEAP_SUMMARY. */
#include <stdlib.h>

#include "producers/emitter.h"
#include "stream/encode.h"

static uint32_t saturated(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* A quarter more was allocated than lives. */
static uint64_t allocated(uint64_t live)
{
    return live + live / 4;
}

static int by_bytes(const void *a, const void *b)
{
    const struct site *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->objects != y->objects)
        return x->objects > y->objects ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

/* The objects of each class in the last heap dump, and of all classes. */
static struct site count_live(const struct emitter *em, struct site *by_class)
{
    struct site all = {0};

    for (uint32_t c = 0; c < em->model->class_count; c++) {
        const struct hot_class *hot = &em->hot[c];
        struct site site = {.objects = hot->objects, .bytes = hot->objects * hot->bytes + hot->array_bytes, .class = c};

        all.objects += site.objects;
        all.bytes += site.bytes;
        if (by_class)
            by_class[c] = site;
    }
    return all;
}

/* A site for each class, the largest first, as many as fit in a piece. */
void part_sites(struct emitter *em)
{
    const uint32_t most = PIECE_SIZE / sizeof(struct SITE_in8), classes = em->model->class_count;
    struct event e = RECORD_EVENT(ALLOC_SITES), entry = event_of(EVENT_RECORD, 0, LAYOUT_ID_SITE);
    struct ALLOC_SITES *all = &e.fields.ALLOC_SITES;
    struct SITE *site = &entry.fields.SITE;
    struct site live, listed = {0};
    uint8_t *p = em->room;

    if (!em->sites)
        return;
    live = count_live(em, em->sites);
    qsort(em->sites, classes, sizeof *em->sites, by_bytes);
    all->live_bytes = saturated(live.bytes);
    all->live_instances = saturated(live.objects);
    all->allocated_bytes = allocated(live.bytes);
    all->allocated_instances = allocated(live.objects);
    for (uint32_t i = 0; i < classes && all->sites < most; i++) {
        const struct site *s = &em->sites[i];

        /* The sites must not exceed a total that does not fit in 32 bits, either. */
        if (!s->objects || s->bytes > all->live_bytes - listed.bytes || s->objects > all->live_instances - listed.objects ||
            allocated(s->bytes) > UINT32_MAX || allocated(s->objects) > UINT32_MAX)
            continue;
        listed.bytes += s->bytes;
        listed.objects += s->objects;
        *site = (struct SITE){.array_type = em->model->classes[s->class].element,
                              .class_serial = class_serial(em, s->class),
                              .trace_serial = em->traces[s->class],
                              .live_bytes = (uint32_t)s->bytes,
                              .live_instances = (uint32_t)s->objects,
                              .allocated_bytes = (uint32_t)allocated(s->bytes),
                              .allocated_instances = (uint32_t)allocated(s->objects)};
        p = put_fields(p, &entry, em->id_size);
        all->sites++;
    }
    if (em->producer->style.unknown_site && all->sites < most) {
        *site = (struct SITE){.class_serial = class_serial(em, em->counts.class_count) + 1};
        p = put_fields(p, &entry, em->id_size);
        all->sites++;
        if (!em->run.dump)
            quirk(&e, RULE_PRF_003, 1); /* one finding, however often the serial number is named */
    }
    all->cutoff = em->producer->style.cutoff;
    if (em->records & WRITES_SUMMARY)
        all->flags = em->producer->style.asked_flags;
    if (all->flags)
        quirk(&e, RULE_PRF_004, 1);
    e.body = em->room;
    e.body_size = (uint64_t)(p - em->room);
    give_record(em, &e);
}

/* The threads' stacks, as if they had been sampled. */
void part_samples(struct emitter *em)
{
    const uint64_t most = PIECE_SIZE / sizeof(struct SAMPLE_in8), threads = em->model->options.threads;
    struct event e = RECORD_EVENT(CPU_SAMPLES), entry = event_of(EVENT_RECORD, 0, LAYOUT_ID_SAMPLE);
    uint8_t *p = em->room;

    if (!(em->records & WRITES_SAMPLES))
        return;
    e.fields.CPU_SAMPLES.traces = (uint32_t)(threads < most ? threads : most);
    e.fields.CPU_SAMPLES.samples = 1; /* of a trace that is left out */
    for (uint32_t t = 0; t < e.fields.CPU_SAMPLES.traces; t++) {
        entry.fields.SAMPLE.samples = 1 + (uint32_t)(model_random(em->model, t, 1) % 100);
        entry.fields.SAMPLE.trace_serial = thread_trace(em, t);
        e.fields.CPU_SAMPLES.samples += entry.fields.SAMPLE.samples;
        p = put_fields(p, &entry, em->id_size);
    }
    e.body = em->room;
    e.body_size = (uint64_t)(p - em->room);
    give_record(em, &e);
}

void part_summary(struct emitter *em)
{
    struct event e = RECORD_EVENT(HEAP_SUMMARY);
    struct site live;

    if (!(em->records & WRITES_SUMMARY))
        return;
    live = count_live(em, NULL);
    e.fields.HEAP_SUMMARY = (struct HEAP_SUMMARY){.live_bytes = saturated(live.bytes),
                                                  .live_instances = saturated(live.objects),
                                                  .allocated_bytes = allocated(live.bytes),
                                                  .allocated_instances = allocated(live.objects)};
    give_record(em, &e);
}
