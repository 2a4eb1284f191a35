/* SPEC.md 4.6, 4.10, 4.11: the records of the profiler. */
#include "faults/fault.h"

/* Two sites, each with 16 live bytes and 1 live instance, 32 bytes and 2 instances allocated, and the right totals. *entry is the
 * second. */
static struct event alloc_sites(struct faults *v, struct SITE entry)
{
    struct event e = RECORD_EVENT(ALLOC_SITES);
    const struct SITE sites[2] = {{.live_bytes = 16, .live_instances = 1, .allocated_bytes = 32, .allocated_instances = 2},
                                  entry};

    e.fields.ALLOC_SITES = (struct ALLOC_SITES){
        .live_bytes = 32, .live_instances = 2, .allocated_bytes = 64, .allocated_instances = 4, .sites = 2};
    begin_bytes(v);
    for (int i = 0; i < 2; i++) {
        add_u1(v, sites[i].array_type);
        add_u4(v, sites[i].class_serial);
        add_u4(v, sites[i].trace_serial);
        add_u4(v, sites[i].live_bytes);
        add_u4(v, sites[i].live_instances);
        add_u4(v, sites[i].allocated_bytes);
        add_u4(v, sites[i].allocated_instances);
    }
    end_bytes(v, &e);
    return e;
}

static const struct SITE sound = {.live_bytes = 16, .live_instances = 1, .allocated_bytes = 32, .allocated_instances = 2};

/* The offset of a field of the second site. */
#define SITE_FIELD(v, e, field) \
    (fixed_part_size(e, (v)->id_size) + SIZE_OF(SITE, (v)->id_size) + OFFSET_OF(SITE, field, (v)->id_size))

void prf_002_array_type(struct faults *v, struct event *e, int type)
{
    struct SITE bad = sound;
    struct event sites;

    (void)e;
    bad.array_type = (uint8_t)type;
    sites = alloc_sites(v, bad);
    break_at(v, &sites, SITE_FIELD(v, &sites, array_type));
    insert(v, &sites);
}

void prf_003_class(struct faults *v, struct event *e, int variant)
{
    struct SITE bad = sound;
    struct event sites;

    (void)e;
    (void)variant;
    bad.class_serial = fresh_serial(v, CLASS_SERIAL);
    sites = alloc_sites(v, bad);
    break_at(v, &sites, SITE_FIELD(v, &sites, class_serial));
    insert(v, &sites);
}

void stk_012_site(struct faults *v, struct event *e, int variant)
{
    struct SITE bad = sound;
    struct event sites;

    (void)e;
    (void)variant;
    bad.trace_serial = fresh_serial(v, TRACE_SERIAL);
    sites = alloc_sites(v, bad);
    break_at(v, &sites, SITE_FIELD(v, &sites, trace_serial));
    insert(v, &sites);
}

void prf_004_flags(struct faults *v, struct event *e, int flags)
{
    struct event sites = alloc_sites(v, sound);

    (void)e;
    sites.fields.ALLOC_SITES.flags = (uint16_t)flags;
    break_at(v, &sites, EVENT_OFFSET_OF(EVENT_RECORD, ALLOC_SITES, flags, v->id_size));
    insert(v, &sites);
}

void prf_005_sum(struct faults *v, struct event *e, int total)
{
    struct event sites = alloc_sites(v, sound);
    struct ALLOC_SITES *r = &sites.fields.ALLOC_SITES;

    (void)e;
    switch (total) {
    case 0:
        r->live_bytes = 31;
        break_at(v, &sites, EVENT_OFFSET_OF(EVENT_RECORD, ALLOC_SITES, live_bytes, v->id_size));
        break;
    case 1:
        r->live_instances = 1;
        break_at(v, &sites, EVENT_OFFSET_OF(EVENT_RECORD, ALLOC_SITES, live_instances, v->id_size));
        break;
    case 2:
        r->allocated_bytes = 63;
        break_at(v, &sites, EVENT_OFFSET_OF(EVENT_RECORD, ALLOC_SITES, allocated_bytes, v->id_size));
        break;
    default:
        r->allocated_instances = 3;
        break_at(v, &sites, EVENT_OFFSET_OF(EVENT_RECORD, ALLOC_SITES, allocated_instances, v->id_size));
        break;
    }
    insert(v, &sites);
}

/* The sum needs more than 32 bits. */
void prf_005_wide(struct faults *v, struct event *e, int variant)
{
    struct SITE bad = sound;
    struct event sites;

    (void)e;
    (void)variant;
    bad.live_bytes = bad.allocated_bytes = UINT32_MAX;
    sites = alloc_sites(v, bad);
    sites.fields.ALLOC_SITES.allocated_bytes += UINT32_MAX;
    break_at(v, &sites, EVENT_OFFSET_OF(EVENT_RECORD, ALLOC_SITES, live_bytes, v->id_size));
    insert(v, &sites);
}

void prf_011_live(struct faults *v, struct event *e, int variant)
{
    struct SITE bad = sound;
    struct event broken;

    (void)e;
    if (variant == 3) {
        broken = RECORD_EVENT(HEAP_SUMMARY);
        broken.fields.HEAP_SUMMARY =
            (struct HEAP_SUMMARY){.live_bytes = 16, .live_instances = 2, .allocated_bytes = 16, .allocated_instances = 1};
        break_at(v, &broken, EVENT_OFFSET_OF(EVENT_RECORD, HEAP_SUMMARY, live_instances, v->id_size));
    } else if (variant == 2) {
        broken = alloc_sites(v, bad);
        broken.fields.ALLOC_SITES.live_bytes = 65;
        break_at(v, &broken, EVENT_OFFSET_OF(EVENT_RECORD, ALLOC_SITES, live_bytes, v->id_size));
    } else if (variant == 1) {
        bad.live_instances = 3;
        broken = alloc_sites(v, bad);
        broken.fields.ALLOC_SITES.live_instances = 4;
        break_at(v, &broken, SITE_FIELD(v, &broken, live_instances));
    } else {
        bad.live_bytes = 33;
        broken = alloc_sites(v, bad);
        broken.fields.ALLOC_SITES.live_bytes = 49;
        break_at(v, &broken, SITE_FIELD(v, &broken, live_bytes));
    }
    insert(v, &broken);
}

static struct event cpu_samples(struct faults *v, uint32_t total, uint32_t first, uint32_t second, uint32_t trace)
{
    struct event e = RECORD_EVENT(CPU_SAMPLES);

    e.fields.CPU_SAMPLES = (struct CPU_SAMPLES){.samples = total, .traces = 2};
    begin_bytes(v);
    add_u4(v, first);
    add_u4(v, 0);
    add_u4(v, second);
    add_u4(v, trace);
    end_bytes(v, &e);
    return e;
}

void stk_012_sample(struct faults *v, struct event *e, int variant)
{
    struct event samples = cpu_samples(v, 4, 3, 1, fresh_serial(v, TRACE_SERIAL));

    (void)e;
    (void)variant;
    break_at(v, &samples,
             fixed_part_size(&samples, v->id_size) + SIZE_OF(SAMPLE, v->id_size) + OFFSET_OF(SAMPLE, trace_serial, v->id_size));
    insert(v, &samples);
}

void prf_008_sum(struct faults *v, struct event *e, int wide)
{
    struct event samples = wide ? cpu_samples(v, 4, UINT32_MAX, 5, 0) : cpu_samples(v, 4, 3, 2, 0);

    (void)e;
    break_at(v, &samples, EVENT_OFFSET_OF(EVENT_RECORD, CPU_SAMPLES, samples, v->id_size));
    insert(v, &samples);
}

void prf_010_flags(struct faults *v, struct event *e, int flags)
{
    struct event settings = RECORD_EVENT(CONTROL_SETTINGS);

    (void)e;
    settings.fields.CONTROL_SETTINGS = (struct CONTROL_SETTINGS){.flags = (uint32_t)flags, .depth = 4};
    break_at(v, &settings, EVENT_OFFSET_OF(EVENT_RECORD, CONTROL_SETTINGS, flags, v->id_size));
    insert(v, &settings);
}
