/* See expect_manifest.h. */
#define _GNU_SOURCE /* open_memstream */
#include "expect_manifest.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gzip.h"
#include "target.h"

enum { PLAIN_MOST = 8 << 20 };

static json_t *parse_manifest(const char *text, size_t size)
{
    json_error_t error;
    json_t *manifest = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

    if (!manifest)
        fail_target("the manifest is not JSON: %s at %d", error.text, error.position);
    return manifest;
}

json_t *manifest_of_dump(const char *file, const struct generate_request *request, const struct generated *generated,
                         const struct manifest_option *option)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *manifest;

    if (!out)
        fail_target("no memory for a manifest");
    manifest_write(out, file, request->made.model.seed, request, generated, option, 1);
    if (ferror(out) || fclose(out) != 0)
        fail_target("a manifest could not be written");
    manifest = HAS_PARSERS ? parse_manifest(text, size) : NULL;
    free(text);
    return manifest;
}

static json_t *member(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    if (!value)
        fail_target("the manifest has no %s", key);
    return value;
}

uint64_t number_in_manifest(const json_t *object, const char *key)
{
    const json_t *value = member(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0)
        fail_target("%s in the manifest is not a count", key);
    return (uint64_t)json_integer_value(value);
}

static void expect_number(const json_t *object, const char *key, uint64_t expected)
{
    uint64_t found = number_in_manifest(object, key);

    if (found != expected)
        fail_target("%s is %llu in the manifest, %llu in the dump", key, (unsigned long long)found,
                    (unsigned long long)expected);
}

void expect_text_in_manifest(const json_t *object, const char *key, const char *expected)
{
    const json_t *value = member(object, key);
    const char *found = json_string_value(value);

    if (expected ? !found || strcmp(found, expected) != 0 : !json_is_null(value))
        fail_target("%s is %s in the manifest, not %s", key, found ? found : "no text", expected ? expected : "null");
}

static uint64_t sum_of_members(json_t *object)
{
    const char *key;
    json_t *value;
    uint64_t sum = 0;

    json_object_foreach(object, key, value) sum += number_in_manifest(object, key);
    return sum;
}

static void expect_bytes(const json_t *object, const uint8_t *bytes, size_t size)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[2 * sizeof digest + 1];
    unsigned digest_size = 0;

    if (!EVP_Digest(bytes, size, digest, &digest_size, EVP_sha256(), NULL))
        fail_target("libcrypto fails");
    for (unsigned i = 0; i < digest_size; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    expect_number(object, "bytes", size);
    expect_text_in_manifest(object, "sha256", text);
}

static void expect_file(const json_t *manifest, const uint8_t *file, size_t size)
{
    static uint8_t plain[PLAIN_MOST];
    const json_t *uncompressed = member(manifest, "uncompressed");

    expect_bytes(manifest, file, size);
    if (is_gzip(file, size))
        expect_bytes(uncompressed, plain, unpack_gzip(file, size, plain, sizeof plain));
    else
        expect_bytes(uncompressed, file, size);
}

/* Each tag that has a name is counted, and no other. */
static void expect_tags(const json_t *manifest, const char *key, const char *(*name_of)(uint8_t tag),
                        const uint64_t counts[256])
{
    const json_t *object = member(manifest, key);
    size_t named = 0;

    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = name_of((uint8_t)tag);

        if (name)
            expect_number(object, name, counts[tag]);
        else if (counts[tag])
            fail_target("tag 0x%02x, which has no name, is in the dump", tag);
        named += name != NULL;
    }
    if (json_object_size(object) != named)
        fail_target("%zu tags in %s, %zu have names", json_object_size(object), key, named);
}

static const char *root_name(uint8_t tag)
{
    const char *name = hprof_subrecord_name(tag);

    return name && strncmp(name, "ROOT_", 5) == 0 ? name : NULL;
}

static void expect_roots(const json_t *manifest, const struct hprof_summary *summary)
{
    uint64_t roots[256];

    for (unsigned tag = 0; tag < 256; tag++)
        roots[tag] = root_name((uint8_t)tag) ? summary->subrecord_counts[tag] : 0;
    expect_tags(manifest, "roots", root_name, roots);
}

static void expect_heap(const json_t *manifest, const struct hprof_summary *s)
{
    json_t *arrays = member(manifest, "arrays");

    expect_number(manifest, "strings", s->strings);
    expect_number(manifest, "class_dumps", s->classes);
    expect_number(manifest, "instances", s->instances);
    expect_number(manifest, "object_arrays", s->object_arrays);
    expect_number(manifest, "primitive_arrays", s->primitive_arrays);
    expect_number(manifest, "objects", s->instances + s->object_arrays + s->primitive_arrays);
    expect_number(arrays, "object", s->object_arrays);
    if (sum_of_members(arrays) != s->object_arrays + s->primitive_arrays)
        fail_target("the arrays by type are not all arrays");
    expect_number(manifest, "references", s->references);
    if (number_in_manifest(manifest, "null_references") > s->references)
        fail_target("more references are null than there are");
}

static void expect_classes(const json_t *manifest, const struct hprof_summary *s)
{
    json_t *classes = member(manifest, "classes"), *ids = json_object(), *class;
    uint64_t instances = 0, arrays = 0, elements = 0;
    size_t i;

    json_array_foreach(classes, i, class)
    {
        if (json_object_set(ids, json_string_value(member(class, "id")), class) != 0)
            fail_target("a class of the manifest has no ID");
        instances += number_in_manifest(class, "instances");
        arrays += number_in_manifest(class, "arrays");
        elements += number_in_manifest(class, "elements");
    }
    if (json_object_size(ids) != json_array_size(classes))
        fail_target("a class appears twice in the manifest");
    json_decref(ids);
    if (instances != s->instances || arrays != s->object_arrays ||
        elements != number_in_manifest(member(manifest, "elements"), "object"))
        fail_target("the classes of the manifest do not have all instances and arrays");
}

static void expect_quirks(const json_t *manifest, const struct hprof_summary *s)
{
    const json_t *quirks = member(manifest, "quirks");
    size_t named = 0;

    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        if (s->totals[rule]) {
            expect_number(quirks, hprof_rule_at(rule)->id, s->totals[rule]);
            named++;
        }
    if (json_object_size(quirks) != named)
        fail_target("%zu rules in the quirks of the manifest, %zu have findings", json_object_size(quirks), named);
}

/* Counts of the forms agree with the dump, and the exact form is the resolved one if all references are. */
static void expect_digests(const json_t *digests, const struct hprof_summary *s)
{
    static const char *const forms[] = {"exact", "resolved", "content"};
    const json_t *exact = member(digests, "exact");

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        json_t *form = member(digests, forms[i]), *entry;
        const char *key;

        expect_number(member(form, "classes"), "count", s->classes);
        expect_number(member(form, "instances"), "count", s->instances);
        expect_number(member(form, "object_arrays"), "count", s->object_arrays);
        expect_number(member(form, "primitive_arrays"), "count", s->primitive_arrays);
        json_object_foreach(form, key, entry)
        {
            const char *sum = json_string_value(member(entry, "sum"));

            if (!sum || strspn(sum, "0123456789abcdef") != 32 || sum[32])
                fail_target("the sum of %s in %s is not 32 hexadecimal digits", key, forms[i]);
            if (i == 1)
                expect_number(entry, "count", number_in_manifest(member(exact, key), "count"));
        }
    }
    if (!s->errors && !s->warnings && !s->notes && !json_equal(exact, member(digests, "resolved")))
        fail_target("the digests of a dump without findings differ where references are resolved");
}

void expect_manifest(const json_t *manifest, const uint8_t *file, size_t size, const struct hprof_summary *summary)
{
    const json_t *digests = json_object_get(manifest, "digests");

    expect_file(manifest, file, size);
    if (number_in_manifest(member(manifest, "uncompressed"), "bytes") != summary->bytes)
        fail_target("the validator read another number of bytes");
    expect_text_in_manifest(manifest, "version", summary->version);
    expect_number(manifest, "id_size", summary->id_size);
    expect_tags(manifest, "records", hprof_record_name, summary->record_counts);
    expect_tags(manifest, "sub_records", hprof_subrecord_name, summary->subrecord_counts);
    expect_roots(manifest, summary);
    expect_heap(manifest, summary);
    expect_classes(manifest, summary);
    expect_quirks(manifest, summary);
    if (json_array_size(member(manifest, "violations")))
        fail_target("the manifest of a dump without faults has violations");
    if (digests)
        expect_digests(digests, summary);
}

void expect_violations(const json_t *manifest, const struct truth *truth)
{
    const json_t *violations = member(manifest, "violations");

    if (json_array_size(violations) != truth->written.fault_count)
        fail_target("%zu violations in the manifest, %zu faults were planted", json_array_size(violations),
                    truth->written.fault_count);
    for (size_t i = 0; i < truth->written.fault_count; i++) {
        const json_t *violation = json_array_get(violations, i);

        expect_text_in_manifest(violation, "rule", hprof_rule_at((size_t)truth->written.faults[i].rule)->id);
        expect_text_in_manifest(violation, "variant", truth->written.faults[i].variant);
        expect_number(violation, "offset", truth->written.faults[i].offset);
    }
}

void expect_manifest_of_copy(json_t *manifest, json_t *copy)
{
    static const char *const unknown[] = {"profile", "quirks", "null_references"};

    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (json_object_del(manifest, unknown[i]) != 0 || json_object_del(copy, unknown[i]) != 0)
            fail_target("a manifest has no %s", unknown[i]);
    if (!json_equal(manifest, copy)) {
        const char *key;
        json_t *value;

        json_object_foreach(manifest, key, value) if (!json_equal(value, json_object_get(copy, key)))
            fail_target("%s in the manifest is not that of a copy of the dump", key);
        fail_target("the manifest of a copy has more members");
    }
}
