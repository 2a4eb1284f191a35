/* See jobs.h. */
#include "engine/jobs.h"

#include <string.h>

#include "base/workers.h"
#include "engine/engine.h"
#include "format/native.h"
#include "format/subrecord.h"

enum {
    JOB_SIZE = 1 << 20,
    THREADS_MOST = 64,
    JOBS_A_THREAD = 32, /* in a batch */
    PIECES_MOST = 64,   /* in a job */
    CLASSES_MET = 256,  /* in a job */
    READ_SIZE = 256 << 10,
    BUFFER_SIZE = (1 << 20) + (64 << 10),
    BUFFER_TEST = 64, /* more than a job, then */
    AHEAD_SIZE = 256 << 10,
    AHEAD_SOME = 64 << 10,
    AHEAD_LITTLE = 4 << 10
};

/* The sub-records of a heap dump record, or some of them, that belong to one job. */
struct piece {
    uint64_t at, end;
    uint64_t record_end;
    size_t job;
    bool begins_record;
    uint8_t header[RECORD_HEADER_SIZE]; /* then: of the record */
};

/* A class that a job is the first to use. */
struct met_class {
    uint32_t layout;
    bool is_array; /* an object array is of it, the first at an offset */
    uint64_t at;
};

struct job {
    size_t first_piece, piece_count;
    uint64_t size;
    /* The result: */
    uint64_t checked_until; /* the end of its last piece if all was plain */
    struct object_counts counts;
    bool defined_twice; /* an ID that had been defined */
    struct stretch stretch;
    struct met_class met[CLASSES_MET];
    size_t met_count;
};

/* The state of one thread. */
struct job_thread {
    struct segment segment;
    struct known_pages known;
    const struct engine *e;
    struct job *job; /* the present or last one of this batch */
    uint64_t dump;   /* the number of the heap dump that `known` is of */
    uint8_t *buffer;
    uint64_t at; /* of the first byte in the buffer */
    size_t size; /* bytes in it */
};

struct batch {
    uint64_t begin, record_end; /* its first sub-record, and the end of that record */
    uint64_t next, next_end;    /* likewise of the batch after it; next_end is 0 if there is none */
    struct job *jobs;
    size_t job_count;
    struct piece *pieces;
    size_t piece_count;
};

struct jobs {
    struct workers *workers;
    unsigned thread_count; /* with the coordinator */
    struct job_thread *threads;
    uint64_t job_size;
    bool is_test;                  /* small jobs, in any order */
    size_t buffer_size, read_size; /* of a thread, and what is read at once */

    struct batch batches[2];
    struct batch *now, *later; /* the one after it is gathered while the threads do this one */
    size_t job_capacity;       /* of each */
    size_t *order;             /* the order in which the jobs are begun */
    size_t next_job;           /* to be begun */
    size_t next_piece;         /* that the coordinator has not come to */

    uint64_t due;      /* no batch begins before this offset */
    uint64_t distance; /* of the next batch after one that found nothing plain */
    uint32_t resolved; /* layouts up to here were looked at, in the heap dump with that number: */
    uint32_t resolved_dump;

    uint8_t *ahead; /* bytes of the dump in which record headers are looked for */
    uint64_t ahead_at;
    size_t ahead_size;

    /* The roll-back. */
    bool failed;
    uint64_t failed_dump; /* the first record of the heap dump that is checked without jobs; UINT64_MAX for none */
    uint64_t begin;       /* the first record of this heap dump, and what was known there: */
    struct findings_checkpoint findings;
    struct hprof_summary sum;
    struct producer_signs signs;
    struct framing framing;
    unsigned lost, unknown;
    size_t wanted;
};

static bool is_active(const struct jobs *j)
{
    return j->next_piece < j->now->piece_count;
}

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
    uint32_t index = class_id ? classes_find_layout(classes, class_id) : LAYOUT_NONE;
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
    uint32_t index = class_id ? classes_find_layout(classes, class_id) : LAYOUT_NONE;
    const struct layout *l = index == LAYOUT_NONE ? NULL : classes_layout(classes, index);
    bool is_known, is_object;

    if (!l)
        return false;
    is_known = l->is_array_class;
    is_object = is_known ? l->is_object_array : is_object_array(&t->e->file, class_id);
    if (!is_known && !note_met(t->job, index, true, offset + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, s->id_size)))
        return false;
    *hot_slot(&s->hot, raw) = (struct hot_class){
        .raw_id = raw, .bytes = UINT32_MAX, .dump = s->dump, .kind = is_object ? HOT_OBJECT_ARRAY : HOT_OTHER_ARRAY};
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
static void meet_waiting(struct segment *s, uint64_t offset, uint64_t instances)
{
    (void)s;
    (void)offset;
    (void)instances;
}

static const struct first_meetings meetings_in_jobs = {meet_class, meet_array_class, meet_trace, meet_waiting};

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
    const struct recent_page recent = {.known = &t->known};

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
    s->defined.gathered = s->gathered[0];
    s->referenced.gathered = s->gathered[1];
    s->element.gathered = s->gathered[2];
    job->met_count = 0;
    for (size_t i = 0; i < job->piece_count; i++) {
        job->checked_until = check_piece(t, &pieces[i], end);
        if (job->checked_until < pieces[i].end)
            break;
    }
    job->counts = s->counts;
    job->defined_twice = s->defined_twice;
}

static void do_jobs(void *context, unsigned number)
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

/* ---- Looking ahead ---- */

/* The *n bytes at an offset that are in memory. */
static const uint8_t *find_ahead(const struct jobs *j, uint64_t at, size_t *n)
{
    bool is_there = at >= j->ahead_at && at < j->ahead_at + j->ahead_size;

    *n = is_there ? (size_t)(j->ahead_at + j->ahead_size - at) : 0;
    return is_there ? j->ahead + (at - j->ahead_at) : NULL;
}

static const uint8_t *read_ahead(struct engine *e, uint64_t at, size_t wanted, size_t *n)
{
    struct jobs *j = e->jobs;

    j->ahead_at = at;
    j->ahead_size = input_read_at(&e->in, at, j->ahead, wanted);
    return find_ahead(j, at, n);
}

/* The header of the record at an offset, `distance` after the preceding one; NULL if the dump ends before. */
static const uint8_t *look_at_header(struct engine *e, uint64_t at, uint64_t distance)
{
    size_t n;
    const uint8_t *p = find_ahead(e->jobs, at, &n);

    if (n < RECORD_HEADER_SIZE)
        p = read_ahead(e, at, distance < AHEAD_SOME ? AHEAD_SOME : AHEAD_LITTLE, &n);
    return n < RECORD_HEADER_SIZE ? NULL : p;
}

/* The bytes of the sub-record at p, n of which are in memory; 0 if that is not known. The quick part is for nearly all. */
static inline uint64_t size_of_subrecord(const struct engine *e, const uint8_t *p, size_t n)
{
    const unsigned id = e->file.id_size;
    struct measure m = {0};

    if (n >= 1 + SIZE_OF(INSTANCE_DUMP, id) && *p == SUB_INSTANCE_DUMP)
        return 1 + SIZE_OF(INSTANCE_DUMP, id) + (uint64_t)get_u4(p + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, id));
    return measure_subrecord(p, n, id, e->file.version, &m) == MEASURED ? m.size : 0;
}

/* The end of the first sub-record from an offset on that ends at `wanted` or later, all of them by their lengths; before that where
 * the next one has none, or ends after `end`. */
static uint64_t find_cut(struct engine *e, uint64_t at, uint64_t wanted, uint64_t end)
{
    size_t n;
    const uint8_t *p = find_ahead(e->jobs, at, &n);

    while (at < wanted) {
        uint64_t size = n ? size_of_subrecord(e, p, n) : 0;
        size_t step;

        if (!size) { /* more bytes may say it */
            p = read_ahead(e, at, AHEAD_SIZE, &n);
            size = n ? size_of_subrecord(e, p, n) : 0;
        }
        if (!size || size > end - at)
            break;
        at += size;
        step = size < n ? (size_t)size : n;
        p += step;
        n -= step;
    }
    return at;
}

/* NULL if the batch is full. */
static struct piece *add_piece(struct jobs *j, struct batch *b, uint64_t at, uint64_t end, uint64_t record_end)
{
    struct job *job = b->job_count ? &b->jobs[b->job_count - 1] : NULL;
    struct piece *piece;

    if (!job || job->size >= j->job_size || job->piece_count == PIECES_MOST) {
        if (b->job_count == j->job_capacity)
            return NULL;
        job = &b->jobs[b->job_count++];
        job->size = 0;
        job->first_piece = b->piece_count;
        job->piece_count = 0;
        job->stretch = (struct stretch){.at = at, .record_end = record_end};
    }
    job->size += end - at;
    job->piece_count++;
    piece = &b->pieces[b->piece_count++];
    *piece = (struct piece){.at = at, .end = end, .record_end = record_end, .job = b->job_count - 1};
    return piece;
}

/* The end of the piece that begins at a sub-record: of the record, if that is not far and in the file. */
static uint64_t end_of_piece(struct engine *e, uint64_t at, uint64_t record_end)
{
    uint64_t size = input_file_size(&e->in), job_size = e->jobs->job_size;

    if (record_end - at > 2 * job_size)
        return find_cut(e, at, at + job_size, record_end < size ? record_end : size);
    return record_end <= size ? record_end : at;
}

/* Divides what follows a sub-record into pieces and jobs: the rest of the record and the segments after it. */
static void gather_jobs(struct engine *e, struct batch *b, uint64_t at, uint64_t end)
{
    uint8_t header[RECORD_HEADER_SIZE];
    bool begins_record = false;

    b->begin = b->next = at;
    b->record_end = b->next_end = end;
    b->job_count = b->piece_count = 0;
    for (;;) {
        uint64_t cut = end_of_piece(e, at, end);
        struct piece *piece = cut > at ? add_piece(e->jobs, b, at, cut, end) : NULL;
        const uint8_t *p;

        b->next = at;
        b->next_end = cut > at ? end : 0;
        if (!piece)
            return;
        piece->begins_record = begins_record;
        memcpy(piece->header, header, begins_record ? RECORD_HEADER_SIZE : 0);
        begins_record = cut == end;
        at = cut;
        if (!begins_record)
            continue;
        p = e->heap.open ? look_at_header(e, at, cut - piece->at) : NULL;
        if (!p || get_u1(p) != TAG_HEAP_DUMP_SEGMENT || !get_u4(p + RECORD_LENGTH_AT)) {
            b->next = at;
            b->next_end = 0;
            return;
        }
        memcpy(header, p, RECORD_HEADER_SIZE);
        at += RECORD_HEADER_SIZE;
        end = at + get_u4(header + RECORD_LENGTH_AT);
    }
}

/* ---- A batch ---- */

/* Resolves layouts before the threads start, because they may only read them. */
static void resolve_layouts(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (j->resolved_dump != e->file.classes.dump)
        j->resolved = 0;
    j->resolved_dump = e->file.classes.dump;
    for (; j->resolved < e->file.classes.layouts.count; j->resolved++)
        classes_resolve(&e->file.classes, j->resolved);
}

static bool prepare_thread(struct engine *e, struct job_thread *t)
{
    struct segment *s = &t->segment;

    if (!t->buffer)
        t->buffer = memory_try(&e->run.memory, e->jobs->buffer_size + READ_BEYOND);
    if (!t->buffer)
        return false;
    if (!hot_classes_like(&s->hot, &e->heap.segment.hot, &e->run.memory))
        return false;
    if (t->dump != e->file.classes.dump)
        t->known = (struct known_pages){0};
    t->dump = s->dump = e->file.classes.dump;
    t->e = e;
    t->job = e->jobs->now->jobs;
    s->meet = &meetings_in_jobs;
    s->context = t;
    s->id_size = e->file.id_size;
    s->objects = &e->heap.objects;
    s->wide = &e->heap.wide;
    memcpy(s->known_traces, e->heap.segment.known_traces, sizeof s->known_traces);
    return true;
}

static bool prepare_threads(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (j->thread_count > 1 && !j->workers) {
        j->workers = workers_start(&e->run.memory, j->thread_count - 1);
        j->thread_count = 1 + workers_count(j->workers);
    }
    if (j->thread_count == 1 && !j->is_test)
        return false;
    for (unsigned i = 0; i < j->thread_count; i++)
        if (!prepare_thread(e, &j->threads[i]))
            return false;
    return true;
}

/* A test begins jobs in a random order, on which nothing may depend. */
static void choose_order(struct engine *e)
{
    struct jobs *j = e->jobs;
    uint64_t random = e->run.key.multiply;

    for (size_t i = 0; i < j->now->job_count; i++) {
        size_t other = i;

        if (j->is_test) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            other = (size_t)((random >> 33) % (i + 1));
        }
        j->order[i] = j->order[other];
        j->order[other] = i;
    }
}

static void do_batch(struct engine *e)
{
    struct jobs *j = e->jobs;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    e->run.memory.lock = &lock;
    j->next_job = 0;
    if (j->workers)
        workers_begin(j->workers, do_jobs, j);
    j->later->job_count = 0;
    if (j->workers && j->now->next_end)
        gather_jobs(e, j->later, j->now->next, j->now->next_end);
    do_jobs(j, 0);
    if (j->workers)
        workers_wait(j->workers);
    e->run.memory.lock = NULL;
    pthread_mutex_destroy(&lock);
    id_set_end_sharing(&e->heap.objects);
}

/* After a batch that found little to be plain, or had little to do, the next one begins farther on. */
static void choose_due(struct engine *e)
{
    struct jobs *j = e->jobs;
    uint64_t size = 0, checked = 0;

    for (size_t i = 0; i < j->now->job_count; i++) {
        const struct job *job = &j->now->jobs[i];

        size += job->size;
        checked += job->checked_until - j->now->pieces[job->first_piece].at;
    }
    if (j->is_test || checked >= size / 2)
        j->distance = j->job_size;
    else if (j->distance < 256 * j->job_size)
        j->distance *= 2;
    j->due = j->is_test || checked >= size / 2 ? 0 : j->now->next + j->distance;
}

static bool may_begin(const struct engine *e)
{
    return e->in.offset >= e->jobs->due && !e->heap.wrong.held && !e->cut.active && !e->run.memory.exhausted &&
           !e->heap.end_lost;
}

/* The batch that was gathered ahead, if the coordinator has reached its beginning; else a new one. */
static void choose_batch(struct engine *e)
{
    struct jobs *j = e->jobs;
    struct batch *later = j->later;

    if (later->job_count && later->begin == e->in.offset && later->record_end == e->position.heap_end) {
        j->later = j->now;
        j->now = later;
    } else {
        gather_jobs(e, j->now, e->in.offset, e->position.heap_end);
    }
}

static bool begin_batch(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!may_begin(e))
        return false;
    choose_batch(e);
    j->next_piece = 0;
    if (j->now->job_count < (j->is_test ? 1 : 2) || !prepare_threads(e) || !id_set_share(&e->heap.objects)) {
        j->now->piece_count = 0;
        j->due = j->now->next > e->in.offset ? j->now->next : e->in.offset + j->job_size;
        return false;
    }
    resolve_layouts(e);
    choose_order(e);
    do_batch(e);
    choose_due(e);
    for (size_t i = 0; i < j->now->job_count; i++)
        if (j->now->jobs[i].defined_twice)
            jobs_fail(e);
    return true;
}

/* ---- Taking over ---- */

static void add_met_classes(struct engine *e, const struct job *job)
{
    for (size_t i = 0; i < job->met_count; i++) {
        const struct met_class *met = &job->met[i];
        struct layout *l = classes_layout(&e->file.classes, met->layout);
        uint64_t class_id = classes_id(&e->file.classes, met->layout);

        if (!met->is_array) {
            l->has_instances = true;
            continue;
        }
        if (!l->is_array_class) {
            l->is_array_class = true;
            l->is_object_array = is_object_array(&e->file, class_id);
        }
        pending_uses_add(&e->file.class_uses, class_id, CLASS_IS_ARRAY, met->at);
    }
}

static void take_over_job(struct engine *e, const struct job *job)
{
    struct stretch *stretch = chunks_add(&e->heap.stretches.list);

    if (stretch)
        *stretch = job->stretch;
    add_counts(&e->ck, &job->counts);
    add_met_classes(e, job);
}

static void take_over_piece(struct engine *e, const struct piece *piece)
{
    struct jobs *j = e->jobs;
    const struct job *job = &j->now->jobs[piece->job];
    size_t number = (size_t)(piece - j->now->pieces);
    bool stopped = job->checked_until >= piece->at && job->checked_until < piece->end;

    if (number == job->first_piece)
        take_over_job(e, job);
    if (!stopped || job->checked_until > piece->at)
        report_wrong_instance(&e->ck);
    input_go_on_at(&e->in, stopped ? job->checked_until : piece->end);
    j->next_piece = stopped ? job->first_piece + job->piece_count : number + 1;
    if (stopped && j->due <= e->in.offset)
        j->due = e->in.offset + 1;        /* the coordinator first checks what is not plain */
    e->heap.stretches.due = e->in.offset; /* what the coordinator checks after that is not in the job's stretch */
    show_progress(e);
}

bool jobs_take_over(struct engine *e)
{
    struct jobs *j = e->jobs;
    const struct piece *piece;

    if (!j || j->failed || (!is_active(j) && !begin_batch(e)))
        return false;
    piece = &j->now->pieces[j->next_piece];
    if (e->in.offset < piece->at)
        return false;
    if (e->in.offset > piece->at || e->position.heap_end != piece->record_end || j->failed)
        jobs_fail(e);
    else
        take_over_piece(e, piece);
    return true;
}

uint64_t jobs_border(const struct engine *e)
{
    const struct jobs *j = e->jobs;

    return j && is_active(j) ? j->now->pieces[j->next_piece].at : UINT64_MAX;
}

const uint8_t *jobs_header(const struct engine *e)
{
    const struct jobs *j = e->jobs;
    const struct piece *piece = j && is_active(j) ? &j->now->pieces[j->next_piece] : NULL;

    return piece && piece->begins_record && piece->at - RECORD_HEADER_SIZE == e->in.offset ? piece->header : NULL;
}

/* ---- The roll-back ---- */

void jobs_begin_heap_dump(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!j)
        return;
    j->begin = e->position.record_at;
    j->distance = j->job_size;
    j->due = j->failed_dump == e->position.record_at ? UINT64_MAX : j->is_test ? 0 : e->position.record_at + j->job_size;
    findings_checkpoint(&e->run.findings, &j->findings);
    j->sum = e->run.sum;
    j->signs = e->file.signs;
    j->framing = e->framing;
    j->lost = e->file.lost;
    j->unknown = e->file.unknown;
    j->wanted = e->run.findings.wanted.count;
}

bool jobs_bar(struct engine *e)
{
    if (jobs_are_ahead(e)) {
        jobs_fail(e);
        return false;
    }
    if (e->jobs)
        e->jobs->due = UINT64_MAX;
    return true;
}

bool jobs_are_ahead(const struct engine *e)
{
    return e->jobs && (is_active(e->jobs) || e->jobs->failed);
}

void jobs_fail(struct engine *e)
{
    e->jobs->failed = true;
    e->framing.stopped = true;
}

bool jobs_roll_back(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!jobs_are_ahead(e) || e->run.memory.exhausted || e->in.error)
        return false;
    j->failed = false;
    j->now->piece_count = j->later->job_count = j->next_piece = 0;
    j->failed_dump = j->begin;
    drop_crossing(e);
    drop_heap_dump(e);
    findings_roll_back(&e->run.findings, &j->findings);
    chunks_shrink(&e->run.findings.wanted, j->wanted);
    jumps_shrink(&e->file.jumps, j->begin);
    e->run.sum = j->sum;
    e->file.signs = j->signs;
    e->framing = j->framing;
    e->file.lost = j->lost;
    e->file.unknown = j->unknown;
    return input_seek(&e->in, j->begin);
}

/* ---- The beginning and the end ---- */

static unsigned count_threads(const struct engine *e)
{
    unsigned threads = e->run.options->threads;

    return threads < 1 ? 1 : threads > THREADS_MOST ? THREADS_MOST : threads;
}

void jobs_init(struct engine *e)
{
    const struct hprof_testing *testing = e->run.options->testing;
    uint64_t job_size = testing && testing->job ? testing->job : JOB_SIZE;
    unsigned threads = count_threads(e);
    bool is_test = job_size != JOB_SIZE;
    struct jobs *j;

    if ((threads == 1 && !is_test) || !input_can_reread(&e->in) || e->in.compressed ||
        input_file_size(&e->in) < (is_test ? 1 : 4 * job_size))
        return;
    j = memory_try(&e->run.memory, sizeof *j);
    if (!j)
        return;
    *j = (struct jobs){.thread_count = threads,
                       .job_size = job_size,
                       .is_test = is_test,
                       .buffer_size = is_test ? (size_t)job_size + BUFFER_TEST : BUFFER_SIZE,
                       .read_size = is_test ? (size_t)job_size / 2 + 1 : READ_SIZE,
                       .failed_dump = UINT64_MAX,
                       .due = UINT64_MAX,
                       .job_capacity = (size_t)threads * JOBS_A_THREAD};
    e->jobs = j;
    j->now = &j->batches[0];
    j->later = &j->batches[1];
    j->threads = memory_try(&e->run.memory, threads * sizeof *j->threads);
    for (struct batch *b = j->batches; b < j->batches + 2; b++) {
        b->jobs = memory_try(&e->run.memory, j->job_capacity * sizeof *b->jobs);
        b->pieces = memory_try(&e->run.memory, j->job_capacity * PIECES_MOST * sizeof *b->pieces);
    }
    j->order = memory_try(&e->run.memory, j->job_capacity * sizeof *j->order);
    j->ahead = memory_try(&e->run.memory, AHEAD_SIZE);
    if (j->threads)
        memset(j->threads, 0, threads * sizeof *j->threads);
    if (!j->threads || !j->now->jobs || !j->now->pieces || !j->later->jobs || !j->later->pieces || !j->order || !j->ahead)
        jobs_clear(e);
}

void jobs_clear(struct engine *e)
{
    struct jobs *j = e->jobs;
    struct memory *m = &e->run.memory;
    unsigned threads = count_threads(e);

    if (!j)
        return;
    workers_stop(j->workers, m);
    for (unsigned i = 0; j->threads && i < threads; i++) {
        hot_classes_clear(&j->threads[i].segment.hot, m);
        memory_put(m, j->threads[i].buffer, j->buffer_size + READ_BEYOND);
    }
    memory_put(m, j->threads, threads * sizeof *j->threads);
    memory_put(m, j->order, j->job_capacity * sizeof *j->order);
    for (struct batch *b = j->batches; b < j->batches + 2; b++) {
        memory_put(m, b->jobs, j->job_capacity * sizeof *b->jobs);
        memory_put(m, b->pieces, j->job_capacity * PIECES_MOST * sizeof *b->pieces);
    }
    memory_put(m, j->ahead, AHEAD_SIZE);
    memory_put(m, j, sizeof *j);
    e->jobs = NULL;
}
