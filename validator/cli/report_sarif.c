/* --format sarif: SARIF 2.1.0, one run for all files. A region's byteOffset counts bytes of the dump even if the file is
 * compressed, except for the rules of gzip; if the two differ, the region's message says which it is. Services refuse reports of
 * more than 25,000 results, so further results are left out; the totals in the run's properties are exact. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "catalog.h"
#include "json.h"
#include "messages.h"
#include "report.h"

#define MAX_RESULTS 25000
#define TEXT_SIZE 4096

/* What the end of the run reports about a file. */
struct artifact {
    const char *file;
    enum hprof_status status;
    bool opened, compressed, complete, incomplete, missing_undecided;
    struct parts_beside parts;
    uint64_t missing_objects, bytes, file_bytes, sound_until, skipped, errors, warnings, notes;
    const char *profile;
    char failure[REPORT_TEXT_SIZE], version[16], producer[64], hint[REPORT_TEXT_SIZE]; /* may be "" */
};

struct sarif {
    struct json json;
    size_t count;
    uint64_t results, errors, warnings, notes;
    uint64_t *totals; /* of all files, by rule */
    struct artifact artifacts[];
};

/* ---- The rule table ---------------------------------------------------------------------------------------------- */

static void message(struct json *json, const char *key, const char *text)
{
    json_put_object(json, key);
    json_put_string(json, "text", text);
    json_close(json);
}

static const char *level(enum hprof_severity severity)
{
    return severity == HPROF_OFF ? "none" : severity_name(severity);
}

static void describe_rule(struct json *json, const struct hprof_rule *rule)
{
    char text[TEXT_SIZE], link[RULE_LINK_SIZE];

    rule_link(rule, link);
    json_put_object(json, NULL);
    json_put_string(json, "id", rule->id);
    json_put_string(json, "name", rule->name);
    message(json, "shortDescription", rule->summary);
    snprintf(text, sizeof text, "%s. %s", rule->summary, rule->why);
    message(json, "fullDescription", text);
    snprintf(text, sizeof text, "%s\n\nProducers: %s\n\nReaders: %s\n\n%s, section %s", rule->why, rule->producers,
             rule->readers, link, rule->clause);
    message(json, "help", text);
    if (strstr(link, "://") != NULL) /* SARIF takes absolute addresses only */
        json_put_string(json, "helpUri", link);
    json_put_object(json, "defaultConfiguration");
    json_put_bool(json, "enabled", rule->severity != HPROF_OFF);
    json_put_string(json, "level", level(rule->severity));
    json_close(json);
    json_put_object(json, "properties");
    json_put_string(json, "clause", rule->clause);
    json_put_string(json, "family", rule->family);
    json_put_bool(json, "framing", rule->framing);
    json_close(json);
    json_close(json);
}

static size_t state_size(const struct report *report)
{
    return sizeof(struct sarif) + report->file_count * sizeof(struct artifact) + hprof_rule_count() * sizeof(uint64_t);
}

static void begin(struct report *report)
{
    struct sarif *sarif = report->state;
    struct json *json = &sarif->json;

    sarif->totals = (uint64_t *)&sarif->artifacts[report->file_count];
    json_begin(json, report->out);
    json_put_string(json, "$schema",
                    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json");
    json_put_string(json, "version", "2.1.0");
    json_put_array(json, "runs");
    json_put_object(json, NULL);
    json_put_object(json, "tool");
    json_put_object(json, "driver");
    json_put_string(json, "name", program_name);
    json_put_string(json, "version", HPROF_VERSION);
    json_put_string(json, "semanticVersion", HPROF_VERSION);
    json_put_array(json, "rules");
    for (size_t i = 0; i < hprof_rule_count(); i++)
        describe_rule(json, hprof_rule_at(i));
    json_close(json);
    json_close(json);
    json_close(json);
    json_put_array(json, "results");
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

#define KEEP(to, text) snprintf(to, sizeof(to), "%s", (text) != NULL ? (text) : "")

static void file(struct report *report)
{
    struct sarif *sarif = report->state;
    const struct hprof_summary *s = &report->summary;
    struct artifact *a = &sarif->artifacts[sarif->count++];

    *a = (struct artifact){
        .file = report->file,
        .status = s->status,
        .opened = report->opened,
        .compressed = s->compressed,
        .complete = is_complete(s),
        .incomplete = s->incomplete,
        .missing_undecided = s->missing_undecided,
        .missing_objects = s->missing_objects,
        .parts = report->parts,
        .bytes = s->bytes,
        .file_bytes = s->file_bytes,
        .sound_until = s->sound_until,
        .skipped = s->skipped,
        .errors = s->errors,
        .warnings = s->warnings,
        .notes = s->notes,
        .profile = hprof_profile_at(s->profile)->name,
    };
    KEEP(a->failure, s->failure);
    KEEP(a->version, s->version);
    KEEP(a->producer, s->producer);
    KEEP(a->hint, s->hint);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        sarif->totals[i] += s->totals[i];
    sarif->errors += s->errors;
    sarif->warnings += s->warnings;
    sarif->notes += s->notes;
}

/* Writes a URI reference to the file: every byte except letters, digits and -._~/ becomes %XX. */
static void write_uri(struct json *json, const char *key, const char *name)
{
    char piece[4];

    json_open_string(json, key);
    if (name[0] == '/')
        json_piece(json, "file://");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c) != NULL;
        snprintf(piece, sizeof piece, plain ? "%c" : "%%%02X", c);
        json_piece(json, piece);
    }
    json_close_string(json);
}

static void location(const struct report *report, const struct hprof_rule *rule, uint64_t offset)
{
    struct sarif *sarif = report->state;
    struct json *json = &sarif->json;

    json_put_object(json, "physicalLocation");
    json_put_object(json, "artifactLocation");
    write_uri(json, "uri", report->file);
    json_put_uint(json, "index", sarif->count - 1);
    json_close(json);
    if (offset != HPROF_NO_OFFSET) {
        json_put_object(json, "region");
        json_put_uint(json, "byteOffset", offset);
        if (is_of_gzip(rule))
            message(json, "message", "counted in the compressed file");
        else if (report->summary.compressed)
            message(json, "message", "counted after decompression");
        json_close(json);
    }
    json_close(json);
}

/* FNV-1a, for a fingerprint that stays the same in the next run. */
static uint64_t mix(uint64_t hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    } while (*text++ != '\0');
    return hash;
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct sarif *sarif = report->state;
    struct json *json = &sarif->json;
    char text[TEXT_SIZE];

    if (sarif->results == MAX_RESULTS)
        return;
    sarif->results++;

    json_put_object(json, NULL);
    json_put_string(json, "ruleId", rule->id);
    json_put_uint(json, "ruleIndex", f->rule);
    json_put_string(json, "level", level(f->severity));
    if (f->expected[0] != '\0')
        snprintf(text, sizeof text, "%s: expected %s; found %s", f->message, f->expected, f->found);
    else
        snprintf(text, sizeof text, "%s", f->message);
    message(json, "message", text);

    json_put_array(json, "locations");
    json_put_object(json, NULL);
    location(report, rule, f->offset);
    if (f->path[0] != '\0') {
        json_put_array(json, "logicalLocations");
        json_put_object(json, NULL);
        json_put_string(json, "fullyQualifiedName", f->path);
        json_close(json);
        json_close(json);
    }
    json_close(json);
    json_close(json);

    if (f->related_offset != HPROF_NO_OFFSET) {
        json_put_array(json, "relatedLocations");
        json_put_object(json, NULL);
        location(report, rule, f->related_offset);
        message(json, "message", "the earlier definition");
        json_close(json);
        json_close(json);
    }

    uint64_t hash = mix(mix(mix(mix(0xcbf29ce484222325u, rule->id), f->path), f->expected), f->found);
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_put_object(json, "partialFingerprints");
    json_put_string(json, "hprofFinding/v1", text);
    json_close(json);

    json_put_object(json, "properties");
    json_put_string(json, "expected", f->expected);
    json_put_string(json, "found", f->found);
    json_put_string(json, "quirk", f->quirk);
    json_close(json);
    json_close(json);
}

static void file_end(struct report *report, double seconds)
{
    (void)report;
    (void)seconds;
}

/* ---- The end of the run ------------------------------------------------------------------------------------------ */

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void write_parts(struct json *json, const struct artifact *a)
{
    char name[PATH_MAX];

    if (a->parts.numbers == 0)
        return;
    json_put_array(json, "parts");
    for (unsigned part = 0; part < PARTS_SOUGHT; part++)
        if ((a->parts.numbers & UINT64_C(1) << part) && name_part(a->file, part, name, sizeof name))
            json_put_string(json, NULL, name);
    json_close(json);
    json_put_bool(json, "stale_parts", a->parts.is_stale);
}

static void describe_artifact(struct json *json, const struct artifact *a)
{
    json_put_object(json, NULL);
    json_put_object(json, "location");
    write_uri(json, "uri", a->file);
    json_close(json);
    if (a->opened && a->file_bytes <= INT64_MAX)
        json_put_uint(json, "length", a->file_bytes);
    json_put_object(json, "properties");
    json_put_uint(json, "status", a->status);
    if (a->missing_undecided && a->complete)
        json_put_null(json, "complete");
    else
        json_put_bool(json, "complete", a->complete);
    json_put_bool(json, "incomplete", a->incomplete);
    json_put_uint(json, "missing_objects", a->missing_objects);
    write_parts(json, a);
    json_put_string(json, "version", or_null(a->version));
    json_put_string(json, "producer", or_null(a->producer));
    json_put_string(json, "profile", a->profile);
    json_put_uint(json, "bytes", a->bytes);
    json_put_bool(json, "compressed", a->compressed);
    json_put_uint(json, "sound_until", a->sound_until);
    json_put_uint(json, "skipped", a->skipped);
    json_put_uint(json, "errors", a->errors);
    json_put_uint(json, "warnings", a->warnings);
    json_put_uint(json, "notes", a->notes);
    json_put_string(json, "hint", or_null(a->hint));
    json_close(json);
    json_close(json);
}

static void describe_failures(struct json *json, const struct sarif *sarif)
{
    json_put_array(json, "toolExecutionNotifications");
    for (size_t i = 0; i < sarif->count; i++) {
        const struct artifact *a = &sarif->artifacts[i];
        if (a->failure[0] == '\0')
            continue;
        json_put_object(json, NULL);
        json_put_string(json, "level", "error");
        message(json, "message", a->failure);
        json_put_array(json, "locations");
        json_put_object(json, NULL);
        json_put_object(json, "physicalLocation");
        json_put_object(json, "artifactLocation");
        write_uri(json, "uri", a->file);
        json_put_uint(json, "index", i);
        json_close(json);
        json_close(json);
        json_close(json);
        json_close(json);
        json_close(json);
    }
    json_close(json);
}

static void describe_run(struct json *json, const struct sarif *sarif, enum hprof_status worst)
{
    json_put_array(json, "artifacts");
    for (size_t i = 0; i < sarif->count; i++)
        describe_artifact(json, &sarif->artifacts[i]);
    json_close(json);

    json_put_array(json, "invocations");
    json_put_object(json, NULL);
    json_put_bool(json, "executionSuccessful", worst == HPROF_VALID || worst == HPROF_INVALID);
    json_put_uint(json, "exitCode", worst);
    describe_failures(json, sarif);
    json_close(json);
    json_close(json);

    json_put_object(json, "properties");
    json_put_uint(json, "errors", sarif->errors);
    json_put_uint(json, "warnings", sarif->warnings);
    json_put_uint(json, "notes", sarif->notes);
    json_put_object(json, "totals");
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (sarif->totals[i] > 0)
            json_put_uint(json, hprof_rule_at(i)->id, sarif->totals[i]);
    }
    json_close(json);
    json_put_uint(json, "results", sarif->results);
    json_put_uint(json, "max_results", MAX_RESULTS);
    json_close(json);
}

static void end(struct report *report, enum hprof_status worst)
{
    struct sarif *sarif = report->state;
    struct json *json = &sarif->json;

    json_close(json); /* results */
    describe_run(json, sarif, worst);
    json_close(json);
    json_close(json);
    json_finish(json);
}

const struct report_writer report_sarif = {state_size, begin, file, finding, file_end, end};
