/* Records of the profiler: allocation sites, samples, settings (SPEC.md 4.6, 4.7, 4.10, 4.11). */
#include <inttypes.h>

#include "checks/checker.h"

enum { SITES_FLAGS = 7, CONTROL_FLAGS = 3 };

static void check_live(struct checker *ck, uint64_t live, uint64_t allocated, uint64_t at, const char *what)
{
    if (live > allocated)
        report(ck, RULE_PRF_011, at, "no more live than allocated", "%s: %" PRIu64 " live, %" PRIu64 " allocated", what, live,
               allocated);
}

static void check_site(struct checker *ck, const struct SITE *r, uint64_t at)
{
    unsigned id = ck->file->id_size;

    if (r->array_type != 0 && r->array_type != TYPE_OBJECT && !type_is_primitive(r->array_type))
        report(ck, RULE_PRF_002, at, "0, 2 or 4 to 11", "%u", r->array_type);
    if (r->class_serial)
        use_class_serial(ck, r->class_serial, SERIAL_OF_SITE, at + OFFSET_OF(SITE, class_serial, id));
    use_trace(ck, r->trace_serial, TRACE_OF_SITE, at + OFFSET_OF(SITE, trace_serial, id));
    check_live(ck, r->live_bytes, r->allocated_bytes, at + OFFSET_OF(SITE, live_bytes, id), "bytes");
    check_live(ck, r->live_instances, r->allocated_instances, at + OFFSET_OF(SITE, live_instances, id), "instances");
}

static void check_sum(struct checker *ck, uint64_t sum, uint64_t total, uint64_t at, const char *what)
{
    if (sum > total)
        report(ck, RULE_PRF_005, at, "a total that is not below the sum of the sites", "%s: total %" PRIu64 ", sum %" PRIu64,
               what, total, sum);
}

/* SPEC.md 4.6 ALLOC_SITES. The length was checked. */
bool check_alloc_sites(struct checker *ck)
{
    unsigned id = ck->file->id_size;
    size_t fixed = SIZE_OF(ALLOC_SITES, id), entry = SIZE_OF(SITE, id);
    uint64_t at = ck->in->offset, sum[4] = {0};
    struct cursor c;
    struct ALLOC_SITES r;

    c = window(ck->in, fixed);
    if (!read_ALLOC_SITES(&c, id, &r))
        return false;
    input_advance(ck->in, fixed);
    if (r.flags & ~SITES_FLAGS)
        report(ck, RULE_PRF_004, at, "flags 1, 2 and 4 at the most", "0x%04x", r.flags);
    check_live(ck, r.live_bytes, r.allocated_bytes, at + OFFSET_OF(ALLOC_SITES, live_bytes, id), "bytes in all");
    check_live(ck, r.live_instances, r.allocated_instances, at + OFFSET_OF(ALLOC_SITES, live_instances, id),
               "instances in all");

    for (uint32_t i = 0; i < r.sites; i++) {
        struct SITE site;

        c = window(ck->in, entry);
        if (!read_SITE(&c, id, &site))
            return false;
        check_site(ck, &site, ck->in->offset);
        sum[0] += site.live_bytes;
        sum[1] += site.live_instances;
        sum[2] += site.allocated_bytes;
        sum[3] += site.allocated_instances;
        input_advance(ck->in, entry);
    }
    check_sum(ck, sum[0], r.live_bytes, at + OFFSET_OF(ALLOC_SITES, live_bytes, id), "live bytes");
    check_sum(ck, sum[1], r.live_instances, at + OFFSET_OF(ALLOC_SITES, live_instances, id), "live instances");
    check_sum(ck, sum[2], r.allocated_bytes, at + OFFSET_OF(ALLOC_SITES, allocated_bytes, id), "bytes allocated");
    check_sum(ck, sum[3], r.allocated_instances, at + OFFSET_OF(ALLOC_SITES, allocated_instances, id), "instances allocated");
    return true;
}

/* SPEC.md 4.7 HEAP_SUMMARY */
void check_heap_summary(struct checker *ck, const struct HEAP_SUMMARY *r, uint64_t at)
{
    unsigned id = ck->file->id_size;

    check_live(ck, r->live_bytes, r->allocated_bytes, at + OFFSET_OF(HEAP_SUMMARY, live_bytes, id), "bytes");
    check_live(ck, r->live_instances, r->allocated_instances, at + OFFSET_OF(HEAP_SUMMARY, live_instances, id), "instances");
}

/* SPEC.md 4.10 CPU_SAMPLES. The length was checked. */
bool check_cpu_samples(struct checker *ck)
{
    unsigned id = ck->file->id_size;
    size_t fixed = SIZE_OF(CPU_SAMPLES, id), entry = SIZE_OF(SAMPLE, id);
    uint64_t at = ck->in->offset, sum = 0;
    struct cursor c;
    struct CPU_SAMPLES r;

    c = window(ck->in, fixed);
    if (!read_CPU_SAMPLES(&c, id, &r))
        return false;
    input_advance(ck->in, fixed);

    for (uint32_t i = 0; i < r.traces; i++) {
        struct SAMPLE sample;

        c = window(ck->in, entry);
        if (!read_SAMPLE(&c, id, &sample))
            return false;
        sum += sample.samples;
        use_trace(ck, sample.trace_serial, TRACE_OF_SAMPLE, ck->in->offset + OFFSET_OF(SAMPLE, trace_serial, id));
        input_advance(ck->in, entry);
    }
    if (sum > r.samples)
        report(ck, RULE_PRF_008, at, "a total that is not below the sum of the traces", "total %" PRIu32 ", sum %" PRIu64,
               r.samples, sum);
    return true;
}

/* SPEC.md 4.11 CONTROL_SETTINGS */
void check_control_settings(struct checker *ck, const struct CONTROL_SETTINGS *r, uint64_t at)
{
    if (r->flags & ~(uint32_t)CONTROL_FLAGS)
        report(ck, RULE_PRF_010, at, "flags 1 and 2 at the most", "0x%08" PRIx32, r->flags);
}
