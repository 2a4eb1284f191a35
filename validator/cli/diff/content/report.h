/* What the text and JSON of a comparison by content share. */
#ifndef HPROF_CLI_DIFF_REPORT_H
#define HPROF_CLI_DIFF_REPORT_H

#include "content.h"

/* The groups with differences, the most first; the caller frees the list. NULL if memory ran out. */
const struct group **differing_groups(const struct content *content, size_t *count);
void group_name(struct content *content, const struct group *group, char name[PART_SIZE]);

#endif
