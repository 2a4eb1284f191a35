/* See reduction.h. */
#define _GNU_SOURCE
#include "reduction.h"

#include <errno.h>
#include <fcntl.h>
#include <hprof/hprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store.h"

/* A candidate that is tried: `live[from]` to `live[to - 1]` are the edits that it has more than the smallest dump. */
struct trial {
    size_t from, to;
    struct candidate candidate;
    char *path;
    struct stat before; /* the run */
    struct run run;
    bool is_busy;
};

/* One pass over the edits that are left. */
struct pass {
    struct reduction *r;
    struct plan *plan;
    bool *made;     /* by edit */
    uint32_t *live; /* edits that are not made, in their order */
    size_t live_count;
    size_t next; /* the end of the next candidate's edits */
    struct trial trials[MOST_JOBS];
    struct trial *order[MOST_JOBS]; /* those that are busy, the first first */
    size_t busy;
    bool has_found;
    enum reduction_end end; /* REDUCTION_MINIMAL while it goes on */
};

static enum reduction_end fail(struct reduction *r, const char *what, const char *reason)
{
    snprintf(r->failure, sizeof r->failure, "%.120s: %.120s", what, reason);
    return REDUCTION_FAILED;
}

/* COMMAND may not write into the dump that it is given: how it ends would say nothing of the dump that it was given. */
static bool is_left_alone(struct reduction *r, const char *path, const struct stat *before)
{
    struct stat after;

    if (stat(path, &after) == 0 && after.st_ino == before->st_ino && after.st_size == before->st_size &&
        after.st_mtim.tv_sec == before->st_mtim.tv_sec && after.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
        return true;
    return fail(r, path, "COMMAND has changed or removed it, which it must not") != REDUCTION_FAILED;
}

bool is_valid_dump(const char *path)
{
    struct hprof_options options;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_valid;

    hprof_options_init(&options);
    options.profile = hprof_profile_find("auto");
    is_valid = fd >= 0 && hprof_validate_fd(fd, &options, NULL) == HPROF_VALID;
    if (fd >= 0)
        close(fd);
    return is_valid;
}

char *reduction_candidate(const struct reduction *r, unsigned job)
{
    size_t size = strlen(r->out) + 32;
    char *path = store_zeroed(size, 1);

    snprintf(path, size, "%s.%u.hprof", r->out, job + 1);
    return path;
}

static bool start(struct reduction *r, struct run *run, const char *path)
{
    r->runs++;
    if (!run_start(run, &r->command, path))
        return fail(r, r->command.words[0], strerror(errno)) != REDUCTION_FAILED;
    if (run->outcome.ending == ENDED_NOT_STARTED)
        return fail(r, r->command.words[0], strerror(run->outcome.value)) != REDUCTION_FAILED;
    return true;
}

bool reduction_try(struct reduction *r, const char *path, struct outcome *outcome)
{
    struct run run, *const runs[] = {&run};
    struct stat before;

    if (stat(path, &before) != 0)
        return fail(r, path, strerror(errno)) != REDUCTION_FAILED;
    if (!start(r, &run, path))
        return false;
    while (!run.is_over && !*r->interrupted)
        runs_wait(runs, 1, &r->command);
    run_stop(&run);
    *outcome = run.outcome;
    return is_left_alone(r, path, &before);
}

/* ---- One pass ---- */

static bool is_failed(void *context, uint64_t hash)
{
    const struct reduction *r = context;

    return failed_has(&r->failed, hash);
}

static void note_failed(struct pass *pass, uint64_t hash)
{
    failed_add(&pass->r->failed, hash);
    journal_failed(&pass->r->journal, hash);
}

static void stop_trials(struct pass *pass)
{
    for (size_t i = 0; i < pass->busy; i++) {
        run_stop(&pass->order[i]->run);
        unlink(pass->order[i]->path);
        pass->order[i]->is_busy = false;
    }
    pass->busy = 0;
}

static bool may_run(struct pass *pass)
{
    if (*pass->r->interrupted)
        pass->end = REDUCTION_INTERRUPTED;
    else if (pass->r->most_runs != 0 && pass->r->runs >= pass->r->most_runs)
        pass->end = REDUCTION_STOPPED;
    return pass->end == REDUCTION_MINIMAL;
}

/* Writes the next candidate, and starts the command if the candidate is worth a run. */
static void begin_trial(struct pass *pass, size_t chunk)
{
    struct reduction *r = pass->r;
    struct trial *trial = pass->trials;
    bool is_written;

    while (trial->is_busy)
        trial++;
    trial->to = pass->next;
    trial->from = pass->next > chunk ? pass->next - chunk : 0;
    pass->next = trial->from;
    for (size_t i = trial->from; i < trial->to; i++)
        pass->made[pass->live[i]] = true;
    is_written = candidate_write(pass->plan, pass->made, trial->path, is_failed, r, &trial->candidate);
    for (size_t i = trial->from; i < trial->to; i++)
        pass->made[pass->live[i]] = false;
    if (!is_written) {
        pass->end = fail(r, trial->path, strerror(errno));
        unlink(trial->path);
        return;
    }
    if (trial->candidate.is_known) {
        unlink(trial->path);
        return;
    }
    r->written += trial->candidate.size;
    if (r->keep_valid && !is_valid_dump(trial->path)) {
        failed_add(&r->failed, trial->candidate.hash);
        unlink(trial->path);
        return;
    }
    if (stat(trial->path, &trial->before) != 0) {
        pass->end = fail(r, trial->path, strerror(errno));
        return;
    }
    if (!start(r, &trial->run, trial->path)) {
        pass->end = REDUCTION_FAILED;
        unlink(trial->path);
        return;
    }
    trial->is_busy = true;
    pass->order[pass->busy++] = trial;
}

/* The candidate becomes the smallest dump. Those that were tried meanwhile have parts that it has not. */
static void take(struct pass *pass, struct trial *trial)
{
    size_t taken = trial->to - trial->from;

    if (!is_left_alone(pass->r, trial->path, &trial->before)) {
        pass->end = REDUCTION_FAILED;
        return;
    }
    journal_found(&pass->r->journal);
    if (rename(trial->path, pass->r->out) != 0) {
        pass->end = fail(pass->r, errno == ENOENT ? trial->path : pass->r->out, strerror(errno));
        return;
    }
    failed_add(&pass->r->failed, trial->candidate.hash); /* an edit that changes nothing is no progress */
    pass->r->size = trial->candidate.size;
    pass->has_found = true;
    for (size_t i = trial->from; i < trial->to; i++)
        pass->made[pass->live[i]] = true;
    memmove(pass->live + trial->from, pass->live + trial->to, (pass->live_count - trial->to) * sizeof *pass->live);
    pass->live_count -= taken;
    pass->next = trial->from;
    trial->is_busy = false;
    memmove(pass->order, pass->order + 1, --pass->busy * sizeof *pass->order);
    stop_trials(pass);
}

/* Ends trials in their order, so that the result does not depend on how many run at once. */
static void end_trials(struct pass *pass)
{
    while (pass->busy != 0 && pass->order[0]->run.is_over && pass->end == REDUCTION_MINIMAL) {
        struct trial *trial = pass->order[0];

        if (same_outcome(&trial->run.outcome, &pass->r->wanted)) {
            take(pass, trial);
            continue;
        }
        note_failed(pass, trial->candidate.hash);
        unlink(trial->path);
        trial->is_busy = false;
        memmove(pass->order, pass->order + 1, --pass->busy * sizeof *pass->order);
    }
}

static void try_chunks(struct pass *pass, size_t chunk)
{
    struct run *runs[MOST_JOBS];

    pass->next = pass->live_count;
    while (pass->end == REDUCTION_MINIMAL && (pass->next != 0 || pass->busy != 0)) {
        if (*pass->r->interrupted) {
            pass->end = REDUCTION_INTERRUPTED;
            break;
        }
        if (pass->next != 0 && pass->busy < pass->r->jobs) {
            if (pass->busy == 0 ? may_run(pass) : pass->r->most_runs == 0 || pass->r->runs < pass->r->most_runs) {
                begin_trial(pass, chunk);
                continue;
            }
            if (pass->busy == 0)
                break;
        }
        for (size_t i = 0; i < pass->busy; i++)
            runs[i] = &pass->order[i]->run;
        runs_wait(runs, pass->busy, &pass->r->command);
        end_trials(pass);
    }
    stop_trials(pass);
}

/* ---- One stage ---- */

/* The power of four below. Where one edit of many is needed, quarters find it in as many runs as halves do; where most are, they
 * take a third fewer. */
static size_t next_chunk(size_t chunk)
{
    size_t next = 1;

    while (next < (chunk + 3) / 4)
        next *= 4;
    return next;
}

/* Goes on from the position's chunk, or from the beginning if that is 0. */
static enum reduction_end run_stage(struct reduction *r, struct position *at, int base, bool *has_found)
{
    struct pass pass = {.r = r, .end = REDUCTION_MINIMAL};
    struct plan plan;
    size_t chunk, least;

    if (!plan_make(&plan, (enum stage)at->stage, (enum links)at->links, base, r->failure)) {
        plan_free(&plan);
        return REDUCTION_FAILED;
    }
    pass.plan = &plan;
    pass.made = store_zeroed(plan.edits, sizeof *pass.made);
    pass.live = store_zeroed(plan.edits, sizeof *pass.live);
    pass.live_count = plan.edits;
    for (uint32_t i = 0; i < plan.edits; i++)
        pass.live[i] = i;
    for (unsigned i = 0; i < r->jobs; i++)
        pass.trials[i].path = reduction_candidate(r, i);
    chunk = at->chunk != 0 && at->chunk < plan.edits ? (size_t)at->chunk : plan.edits;
    least = 1 + (size_t)(plan.edits / at->pieces);
    while (chunk != 0 && pass.end == REDUCTION_MINIMAL) {
        at->chunk = chunk;
        journal_at(&r->journal, at, r->runs, r->written);
        try_chunks(&pass, chunk);
        if (pass.live_count == 0)
            break;
        at->is_coarse |= chunk > 1 && chunk <= least;
        chunk = chunk > least ? next_chunk(chunk < pass.live_count ? chunk : pass.live_count) : 0;
    }
    at->chunk = 0;
    *has_found = pass.has_found;
    for (unsigned i = 0; i < r->jobs; i++)
        free(pass.trials[i].path);
    free(pass.made);
    free(pass.live);
    plan_free(&plan);
    return pass.end;
}

/* ---- All stages ---- */

/* A stage would try tens of thousands of pieces one by one that another stage makes needless. So all stages take out large pieces
 * first, and smaller ones once all of them together leave more than a half. */
enum { FIRST_PIECES = 64, MORE_PIECES = 8 };

static void next_position(struct position *at, bool has_found, uint64_t size)
{
    at->quiet = has_found ? 0 : at->quiet + 1;
    if (++at->stage < STAGE_COUNT)
        return;
    at->stage = 0;
    at->links = (at->links + 1) % LINKS_COUNT;
    if (at->is_coarse && size > at->size / 2) {
        at->pieces *= MORE_PIECES;
        at->quiet = 0;
    }
    at->is_coarse = false;
    at->size = size;
}

enum reduction_end reduction_run(struct reduction *r, const char *base)
{
    struct position at = r->journal.is_found ? r->journal.position : (struct position){.links = LINKS_CUT};
    enum reduction_end end = REDUCTION_MINIMAL;
    bool had_found = r->journal.has_found; /* in an earlier run of this stage */
    uint64_t hash;
    int first = open(base, O_RDONLY | O_CLOEXEC);

    if (at.pieces == 0) {
        at.pieces = FIRST_PIECES;
        at.size = r->size;
    }
    if (first < 0 || !candidate_hash(first, r->size, &hash))
        end = fail(r, base, strerror(errno));
    else
        failed_add(&r->failed, hash);
    if (first >= 0)
        close(first);
    while (at.quiet < (unsigned)LINKS_COUNT * STAGE_COUNT && end == REDUCTION_MINIMAL) {
        uint64_t runs = r->runs, size = r->size;
        unsigned stage = at.stage;
        bool has_found = false;
        int fd;

        if (*r->interrupted) /* before a large dump is read once more */
            return REDUCTION_INTERRUPTED;
        fd = open(base, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return fail(r, base, strerror(errno));
        /* Single bytes take the most runs, for the least: after all else. */
        if (stage != STAGE_BYTES || at.quiet >= (LINKS_COUNT - 1) * STAGE_COUNT)
            end = run_stage(r, &at, fd, &has_found);
        close(fd);
        if (has_found)
            base = r->out;
        if (r->runs != runs)
            r->on_stage(r->context, stage_names[stage], size, r->size, r->runs - runs);
        next_position(&at, has_found || had_found, r->size);
        had_found = false;
    }
    return end;
}
