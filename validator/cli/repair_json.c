#include "repair_json.h"

#include "messages.h"
#include "repair_losses.h"

void repair_json_begin(struct repair_json *r, FILE *out, const char *file, const char *copy)
{
    r->has_classes = false;
    json_begin(&r->json, out);
    json_put_object(&r->json, "tool");
    json_put_string(&r->json, "name", program_name);
    json_put_string(&r->json, "version", HPROF_VERSION);
    json_close(&r->json);
    json_put_string(&r->json, "file", file);
    json_put_string(&r->json, "copy", copy);
    json_put_array(&r->json, "left_out");
}

void repair_json_left_out(struct repair_json *r, const struct hprof_left_out *left_out)
{
    json_put_object(&r->json, NULL);
    json_put_string(&r->json, "what", left_out->what);
    json_put_uint(&r->json, "count", left_out->count);
    json_put_uint(&r->json, "bytes", left_out->bytes);
    json_close(&r->json);
}

static void begin_classes(struct repair_json *r)
{
    if (r->has_classes)
        return;
    r->has_classes = true;
    json_close(&r->json);
    json_put_array(&r->json, "lost_by_class");
}

void repair_json_class(struct repair_json *r, const struct hprof_class_loss *loss)
{
    begin_classes(r);
    json_put_object(&r->json, NULL);
    json_put_string(&r->json, "class", loss->class_name);
    json_put_uint(&r->json, "objects", loss->objects);
    json_put_uint(&r->json, "bytes", loss->bytes);
    json_put_uint(&r->json, "kept", loss->kept);
    json_close(&r->json);
}

static void put_root_kind(void *context, const char *kind, uint64_t read, uint64_t kept)
{
    struct json *json = context;

    json_put_object(json, kind);
    json_put_uint(json, "kept", kept);
    json_put_uint(json, "lost", read - kept);
    json_close(json);
}

static void put_undone(struct json *json, const struct hprof_repair_result *repair)
{
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {{HPROF_TRANSFER_TEXT_BEFORE, "text-before"},
                 {HPROF_TRANSFER_CRLF, "crlf"},
                 {HPROF_TRANSFER_LATIN1, "latin1"},
                 {HPROF_TRANSFER_ORDER, "order"}};

    json_put_array(json, "undone");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (repair->undone & names[i].flag)
            json_put_string(json, NULL, names[i].name);
    }
    json_close(json);
    json_put_uint(json, "text_before", repair->text_before);
}

static void put_mended(struct json *json, const struct hprof_repair_result *repair)
{
    json_put_object(json, "mended");
    json_put_bool(json, "version", repair->version_mended);
    json_put_bool(json, "header", repair->header_made);
    json_put_uint(json, "tags", repair->tags_mended);
    json_put_uint(json, "lengths", repair->lengths_mended);
    json_put_uint(json, "sizes", repair->sizes_mended);
    json_put_uint(json, "record_headers", repair->headers_made);
    json_put_uint(json, "joined", repair->joined);
    json_put_uint(json, "traces_cleared", repair->traces_cleared);
    json_put_bool(json, "end_added", repair->is_ended);
    json_close(json);
    json_put_object(json, "gzip");
    json_put_uint(json, "faults", repair->gzip_faults);
    json_put_uint(json, "headers_mended", repair->gzip_headers_mended);
    json_put_uint(json, "mismatches", repair->gzip_mismatches);
    json_put_uint(json, "resumed", repair->gzip_resumed);
    json_put_uint(json, "unknown", repair->gzip_unknown);
    json_put_bool(json, "ended_early", repair->gzip_ended_early);
    json_close(json);
}

static void put_counts(struct json *json, const struct hprof_repair_result *repair)
{
    uint64_t threads = count_threads(repair, true);

    json_put_object(json, "kept");
    json_put_uint(json, "objects", count_kept_objects(repair));
    json_put_uint(json, "classes", repair->subrecords_out[0x20]);
    json_put_uint(json, "threads", threads);
    json_close(json);
    json_put_uint(json, "missing_objects", repair->missing_objects);
    json_put_uint(json, "lost_threads", count_threads(repair, false) - threads);
    json_put_uint(json, "classes_without_name", repair->classes_without_name);
    json_put_uint(json, "root_gaps", repair->root_gaps);
    json_put_object(json, "roots");
    each_root_kind(repair, put_root_kind, json);
    json_close(json);
}

static void put_added(struct json *json, const struct hprof_repair_result *repair)
{
    json_put_object(json, "stand_ins");
    json_put_uint(json, "classes", repair->stand_in_classes);
    json_put_uint(json, "names", repair->stand_in_names);
    json_put_uint(json, "threads", repair->stand_in_threads);
    json_put_uint(json, "traces", repair->stand_in_traces);
    json_put_uint(json, "frames", repair->stand_in_frames);
    json_put_uint(json, "objects", repair->stand_in_objects);
    json_close(json);
    json_put_object(json, "parts");
    json_put_uint(json, "joined", repair->parts_joined);
    json_put_uint(json, "bytes_taken_once", repair->overlap);
    json_close(json);
}

void repair_json_end(struct repair_json *r, enum hprof_status status, const char *failure,
                     const struct hprof_repair_result *repair)
{
    struct json *json = &r->json;

    begin_classes(r);
    json_close(json);
    json_put_uint(json, "status", status);
    json_put_string(json, "failure", failure);
    if (status == HPROF_VALID) {
        json_put_string(json, "profile", hprof_profile_at(repair->checked_profile)->name);
        json_put_bool(json, "complete", !repair->incomplete);
        json_put_uint(json, "warnings", repair->warnings);
        json_put_uint(json, "bytes_in", repair->bytes_in);
        json_put_uint(json, "bytes_out", repair->bytes_out);
        json_put_uint(json, "bytes_left_out", repair->left_out);
        if (repair->other_dump > 0)
            json_put_uint(json, "other_dump", repair->other_dump);
        else
            json_put_null(json, "other_dump");
        put_undone(json, repair);
        put_mended(json, repair);
        put_added(json, repair);
        put_counts(json, repair);
        json_put_string(json, "advice", reader_advice(repair));
    }
    json_finish(json);
}
