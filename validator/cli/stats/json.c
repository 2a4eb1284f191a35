/* --stats --format json: one object, described by validator/stats.schema.json. */
#include "json.h"

#include <inttypes.h>
#include <string.h>

#include "catalog.h"
#include "messages.h"
#include "report.h"
#include "stats.h"

static const char *or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void put_tally(struct json *json, const char *key, const struct tally_of_bytes *tally)
{
    json_put_object(json, key);
    json_put_uint(json, "number", tally->number);
    json_put_uint(json, "bytes", tally->bytes);
    json_close(json);
}

static void put_verdict(struct json *json, const struct stats *stats)
{
    const struct hprof_summary *s = &stats->summary;

    json_put_object(json, "verdict");
    json_put_bool(json, "valid", s->status == HPROF_VALID);
    json_put_uint(json, "status", s->status);
    json_put_bool(json, "incomplete", s->incomplete);
    if (s->missing_undecided && is_complete(s))
        json_put_null(json, "complete");
    else
        json_put_bool(json, "complete", is_complete(s));
    json_put_string(json, "profile", hprof_profile_at(s->profile)->name);
    json_put_string(json, "producer", or_null(s->producer));
    json_put_uint(json, "errors", s->errors);
    json_put_uint(json, "warnings", s->warnings);
    json_put_uint(json, "notes", s->notes);
    json_put_object(json, "totals");
    for (size_t i = 0; i < hprof_rule_count(); i++)
        if (s->totals[i] > 0)
            json_put_uint(json, hprof_rule_at(i)->id, s->totals[i]);
    json_close(json);
    json_close(json);
}

static void put_header(struct json *json, const struct stats *stats)
{
    const struct hprof_summary *s = &stats->summary;

    json_put_string(json, "version", or_null(s->version));
    json_put_uint(json, "id_size", s->id_size);
    json_put_uint(json, "timestamp", s->timestamp);
    json_put_uint(json, "bytes", s->bytes);
    json_put_uint(json, "file_bytes", s->file_bytes);
    json_put_bool(json, "compressed", s->compressed);
}

static void put_kinds(struct json *json, const struct stats *stats)
{
    struct tally_of_bytes undefined = {0, 0};

    json_put_object(json, "records");
    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = hprof_record_name((uint8_t)tag);

        if (name != NULL) {
            put_tally(json, name, &stats->records[tag]);
        } else {
            undefined.number += stats->records[tag].number;
            undefined.bytes += stats->records[tag].bytes;
        }
    }
    put_tally(json, "undefined", &undefined);
    json_close(json);
    json_put_object(json, "sub_records");
    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = hprof_subrecord_name((uint8_t)tag);

        if (name != NULL && strncmp(name, "ROOT_", 5) != 0)
            put_tally(json, name, &stats->subrecords[tag]);
    }
    json_close(json);
    json_put_object(json, "roots");
    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = hprof_subrecord_name((uint8_t)tag);

        if (name != NULL && strncmp(name, "ROOT_", 5) == 0)
            put_tally(json, name, &stats->subrecords[tag]);
    }
    json_close(json);
}

static void put_id(struct json *json, const char *key, uint64_t id)
{
    char text[32];

    snprintf(text, sizeof text, "0x%" PRIx64, id);
    json_put_string(json, key, id != 0 ? text : NULL);
}

static void put_classes(struct json *json, const struct stats *stats)
{
    const struct class_stats *classes = stats->classes.at;

    json_put_array(json, "classes");
    for (size_t i = 0; i < stats->classes.count; i++) {
        json_put_object(json, NULL);
        put_id(json, "id", classes[i].id);
        json_put_string(json, "name", classes[i].name);
        json_put_uint(json, "instances", classes[i].instances);
        json_put_uint(json, "instance_bytes", classes[i].instance_bytes);
        json_put_uint(json, "arrays", classes[i].arrays);
        json_put_uint(json, "array_bytes", classes[i].array_bytes);
        json_put_uint(json, "file_bytes", classes[i].file_bytes);
        json_close(json);
    }
    json_close(json);
}

static void put_heap_dumps(struct json *json, const struct stats *stats)
{
    const struct heap_dump_stats *heaps = stats->heap_dumps.at;

    json_put_uint(json, "heap_dump_count", stats->heap_dump_count);
    json_put_array(json, "heap_dumps");
    for (size_t i = 0; i < stats->heap_dumps.count; i++) {
        json_put_object(json, NULL);
        json_put_uint(json, "offset", heaps[i].offset);
        json_put_uint(json, "records", heaps[i].records);
        json_put_uint(json, "objects", heaps[i].objects);
        json_put_uint(json, "bytes", heaps[i].bytes);
        json_put_uint(json, "roots", heaps[i].roots);
        json_close(json);
    }
    json_close(json);
}

static void put_damage(struct json *json, const struct stats *stats)
{
    const struct damage_stats *damaged = stats->damaged.at;

    put_tally(json, "damage", &stats->damage);
    json_put_array(json, "damaged");
    for (size_t i = 0; i < stats->damaged.count; i++) {
        json_put_object(json, NULL);
        json_put_uint(json, "offset", damaged[i].offset);
        json_put_uint(json, "bytes", damaged[i].size);
        json_put_string(json, "what", damaged[i].what);
        json_close(json);
    }
    json_close(json);
}

static void put_findings(struct json *json, const struct stats *stats)
{
    const struct finding_stats *findings = stats->findings.at;

    json_put_array(json, "findings");
    for (size_t i = 0; i < stats->findings.count; i++) {
        const struct hprof_rule *rule = hprof_rule_at(findings[i].rule);

        json_put_object(json, NULL);
        json_put_string(json, "rule", rule->id);
        json_put_string(json, "severity", severity_name(findings[i].severity));
        if (findings[i].offset == HPROF_NO_OFFSET)
            json_put_null(json, "offset");
        else
            json_put_uint(json, "offset", findings[i].offset);
        json_put_string(json, "offset_in", is_of_gzip(rule) ? "file" : "dump");
        json_put_string(json, "text", findings[i].text);
        json_close(json);
    }
    json_close(json);
}

static void put_map(struct json *json, const struct stats *stats)
{
    const struct map *map = &stats->map;

    json_put_object(json, "map");
    json_put_uint(json, "cell_bytes", map->cell_bytes);
    json_put_array(json, "cells");
    for (size_t i = 0; i < map->cells; i++) {
        json_put_object(json, NULL);
        for (unsigned kind = 0; kind < MAP_KINDS; kind++)
            if (map->bytes[i][kind] > 0)
                json_put_uint(json, map_kind_names[kind], map->bytes[i][kind]);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void put_threads(struct json *json, const struct stats *stats, struct hprof_reader *reader)
{
    const struct thread_stats *threads = stats->threads.at;
    char text[FRAME_SIZE];

    json_put_array(json, "threads");
    for (size_t i = 0; i < stats->threads.count; i++) {
        const struct trace_stats *trace = stats_trace(stats, &threads[i]);

        json_put_object(json, NULL);
        json_put_string(json, "name", threads[i].name);
        json_put_uint(json, "serial", threads[i].serial);
        put_id(json, "object", threads[i].object_id);
        json_put_bool(json, "is_root", threads[i].is_root);
        json_put_bool(json, "has_ended", threads[i].has_ended);
        if (trace != NULL && trace->frames > 0 && trace->thread != i) {
            json_put_uint(json, "frames_of", threads[trace->thread].serial);
        } else {
            json_put_array(json, "frames");
            for (uint32_t n = 0; trace != NULL && n < trace->frames; n++)
                json_put_string(json, NULL, stats_frame(stats, reader, trace, n, text));
            json_close(json);
        }
        json_close(json);
    }
    json_close(json);
}

void stats_put(const struct stats *stats, struct hprof_reader *reader, bool only_threads, struct json *json)
{
    json_put_object(json, "tool");
    json_put_string(json, "name", program_name);
    json_put_string(json, "version", HPROF_VERSION);
    json_close(json);
    json_put_string(json, "file", stats->file);
    put_verdict(json, stats);
    put_header(json, stats);
    if (!only_threads) {
        json_put_bool(json, "is_read_by_lengths", stats->is_read_by_lengths);
        put_kinds(json, stats);
        json_put_uint(json, "objects", stats_objects(stats));
        json_put_object(json, "strings");
        json_put_uint(json, "bytes", stats->string_bytes);
        json_put_uint(json, "longest", stats->longest_string);
        json_close(json);
        put_heap_dumps(json, stats);
        if (stats_visualvm_heap(stats) > 0)
            json_put_uint(json, "visualvm_heap_mb", stats_visualvm_heap(stats));
        else
            json_put_null(json, "visualvm_heap_mb");
        put_damage(json, stats);
        put_findings(json, stats);
        put_map(json, stats);
        put_classes(json, stats);
    }
    put_threads(json, stats, reader);
}

void stats_print_json(const struct stats *stats, struct hprof_reader *reader, bool only_threads, FILE *out)
{
    struct json json;

    json_begin(&json, out);
    stats_put(stats, reader, only_threads, &json);
    json_finish(&json);
}
