/* What the reports by ID and by content have in common. */
#ifndef HPROF_CLI_DIFF_REPORT_SHARE_H
#define HPROF_CLI_DIFF_REPORT_SHARE_H

#include "diff.h"
#include "json.h"

/* Why dumps are compared by ID or by content: the end of a sentence, and of the line. */
void print_reason(FILE *out, const struct diff *diff);
void json_put_share(struct json *json, const struct diff *diff);

/* One part of a difference. The context is the FILE or the struct json that it goes to. */
void print_part(void *out, const struct part *part);
void json_put_part(void *json, const struct part *part);

#endif
