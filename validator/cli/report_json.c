/* --format json: one object, described by validator/report.schema.json. --format jsonl: what "files" has there, an object a line,
 * which is written out as soon as the file is done. */
#include <limits.h>

#include "catalog.h"
#include "json.h"
#include "messages.h"
#include "report.h"

static const char *or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void offset_or_null(struct json *json, const char *key, uint64_t offset)
{
    if (offset == HPROF_NO_OFFSET)
        json_put_null(json, key);
    else
        json_put_uint(json, key, offset);
}

static size_t state_size(const struct report *report)
{
    (void)report;
    return sizeof(struct json);
}

static void begin(struct report *report)
{
    struct json *json = report->state;
    json_begin(json, report->out);
    json_put_object(json, "tool");
    json_put_string(json, "name", program_name);
    json_put_string(json, "version", HPROF_VERSION);
    json_close(json);
    json_put_array(json, "files");
}

static void count(void *context, const char *name, uint64_t value)
{
    json_put_uint(context, name, value);
}

static void complete_or_null(struct json *json, const struct hprof_summary *s)
{
    if (s->missing_undecided && is_complete(s))
        json_put_null(json, "complete");
    else
        json_put_bool(json, "complete", is_complete(s));
}

static void parts_or_null(struct json *json, const struct report *report)
{
    char name[PATH_MAX];

    if (report->parts.numbers == 0) {
        json_put_null(json, "parts");
        return;
    }
    json_put_object(json, "parts");
    json_put_array(json, "files");
    for (unsigned part = 0; part < PARTS_SOUGHT; part++)
        if ((report->parts.numbers & UINT64_C(1) << part) && name_part(report->file, part, name, sizeof name))
            json_put_string(json, NULL, name);
    json_close(json);
    json_put_bool(json, "stale", report->parts.is_stale);
    json_close(json);
}

/* The members of a file, up to its findings. */
static void describe_file(struct report *report)
{
    struct json *json = report->state;
    const struct hprof_summary *s = &report->summary;

    json_put_string(json, "file", report->file);
    json_put_bool(json, "valid", s->status == HPROF_VALID);
    json_put_uint(json, "status", s->status);
    complete_or_null(json, s);
    json_put_bool(json, "incomplete", s->incomplete);
    json_put_uint(json, "missing_objects", s->missing_objects);
    json_put_bool(json, "missing_undecided", s->missing_undecided);
    parts_or_null(json, report);
    json_put_string(json, "failure", or_null(s->failure));
    json_put_string(json, "version", or_null(s->version));
    json_put_uint(json, "id_size", s->id_size);
    json_put_uint(json, "timestamp", s->timestamp);
    json_put_uint(json, "bytes", s->bytes);
    json_put_uint(json, "file_bytes", s->file_bytes);
    json_put_bool(json, "compressed", s->compressed);
    json_put_string(json, "profile", hprof_profile_at(s->profile)->name);
    json_put_string(json, "producer", or_null(s->producer));
    json_put_string(json, "accepted_by", s->accepted_by);
    json_put_uint(json, "sound_until", s->sound_until);
    json_put_uint(json, "skipped", s->skipped);
    json_put_string(json, "hint", s->hint);

    json_put_object(json, "counts");
    report_each_count(s, count, json);
    json_close(json);

    json_put_uint(json, "errors", s->errors);
    json_put_uint(json, "warnings", s->warnings);
    json_put_uint(json, "notes", s->notes);
    json_put_object(json, "totals");
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (s->totals[i] > 0)
            json_put_uint(json, hprof_rule_at(i)->id, s->totals[i]);
    }
    json_close(json);
    json_put_array(json, "findings");
}

static void file(struct report *report)
{
    json_put_object(report->state, NULL);
    describe_file(report);
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct json *json = report->state;
    char link[RULE_LINK_SIZE];

    rule_link(rule, link);
    json_put_object(json, NULL);
    json_put_string(json, "rule", rule->id);
    json_put_string(json, "name", rule->name);
    json_put_string(json, "severity", severity_name(f->severity));
    offset_or_null(json, "offset", f->offset);
    json_put_string(json, "offset_in", is_of_gzip(rule) ? "file" : "dump");
    offset_or_null(json, "related_offset", f->related_offset);
    json_put_string(json, "path", f->path);
    json_put_string(json, "message", f->message);
    json_put_string(json, "expected", f->expected);
    json_put_string(json, "found", f->found);
    json_put_string(json, "clause", rule->clause);
    json_put_string(json, "link", link);
    json_put_string(json, "quirk", f->quirk);
    json_close(json);
}

static void file_end(struct report *report, double seconds)
{
    (void)seconds;
    json_close(report->state);
    json_close(report->state);
}

static void end(struct report *report, enum hprof_status worst)
{
    struct json *json = report->state;
    (void)worst;
    json_close(json);
    json_finish(json);
}

const struct report_writer report_json = {state_size, begin, file, finding, file_end, end};

/* ---- One object a line ------------------------------------------------------------------------------------------- */

static void begin_nothing(struct report *report)
{
    (void)report;
}

static void line(struct report *report)
{
    json_begin_line(report->state, report->out);
    describe_file(report);
}

static void line_end(struct report *report, double seconds)
{
    (void)seconds;
    json_close(report->state);
    json_finish(report->state);
    fflush(report->out);
}

static void end_nothing(struct report *report, enum hprof_status worst)
{
    (void)report;
    (void)worst;
}

const struct report_writer report_jsonl = {state_size, begin_nothing, line, finding, line_end, end_nothing};
