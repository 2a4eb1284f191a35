/* The options of a check, and why they are refused. */
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "base/versioned.h"
#include "engine/check.h"
#include "findings/rules.h"

const char no_memory_to_begin[] = "memory ran out at the start";

void hprof_options_defaults(struct hprof_options *options, size_t size)
{
    const struct hprof_options defaults = {.max_errors = 20, .threads = 1};

    memset(options, 0, size);
    memcpy(options, &size, sizeof size);
    give_versioned(options, &defaults, sizeof defaults);
}

const char *take_options(struct hprof_options *own, const struct hprof_options *callers)
{
    return callers ? take_versioned(own, sizeof *own, callers) : "there are no options";
}

const char *why_refused(const struct hprof_options *options, const struct hprof_summary *summary)
{
    const struct hprof_allocator *allocator = options->allocator;

    if (!is_versioned(summary))
        return not_initialised;
    for (size_t rule = 0; options->severities && rule < RULE_COUNT; rule++)
        if (options->severities[rule] > HPROF_ERROR && options->severities[rule] != HPROF_UNCHANGED)
            return "the options have a severity that does not exist";
    if (options->testing && !sizes_are_allowed(options->testing))
        return "the options of a test have a size that is not allowed";
    if (allocator && (!allocator->allocate || !allocator->release))
        return "the allocator lacks a function";
    return options->profile < PROFILE_COUNT ? NULL : "the options have a profile that does not exist";
}

void give_summary(struct hprof_summary *to, const struct hprof_summary *own)
{
    if (give_versioned(to, own, sizeof *own) && to && own->hint == own->hint_text)
        to->hint = HPROF_HAS(to, hint_text) ? to->hint_text : NULL;
}

enum hprof_status refuse_check(const struct hprof_options *options, struct hprof_summary *result, enum hprof_status status,
                               const char *reason)
{
    struct hprof_summary summary = {.struct_size = sizeof summary, .status = status, .version = "", .producer = ""};

    snprintf(summary.failure, sizeof summary.failure, "%s", reason);
    give_summary(result, &summary);
    if (options && options->on_summary)
        (void)options->on_summary(options->context, &summary);
    return status;
}
