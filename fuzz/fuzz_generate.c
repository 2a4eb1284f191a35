/* Options drawn from the input: what the generator writes is valid in the profile of its producer, its manifest agrees with
 * what the validator counts, and its quirks are the findings of the strict profile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_dump.h"
#include "target.h"

struct seen {
    struct hprof_summary summary;
    uint64_t totals[RULE_COUNT];
    struct hprof_finding first;
    char text[512];
    size_t findings;
};

static void on_summary(void *context, const struct hprof_summary *s)
{
    struct seen *seen = context;

    seen->summary = *s;
    memcpy(seen->totals, s->totals, sizeof seen->totals);
}

static void on_finding(void *context, const struct hprof_finding *f)
{
    struct seen *seen = context;

    if (!seen->findings++)
        snprintf(seen->text, sizeof seen->text, "%s at 0x%llx: expected %s; found %s", hprof_rule_at(f->rule)->id,
                 (unsigned long long)f->offset, f->expected, f->found);
}

static void validate(const struct made_dump *dump, size_t profile, struct seen *seen)
{
    struct hprof_options options;

    memset(seen, 0, sizeof *seen);
    hprof_options_init(&options);
    options.profile = profile;
    options.on_summary = on_summary;
    options.on_finding = on_finding;
    options.context = seen;
    (void)hprof_validate_memory(dump->at, dump->size, false, &options);
}

static void expect_count(const char *what, uint64_t generated, uint64_t validated)
{
    if (generated != validated)
        fail_target("%s: the manifest says %llu, the validator %llu", what, (unsigned long long)generated,
                    (unsigned long long)validated);
}

static void expect_counts(const struct generated *g, const struct seen *seen)
{
    const struct hprof_summary *s = &seen->summary;
    const struct truth *t = &g->truth;

    expect_count("bytes", t->bytes, s->bytes);
    expect_count("bytes of the file", g->gzip_level ? t->file_bytes : t->bytes, s->file_bytes);
    expect_count("references", t->references_known ? t->references : s->references, s->references);
    for (unsigned tag = 0; tag < 256; tag++) {
        expect_count("records", t->records[tag], s->record_counts[tag]);
        expect_count("sub-records", t->subrecords[tag], s->subrecord_counts[tag]);
    }
    if (!t->version || strcmp(t->version, s->version) != 0)
        fail_target("version %s in the manifest, %s in the dump", t->version ? t->version : "none", s->version);
    expect_count("ID size", g->id_size, s->id_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made_dump dump, again;
    static struct generated generated;
    static struct seen seen;
    struct drawer drawer = {data, data + size};
    struct generate_request request = draw_request(&drawer);
    const char *profile = producer_profile(request.made.producer);

    if (make_dump(&request, &dump, &generated) == GENERATED) {
        validate(&dump, hprof_profile_find(profile ? profile : "strict"), &seen);
        if (seen.summary.errors || seen.summary.warnings)
            fail_target("a dump like %s has errors or warnings in its profile: %s", producer_name(request.made.producer),
                        seen.text);
        expect_counts(&generated, &seen);
        validate(&dump, hprof_profile_find("strict"), &seen);
        for (size_t rule = 0; rule < RULE_COUNT; rule++)
            expect_count(hprof_rule_at(rule)->id, generated.quirks[rule], seen.totals[rule]);
        generated_free(&generated);
        memset(&generated, 0, sizeof generated);
        if (make_dump(&request, &again, &generated) != GENERATED || again.size != dump.size ||
            memcmp(again.at, dump.at, dump.size) != 0)
            fail_target("the same options give another dump");
    }
    generated_free(&generated);
    memset(&generated, 0, sizeof generated);
    return 0;
}
