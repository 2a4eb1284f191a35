/* See server.h. ALLOC_SITES, CPU_SAMPLES and HEAP_SUMMARY: those of the dump, and what the orders made of them. */
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream/encode.h"

enum {
    SITE_SIZE = sizeof(struct SITE_in4),
    SITES_SIZE = sizeof(struct ALLOC_SITES_in4),
    SAMPLE_SIZE = sizeof(struct SAMPLE_in4),
    SAMPLES_SIZE = sizeof(struct CPU_SAMPLES_in4)
};

static int by_allocated_bytes(const void *a, const void *b)
{
    uint32_t x = get_u4((const uint8_t *)a + offsetof(struct SITE_in4, allocated_bytes));
    uint32_t y = get_u4((const uint8_t *)b + offsetof(struct SITE_in4, allocated_bytes));

    return x < y ? 1 : x > y ? -1 : 0;
}

static int by_live_bytes(const void *a, const void *b)
{
    uint32_t x = get_u4((const uint8_t *)a + offsetof(struct SITE_in4, live_bytes));
    uint32_t y = get_u4((const uint8_t *)b + offsetof(struct SITE_in4, live_bytes));

    return x < y ? 1 : x > y ? -1 : 0;
}

static int by_samples(const void *a, const void *b)
{
    uint32_t x = get_u4((const uint8_t *)a + offsetof(struct SAMPLE_in4, samples));
    uint32_t y = get_u4((const uint8_t *)b + offsetof(struct SAMPLE_in4, samples));

    return x < y ? 1 : x > y ? -1 : 0;
}

float get_float(const uint8_t *p)
{
    uint32_t bits = get_u4(p);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void add_u4(uint8_t *p, uint64_t more)
{
    put_u4(p, (uint32_t)(get_u4(p) + more));
}

static void add_u8(uint8_t *p, uint64_t more)
{
    put_u8(p, get_u8(p) + more);
}

/* The agent ends its list at the first site below the cutoff, whatever the order. Orders make the program drop objects of the
 * first site. */
void send_sites(struct server *s, uint16_t flags, float cutoff)
{
    struct program *program = &s->program;
    uint64_t live = program->dropped_live, all = s->sites_cleared ? program->dropped_since_clear : program->dropped;
    uint32_t size, count, listed = 0;
    uint8_t *body = read_body(s, PART_SITES, &size), *site;
    double total;

    if (!body)
        return;
    if (flags & SITES_AFTER_GC)
        live = program->dropped_live = 0;
    if (live > all)
        live = all;
    count = (size - SITES_SIZE) / SITE_SIZE;
    site = body + SITES_SIZE;
    add_u4(body + offsetof(struct ALLOC_SITES_in4, live_bytes), live * DROPPED_OBJECT_SIZE);
    add_u4(body + offsetof(struct ALLOC_SITES_in4, live_instances), live);
    add_u8(body + offsetof(struct ALLOC_SITES_in4, allocated_bytes), program->dropped * DROPPED_OBJECT_SIZE);
    add_u8(body + offsetof(struct ALLOC_SITES_in4, allocated_instances), program->dropped);
    if (s->sites_cleared && count) {
        memset(site + offsetof(struct SITE_in4, live_bytes), 0, SITE_SIZE - offsetof(struct SITE_in4, live_bytes));
        count = all ? 1 : 0;
    }
    if (flags & SITES_CHANGED_ONLY && s->sites_sent)
        count = count && program->dropped_since_sites ? 1 : 0;
    if (count) {
        add_u4(site + offsetof(struct SITE_in4, live_bytes), live * DROPPED_OBJECT_SIZE);
        add_u4(site + offsetof(struct SITE_in4, live_instances), live);
        add_u4(site + offsetof(struct SITE_in4, allocated_bytes), all * DROPPED_OBJECT_SIZE);
        add_u4(site + offsetof(struct SITE_in4, allocated_instances), all);
    }
    total = get_u4(body + offsetof(struct ALLOC_SITES_in4, live_bytes));
    qsort(site, count, SITE_SIZE, flags & SITES_BY_ALLOCATION ? by_allocated_bytes : by_live_bytes);
    while (listed < count && get_u4(site + listed * SITE_SIZE + offsetof(struct SITE_in4, live_bytes)) >= cutoff * total)
        listed++;
    put_u2(body, flags);
    put_u4(body + offsetof(struct ALLOC_SITES_in4, sites), listed);
    send_record(s, TAG_ALLOC_SITES, body, SITES_SIZE + listed * SITE_SIZE);
    free(body);
    s->sites_sent = true;
    program->dropped_since_sites = false;
}

/* Without cpu=samples, sampling starts when a command turns it on, and samples the trace of the first site. */
static uint8_t *read_samples(struct server *s, uint32_t *size)
{
    uint8_t *body;

    if (s->has_samples)
        return read_body(s, PART_SAMPLES, size);
    *size = SAMPLES_SIZE + SAMPLE_SIZE;
    body = calloc(1, *size);
    if (!body)
        s->error = ENOMEM;
    else
        put_u4(body + SAMPLES_SIZE + offsetof(struct SAMPLE_in4, trace_serial),
               first_number(s, TAG_ALLOC_SITES, SITES_SIZE + offsetof(struct SITE_in4, trace_serial)));
    return body;
}

/* The program runs where most samples are. */
void send_samples(struct server *s, float cutoff)
{
    uint32_t size, count, listed = 0, total = 0;
    uint8_t *body = read_samples(s, &size), *sample;

    if (!body)
        return;
    sample = body + SAMPLES_SIZE;
    count = (size - SAMPLES_SIZE) / SAMPLE_SIZE;
    qsort(sample, count, SAMPLE_SIZE, by_samples);
    if (s->samples_cleared && count) {
        put_u4(sample + offsetof(struct SAMPLE_in4, samples), 0);
        count = 1;
    }
    if (count)
        add_u4(sample + offsetof(struct SAMPLE_in4, samples), s->program.samples);
    for (uint32_t i = 0; i < count; i++)
        total += get_u4(sample + i * SAMPLE_SIZE + offsetof(struct SAMPLE_in4, samples));
    while (total && listed < count &&
           get_u4(sample + listed * SAMPLE_SIZE + offsetof(struct SAMPLE_in4, samples)) >= cutoff * (double)total)
        listed++;
    put_u4(body, total);
    put_u4(body + offsetof(struct CPU_SAMPLES_in4, traces), listed);
    send_record(s, TAG_CPU_SAMPLES, body, SAMPLES_SIZE + listed * SAMPLE_SIZE);
    free(body);
}

/* The agent writes HEAP_SUMMARY only on command. A dump without it has the same numbers in ALLOC_SITES. */
static uint8_t *read_summary(struct server *s)
{
    uint32_t size;
    uint8_t *body = read_body(s, PART_SUMMARY, &size);

    if (body || s->error)
        return body;
    body = read_body(s, PART_SITES, &size);
    if (body)
        memmove(body, body + offsetof(struct ALLOC_SITES_in4, live_bytes), sizeof(struct HEAP_SUMMARY_in4));
    return body;
}

void send_summary(struct server *s)
{
    uint8_t *body = read_summary(s);

    if (!body)
        return;
    add_u4(body + offsetof(struct HEAP_SUMMARY_in4, live_bytes), s->program.dropped_live * DROPPED_OBJECT_SIZE);
    add_u4(body + offsetof(struct HEAP_SUMMARY_in4, live_instances), s->program.dropped_live);
    add_u8(body + offsetof(struct HEAP_SUMMARY_in4, allocated_bytes), s->program.dropped * DROPPED_OBJECT_SIZE);
    add_u8(body + offsetof(struct HEAP_SUMMARY_in4, allocated_instances), s->program.dropped);
    send_record(s, TAG_HEAP_SUMMARY, body, sizeof(struct HEAP_SUMMARY_in4));
    free(body);
}

void send_heap(struct server *s)
{
    send_traces(s);
    if (s->text)
        text_heap_begin(s->text);
    send_part(s, PART_HEAP);
    if (s->text)
        text_heap_end(s->text);
}

/* In the dump, the samples of a program that ran with cpu=samples are the calls of one that runs with cpu=times or cpu=old. */
static void send_times(struct server *s)
{
    uint32_t size;
    uint8_t *body = read_body(s, PART_SAMPLES, &size);

    if (!body)
        return;
    qsort(body + SAMPLES_SIZE, (size - SAMPLES_SIZE) / SAMPLE_SIZE, SAMPLE_SIZE, by_samples);
    if (s->cpu == SERVE_CPU_TIMES)
        text_times(s->text, body, size, s->program.spins);
    else
        text_old_times(s->text, body, size, s->program.spins);
    free(body);
}

void send_end(struct server *s)
{
    if (s->has_monitors) {
        send_traces(s);
        text_monitors(s->text);
        text_monitor_times(s->text, s->program.spins);
    }
    send_heap(s);
    if (s->cpu == SERVE_CPU_TIMES || s->cpu == SERVE_CPU_OLD)
        send_times(s);
}
