/* A valid dump and a fault, both drawn from the input: the validator finds that rule at the offsets that the generator reports, and
 * nothing else except the quirks of the producer. The manifest names these faults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect_manifest.h"
#include "hprof/testing.h"
#include "made_dump.h"
#include "target.h"

enum { FAULTS_MAX = 4 };

struct seen {
    const struct truth *truth;
    uint64_t excused[RULE_COUNT]; /* findings that quirks may still give rise to */
    bool found[FAULTS_MAX];
};

static size_t count_faults(void)
{
    size_t n = 0;

    while (fault_at(n))
        n++;
    return n;
}

static int on_finding(void *context, const struct hprof_finding *f)
{
    struct seen *seen = context;

    for (size_t i = 0; i < seen->truth->written.fault_count; i++)
        if (!seen->found[i] && seen->truth->written.faults[i].rule == (int)f->rule &&
            seen->truth->written.faults[i].offset == f->offset) {
            seen->found[i] = true;
            return 0;
        }
    if (seen->excused[f->rule] == 0)
        fail_target("%s at 0x%llx besides the fault: expected %s; found %s", hprof_rule_at(f->rule)->id,
                    (unsigned long long)f->offset, f->expected, f->found);
    seen->excused[f->rule]--;
    return 0;
}

/* A class without a superclass. Producers other than HotSpot write some, and strict does not report them. */
static bool is_of_rootless_class(size_t rule)
{
    return strcmp(hprof_rule_at(rule)->id, "CLS-012") == 0;
}

static int excuse_rootless_class(void *context, const struct hprof_finding *f)
{
    struct seen *seen = context;

    if (is_of_rootless_class(f->rule))
        seen->excused[f->rule]++;
    return 0;
}

static void validate(const struct made_dump *dump, size_t profile, int (*listen)(void *context, const struct hprof_finding *f),
                     struct seen *seen)
{
    struct hprof_testing testing = {.hash_seed = 1};
    struct hprof_options options;

    hprof_options_init(&options);
    options.testing = &testing;
    options.max_errors = 0;
    options.profile = profile;
    options.on_finding = listen;
    options.context = seen;
    (void)hprof_validate_memory(copy_to_guard_page(dump->at, dump->size), dump->size, false, &options, NULL);
}

static void expect_found(const struct made_dump *dump, const char *what, const struct truth *truth, const uint64_t *quirks,
                         const struct made_dump *without)
{
    struct seen seen = {.truth = truth};
    bool rootless = strncmp(what, "CLS-012", 7) == 0;
    size_t profile = hprof_profile_find(rootless ? "hotspot" : "strict");

    memcpy(seen.excused, quirks, sizeof seen.excused);
    if (rootless)
        validate(without, profile, excuse_rootless_class, &seen);
    validate(dump, profile, on_finding, &seen);
    for (size_t i = 0; i < truth->written.fault_count; i++)
        if (!seen.found[i])
            fail_target("%s is not found at 0x%llx", what, (unsigned long long)truth->written.faults[i].offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made_dump valid, broken;
    static struct generated truth, fault;
    struct drawer drawer = {data, data + size};
    const struct fault *row = fault_at(draw_below(&drawer, count_faults()));
    uint64_t at = draw_below(&drawer, 1 << 16) << 16, count = 1 + draw_below(&drawer, FAULTS_MAX);
    struct generate_request request = draw_request(&drawer);
    char what[128];
    const char *violate[] = {what};
    const struct manifest_option option = {"--violate", what};
    json_t *manifest;

    if (strcmp(fault_rule(row), "REC-012") == 0)
        return -1; /* takes 4 GiB */
    snprintf(what, sizeof what, "%s/%s", fault_rule(row), fault_variant(row));
    if (make_dump(&request, &valid, &truth) == GENERATED) {
        request.violate = violate;
        request.violate_count = 1;
        request.how.at = at;
        request.how.count = fault_is_once(row) || fault_is_alone(row) ? 1 : count;
        request.how.seed = request.made.model.seed;
        if (make_dump(&request, &broken, &fault) == GENERATED) {
            if (fault.truth.written.fault_count != request.how.count)
                fail_target("%s: %zu faults are reported, %llu were asked for", what, fault.truth.written.fault_count,
                            (unsigned long long)request.how.count);
            expect_found(&broken, what, &fault.truth, truth.quirks, &valid);
            manifest = manifest_of_dump("broken", &request, &fault, &option);
            if (HAS_PARSERS)
                expect_violations(manifest, &fault.truth);
            json_decref(manifest);
        }
        generated_free(&fault);
        memset(&fault, 0, sizeof fault);
    }
    generated_free(&truth);
    memset(&truth, 0, sizeof truth);
    return 0;
}
