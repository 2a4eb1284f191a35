/* --repair with --format json: one object, described by validator/repair.schema.json. */
#ifndef HPROF_CLI_REPAIR_JSON_H
#define HPROF_CLI_REPAIR_JSON_H

#include "hprof/hprof.h"
#include "json.h"

struct repair_json {
    struct json json;
    bool has_classes; /* the list of what was left out has ended */
};

void repair_json_begin(struct repair_json *r, FILE *out, const char *file, const char *copy);
void repair_json_left_out(struct repair_json *r, const struct hprof_left_out *left_out);
void repair_json_class(struct repair_json *r, const struct hprof_class_loss *loss);
/* `failure` is NULL for HPROF_VALID. */
void repair_json_end(struct repair_json *r, enum hprof_status status, const char *failure,
                     const struct hprof_repair_result *repair);

#endif
