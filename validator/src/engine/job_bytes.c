/* The bytes of a job, in the buffer of a thread. */
#include <string.h>

#include "engine/job.h"

bool read_more(struct job_thread *t, uint64_t from, uint64_t end)
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
    got = source_read_at(&j->source, next, t->buffer + rest, room);
    t->size += got;
    return got > 0;
}
