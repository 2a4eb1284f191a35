/* The part of the manifest that --answers adds. */
#ifndef HPROF_GEN_MANIFEST_ANSWERS_H
#define HPROF_GEN_MANIFEST_ANSWERS_H

#include "json.h"
#include "truth/answers.h"

void manifest_write_answers(struct json *json, const struct answers *answers);

#endif
