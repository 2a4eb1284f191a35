/* --format json: one object, described by validator/diff.schema.json. */
#include "json.h"

#include <inttypes.h>

#include "diff.h"
#include "messages.h"
#include "report_share.h"

enum { PARTS_KEPT = 100 };

static void put_counts(struct json *json, const struct counts *counts)
{
    json_put_uint(json, "same", counts->same);
    json_put_uint(json, "changed", counts->changed);
    json_put_uint(json, "only_in_a", counts->only[0]);
    json_put_uint(json, "only_in_b", counts->only[1]);
}

static void put_difference(struct diff *diff, const struct difference *difference, struct json *json)
{
    char name[PART_SIZE];

    diff_name(diff, difference, name);
    json_put_object(json, NULL);
    json_put_string(json, "kind", kind_keys[difference->kind]);
    json_put_string(json, "name", name);
    for (unsigned side = 0; side < SIDES; side++) {
        const char *key = side == 0 ? "offset_in_a" : "offset_in_b";

        if (difference->offsets[side] == HPROF_NO_OFFSET)
            json_put_null(json, key);
        else
            json_put_uint(json, key, difference->offsets[side]);
    }
    json_put_array(json, "parts");
    uint64_t parts = diff_describe(diff, difference, PARTS_KEPT, json_put_part, json);
    json_close(json);
    json_put_uint(json, "part_count", parts);
    json_close(json);
}

void diff_print_json(struct diff *diff, FILE *out)
{
    struct json json;

    json_begin(&json, out);
    json_put_object(&json, "tool");
    json_put_string(&json, "name", program_name);
    json_put_string(&json, "version", HPROF_VERSION);
    json_close(&json);
    json_put_string(&json, "by", "id");
    json_put_share(&json, diff);
    json_put_bool(&json, "equal", diff_is_equal(diff));
    json_put_array(&json, "files");
    for (unsigned side = 0; side < SIDES; side++) {
        json_put_object(&json, NULL);
        json_put_string(&json, "file", diff->sides[side].file);
        json_put_string(&json, "version", diff->sides[side].header.version);
        json_put_uint(&json, "bytes", diff->sides[side].summary.bytes);
        json_put_uint(&json, "damage", diff->sides[side].damage);
        json_close(&json);
    }
    json_close(&json);
    json_put_object(&json, "kinds");
    for (unsigned kind = 0; kind < KINDS; kind++) {
        json_put_object(&json, kind_keys[kind]);
        put_counts(&json, &diff->kinds[kind]);
        json_close(&json);
    }
    json_close(&json);
    json_put_array(&json, "classes");
    for (size_t i = 0; i < diff->class_count; i++) {
        json_put_object(&json, NULL);
        json_put_string(&json, "name", diff->classes[i].name);
        put_counts(&json, &diff->classes[i].counts);
        json_close(&json);
    }
    json_close(&json);
    json_put_array(&json, "differences");
    for (size_t i = 0; i < diff->difference_count; i++)
        put_difference(diff, &diff->differences[i], &json);
    json_close(&json);
    json_finish(&json);
}
