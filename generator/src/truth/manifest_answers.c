/* See manifest_answers.h. */
#include "truth/manifest_answers.h"

#include <inttypes.h>

static void write_id(struct json *json, uint64_t id)
{
    char text[2 + 16 + 1];

    snprintf(text, sizeof text, "0x%" PRIx64, id);
    json_put_string(json, "id", id ? text : NULL);
}

static void write_extent(struct json *json, const struct extent *extent)
{
    json_put_uint(json, "objects", extent->objects);
    json_put_uint(json, "compressed", extent->compressed);
    json_put_uint(json, "uncompressed", extent->uncompressed);
}

static void write_reachable(struct json *json, const struct answers *a)
{
    json_put_object(json, "reachable");
    json_put_uint(json, "instances", a->instances);
    json_put_uint(json, "object_arrays", a->object_arrays);
    json_put_uint(json, "primitive_arrays", a->primitive_arrays);
    write_extent(json, &a->reachable);
    json_close(json);
}

static void write_shallow(struct json *json, const struct answers *a)
{
    json_put_array(json, "shallow");
    for (size_t i = 0; i < a->class_count; i++) {
        json_put_object(json, NULL);
        write_id(json, a->classes[i].id);
        json_put_string(json, "class", a->classes[i].name);
        write_extent(json, &a->classes[i].extent);
        json_close(json);
    }
    json_close(json);
}

static void write_strings(struct json *json, const struct answers *a)
{
    json_put_object(json, "strings");
    json_put_uint(json, "latin1", a->latin1);
    json_put_uint(json, "utf16", a->utf16);
    json_put_uint(json, "chars", a->chars);
    json_put_uint(json, "without_text", a->without_text);
    json_put_uint(json, "distinct", a->distinct);
    json_put_array(json, "texts");
    for (size_t i = 0; i < a->text_count; i++) {
        json_put_object(json, NULL);
        json_put_string(json, "text", a->texts[i].text);
        json_put_uint(json, "count", a->texts[i].count);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void write_retained(struct json *json, const struct answers *a)
{
    json_put_array(json, "retained");
    for (size_t i = 0; i < a->object_count; i++) {
        json_put_object(json, NULL);
        write_id(json, a->objects[i].id);
        json_put_string(json, "class", a->classes[a->objects[i].class].name);
        write_extent(json, &a->objects[i].retained);
        json_close(json);
    }
    json_close(json);
}

void manifest_write_answers(struct json *json, const struct answers *answers)
{
    json_put_object(json, "answers");
    write_reachable(json, answers);
    write_shallow(json, answers);
    write_strings(json, answers);
    write_retained(json, answers);
    json_close(json);
}
