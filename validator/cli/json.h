/* Writes JSON without keeping it: a report may have millions of findings. In an object every value has a key; in an array the key
 * is NULL. Bytes that are not UTF-8 become U+FFFD. */
#ifndef HPROF_CLI_JSON_H
#define HPROF_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json {
    FILE *out;
    bool on_one_line;
    unsigned depth;
    char closing[JSON_DEPTH]; /* brackets that will close the open objects and arrays, outermost first */
    bool filled[JSON_DEPTH];
};

void json_begin(struct json *json, FILE *out);      /* opens the outermost object */
void json_begin_line(struct json *json, FILE *out); /* the same; all is written on one line */
void json_finish(struct json *json);                /* closes it */

void json_put_object(struct json *json, const char *key);
void json_put_array(struct json *json, const char *key);
void json_close(struct json *json); /* closes the innermost object or array */

void json_put_string(struct json *json, const char *key, const char *value); /* NULL: null */
/* A string in pieces: json_open_string, any number of json_piece, json_close_string. */
void json_open_string(struct json *json, const char *key);
void json_piece(struct json *json, const char *text);
void json_close_string(struct json *json);
void json_put_uint(struct json *json, const char *key, uint64_t value);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_null(struct json *json, const char *key);

#endif
