/* See text.h. Calls and their times, from the record of samples. */
#include <inttypes.h>
#include <stdlib.h>

#include "text_parts.h"

/* The samples of a row, with those of the spins if it is the first. */
static bool read_row(struct cursor *c, uint32_t row, uint32_t spins, struct SAMPLE *sample, uint64_t *intervals,
                     uint64_t *calls)
{
    if (!read_SAMPLE(c, ID_SIZE, sample))
        return false;
    *intervals = sample->samples;
    *calls = sample->samples;
    if (row == 0) {
        *intervals += (uint64_t)spins * SPIN_INTERVALS;
        *calls += spins;
    }
    return true;
}

void text_times(struct text *t, const uint8_t *samples, uint32_t size, uint32_t spins)
{
    struct cursor c = {.at = samples, .end = samples + size};
    struct CPU_SAMPLES head;
    struct SAMPLE sample;
    uint64_t total = 0, counted = 0, intervals, calls;
    struct cursor rows;

    if (!read_CPU_SAMPLES(&c, ID_SIZE, &head))
        return;
    rows = c;
    for (uint32_t i = 0; i < head.traces && read_row(&rows, i, spins, &sample, &intervals, &calls); i++)
        total += intervals;
    write_format(t, "CPU TIME (ms) BEGIN (total = %" PRIu64 ") ", total * INTERVAL);
    write_date(t);
    if (head.traces)
        write_format(t, "rank   self  accum   count trace method\n");
    for (uint32_t i = 0; i < head.traces && read_row(&c, i, spins, &sample, &intervals, &calls); i++) {
        counted += intervals;
        write_format(t, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu64 " %6" PRIu32 " ", i + 1,
                     percent((double)intervals, (double)total), percent((double)counted, (double)total), calls,
                     sample.trace_serial);
        write_method(t, first_frame(t, sample.trace_serial));
        write_format(t, "\n");
    }
    write_format(t, "CPU TIME (ms) END\n");
    flush(t);
}

/* ---- cpu=old ---- */

/* Calls of a method by another; without a caller its class serial is 0. */
struct pair {
    struct FRAME callee, caller;
    uint64_t calls, intervals;
};

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static int compare_methods(const struct FRAME *x, const struct FRAME *y)
{
    int order = compare_numbers(x->class_serial, y->class_serial);

    order = order ? order : compare_numbers(x->method, y->method);
    return order ? order : compare_numbers(x->signature, y->signature);
}

static int by_methods(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = compare_methods(&x->callee, &y->callee);

    return order ? order : compare_methods(&x->caller, &y->caller);
}

static int by_calls(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = compare_numbers(y->calls, x->calls);

    return order ? order : by_methods(a, b);
}

/* All calls on the stack took the time of the innermost one. */
static size_t add_trace(struct text *t, uint32_t trace_serial, uint64_t calls, uint64_t intervals, struct pair *pairs)
{
    struct TRACE trace;
    struct cursor frames;
    size_t count = 0;

    if (!read_trace(t, trace_serial, &trace, &frames))
        return 0;
    for (uint32_t i = 0; i < trace.frames; i++) {
        struct pair *pair = &pairs[count];

        if (!read_frame(t, get_u4(frames.at + (size_t)i * ID_SIZE), &pair->callee))
            continue;
        if (i + 1 < trace.frames)
            read_frame(t, get_u4(frames.at + (size_t)(i + 1) * ID_SIZE), &pair->caller);
        pair->calls = calls;
        pair->intervals = intervals;
        count++;
    }
    return count;
}

/* Each pair once, in the order of their calls. */
static size_t merge(struct pair *pairs, size_t count)
{
    size_t kept = 0;

    qsort(pairs, count, sizeof *pairs, by_methods);
    for (size_t i = 0; i < count; i++) {
        if (kept && by_methods(&pairs[kept - 1], &pairs[i]) == 0) {
            pairs[kept - 1].calls += pairs[i].calls;
            pairs[kept - 1].intervals += pairs[i].intervals;
        } else {
            pairs[kept++] = pairs[i];
        }
    }
    qsort(pairs, kept, sizeof *pairs, by_calls);
    return kept;
}

static void write_called(struct text *t, const struct FRAME *frame)
{
    if (!frame->class_serial) {
        write_format(t, "<unknown caller>");
        return;
    }
    write_class(t, &t->maps[SERIALS], frame->class_serial);
    write_format(t, ".");
    write_string(t, frame->method, "<Unknown Method>");
    write_string(t, frame->signature, "");
}

static size_t count_frames(const struct text *t, struct cursor c, uint32_t rows)
{
    struct SAMPLE sample;
    struct TRACE trace;
    struct cursor frames;
    size_t count = 0;

    for (uint32_t i = 0; i < rows && read_SAMPLE(&c, ID_SIZE, &sample); i++)
        if (read_trace(t, sample.trace_serial, &trace, &frames))
            count += trace.frames;
    return count;
}

void text_old_times(struct text *t, const uint8_t *samples, uint32_t size, uint32_t spins)
{
    struct cursor c = {.at = samples, .end = samples + size};
    struct CPU_SAMPLES head;
    struct SAMPLE sample;
    uint64_t intervals, calls;
    struct pair *pairs;
    size_t count = 0;

    if (!read_CPU_SAMPLES(&c, ID_SIZE, &head) || !(pairs = calloc(count_frames(t, c, head.traces) + 1, sizeof *pairs)))
        return;
    for (uint32_t i = 0; i < head.traces && read_row(&c, i, spins, &sample, &intervals, &calls); i++)
        count += add_trace(t, sample.trace_serial, calls, intervals, pairs + count);
    count = merge(pairs, count);
    write_format(t, "count callee caller time\n");
    for (size_t i = 0; i < count; i++) {
        write_format(t, "%" PRIu64 " ", pairs[i].calls);
        write_called(t, &pairs[i].callee);
        write_format(t, " ");
        write_called(t, &pairs[i].caller);
        write_format(t, " %" PRIu64 "\n", pairs[i].intervals * INTERVAL);
    }
    flush(t);
    free(pairs);
}
