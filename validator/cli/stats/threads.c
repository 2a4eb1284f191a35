/* Threads, stack traces and frames: those of records, and the thread objects that are roots. */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "stats.h"

enum {
    TAG_FRAME = 0x04,
    TAG_TRACE = 0x05,
    TAG_START_THREAD = 0x0a,
    TAG_END_THREAD = 0x0b,
    SUB_ROOT_THREAD_OBJECT = 0x08,
    LINE_COMPILED = -2,
    LINE_NATIVE = -3
};

/* ---- While the dump is read -------------------------------------------------------------------------------------- */

static void see_frame(struct stats *stats, const struct hprof_item *item)
{
    struct frame_stats *frame = list_add(stats, &stats->frames, sizeof *frame);

    if (frame != NULL)
        *frame =
            (struct frame_stats){item->id, item->name_id, item->signature_id, item->source_id, item->class_serial, item->line};
}

static void see_trace(struct stats *stats, struct hprof_reader *reader, const struct hprof_item *item)
{
    struct trace_stats *trace = list_add(stats, &stats->traces, sizeof *trace);
    uint64_t id;

    if (trace == NULL)
        return;
    *trace = (struct trace_stats){.serial = item->trace_serial, .first = stats->frame_ids.count};
    while (hprof_trace_frame(reader, trace->frames, &id) == 1) {
        uint64_t *frame = list_add(stats, &stats->frame_ids, sizeof *frame);

        if (frame == NULL)
            return;
        *frame = id;
        trace->frames++;
    }
}

static void see_thread(struct stats *stats, const struct hprof_item *item)
{
    struct thread_stats *thread = list_add(stats, &stats->threads, sizeof *thread);

    if (thread != NULL)
        *thread = (struct thread_stats){.serial = item->thread_serial,
                                        .trace_serial = item->trace_serial,
                                        .object_id = item->id,
                                        .name_id = item->name_id,
                                        .is_root = item->kind == HPROF_ITEM_SUBRECORD,
                                        .has_ended = item->kind == HPROF_ITEM_RECORD && item->tag == TAG_END_THREAD};
}

void stats_see_thread(struct stats *stats, struct hprof_reader *reader, const struct hprof_item *item)
{
    if (item->kind == HPROF_ITEM_SUBRECORD) {
        if (item->tag == SUB_ROOT_THREAD_OBJECT)
            see_thread(stats, item);
        else
            names_see_object(stats, item);
    } else if (item->kind == HPROF_ITEM_RECORD) {
        if (item->tag == TAG_FRAME)
            see_frame(stats, item);
        else if (item->tag == TAG_TRACE)
            see_trace(stats, reader, item);
        else if (item->tag == TAG_START_THREAD || item->tag == TAG_END_THREAD)
            see_thread(stats, item);
    }
}

/* ---- Afterwards -------------------------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_frames(const void *a, const void *b)
{
    return compare(((const struct frame_stats *)a)->id, ((const struct frame_stats *)b)->id);
}

/* Of traces with the same serial number, the first is used. */
static int compare_traces(const void *a, const void *b)
{
    const struct trace_stats *one = a, *other = b;

    return one->serial != other->serial ? compare(one->serial, other->serial) : compare(one->first, other->first);
}

static int compare_threads(const void *a, const void *b)
{
    const struct thread_stats *one = a, *other = b;

    return one->serial != other->serial ? compare(one->serial, other->serial) : compare(one->order, other->order);
}

static int compare_serials(const void *a, const void *b)
{
    const struct named_class *one = a, *other = b;

    return one->serial != other->serial ? compare(one->serial, other->serial) : compare(one->number, other->number);
}

/* A thread is described by its START_THREAD, its END_THREAD, and the root in each heap dump: the last root has its stack. */
static void merge_threads(struct stats *stats)
{
    struct thread_stats *threads = stats->threads.at;
    size_t kept = 0;

    for (size_t i = 0; i < stats->threads.count; i++)
        threads[i].order = i;
    list_sort(stats, &stats->threads, sizeof *threads, compare_threads);
    for (size_t i = 0; i < stats->threads.count; i++) {
        struct thread_stats *last = kept > 0 ? &threads[kept - 1] : NULL;

        if (last == NULL || last->serial != threads[i].serial) {
            threads[kept++] = threads[i];
            continue;
        }
        last->has_ended |= threads[i].has_ended;
        if (threads[i].name_id != 0)
            last->name_id = threads[i].name_id;
        if (threads[i].object_id != 0)
            last->object_id = threads[i].object_id;
        if (threads[i].is_root) {
            last->is_root = true;
            last->trace_serial = threads[i].trace_serial;
        }
    }
    stats->threads.count = kept;
}

static struct trace_stats *trace_of(const struct stats *stats, const struct thread_stats *thread)
{
    struct trace_stats *traces = stats->traces.at;
    size_t low = 0, high = stats->traces.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (traces[middle].serial < thread->trace_serial)
            low = middle + 1;
        else
            high = middle;
    }
    return thread->trace_serial != 0 && low < stats->traces.count && traces[low].serial == thread->trace_serial ? &traces[low]
                                                                                                                : NULL;
}

const struct trace_stats *stats_trace(const struct stats *stats, const struct thread_stats *thread)
{
    return trace_of(stats, thread);
}

/* Backwards, so that the first one stays. */
static void give_traces_to_threads(struct stats *stats)
{
    for (size_t i = stats->threads.count; i-- > 0;) {
        struct trace_stats *trace = trace_of(stats, (const struct thread_stats *)stats->threads.at + i);

        if (trace != NULL)
            trace->thread = i;
    }
}

/* The length of at most so many bytes of UTF-8, without a part of a character at the end. */
static size_t whole_characters(const char *text, size_t size, size_t most)
{
    if (size <= most)
        return size;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

enum hprof_status stats_name_threads(struct stats *stats, struct hprof_reader *reader)
{
    struct thread_stats *threads;
    const char *text;
    size_t size;

    list_sort(stats, &stats->frames, sizeof(struct frame_stats), compare_frames);
    list_sort(stats, &stats->traces, sizeof(struct trace_stats), compare_traces);
    list_sort(stats, &stats->serials, sizeof(struct named_class), compare_serials);
    merge_threads(stats);
    give_traces_to_threads(stats);
    threads = stats->threads.at;
    for (size_t i = 0; i < stats->threads.count; i++) {
        if (threads[i].name_id != 0 && hprof_string(reader, threads[i].name_id, &text, &size) == 1)
            threads[i].name = keep_text(stats, &stats->texts, text, whole_characters(text, size, THREAD_NAME_MOST));
    }
    return stats->header.can_seek && !stats->out_of_memory ? names_find(stats, reader) : HPROF_VALID;
}

/* ---- Frames as text ---------------------------------------------------------------------------------------------- */

static const char *class_name(const struct stats *stats, struct hprof_reader *reader, uint32_t serial,
                              struct hprof_class *class)
{
    const struct named_class *serials = stats->serials.at;
    size_t low = 0, high = stats->serials.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (serials[middle].serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    hprof_class_init(class);
    if (low == stats->serials.count || serials[low].serial != serial ||
        hprof_class_at(reader, serials[low].number, class) != 1 || class->name[0] == '\0')
        return "unknown class";
    return class->name;
}

/* A string of the dump, shortened; `otherwise` if it is not known. */
static const char *string_or(struct hprof_reader *reader, uint64_t id, const char *otherwise, char text[256])
{
    const char *bytes;
    size_t size;

    if (id == 0 || hprof_string(reader, id, &bytes, &size) != 1)
        return otherwise;
    size = whole_characters(bytes, size, 255);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f ? '?' : bytes[i]);
    text[size] = '\0';
    return text;
}

const char *stats_frame(const struct stats *stats, struct hprof_reader *reader, const struct trace_stats *trace, uint32_t index,
                        char text[FRAME_SIZE])
{
    const struct frame_stats key = {.id = ((const uint64_t *)stats->frame_ids.at)[trace->first + index]};
    const struct frame_stats *frame =
        stats->frames.count == 0 ? NULL : bsearch(&key, stats->frames.at, stats->frames.count, sizeof key, compare_frames);
    char method[256], source[256], line[32] = "";
    struct hprof_class class;

    if (frame == NULL) {
        snprintf(text, FRAME_SIZE, "a frame that is not defined");
        return text;
    }
    const char *where = string_or(reader, frame->source_id, "Unknown Source", source);
    if (frame->line > 0)
        snprintf(line, sizeof line, ":%d", frame->line);
    else if (frame->line == LINE_NATIVE)
        where = "Native Method";
    else if (frame->line == LINE_COMPILED)
        snprintf(line, sizeof line, ", compiled");
    snprintf(text, FRAME_SIZE, "%s.%s(%s%s)", class_name(stats, reader, frame->class_serial, &class),
             string_or(reader, frame->method_id, "unknown", method), where, line);
    return text;
}
