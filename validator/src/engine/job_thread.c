/* A thread does a job: checks what is plain, and stops at anything else. It only reads what other threads read too, except for the
 * sets of IDs, which they share. */
#include <string.h>

#include "engine/job.h"
#include "format/native.h"

/* ---- What the threads meet ---- */

static bool note_met(struct job *job, uint32_t layout, bool is_array, uint64_t at)
{
    if (job->met_count == CLASSES_MET)
        return false;
    job->met[job->met_count++] = (struct met_class){layout, is_array, at};
    return true;
}

static bool meet_class(struct segment *s, const uint8_t *raw_id, uint32_t bytes)
{
    struct job_thread *t = s->context;
    const struct classes *classes = &t->e->file.classes;
    uint64_t raw = native_load(raw_id, s->id_size), class_id = get_id(raw_id, s->id_size);
    uint32_t index = classes_find_layout(classes, class_id);
    struct hot_class hot = {.raw_id = raw, .dump = s->dump};
    const struct layout *l = index == LAYOUT_NONE ? NULL : classes_layout(classes, index);

    if (!l || l->state != LAYOUT_VALID || l->total != bytes)
        return false;
    if (!describe_class(classes, index, &hot) && !describe_wide(s->wide, index, &hot))
        return false;
    if (!l->has_instances && !note_met(t->job, index, false, 0))
        return false;
    *hot_slot(&s->hot, raw) = hot;
    return true;
}

static bool meet_array_class(struct segment *s, const uint8_t *raw_id, uint64_t offset)
{
    struct job_thread *t = s->context;
    const struct classes *classes = &t->e->file.classes;
    uint64_t raw = native_load(raw_id, s->id_size), class_id = get_id(raw_id, s->id_size);
    uint32_t index = classes_find_layout(classes, class_id);
    const struct layout *l = index == LAYOUT_NONE ? NULL : classes_layout(classes, index);
    bool is_known, is_object;

    if (!l)
        return false;
    is_known = l->is_array_class;
    is_object = is_known ? l->is_object_array : is_object_array(&t->e->file, class_id);
    if (!is_known && !note_met(t->job, index, true, offset + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, s->id_size)))
        return false;
    make_hot_array_class(&s->hot, raw, s->dump, is_object);
    return true;
}

static bool meet_trace(struct segment *s, uint32_t serial, enum object_kind kind, uint64_t offset)
{
    const struct job_thread *t = s->context;

    (void)kind;
    (void)offset;
    if (serial && !keymap_get(&t->e->file.traces, serial, NULL))
        return false;
    s->known_traces[serial % KNOWN_TRACES] = serial;
    return true;
}

/* No class in a thread's slots is one that instances wait for. */
static bool meet_waiting(struct segment *s, uint64_t offset)
{
    (void)s;
    (void)offset;
    return false;
}

const struct first_meetings meetings_in_jobs = {meet_class, meet_array_class, meet_trace, meet_waiting};

/* ---- A thread does a job ---- */

/* Reads more bytes of the job into the buffer, from the next needed offset on. False if there are none, or no room. */
static bool read_more(struct job_thread *t, uint64_t from, uint64_t end)
{
    const struct jobs *j = t->e->jobs;
    size_t rest = 0, room, got;
    uint64_t next;

    if (from >= t->at && from < t->at + t->size) {
        rest = (size_t)(t->at + t->size - from);
        memmove(t->buffer, t->buffer + (from - t->at), rest);
    }
    t->at = from;
    t->size = rest;
    next = from + rest;
    room = j->buffer_size - rest < j->read_size ? j->buffer_size - rest : j->read_size;
    if (room > end - next)
        room = (size_t)(end - next);
    got = input_read_at(&t->e->in, next, t->buffer + rest, room);
    t->size += got;
    return got > 0;
}

/* Returns how far it was plain. */
static uint64_t check_piece(struct job_thread *t, const struct piece *piece, uint64_t job_end)
{
    uint64_t at = piece->at;

    while (at < piece->end) {
        uint64_t there = t->at + t->size < piece->end ? t->at + t->size : piece->end;
        size_t used = 0;

        if (at >= t->at && at < there)
            used = check_plain_objects_with_others(&t->segment, t->buffer + (at - t->at), (size_t)(there - at), at);
        at += used;
        if (at < piece->end && (there == piece->end || !read_more(t, at, job_end)))
            break;
    }
    return at;
}

static void do_job(struct job_thread *t, struct job *job, const struct piece *pieces)
{
    struct segment *s = &t->segment;
    uint64_t end = pieces[job->piece_count - 1].end;
    const struct recent_page recent = {.page = NO_PAGE, .known = &t->known};

    if (job <
        t->job) /* a class is noted by the first job of a thread that meets it: here, this one may come first in the file */
        hot_classes_forget(&s->hot);
    t->job = job;
    t->size = 0;
    t->at = 0;
    s->counts = (struct object_counts){0};
    s->defined_twice = false;
    s->defined = s->referenced = s->element = recent;
    s->defined.pages = &job->stretch.defined;
    s->referenced.pages = &job->stretch.referenced;
    s->element.pages = &job->stretch.elements;
    s->defined.own = &t->own;
    for (unsigned i = 0; i < OWN_PAGES; i++)
        t->own.at[i].number = NO_PAGE;
    s->referenced.gathered = s->gathered[0];
    s->element.gathered = s->gathered[1];
    job->met_count = 0;
    for (size_t i = 0; i < job->piece_count; i++) {
        job->checked_until = check_piece(t, &pieces[i], end);
        if (job->checked_until < pieces[i].end)
            break;
    }
    s->defined_twice |= id_set_add_own(s->objects, &t->own);
    job->counts = s->counts;
    job->defined_twice = s->defined_twice;
}

void do_jobs(void *context, unsigned number)
{
    struct jobs *j = context;

    for (;;) {
        size_t next = __atomic_fetch_add(&j->next_job, 1, __ATOMIC_RELAXED);
        struct job *job;

        if (next >= j->now->job_count)
            return;
        job = &j->now->jobs[j->order[next]];
        do_job(&j->threads[number], job, &j->now->pieces[job->first_piece]);
    }
}
