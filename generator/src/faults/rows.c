/* See rows.h. The rows of faults.def as a table. */
#include "faults/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum place_id {
#define PLACE(name, words) PLACE_ID_##name,
#include "faults/faults.def"
};

static const struct wanted_kind places[] = {
#define PLACE(name, words) {place_##name, words},
#include "faults/faults.def"
};

static const struct fault rows[] = {
#define FAULT(rule, variant, place, prepare, act, number, flags, about) \
    {RULE_##rule, variant, &places[PLACE_ID_##place], prepare, act, number, flags, about},
#include "faults/faults.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- The rows, for --list-violations ---- */

const struct fault *fault_at(size_t index)
{
    return index < ROWS ? &rows[index] : NULL;
}

const char *fault_rule(const struct fault *row)
{
    return hprof_rule_at(row->rule)->id;
}

const char *fault_variant(const struct fault *row)
{
    return row->variant;
}

bool fault_is_alone(const struct fault *row)
{
    return row->flags & (ALONE | GZIP);
}

bool fault_is_once(const struct fault *row)
{
    return row->flags & (ONCE | ALONE | GZIP);
}

bool fault_is_huge(const struct fault *row)
{
    return row->flags & HUGE_DUMP;
}

const char *fault_about(const struct fault *row)
{
    return row->about;
}

/* ---- Refusals ---- */

void refuse_fault(const char **failure, const char *format, ...)
{
    static char sentence[300];
    va_list list;

    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    *failure = sentence;
}

static const struct {
    unsigned flag;
    const char *words;
} versions[] = {
    {ONLY_101, "1.0.1"}, {NOT_101, "1.0.2 or 1.0.3"}, {ONLY_103, "1.0.3"}, {NOT_103, "1.0.1 or 1.0.2"}, {ONLY_102, "1.0.2"}};

/* NULL if the version is right, else the right ones. */
static const char *other_version(const struct fault *row, enum version version)
{
    unsigned bad = version == V101   ? NOT_101 | ONLY_103 | ONLY_102
                   : version == V102 ? ONLY_101 | ONLY_103
                                     : ONLY_101 | NOT_103 | ONLY_102;

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (row->flags & bad & versions[i].flag)
            return versions[i].words;
    return NULL;
}

static bool has_variant(const struct fault *row, const char *variant)
{
    return !variant || strcmp(row->variant, variant) == 0;
}

const struct fault *find_fault(const char *what, enum version version, const char **failure)
{
    const char *slash = strchr(what, '/'), *variant = slash ? slash + 1 : NULL;
    size_t n = slash ? (size_t)(slash - what) : strlen(what);
    const struct fault *refused = NULL;
    const struct hprof_rule *rule;
    bool known = false;

    if (!n) {
        refuse_fault(failure, "--violate: the name of a rule is missing; --list-violations lists all");
        return NULL;
    }

    for (size_t i = 0; i < ROWS; i++) {
        const char *id = fault_rule(&rows[i]);

        if (strlen(id) != n || memcmp(id, what, n) != 0)
            continue;
        known = true;
        if (!has_variant(&rows[i], variant))
            continue;
        if (!other_version(&rows[i], version))
            return &rows[i];
        refused = &rows[i];
    }
    if (refused) {
        refuse_fault(failure, "--violate %s: only in version %s", what, other_version(refused, version));
    } else if (known) {
        refuse_fault(failure, "--violate %s: no such variant; --list-violations lists those of %.*s", what, (int)n, what);
    } else {
        for (size_t i = 0; (rule = hprof_rule_at(i)); i++)
            if (strlen(rule->id) == n && memcmp(rule->id, what, n) == 0)
                break;
        refuse_fault(failure,
                     rule ? "--violate %s: no dump can be made that breaks this rule alone"
                          : "--violate %s: no such rule; --list-violations lists all",
                     what);
    }
    return NULL;
}

bool violate_gzip(const char *const *what, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < ROWS; row++) {
            const char *id = fault_rule(&rows[row]);

            if (rows[row].flags & GZIP && strncmp(what[i], id, strlen(id)) == 0)
                return true;
        }
    return false;
}
