/* Divides a heap dump into pieces and jobs, by the headers of its records, which are read ahead, and in a giant record by the
 * lengths of its sub-records. */
#include <string.h>

#include "engine/job.h"

/* Read at once, as parts of the most: if records are short, and if they are long. */
enum { AHEAD_SOME = 4, AHEAD_LITTLE = 64 };

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
    size_t n, most = e->run.sizes.ahead;
    const uint8_t *p = find_ahead(e->jobs, at, &n);

    if (n < RECORD_HEADER_SIZE)
        p = read_ahead(e, at, most / (distance < most / AHEAD_SOME ? AHEAD_SOME : AHEAD_LITTLE), &n);
    return n < RECORD_HEADER_SIZE ? NULL : p;
}

/* The end of the first sub-record from an offset on that ends at `wanted` or later, all of them by their lengths; before that where
 * the next one has none, or ends after `end`. */
static uint64_t find_cut(struct engine *e, uint64_t at, uint64_t wanted, uint64_t end)
{
    for (bool is_read = false; at < wanted; is_read = true) {
        size_t n;
        const uint8_t *p = is_read ? read_ahead(e, at, e->run.sizes.ahead, &n) : find_ahead(e->jobs, at, &n);
        uint64_t passed = walk_over(p, n, wanted - at, end - at, e->file.id_size, e->file.version);

        if (is_read && !passed)
            break;
        at += passed;
    }
    return at;
}

/* NULL if the batch is full. */
static struct piece *add_piece(struct jobs *j, struct batch *b, uint64_t at, uint64_t end, uint64_t record_end)
{
    struct job *job = b->job_count ? &b->jobs[b->job_count - 1] : NULL;
    struct piece *piece;

    if (!job || job->size >= j->job_size || job->piece_count == j->pieces_most) {
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

void gather_jobs(struct engine *e, struct batch *b, uint64_t at, uint64_t end)
{
    uint8_t header[RECORD_HEADER_SIZE];
    struct walk_item record;
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
        record = p ? walk_header(p) : (struct walk_item){0};
        if (record.tag != TAG_HEAP_DUMP_SEGMENT || !record.length) {
            b->next = at;
            b->next_end = 0;
            return;
        }
        memcpy(header, p, RECORD_HEADER_SIZE);
        end = at + record.size;
        at += RECORD_HEADER_SIZE;
    }
}
