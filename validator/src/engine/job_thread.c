/* A thread does a job: checks what is plain, and stops at anything else. It only reads what other threads read too, except for the
 * sets of IDs, which they share. What the coordinator writes while the threads work is atomic. */
#include <string.h>

#include "engine/job.h"
#include "format/native.h"

/* ---- What the threads meet ---- */

static bool note_met(struct job_thread *t, struct met_class met)
{
    struct job *job = t->job;

    if (job->met_count == t->e->run.sizes.job_classes)
        return false;
    job->met[job->met_count++] = met;
    return true;
}

/* The class at raw_id, in the buffer, of a waiting instance. Its layout has the index. */
static bool note_unknown_class(struct job_thread *t, const uint8_t *raw_id, uint32_t index)
{
    const unsigned i = t->e->file.id_size;
    const uint64_t object_id = get_id(raw_id - OFFSET_OF(INSTANCE_DUMP, class_id, i), i);

    if (index != LAYOUT_NONE)
        return classes_layout(&t->e->file.classes, index)->has_instances || note_met(t, (struct met_class){.layout = index});
    return object_id &&
           note_met(t, (struct met_class){
                           .class_id = get_id(raw_id, i), .at = t->at + (uint64_t)(raw_id - t->buffer), .instance = object_id});
}

static bool meet_class(struct segment *s, const uint8_t *raw_id, uint32_t bytes)
{
    struct job_thread *t = s->context;
    const struct classes *classes = &t->e->file.classes;
    uint64_t raw = native_load(raw_id, s->id_size), class_id = get_id(raw_id, s->id_size);
    uint32_t index = classes_find_layout(classes, class_id);
    struct hot_class hot = {.raw_id = raw, .dump = s->dump};
    const struct layout *l = index == LAYOUT_NONE ? NULL : classes_layout(classes, index);

    if (class_id && !l && !classes->complete) {
        make_hot_class(&s->hot, raw, s->dump, HOT_WAITING, s->epoch);
        return true;
    }
    if (classes->complete && class_id && (!l || l->state == LAYOUT_INVALID)) {
        if (!note_unknown_class(t, raw_id, index))
            return false;
        make_unknown_class(&s->hot, raw, classes);
        return true;
    }
    if (!l || l->state != LAYOUT_VALID || l->total != bytes)
        return false;
    if (!describe_class(classes, index, &hot) && !describe_wide(&s->wide, classes, index, &hot))
        return false;
    if (!l->has_instances && !note_met(t, (struct met_class){.layout = index}))
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
    enum array_kind kind = l ? (enum array_kind)l->array_kind : ARRAY_KIND_UNKNOWN;
    uint64_t at = offset + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, s->id_size);

    if (!class_id || (!kind && !note_met(t, (struct met_class){.class_id = class_id, .at = at})))
        return false;
    make_hot_class(&s->hot, raw, s->dump,
                   hot_array_kind(kind ? kind == ARRAY_OF_OBJECT : is_object_array(&t->e->file, class_id)),
                   l ? ALWAYS : s->epoch);
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

static void end_run(struct job *job, struct segment *s)
{
    if (job->waiting_count)
        job->waiting[job->waiting_count - 1].instances = s->waiting.instances;
    s->waiting = (struct waiting_run){.next = UINT64_MAX};
}

static bool meet_waiting(struct segment *s, uint64_t offset)
{
    struct job_thread *t = s->context;

    if (t->job->waiting_count == t->e->run.sizes.job_ranges)
        return false;
    end_run(t->job, s);
    t->job->waiting[t->job->waiting_count++] = (struct waiting_range){.at = offset, .record_end = t->piece->record_end};
    return true;
}

const struct first_meetings meetings_in_jobs = {meet_class, meet_array_class, meet_trace, meet_waiting};

/* ---- A thread does a job ---- */

/* Returns how far it was plain. */
static uint64_t check_piece(struct job_thread *t, const struct piece *piece, uint64_t job_end)
{
    uint64_t at = piece->at;

    t->piece = piece;
    while (at < piece->end) {
        uint64_t there = t->at + t->size < piece->end ? t->at + t->size : piece->end;
        size_t used = 0;

        t->segment.instances_before = t->segment.counts.instances;
        if (at >= t->at && at < there)
            used = check_plain_objects_with_others(&t->segment, t->buffer + (at - t->at), (size_t)(there - at), at);
        at += used;
        if (at < piece->end && (there == piece->end || !read_more(t, at, job_end)))
            break;
    }
    return at;
}

void prepare_segment(struct engine *e, struct job_thread *t)
{
    struct segment *s = &t->segment;

    t->e = e;
    t->number = 0;
    t->pauses = 0;
    if (s->dump != e->file.classes.dump) {
        wide_classes_clear(&s->wide);
        wide_classes_init(&s->wide, &e->run.memory, &e->run.key);
        s->dump = e->file.classes.dump;
    }
    s->meet = &meetings_in_jobs;
    s->context = t;
    s->id_size = e->file.id_size;
    s->objects = &e->heap.objects;
    s->special = &e->heap.special;
    if (e->run.counted && !s->counted) {
        s->counted = memory_try(&e->run.memory, sizeof *s->counted);
        if (s->counted)
            counted_init(s->counted, e->run.counted->memory, &e->run.key, e->run.counted->within, e->run.counted->least);
    }
}

void clear_segment(struct engine *e, struct job_thread *t)
{
    struct segment *s = &t->segment;

    hot_classes_clear(&s->hot, &e->run.memory);
    wide_classes_clear(&s->wide);
    if (s->counted)
        counted_take(e->run.counted, s->counted);
    memory_put(&e->run.memory, s->counted, sizeof *s->counted);
}

/* What may have changed in the last pause. */
static void see_tables(struct job_thread *t)
{
    const struct engine *e = t->e;

    if (t->pauses == e->jobs->pauses)
        return;
    t->pauses = e->jobs->pauses;
    t->segment.epoch = heap_epoch(&e->heap, &e->file.classes);
    memcpy(t->segment.known_traces, e->heap.segment.known_traces, sizeof t->segment.known_traces);
}

static void begin_job(struct job_thread *t, struct job *job)
{
    struct segment *s = &t->segment;
    const struct recent_page recent = {.page = NO_PAGE, .windows = t->windows};

    t->job = job;
    t->size = 0;
    t->at = 0;
    s->counts = (struct object_counts){0};
    s->defined = s->referenced = s->element = recent;
    s->defined.pages = &job->stretch.defined;
    s->referenced.pages = &job->stretch.referenced;
    s->element.pages = &job->stretch.elements;
    job->met_count = 0;
    job->layouts = t->e->jobs->resolved;
}

void check_pieces(struct job_thread *t, struct job *job)
{
    struct segment *s = &t->segment;
    uint64_t end;

    job->waiting_count = 0;
    s->waiting = (struct waiting_run){.next = UINT64_MAX};
    if (job->pieces[0].is_part && !frame_part(t))
        return;
    end = job->pieces[job->piece_count - 1].end;
    for (size_t i = 0; i < job->piece_count; i++) {
        job->checked_until = check_piece(t, &job->pieces[i], end);
        if (job->checked_until < job->pieces[i].end)
            break;
    }
    end_run(job, s);
}

void do_job(struct job_thread *t, uint64_t number)
{
    struct jobs *j = t->e->jobs;
    struct job *job = queue_job(&j->queue, number);

    see_tables(t);
    if (number < t->number) /* the first job in the file that meets a class notes it */
        hot_classes_forget(&t->segment.hot);
    t->number = number;
    begin_job(t, job);
    j->work(t, job);
    job->counts = t->segment.counts;
    queue_finish(&j->queue, number);
}

void do_jobs(void *context, unsigned number)
{
    struct jobs *j = context;
    uint64_t job;

    if (number >= j->ready)
        return;
    while (queue_take(&j->queue, &job))
        do_job(&j->threads[number], job);
    id_windows_finish(j->threads[number].windows, number * (PAGE_GROUPS / j->thread_count));
}

/* ---- A thread checks waiting instances ---- */

/* Moves to the first sub-record of the segment at the start of the buffer. False if there is none. */
static bool enter_segment(const struct job_thread *t, struct waiting_range *range)
{
    struct sight s = {.at = t->buffer, .size = t->size};
    struct walk_item record;

    if (walk_record(&s, range->at - t->at, &record) != FRAME_RIGHT || record.tag != TAG_HEAP_DUMP_SEGMENT)
        return false;
    range->record_end = range->at + record.size;
    range->at += record.head;
    return true;
}

/* Checks the instances of a range up to the next jump, as long as they are plain. */
static void check_range(struct job_thread *t, struct waiting_range *range)
{
    const struct engine *e = t->e;
    uint64_t jump = jumps_at(&e->file.jumps, jumps_find(&e->file.jumps, range->at)).from;
    bool more = true;

    while (more && range->instances && range->at < jump) {
        uint64_t end = range->record_end < jump ? range->record_end : jump;
        uint64_t there = t->at + t->size < end ? t->at + t->size : end, from = range->at;

        if (from >= t->at && from < there)
            range->at +=
                refer_instances_with_others(&t->segment, t->buffer + (from - t->at), (size_t)(there - from), &range->instances);
        if (range->at == range->record_end && range->instances)
            more = enter_segment(t, range) ||
                   (range->at + RECORD_HEADER_SIZE > t->at + t->size && read_more(t, range->at, input_file_size(&e->in)));
        else if (range->instances)
            more = there < end && read_more(t, range->at, end);
    }
}

void check_ranges(struct job_thread *t, struct job *job)
{
    struct log_part *log = &job->log;
    const size_t most = t->e->run.sizes.job_ranges;

    job->waiting_count = 0;
    while (log->next < log->end && job->waiting_count < most && next_waiting_range(&t->e->ck, &log->next, &log->range)) {
        struct waiting_range rest = log->range;

        check_range(t, &rest);
        job->checked_until = rest.at;
        if (rest.instances)
            job->waiting[job->waiting_count++] = rest;
    }
}
