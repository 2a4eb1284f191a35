/* A giant heap dump record is cut every megabyte, at any byte. The thread with a part guesses where its first sub-record is, and
 * passes sub-records by their lengths up to the first one of the next part. Nothing is marked before the part before it is known
 * to end where this one begins; if the guess was wrong, because an array holds copies of sub-records, lengths are followed once
 * more. */
#include "engine/job.h"
#include "format/subrecord.h"

enum {
    GUESS_IN = 64 << 10, /* bytes */
    LONGEST_HEAD = 1 + sizeof(struct INSTANCE_DUMP_in8)
};

/* The length of an instance of a known class must be the right one. */
static bool may_be_object(const struct job_thread *t, const uint8_t *p, size_t n, struct measure *m)
{
    const struct classes *classes = &t->e->file.classes;
    unsigned id = classes->id_size;
    uint32_t index;

    if (measure_object(p, n, id, m) != MEASURED || !get_id(p + 1, id))
        return false;
    if (*p != SUB_INSTANCE_DUMP)
        return true;
    index = classes_find_layout(classes, get_id(p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id), id));
    return index == LAYOUT_NONE || classes_layout(classes, index)->state != LAYOUT_VALID ||
           m->size == 1 + SIZE_OF(INSTANCE_DUMP, id) + classes_layout(classes, index)->total;
}

/* Where in the n bytes at p, before `most`, objects are in a row; n if nowhere. `left` bytes of the record are there. */
static size_t guess(const struct job_thread *t, const uint8_t *p, size_t n, size_t most, uint64_t left)
{
    const unsigned wanted = t->e->run.sizes.guess;
    size_t tries = 2 * most; /* however many begin in the middle of others */

    for (size_t i = 0; i < most; i++) {
        uint64_t at = i;
        unsigned row = 0;
        struct measure m;

        for (; row < wanted && at < n && may_be_object(t, p + at, n - (size_t)at, &m) && m.size <= left - at; row++) {
            if (!tries--)
                return n;
            at += m.size;
        }
        if (row == wanted || (row > wanted / 4 && at + LONGEST_HEAD > n))
            return i;
    }
    return n;
}

static uint64_t guess_start(struct job_thread *t, const struct piece *piece, uint64_t limit)
{
    size_t n, found;

    if (!read_more(t, piece->at, limit))
        return piece->end;
    n = t->size;
    found = guess(t, t->buffer, n, n < GUESS_IN ? n : GUESS_IN, limit - piece->at);
    return found < n ? piece->at + found : piece->end;
}

/* Passes sub-records from an offset on, up to the first that begins at the next cut or after it; or less, where lengths do not lead
 * on. */
static uint64_t follow_lengths(struct job_thread *t, uint64_t from, uint64_t cut, uint64_t limit)
{
    uint64_t at = from;

    while (at < cut) {
        uint64_t passed = 0, there = t->at + t->size;

        if (at >= t->at && at < there)
            passed = walk_over(t->buffer + (at - t->at), (size_t)(there - at), cut - at, limit - at, t->segment.id_size,
                               t->e->file.version);
        at += passed;
        if (!passed && !read_more(t, from, limit))
            break;
    }
    return at;
}

bool frame_part(struct job_thread *t)
{
    struct job_queue *q = &t->e->jobs->queue;
    struct piece *piece = &t->job->pieces[0];
    const uint64_t size = input_file_size(&t->e->in), cut = piece->end;
    const uint64_t limit = piece->record_end < size ? piece->record_end : size;
    uint64_t from = piece->at, guessed = cut, stop = cut;

    if (piece->is_within) {
        if (!queue_has_stop(q, t->number - 1))
            guessed = guess_start(t, piece, limit);
        if (guessed < cut)
            stop = follow_lengths(t, guessed, cut, limit);
        from = queue_await_stop(q, t->number - 1);
    }
    if (from >= cut)
        stop = from;
    else if (from != guessed)
        stop = follow_lengths(t, from, cut, limit);
    queue_give_stop(q, t->number, stop < cut ? UNKNOWN_STOP : stop);
    piece->at = t->job->stretch.at = from;
    piece->end = stop;
    t->job->piece_count = stop > from;
    return stop > from;
}
