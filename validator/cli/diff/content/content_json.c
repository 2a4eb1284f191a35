/* --format json: one object, described by validator/diff.schema.json as `content`. */
#include <stdlib.h>

#include "content.h"
#include "ignored.h"
#include "json.h"
#include "messages.h"
#include "report.h"
#include "report_share.h"

enum { PARTS_KEPT = 100 };

static void put_counts(struct json *json, const struct counts *counts)
{
    json_put_uint(json, "same", counts->same);
    json_put_uint(json, "only_in_a", counts->only[0]);
    json_put_uint(json, "only_in_b", counts->only[1]);
}

static void put_pair(struct content *content, const struct pair *pair, struct json *json)
{
    char path[PATH_SIZE], class[PART_SIZE], name[PART_SIZE];

    if (!path_of(content, pair, path))
        return;
    class_of_pair(content, pair, class);
    json_put_object(json, NULL);
    json_put_string(json, "path", path);
    json_put_string(json, "class", class);
    for (unsigned side = 0; side < SIDES; side++) {
        object_name(content, side, pair->objects[side], name);
        json_put_string(json, side == 0 ? "object_in_a" : "object_in_b", name);
    }
    json_put_array(json, "parts");
    uint64_t parts = pair_describe(content, pair, PARTS_KEPT, json_put_part, json);
    json_close(json);
    json_put_uint(json, "part_count", parts);
    json_close(json);
}

static void put_root(struct content *content, const struct lone_root *lone, struct json *json)
{
    char root[PATH_SIZE], object[PART_SIZE];

    lone_root_name(content, lone, root);
    object_name(content, lone->side, lone->root.object, object);
    json_put_object(json, NULL);
    json_put_string(json, "only_in", lone->side == 0 ? "a" : "b");
    json_put_string(json, "root", root);
    json_put_string(json, "object", object);
    json_close(json);
}

static void put_files(const struct content *content, struct json *json)
{
    const struct diff *diff = content->diff;

    json_put_array(json, "files");
    for (unsigned side = 0; side < SIDES; side++) {
        json_put_object(json, NULL);
        json_put_string(json, "file", diff->sides[side].file);
        json_put_string(json, "version", diff->sides[side].header.version);
        json_put_uint(json, "bytes", diff->sides[side].summary.bytes);
        json_put_uint(json, "damage", diff->sides[side].damage);
        json_put_uint(json, "heap_dump", content->heap_dumps[side]);
        json_put_uint(json, "heap_dumps", content->graphs[side].heap_dumps);
        json_close(json);
    }
    json_close(json);
}

void content_print_json(struct content *content, FILE *out)
{
    char name[PART_SIZE];
    const struct group **groups;
    struct json json;
    size_t count;

    json_begin(&json, out);
    json_put_object(&json, "tool");
    json_put_string(&json, "name", program_name);
    json_put_string(&json, "version", HPROF_VERSION);
    json_close(&json);
    json_put_string(&json, "by", "content");
    json_put_bool(&json, "different", content_is_different(content));
    json_put_uint(&json, "rounds", content->rounds);
    json_put_array(&json, "ignored");
    for (unsigned i = 0; i < IGNORED; i++)
        if ((content->ignored & 1U << i) != 0)
            json_put_string(&json, NULL, ignored_names[i]);
    json_close(&json);
    json_put_share(&json, content->diff);
    put_files(content, &json);
    json_put_object(&json, "kinds");
    for (unsigned kind = KIND_CLASSES; kind < KINDS; kind++) {
        json_put_object(&json, kind_keys[kind]);
        put_counts(&json, &content->diff->kinds[kind]);
        json_close(&json);
    }
    json_close(&json);
    json_put_array(&json, "classes");
    groups = differing_groups(content, &count);
    for (size_t i = 0; i < count && groups != NULL; i++) {
        json_put_object(&json, NULL);
        group_name(content, groups[i], name);
        json_put_string(&json, "name", name);
        put_counts(&json, &groups[i]->counts);
        json_close(&json);
    }
    free(groups);
    json_close(&json);
    json_put_uint(&json, "difference_count", content->pairs_found);
    json_put_array(&json, "differences");
    for (size_t i = 0; i < content->pair_count; i++)
        put_pair(content, &content->pairs[i], &json);
    json_close(&json);
    json_put_array(&json, "roots");
    for (size_t i = 0; i < content->lone_root_count; i++)
        put_root(content, &content->lone_roots[i], &json);
    json_close(&json);
    json_finish(&json);
}
