/* See fault.h. The row that acts, and the numbers that its fault has for itself. */
#include "faults/rows.h"

uint64_t fresh_id(const struct faults *v, enum fresh_id which)
{
    return v->ids.free[(v->present->base + v->turn) * FRESH_IDS + which];
}

uint32_t fresh_serial(const struct faults *v, enum fresh_serial which)
{
    return (uint32_t)v->serials.free[(v->present->base + v->turn) * FRESH_SERIALS + which];
}

enum rule rule_at_work(const struct faults *v)
{
    return v->present->row->rule;
}

const char *variant_at_work(const struct faults *v)
{
    return v->present->row->variant;
}

uint64_t chosen_place(const struct faults *v)
{
    return v->present->first;
}

bool is_chosen_place(struct faults *v)
{
    return v->present->at++ == v->present->first;
}
