/* See repair_copy.h. Records outside of heap dumps. */
#include "repair/repair_copy.h"

#include <string.h>

#include "engine/recovery.h"
#include "format/header.h"

bool is_record(const struct repair *r, uint8_t tag)
{
    switch (tag) {
#define RECORD(name, tag, since, clause, layout) \
    case tag: \
        return r->version >= since;
#include "format/records.def"
#undef RECORD
    default:
        return false;
    }
}

bool length_by_kind(struct repair *r, uint64_t *length)
{
    enum { FIXED = 64 }; /* bytes: no fixed part is as long */
    const size_t want = RECORD_HEADER_SIZE + FIXED, there = input_need(&r->in, want), size = there < want ? there : want;
    uint64_t least;

    if (size < RECORD_HEADER_SIZE)
        return false;
    *length = right_length(*r->in.at,
                           &(struct sight){.at = r->in.at + RECORD_HEADER_SIZE,
                                           .size = size - RECORD_HEADER_SIZE,
                                           .ended = true,
                                           .id_size = r->id_size,
                                           .version = r->version},
                           &least);
    return *length != LENGTH_ANY;
}

bool is_header(struct repair *r)
{
    enum version version;
    unsigned id_size;

    return input_need(&r->in, HEADER_SIZE) >= HEADER_SIZE && parse_header(r->in.at, &version, &id_size);
}

/* Of a record of `size` bytes so many are there. What the end of the file truncates after that of the dump is none: something was
 * appended. */
static void leave_out_record(struct repair *r, uint8_t tag, uint64_t size, uint64_t there)
{
    bool is_after_end = r->end_at != UINT64_MAX && copy_size(r) == r->end_at + RECORD_HEADER_SIZE;
    bool is_one = is_record(r, tag) && (there == size || !is_after_end);

    leave_out(r, is_one ? LEFT_RECORD : LEFT_BYTES, is_one ? tag : 0, there);
}

void drop_record(struct repair *r, uint8_t tag, uint64_t size)
{
    leave_out_record(r, tag, size, input_skip(&r->in, size));
}

/* Copies a record with a body of `length` bytes, which replaces the stated length, and skips the rest of its `span` bytes. */
static void copy_record(struct repair *r, uint64_t stated, uint64_t length, uint64_t span)
{
    uint64_t start = copy_size(r), size = RECORD_HEADER_SIZE + length, there, rest;
    size_t trace = trace_of_record(r);
    bool is_cleared = has_missing_trace(r, trace);
    uint8_t tag = *r->in.at;

    if (r->takes_names && !damage_is_at(r, r->in.offset, size)) {
        size_t want = size < NAMES_RECORD_BYTES ? (size_t)size : NAMES_RECORD_BYTES, have = input_need(&r->in, want);

        names_add_record(&r->names, (struct cursor){r->in.at, r->in.at + (have < want ? have : want)});
    }
    threads_note_record(r);
    there = copy_input(r, size);
    if (there < size) {
        copy_cut(r, start);
        leave_out_record(r, tag, size, there);
        return;
    }
    rest = span > size ? input_skip(&r->in, span - size) : 0;
    if (length != stated && rest && rest < span - size) { /* neither a record follows, nor the end: it may be none */
        copy_cut(r, start);
        leave_out(r, LEFT_BYTES, 0, size + rest);
        return;
    }
    if (is_cleared)
        clear_trace(r, start, trace);
    if (length != stated) {
        copy_number(r, start + RECORD_LENGTH_AT, length);
        r->result.lengths_mended++;
    }
    r->last = (struct copied){.body = start + RECORD_HEADER_SIZE, .end = r->in.offset};
    if (rest)
        leave_out(r, LEFT_BYTES, 0, rest);
}

/* Whether the next record uses what an earlier copy lacked. That copy had valid lengths. */
static bool uses_missing(struct repair *r, uint64_t span)
{
    return !r->is_first_pass && *r->in.at != TAG_UTF8 && span <= LONGEST_SEEN && input_need(&r->in, (size_t)span) >= span &&
           missing_in_record(r, (struct cursor){r->in.at, r->in.at + span});
}

void repair_record(struct repair *r, uint64_t span)
{
    uint8_t tag = *r->in.at;
    uint64_t stated = get_u4(r->in.at + RECORD_LENGTH_AT), own = stated;
    bool is_known = is_record(r, tag), has_own = is_known && length_by_kind(r, &own);
    bool is_whole = tag == TAG_UTF8 ? stated >= r->id_size : !has_own || RECORD_HEADER_SIZE + own <= span;

    if (!is_known || !is_whole || uses_missing(r, span) || unknown_is_in_next(r, RECORD_HEADER_SIZE + own) ||
        (has_missing_trace(r, trace_of_record(r)) ? is_unwanted_without_trace(r, span, trace_of_record(r))
                                                  : is_unwanted(r, span)))
        drop_record(r, tag, span);
    else
        copy_record(r, stated, has_own ? own : stated, span);
}
