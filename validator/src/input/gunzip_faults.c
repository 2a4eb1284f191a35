/* See gunzip_stream.h: faults are noted when they are met, and reported when bytes after them are wanted. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "input/gunzip_stream.h"

void gunzip_fault(struct gunzip *g, enum gzip_fault fault, uint64_t offset, const char *expected, const char *found, ...)
{
    va_list arguments;

    if (g->now.member > g->reported) {
        g->pending = (struct gzip_finding){.fault = fault,
                                           .member = g->now.member,
                                           .offset = offset,
                                           .start = g->now.member_output,
                                           .end = g->now.output,
                                           .data = g->now.data_offset,
                                           .data_ended = g->now.part == TRAILER};
        snprintf(g->pending.expected, sizeof g->pending.expected, "%s", expected);
        va_start(arguments, found);
        vsnprintf(g->pending.found, sizeof g->pending.found, found, arguments);
        va_end(arguments);
    }
    if (fault == GZIP_CHECKSUM || fault == GZIP_SIZE)
        return;
    g->now.part = NOTHING;
    g->ended_by_fault = fault != GZIP_ZEROS && fault != GZIP_NESTED;
}

void gunzip_report_pending(struct gunzip *g)
{
    struct gzip_finding finding = g->pending;

    g->pending.fault = GZIP_VALID;
    g->reported = finding.member;
    if (g->listening.on_fault)
        g->listening.on_fault(g->listening.context, &finding);
}

void gunzip_truncated(struct gunzip *g, const char *within)
{
    const bool is_unwritten = g->now.part != HEADER && g->zeros_from < g->source->size; /* a header is read to the end */
    uint64_t end = is_unwritten ? g->zeros_from : g->now.offset + (uint64_t)(g->end - g->at);

    if (g->source->error) {
        g->now.part = NOTHING;
        return;
    }
    gunzip_fault(g, GZIP_TRUNCATED, g->now.member_offset, "a complete member", "%s 0x%" PRIx64 "%s, within the %s",
                 is_unwritten ? "zeros from" : "the end of the file at", end, is_unwritten ? " to the end of the file" : "",
                 within);
    g->pending.is_unwritten = is_unwritten;
}

bool gunzip_is_nested(const struct gunzip *g)
{
    return g->now.output >= 2 && g->output_start[0] == 0x1f && g->output_start[1] == 0x8b;
}
