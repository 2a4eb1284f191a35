#include "baseline.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "messages.h"

static enum hprof_status refuse(const char *path, const char *why)
{
    char after[256];

    snprintf(after, sizeof after, "' is not a report of hprof-validate in JSON: %s", why);
    say_usage("--baseline: '", path, after);
    return HPROF_USAGE;
}

/* Whether each file has a name and totals; nothing else of the report is used. */
static bool is_report(const json_t *root)
{
    const json_t *files = json_object_get(root, "files");
    size_t i;
    const json_t *file;

    json_array_foreach(files, i, file)
    {
        if (!json_is_string(json_object_get(file, "file")) || !json_is_object(json_object_get(file, "totals")))
            return false;
    }
    return json_is_array(files);
}

enum hprof_status baseline_load(struct baseline *baseline, const char *path)
{
    json_error_t error;

    *baseline = (struct baseline){0};
    if (path == NULL)
        return HPROF_VALID;
    /* Numbers become reals, because a timestamp may exceed jansson's integers. */
    baseline->report = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (baseline->report == NULL) {
        switch (json_error_code(&error)) {
        case json_error_cannot_open_file:
            say_failure(path, strerror(errno));
            return HPROF_IO;
        case json_error_out_of_memory:
            say_failure(path, "out of memory");
            return HPROF_LIMIT;
        default:
            return refuse(path, error.text);
        }
    }
    return is_report(baseline->report) ? HPROF_VALID : refuse(path, "it lacks \"files\", or a file its \"totals\"");
}

void baseline_free(struct baseline *baseline)
{
    json_decref(baseline->report);
}

static const json_t *find_file(const json_t *files, const char *name)
{
    size_t i;
    const json_t *file;

    json_array_foreach(files, i, file)
    {
        if (strcmp(json_string_value(json_object_get(file, "file")), name) == 0)
            return file;
    }
    return json_array_size(files) == 1 ? json_array_get(files, 0) : NULL;
}

static const char *profile_of(const json_t *file)
{
    double status = json_number_value(json_object_get(file, "status"));

    return status <= (double)HPROF_INVALID ? json_string_value(json_object_get(file, "profile")) : NULL;
}

const char *baseline_profile(const struct baseline *baseline, const char *file)
{
    return profile_of(find_file(json_object_get(baseline->report, "files"), file));
}

bool baseline_has_profile(const struct baseline *baseline, const char *path, const char *profile)
{
    char after[160];
    size_t i;
    const json_t *file;

    json_array_foreach(json_object_get(baseline->report, "files"), i, file)
    {
        const char *was = profile_of(file);
        if (was == NULL || strcmp(was, profile) == 0)
            continue;
        snprintf(after, sizeof after, "' is a report by the profile %.40s, and this run uses %.40s", was, profile);
        say_usage("--baseline: '", path, after);
        return false;
    }
    return true;
}

enum baseline_kind baseline_of(const struct baseline *baseline, const char *file, uint64_t *numbers)
{
    if (baseline->report == NULL)
        return BASELINE_NONE;
    const json_t *found = find_file(json_object_get(baseline->report, "files"), file);
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        double number = json_number_value(json_object_get(json_object_get(found, "totals"), hprof_rule_at(i)->id));
        numbers[i] = number >= 1 && number < 1e18 ? (uint64_t)number : 0;
    }
    return found != NULL ? BASELINE_HAS_FILE : BASELINE_LACKS_FILE;
}
