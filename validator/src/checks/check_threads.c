/* Threads that start and end (SPEC.md 4.8, 4.9). */
#include <inttypes.h>

#include "checks/checker.h"

static void report_started_again(struct checker *ck, uint32_t serial, uint64_t started_at, uint64_t at)
{
    struct finding *f;

    if (ck->file->losses.definitions & MAY_DEFINE_THREADS) /* skipped bytes may contain an END_THREAD */
        return;
    if (ck->file->losses.unknown & MAY_DEFINE_THREADS) {
        pending_uses_add(&ck->file->thread_uses, serial, THREAD_STARTED_AGAIN, at);
        return;
    }
    f = report(ck, RULE_THR_004, at, "a serial of no living thread", "%" PRIu32 ", started and not ended", serial);
    if (f)
        f->related_offset = started_at;
}

/* SPEC.md 4.8 START_THREAD */
void check_start_thread(struct checker *ck, const struct START_THREAD *r, uint64_t at)
{
    size_t id = ck->file->id_size;
    uint64_t state = 0;

    if (r->thread_serial == 0)
        report(ck, RULE_THR_003, at, "a serial above 0", "0");
    keymap_get(&ck->file->threads, r->thread_serial, &state);
    if (r->thread_serial && state & THREAD_LIVE)
        report_started_again(ck, r->thread_serial, state >> THREAD_FLAGS, at);
    file_note_thread(ck->file, r->thread_serial);
    keymap_put(&ck->file->threads, r->thread_serial, at << THREAD_FLAGS | THREAD_STARTED | THREAD_LIVE);

    use_trace(ck, r->trace_serial, TRACE_OF_START, at + OFFSET_OF(START_THREAD, trace_serial, id));
    use_name(ck, r->name, NAME_OF_THREAD, at + OFFSET_OF(START_THREAD, name, id));
    use_name_or_none(ck, r->group, NAME_OF_GROUP, at + OFFSET_OF(START_THREAD, group, id));
    use_name_or_none(ck, r->parent_group, NAME_OF_PARENT_GROUP, at + OFFSET_OF(START_THREAD, parent_group, id));
}

/* SPEC.md 4.9 END_THREAD. The START_THREAD must precede it in the file, unless skipped bytes may contain it. */
void check_end_thread(struct checker *ck, const struct END_THREAD *r, uint64_t at)
{
    bool unknown = ck->file->losses.unknown & MAY_DEFINE_THREADS;
    uint64_t state = 0;

    keymap_get(&ck->file->threads, r->thread_serial, &state);
    if (state & THREAD_LIVE)
        keymap_put(&ck->file->threads, r->thread_serial, state & ~(uint64_t)THREAD_LIVE);
    else if (ck->file->losses.definitions & MAY_DEFINE_THREADS)
        return;
    else if (!(state & THREAD_STARTED))
        pending_uses_add(&ck->file->thread_uses, r->thread_serial, unknown ? THREAD_NEVER_STARTED : THREAD_OF_END, at);
    else if (unknown)
        pending_uses_add(&ck->file->thread_uses, r->thread_serial, THREAD_ENDED_AGAIN, at);
    else
        report(ck, RULE_THR_006, at, "a thread that has not ended", "%" PRIu32 ", ended before", r->thread_serial);
}
