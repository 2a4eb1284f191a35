/* The sub-record at the start of the window. */
#include "checks/checker.h"

enum measured measure_next(struct checker *ck, uint64_t left, struct measure *m, bool *ended)
{
    size_t wanted = HEAD_SIZE;

    for (;;) {
        size_t n = look_at(ck->in, wanted, left);
        enum measured result = measure_subrecord(ck->in->at, n, ck->file->id_size, ck->file->version, m);

        *ended = n < wanted && n < left;
        if (result != MEASURE_MORE || n == left || *ended)
            return result;
        wanted *= 2;
    }
}
