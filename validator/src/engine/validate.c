/* The public entry points of checks that read all at once. */
#include <stdio.h>
#include <string.h>

#include "engine/check.h"
#include "engine/engine.h"
#include "engine/validate.h"

const char *hprof_version(void)
{
    return HPROF_VERSION;
}

/* Both lists, in the order of the file. */
static void hand_over_jumps(const struct engine *e, struct jumps *to)
{
    const struct jumps *lists[] = {&e->file.jumps, &e->file.regained};

    to->none_lost = e->seeks_lost == SEEK_LOST && !e->could_not_seek && !e->file.regained.list.count;
    for (size_t next[2] = {0};;) {
        struct jump jumps[] = {jumps_at(lists[0], next[0]), jumps_at(lists[1], next[1])};
        int i = jumps[1].from <= jumps[0].from;

        if (jumps[i].from == NO_JUMP)
            return;
        jumps_add(to, jumps[i]);
        next[0] += jumps[0].from == jumps[i].from; /* replaced, if it is the other */
        next[1] += i == 1;
    }
}

static enum hprof_status validate(struct input_source source, const struct hprof_options *options, struct hprof_summary *result,
                                  struct jumps *jumps, struct counted *counted, unsigned wanted)
{
    struct hprof_summary summary = {.struct_size = sizeof summary};
    struct memory own;
    struct engine *e;
    enum hprof_status status;

    memory_init(&own, options->allocator, 0);
    e = engine_new(options, &summary, &own);
    if (!e)
        return refuse_check(options, result, HPROF_LIMIT, no_memory_to_begin);
    e->seeks_lost = !jumps ? SEEK_LOST_IF_SOUND : wanted & WANT_LOST ? SEEK_LOST : SEEK_NO_LOST;
    e->run.counted = counted;
    if (!(wanted & WANT_REFERENCES))
        findings_want(&e->run.findings, options->on_finding != NULL, false);
    engine_read(e, source);
    status = engine_conclude(e);
    if (jumps)
        hand_over_jumps(e, jumps);
    give_summary(result, &summary);
    engine_delete(e, &own);
    return status;
}

enum hprof_status validate_with_jumps(struct input_source source, const struct hprof_options *options, struct jumps *jumps,
                                      unsigned wanted)
{
    return validate(source, options, NULL, jumps, NULL, wanted);
}

enum hprof_status validate_and_count(struct input_source source, const struct hprof_options *options, struct jumps *jumps,
                                     struct counted *counted)
{
    return validate(source, options, NULL, jumps, counted, WANT_REFERENCES | WANT_LOST);
}

/* Checks if the options are valid; `unusable` says what else is wrong, or is NULL. */
static enum hprof_status validate_if_allowed(struct input_source source, const char *unusable,
                                             const struct hprof_options *options, struct hprof_summary *summary)
{
    struct hprof_options own;
    const char *reason = take_options(&own, options);

    if (reason)
        return refuse_check(NULL, summary, HPROF_USAGE, reason);
    reason = unusable ? unusable : why_refused(&own, summary);
    return reason ? refuse_check(&own, summary, HPROF_USAGE, reason)
                  : validate(source, &own, summary, NULL, NULL, WANT_REFERENCES);
}

enum hprof_status hprof_validate_fd(int fd, const struct hprof_options *options, struct hprof_summary *summary)
{
    return validate_if_allowed(source_of_fd(fd), NULL, options, summary);
}

enum hprof_status hprof_validate_memory(const void *bytes, size_t size, bool as_pipe, const struct hprof_options *options,
                                        struct hprof_summary *summary)
{
    return validate_if_allowed(source_of_memory(bytes ? bytes : "", size, as_pipe),
                               !bytes && size ? "the dump is a null pointer, and its size is not 0" : NULL, options, summary);
}

enum hprof_status hprof_validate_source(const struct hprof_source *source, const struct hprof_options *options,
                                        struct hprof_summary *summary)
{
    struct input_source callbacks;
    const char *reason = source_of_callbacks(source, &callbacks);

    return validate_if_allowed(callbacks, reason, options, summary);
}
