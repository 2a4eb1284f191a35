/* Why dumps are compared by ID or by content. */
#ifndef HPROF_CLI_DIFF_REPORT_SHARE_H
#define HPROF_CLI_DIFF_REPORT_SHARE_H

#include "diff.h"
#include "json.h"

/* The end of a sentence, and of the line. */
void print_reason(FILE *out, const struct diff *diff);
void json_put_share(struct json *json, const struct diff *diff);

#endif
