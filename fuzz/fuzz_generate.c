/* Options drawn from the input: what the generator writes is valid in the profile of its producer. Its manifest parses and agrees
 * with the bytes, with what the validator counts, and, in its quirks, with the findings of the profile strict. The same options
 * give the same bytes; a copy of a small dump, made from it by --from, has the same bytes, manifest and digests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect_manifest.h"
#include "hprof/testing.h"
#include "made_dump.h"
#include "memory_file.h"
#include "printable.h"
#include "target.h"
#include "truth/manifest.h"

enum { SMALL = 64 << 10 /* bytes: a digest takes six passes, a copy several */ };

struct seen {
    struct hprof_summary summary;
    uint64_t totals[RULE_COUNT];
    char version[16];
    char first[512]; /* the first finding */
    size_t findings;
};

static int on_summary(void *context, const struct hprof_summary *s)
{
    struct seen *seen = context;

    seen->summary = *s;
    memcpy(seen->totals, s->totals, sizeof seen->totals);
    snprintf(seen->version, sizeof seen->version, "%s", s->version);
    seen->summary.version = seen->version;
    return 0;
}

static int on_finding(void *context, const struct hprof_finding *f)
{
    struct seen *seen = context;

    if (!seen->findings++)
        snprintf(seen->first, sizeof seen->first, "%s at 0x%llx: expected %s; found %s", hprof_rule_at(f->rule)->id,
                 (unsigned long long)f->offset, f->expected, f->found);
    return 0;
}

static enum hprof_status validate(const struct made_dump *dump, const char *profile, struct seen *seen)
{
    struct hprof_testing testing = {.hash_seed = 1};
    struct hprof_options options;

    memset(seen, 0, sizeof *seen);
    hprof_options_init(&options);
    options.profile = hprof_profile_find(profile);
    options.testing = &testing;
    options.on_summary = on_summary;
    options.on_finding = on_finding;
    options.context = seen;
    return hprof_validate_memory(copy_to_guard_page(dump->at, dump->size), dump->size, false, &options, NULL);
}

/* What the user gives: options that the manifest repeats, and the name of the file, which may hold any bytes. */
struct given {
    struct manifest_option option;
    char name[40];
};

static void draw_given(struct drawer *drawer, struct given *given)
{
    size_t size = 0;
    uint64_t drawn;

    while (size < sizeof given->name - 1 && (drawn = draw_byte(drawer)) != 0)
        given->name[size++] = (char)drawn;
    given->name[size] = '\0';
    given->option = (struct manifest_option){"--output", given->name};
}

static json_t *manifest_of(const struct generate_request *request, const struct generated *generated, const struct given *given)
{
    return manifest_of_dump(given->name, request, generated, &given->option);
}

static bool is_utf8(const char *text)
{
    uint32_t c;
    size_t n;

    while (*text && (n = utf8_sequence(text, &c)) > 0)
        text += n;
    return !*text;
}

/* The profile in which the dump is valid. In others, the header of 1.0.3 alone is an error. */
static const char *profile_of(const struct generate_request *request, const struct generated *generated)
{
    return generated->version == V103 ? "android" : producer_profile(request->made.producer);
}

/* What the user gave is in the manifest, and the name of the profile. */
static void expect_given(const json_t *manifest, const struct generate_request *request, const struct given *given,
                         const char *profile)
{
    expect_text_in_manifest(manifest, "profile", profile);
    if (is_utf8(given->name)) {
        expect_text_in_manifest(manifest, "file", given->name);
        expect_text_in_manifest(json_object_get(manifest, "options"), given->option.option, given->name);
    }
    if (number_in_manifest(manifest, "seed") != request->made.model.seed)
        fail_target("another seed is in the manifest");
    if (number_in_manifest(manifest, "heap_dumps") != request->made.heap_dumps)
        fail_target("%u heap dumps were asked for, another number is in the manifest", request->made.heap_dumps);
    if ((json_object_get(manifest, "digests") != NULL) != request->digests)
        fail_target("digests are in the manifest and were not asked for, or the other way round");
}

/* Another request for the dump that was made gives the same bytes. */
static void make_again(const struct generate_request *request, const struct made_dump *dump, struct made_dump *again,
                       struct generated *generated)
{
    if (make_dump(request, again, generated) != GENERATED)
        fail_target("%s fails: %s", request->from < 0 ? "the same request" : "a copy of the dump", generated->failure);
    if (again->size != dump->size || memcmp(again->at, dump->at, dump->size) != 0)
        fail_target("%s has other bytes", request->from < 0 ? "the same request" : "a copy of the dump");
}

static void expect_copy(struct generate_request *request, const struct made_dump *dump, struct made_dump *again,
                        const struct given *given, json_t *manifest)
{
    static int file = -1;
    struct generated generated = {0};
    json_t *copy;

    fill_memory_file(&file, dump->at, dump->size);
    request->from = file;
    make_again(request, dump, again, &generated);
    copy = manifest_of(request, &generated, given);
    if (HAS_PARSERS)
        expect_manifest_of_copy(manifest, copy);
    json_decref(copy);
    generated_free(&generated);
}

/* A fault of the producer that no quirk excuses: the serviceability agent of JDK 11 writes the empty string again and again. */
static uint64_t known_warnings(const struct generate_request *request, const struct seen *seen)
{
    return strcmp(producer_name(request->made.producer), "sa-11") == 0 ? seen->totals[hprof_rule_find("STR-003")] : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made_dump dump, again;
    static struct generated generated;
    static struct seen seen;
    static struct given given;
    struct drawer drawer = {data, data + size};
    struct generate_request request = draw_request(&drawer);
    const char *profile;
    json_t *manifest;
    bool digests;

    request.bytes = draw_below(&drawer, 4) == 3 ? draw_below(&drawer, 1 << 16) : 0;
    digests = draw_below(&drawer, 2);
    draw_given(&drawer, &given);
    if (make_dump(&request, &dump, &generated) == GENERATED) {
        profile = profile_of(&request, &generated);
        if (validate(&dump, profile ? profile : "strict", &seen) != HPROF_VALID ||
            seen.summary.warnings > known_warnings(&request, &seen))
            fail_target("a dump like %s has errors or warnings in its profile: %s", producer_name(request.made.producer),
                        seen.first);
        if (request.bytes && seen.summary.bytes > request.bytes)
            fail_target("%llu bytes, at most %llu were asked for", (unsigned long long)seen.summary.bytes,
                        (unsigned long long)request.bytes);
        if (validate(&dump, "strict", &seen) > HPROF_INVALID)
            fail_target("a dump cannot be checked: %s", seen.first);
        generated_free(&generated);
        request.digests = digests && seen.summary.bytes <= SMALL;
        make_again(&request, &dump, &again, &generated);
        manifest = manifest_of(&request, &generated, &given);
        if (HAS_PARSERS) {
            expect_given(manifest, &request, &given, profile);
            expect_manifest(manifest, dump.at, dump.size, &seen.summary);
        }
        if (seen.summary.bytes <= SMALL)
            expect_copy(&request, &dump, &again, &given, manifest);
        json_decref(manifest);
    }
    generated_free(&generated);
    memset(&generated, 0, sizeof generated);
    return 0;
}
