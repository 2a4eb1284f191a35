/* Lists and explains rules and profiles, for people and as JSON. */
#ifndef HPROF_CLI_CATALOG_H
#define HPROF_CLI_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "hprof/hprof.h"

/* "error", "warning", "note", "off" */
const char *severity_name(enum hprof_severity severity);

/* The severity of a finding of `rule` in a profile, unless its shape is that of a quirk. */
enum hprof_severity severity_in(size_t rule, size_t profile);

/* Whether the rule is about the gzip container. Then offsets count bytes of the compressed file, else bytes of the dump. */
bool is_of_gzip(const struct hprof_rule *rule);

enum { RULE_LINK_SIZE = 1024 };

/* SPEC.md#obj-004; an address of the web if HPROF_SPEC_URL is one. */
void rule_link(const struct hprof_rule *rule, char link[RULE_LINK_SIZE]);

void catalog_rules(FILE *out, bool as_json, size_t width);
void catalog_profiles(FILE *out, bool as_json, size_t width);
/* Explains the rules for which `chosen` is true, wrapped at `width` columns. */
void catalog_explain(FILE *out, bool as_json, const bool *chosen, size_t width);

#endif
