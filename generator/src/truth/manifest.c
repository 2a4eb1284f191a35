/* See manifest.h. */
#include "truth/manifest.h"

#include <inttypes.h>

#include "format/format.h"
#include "json.h"
#include "truth/manifest_answers.h"

static void write_sha256(struct json *json, const uint8_t sha256[32])
{
    char text[2 * 32 + 1];

    for (size_t i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", sha256[i]);
    json_put_string(json, "sha256", text);
}

static void write_id(struct json *json, const char *key, uint64_t id)
{
    char text[2 + 16 + 1];

    snprintf(text, sizeof text, "0x%" PRIx64, id);
    json_put_string(json, key, text);
}

static void write_options(struct json *json, const struct manifest_option *options, size_t count)
{
    json_put_object(json, "options");
    for (size_t i = 0; i < count; i++)
        json_put_string(json, options[i].option, options[i].value);
    json_close(json);
}

static void write_file(struct json *json, const char *file, const struct generated *g)
{
    const struct truth *t = &g->truth;

    json_put_string(json, "file", file);
    json_put_uint(json, "bytes", g->gzip_level ? t->file_bytes : t->written.bytes);
    write_sha256(json, g->gzip_level ? t->file_sha256 : t->sha256);
    json_put_object(json, "uncompressed");
    json_put_uint(json, "bytes", t->written.bytes);
    write_sha256(json, t->sha256);
    json_close(json);
}

#define ROOT_PREFIX "ROOT_"

/* Counts of 0 are written, too. */
static void write_records(struct json *json, const struct truth *t)
{
    json_put_object(json, "records");
#define RECORD(name, tag, since, clause, layout) json_put_uint(json, #name, t->records[tag]);
#include "format/records.def"
#undef RECORD
    json_close(json);
    json_put_object(json, "sub_records");
#define SUBRECORD(name, tag, since, clause, layout) json_put_uint(json, #name, t->subrecords[tag]);
#include "format/records.def"
#undef SUBRECORD
    json_close(json);
    json_put_object(json, "roots");
#define SUBRECORD(name, tag, since, clause, layout) \
    if (strncmp(#name, ROOT_PREFIX, sizeof ROOT_PREFIX - 1) == 0) \
        json_put_uint(json, #name, t->subrecords[tag]);
#include "format/records.def"
#undef SUBRECORD
    json_close(json);
}

static void write_by_type(struct json *json, const char *key, const uint64_t counts[12])
{
    static const char *const types[] = {
        [TYPE_BOOLEAN] = "boolean", [TYPE_CHAR] = "char",   [TYPE_FLOAT] = "float", [TYPE_DOUBLE] = "double",
        [TYPE_BYTE] = "byte",       [TYPE_SHORT] = "short", [TYPE_INT] = "int",     [TYPE_LONG] = "long"};

    json_put_object(json, key);
    json_put_uint(json, "object", counts[TYPE_OBJECT]);
    for (unsigned type = TYPE_BOOLEAN; type <= TYPE_LONG; type++)
        json_put_uint(json, types[type], counts[type]);
    json_close(json);
}

static void write_known(struct json *json, const char *key, uint64_t count, bool known)
{
    if (known)
        json_put_uint(json, key, count);
    else
        json_put_null(json, key);
}

static void write_heap(struct json *json, const struct truth *t)
{
    uint64_t instances = t->subrecords[SUB_INSTANCE_DUMP], object_arrays = t->subrecords[SUB_OBJECT_ARRAY_DUMP];
    uint64_t primitive_arrays = t->subrecords[SUB_PRIMITIVE_ARRAY_DUMP] + t->subrecords[SUB_PRIMITIVE_ARRAY_NODATA];

    json_put_uint(json, "heap_dumps", t->heap_dumps);
    json_put_uint(json, "strings", t->records[TAG_UTF8]);
    json_put_uint(json, "class_dumps", t->subrecords[SUB_CLASS_DUMP]);
    json_put_uint(json, "objects", instances + object_arrays + primitive_arrays);
    json_put_uint(json, "instances", instances);
    json_put_uint(json, "object_arrays", object_arrays);
    json_put_uint(json, "primitive_arrays", primitive_arrays);
    write_by_type(json, "arrays", t->arrays);
    write_by_type(json, "elements", t->array_elements);
    write_known(json, "references", t->references, t->references_known);
    write_known(json, "null_references", t->nulls, t->nulls_known);
    json_put_uint(json, "deepest_superclass_chain", t->deepest_chain);
}

static void write_classes(struct json *json, const struct truth *t)
{
    json_put_array(json, "classes");
    for (size_t i = 0; i < t->class_count; i++) {
        const struct truth_class *class = &t->classes[i];

        json_put_object(json, NULL);
        write_id(json, "id", class->id);
        json_put_string(json, "name", class->name);
        json_put_uint(json, "instances", class->instances);
        json_put_uint(json, "instance_bytes", class->instance_bytes);
        json_put_uint(json, "arrays", class->arrays);
        json_put_uint(json, "elements", class->elements);
        json_close(json);
    }
    json_close(json);
}

/* The ID of each rule, by its index in rules.def, from the catalogue of the library. */
static void write_quirks(struct json *json, const struct generated *g)
{
    json_put_object(json, "quirks");
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        if (g->quirks[rule])
            json_put_uint(json, hprof_rule_at(rule)->id, g->quirks[rule]);
    json_close(json);
}

static void write_faults(struct json *json, const struct generated *g)
{
    json_put_array(json, "violations");
    for (size_t i = 0; i < g->truth.written.fault_count; i++) {
        const struct written_fault *fault = &g->truth.written.faults[i];
        const struct hprof_rule *rule = hprof_rule_at((size_t)fault->rule);

        json_put_object(json, NULL);
        json_put_string(json, "rule", rule->id);
        json_put_string(json, "name", rule->name);
        json_put_string(json, "variant", fault->variant);
        json_put_string(json, "clause", rule->clause);
        json_put_uint(json, "offset", fault->offset);
        json_close(json);
    }
    json_close(json);
}

/* FILE and FILE.p0, or only the size of each. */
static void write_damaged_files(struct json *json, const char *file, const struct generated *g)
{
    json_put_array(json, "files");
    for (size_t i = 0; i < damage_file_count(g->damage); i++) {
        const struct damage_file *part = damage_file_at(g->damage, i);
        char name[4200];

        json_put_object(json, NULL);
        if (part->number)
            snprintf(name, sizeof name, "%s.p%u", file ? file : "", part->number - 1);
        else
            snprintf(name, sizeof name, "%s", file ? file : "");
        json_put_string(json, "file", name);
        json_put_uint(json, "offset", part->from);
        json_put_uint(json, "length", part->to - part->from);
        json_put_uint(json, "bytes", i ? g->parts[i - 1].bytes : g->gzip_level ? g->truth.file_bytes : g->truth.written.bytes);
        write_sha256(json, i ? g->parts[i - 1].sha256 : g->gzip_level ? g->truth.file_sha256 : g->truth.sha256);
        json_close(json);
    }
    json_close(json);
}

static void write_damage(struct json *json, const char *file, const struct generated *g)
{
    struct harm *harm = damage_harm(g->damage);
    struct harmed harmed;

    json_put_object(json, "damage");
    json_put_object(json, "undamaged");
    json_put_uint(json, "bytes", g->undamaged_bytes);
    write_sha256(json, g->undamaged_sha256);
    json_close(json);
    json_put_array(json, "places");
    for (size_t i = 0; i < damage_done_count(g->damage); i++) {
        const struct damage_done *done = damage_done_at(g->damage, i);

        json_put_object(json, NULL);
        json_put_string(json, "kind", damage_name(done->kind));
        json_put_uint(json, "offset", done->at);
        json_put_uint(json, "bytes", done->bytes);
        json_put_uint(json, "written", done->written);
        json_close(json);
    }
    json_close(json);
    write_damaged_files(json, file, g);
    json_put_uint(json, "lost", harm_count(harm, true));
    json_put_uint(json, "damaged", harm_count(harm, false));
    json_put_array(json, "not_whole");
    while (harm_next(harm, &harmed)) {
        json_put_object(json, NULL);
        json_put_string(json, "record", item_name(&harmed.item));
        if (harmed.item.has_id)
            write_id(json, "id", harmed.item.id);
        else
            json_put_null(json, "id");
        json_put_uint(json, "offset", harmed.item.at);
        json_put_uint(json, "bytes", harmed.item.size);
        json_put_string(json, "state", harmed.lost ? "lost" : "damaged");
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void write_digest(struct json *json, const char *key, const struct digest *digest)
{
    char sum[2 * 16 + 1];

    snprintf(sum, sizeof sum, "%016" PRIx64 "%016" PRIx64, digest->high, digest->low);
    json_put_object(json, key);
    json_put_uint(json, "count", digest->count);
    json_put_string(json, "sum", sum);
    json_close(json);
}

static bool has_entry(enum digest_form form, enum digest_entry entry)
{
    return form != DIGEST_CONTENT || (entry != DIGEST_LOADERS && entry != DIGEST_INSTANCE_BYTES && entry != DIGEST_ROOTS);
}

static void write_digests(struct json *json, const struct truth *t)
{
    static const char *const forms[] = {"exact", "resolved", "content"};
    static const char *const entries[] = {"strings",   "classes",        "loaders",       "statics",          "constants",
                                          "instances", "instance_bytes", "object_arrays", "primitive_arrays", "roots"};

    json_put_object(json, "digests");
    for (enum digest_form form = DIGEST_EXACT; form < DIGEST_FORMS; form++) {
        json_put_object(json, forms[form]);
        for (enum digest_entry entry = DIGEST_STRINGS; entry < DIGEST_ENTRIES; entry++)
            if (has_entry(form, entry))
                write_digest(json, entries[entry], &t->digests[form][entry]);
        json_close(json);
    }
    json_close(json);
}

/* The only profile that checks a broken rule, if there is such a rule; else NULL. */
static const char *only_profile(const struct truth *truth)
{
    for (size_t i = 0; i < truth->written.fault_count; i++) {
        size_t rule = (size_t)truth->written.faults[i].rule;
        const struct hprof_quirk *quirk;

        for (size_t q = 0; hprof_rule_at(rule)->lax == HPROF_OFF && (quirk = hprof_quirk_at(q)); q++)
            if (quirk->rule == rule && quirk->severity != HPROF_OFF)
                return hprof_profile_at(quirk->profile)->name;
    }
    return NULL;
}

/* In other profiles, the header of 1.0.3 alone is an error. */
static const char *profile_of(const struct generate_request *request, const struct generated *g)
{
    const char *check_dump = only_profile(&g->truth);

    if (request->from >= 0 || request->profile >= 0)
        return NULL;
    return check_dump ? check_dump : g->version == V103 ? "android" : producer_profile(request->made.producer);
}

void manifest_write(FILE *out, const char *file, uint64_t seed, const struct generate_request *request,
                    const struct generated *g, const struct manifest_option *options, size_t option_count)
{
    struct json json;

    json_begin(&json, out);
    json_put_object(&json, "tool");
    json_put_string(&json, "name", "hprof-gen");
    json_put_string(&json, "version", HPROF_VERSION);
    json_close(&json);
    write_options(&json, options, option_count);
    json_put_uint(&json, "seed", seed);
    json_put_string(&json, "profile", profile_of(request, g));
    write_file(&json, file, g);
    json_put_string(&json, "version", g->truth.version);
    json_put_uint(&json, "id_size", g->id_size);
    write_records(&json, &g->truth);
    write_heap(&json, &g->truth);
    if (request->from >= 0 || request->profile >= 0)
        json_put_null(&json, "quirks"); /* hprof-validate may recognize it */
    else
        write_quirks(&json, g);
    write_faults(&json, g);
    if (g->damage)
        write_damage(&json, file, g);
    if (request->digests)
        write_digests(&json, &g->truth);
    if (request->answers)
        manifest_write_answers(&json, &g->truth.answers);
    write_classes(&json, &g->truth);
    json_finish(&json);
}
