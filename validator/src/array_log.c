/* See array_log.h. */
#include "array_log.h"

#include <string.h>

static uint64_t stretch_of(uint64_t offset)
{
    return offset >> 20;
}

void array_log_init(struct array_log *log, struct memory *memory)
{
    *log = (struct array_log){0};
    bytelog_init(&log->offsets, memory);
    bytelog_init(&log->filters, memory);
}

void array_log_clear(struct array_log *log)
{
    bytelog_clear(&log->offsets);
    bytelog_clear(&log->filters);
}

void array_log_note(struct array_log *log, uint64_t offset)
{
    if (log->offsets.size && stretch_of(offset) != stretch_of(log->last_offset)) {
        bytelog_append(&log->filters, &log->last, sizeof log->last);
        memset(&log->last, 0, sizeof log->last);
    }
    bytelog_append_number(&log->offsets, offset - log->last_offset);
    log->last_offset = offset;
}

struct array_reader array_log_read(const struct array_log *log, const struct page_filter *sought)
{
    return (struct array_reader){.log = log, .sought = sought};
}

/* Of the stretch that begins. */
static bool read_filter(struct array_reader *r)
{
    struct page_filter filter = r->log->last;

    if (r->next_filter < r->log->filters.size) {
        bytelog_read(&r->log->filters, r->next_filter, &filter, sizeof filter);
        r->next_filter += sizeof filter;
    }
    return page_filters_meet(&filter, r->sought);
}

bool array_reader_next(struct array_reader *r)
{
    while (r->next_offset < r->log->offsets.size) {
        bool first = !r->next_offset;
        uint64_t before = r->offset;

        r->offset += bytelog_read_number(&r->log->offsets, &r->next_offset);
        if (first || stretch_of(r->offset) != stretch_of(before))
            r->met = read_filter(r);
        if (r->met)
            return true;
    }
    return false;
}
