/* The heap dump records of a copy. */
#include <errno.h>
#include <stdio.h>

#include "format/header.h"
#include "format/tags.h"
#include "repair/repair_copy.h"

void open_heap(struct repair *r, uint64_t end)
{
    r->heap.is_open = true;
    r->heap.end = end;
}

void close_heap(struct repair *r)
{
    uint64_t body = copy_size(r) - r->heap.start - RECORD_HEADER_SIZE;

    if (!r->heap.is_open)
        return;
    r->heap.is_open = false;
    r->heap.copied_until = copy_size(r);
    if (!body && r->heap.is_reduced) {
        copy_cut(r, r->heap.start); /* all of it was left out */
        r->heap.first = 0;
        r->heap.copied_until = UINT64_MAX;
        return;
    }
    if (body > UINT32_MAX) {
        snprintf(r->result.failure, sizeof r->result.failure, "a heap dump record of more than 4 GiB cannot state its length");
        r->error = EFBIG;
        return;
    }
    if (body != r->heap.length) {
        copy_number(r, r->heap.start + RECORD_LENGTH_AT, body);
        r->result.lengths_mended += !r->heap.is_mended;
        r->heap.is_mended = true;
        r->heap.length = body;
    }
}

void begin_heap(struct repair *r, const uint8_t header[RECORD_HEADER_SIZE])
{
    r->heap = (struct heap_record){
        .is_open = true, .start = copy_size(r), .first = get_u4(header), .length = get_u4(header + RECORD_LENGTH_AT)};
    r->is_series |= *header == TAG_HEAP_DUMP_SEGMENT;
}

void make_segment(struct repair *r)
{
    enum { DIFFERENCE = (TAG_HEAP_DUMP_SEGMENT - TAG_HEAP_DUMP) << 24 };

    r->heap.first += DIFFERENCE;
    copy_number(r, r->heap.start, r->heap.first);
    r->result.tags_mended++;
    r->is_series = true;
}

void make_series(struct repair *r)
{
    make_segment(r);
    r->is_made_series = true;
}

void put_heap_dump_end(struct repair *r)
{
    copy_put(r, (const uint8_t[RECORD_HEADER_SIZE]){TAG_HEAP_DUMP_END}, RECORD_HEADER_SIZE);
    r->result.is_ended = true;
}

void end_made_series(struct repair *r)
{
    if (r->is_series && r->is_made_series)
        put_heap_dump_end(r);
    r->is_series &= !r->is_made_series;
    r->is_made_series = false;
}
