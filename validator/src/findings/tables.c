/* The public tables of rules, profiles and names of tags, all from the .def files. */
#include <string.h>
#include <strings.h>

#include "findings/rules.h"
#include "format/format.h"

/* ---- Rules ---- */

enum {
#define EXPLAIN(id, why, producers, readers, example) EXPLANATION_##id,
#include "findings/explanations.def"
#undef EXPLAIN
    EXPLANATION_COUNT
};
_Static_assert((int)EXPLANATION_COUNT == (int)RULE_COUNT, "explanations.def explains each rule of rules.def");

/* For each severity of rules.def: the severity in strict, the one in the other profiles, and whether it is a framing rule. */
#define SEVERITY_FRAMING HPROF_ERROR
#define SEVERITY_ERROR HPROF_ERROR
#define SEVERITY_STRICT HPROF_ERROR
#define SEVERITY_WARNING HPROF_WARNING
#define SEVERITY_PROFILE HPROF_OFF
#define LAX_FRAMING HPROF_ERROR
#define LAX_ERROR HPROF_ERROR
#define LAX_STRICT HPROF_WARNING
#define LAX_WARNING HPROF_WARNING
#define LAX_PROFILE HPROF_OFF
enum { IS_FRAMING = 1, IS_ERROR = 0, IS_STRICT = 0, IS_WARNING = 0, IS_PROFILE = 0 };

/* clang-format off */
static const struct hprof_rule rules[RULE_COUNT] = {
#define RULE(family_, number, name_, severity_, clause_, rows_, summary_) \
    [RULE_##family_##_##number].id = #family_ "-" #number, \
    [RULE_##family_##_##number].family = #family_, \
    [RULE_##family_##_##number].name = name_, \
    [RULE_##family_##_##number].severity = SEVERITY_##severity_, \
    [RULE_##family_##_##number].lax = LAX_##severity_, \
    [RULE_##family_##_##number].framing = IS_##severity_, \
    [RULE_##family_##_##number].clause = clause_, \
    [RULE_##family_##_##number].rows = rows_, \
    [RULE_##family_##_##number].summary = summary_,
#include "findings/rules.def"
#undef RULE
#define EXPLAIN(id_, why_, producers_, readers_, example_) \
    [RULE_##id_].why = why_, \
    [RULE_##id_].producers = producers_, \
    [RULE_##id_].readers = readers_, \
    [RULE_##id_].example = example_,
#include "findings/explanations.def"
#undef EXPLAIN
};
/* clang-format on */

size_t hprof_rule_count(void)
{
    return RULE_COUNT;
}

const struct hprof_rule *hprof_rule_at(size_t index)
{
    return index < RULE_COUNT ? &rules[index] : NULL;
}

size_t hprof_rule_find(const char *id_or_name)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (strcasecmp(rules[i].id, id_or_name) == 0 || strcasecmp(rules[i].name, id_or_name) == 0)
            return i;
    return SIZE_MAX;
}

/* ---- Profiles ---- */

static const struct hprof_profile profiles[PROFILE_COUNT] = {
#define PROFILE(identifier, name, description) [PROFILE_##identifier] = {name, description},
#include "findings/profiles.def"
};

static const struct hprof_quirk quirks[] = {
#define QUIRK(profile, rule, shape, effect, words, versions, evidence) \
    {PROFILE_##profile, RULE_##rule, HPROF_##effect, words, versions, evidence},
#include "findings/profiles.def"
};

/* The shape of each quirk, which is not public. */
static const enum finding_shape quirk_shapes[] = {
#define QUIRK(profile, rule, shape, effect, words, versions, evidence) shape,
#include "findings/profiles.def"
};

enum { QUIRK_COUNT = sizeof quirks / sizeof *quirks };

const struct hprof_profile *hprof_profile_at(size_t index)
{
    return index < PROFILE_COUNT ? &profiles[index] : NULL;
}

size_t hprof_profile_find(const char *name)
{
    for (size_t i = 0; i < PROFILE_COUNT; i++)
        if (strcasecmp(profiles[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

const struct hprof_quirk *hprof_quirk_at(size_t index)
{
    return index < QUIRK_COUNT ? &quirks[index] : NULL;
}

enum hprof_severity rule_severity(enum rule rule, enum finding_shape shape, enum profile profile, const char **quirk)
{
    *quirk = NULL;
    for (size_t i = 0; i < QUIRK_COUNT; i++)
        if (quirks[i].profile == (size_t)profile && quirks[i].rule == (size_t)rule &&
            (quirk_shapes[i] == SHAPE_ANY || quirk_shapes[i] == shape)) {
            *quirk = quirks[i].evidence;
            return quirks[i].severity;
        }
    return profile == PROFILE_STRICT ? rules[rule].severity : rules[rule].lax;
}

/* ---- Names of tags ---- */

const char *hprof_record_name(uint8_t tag)
{
    switch (tag) {
#define RECORD(name, tag, since, clause, layout) \
    case tag: \
        return #name;
#include "format/records.def"
#undef RECORD
    default:
        return NULL;
    }
}

const char *hprof_subrecord_name(uint8_t tag)
{
    switch (tag) {
#define SUBRECORD(name, tag, since, clause, layout) \
    case tag: \
        return #name;
#include "format/records.def"
#undef SUBRECORD
    default:
        return NULL;
    }
}
