/* --stats as text, on one screen; --threads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "printable.h"
#include "stats.h"
#include "wrap.h"

enum { CLASSES_SHOWN = 8, THREADS_SHOWN = 8, HEAP_DUMPS_SHOWN = 8, DAMAGE_SHOWN = 5, NUMBER_WIDTH = 14, BYTES_WIDTH = 17 };

struct row {
    const char *name;
    struct tally_of_bytes tally;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *one = a, *other = b;

    if (one->tally.bytes != other->tally.bytes)
        return one->tally.bytes < other->tally.bytes ? 1 : -1;
    return strcmp(one->name, other->name);
}

static void print_row(FILE *out, const char *name, uint64_t number, uint64_t bytes, uint64_t all)
{
    char one[NUMBER_SIZE], other[NUMBER_SIZE];

    fprintf(out, "  %*s %*s  %5.1f %%  ", NUMBER_WIDTH, format_exact(one, number), BYTES_WIDTH, format_exact(other, bytes),
            all == 0 ? 0.0 : 100.0 * (double)bytes / (double)all);
    print_safely(out, name);
    putc('\n', out);
}

static void print_head(FILE *out, const char *title, const char *bytes)
{
    fprintf(out, "\n%s\n  %*s %*s\n", title, NUMBER_WIDTH, "number", BYTES_WIDTH, bytes);
}

static bool is_root(const char *name)
{
    return strncmp(name, "ROOT_", 5) == 0;
}

/* The kinds of records and sub-records, the most bytes first; all roots are one row. */
static void print_kinds(const struct stats *stats, FILE *out)
{
    struct row rows[512];
    struct row roots = {"roots", {0, 0}}, unknown = {"undefined records", {0, 0}};
    size_t count = 0;

    for (unsigned tag = 0; tag < 256; tag++) {
        const char *record = hprof_record_name((uint8_t)tag), *subrecord = hprof_subrecord_name((uint8_t)tag);

        if (record == NULL) {
            unknown.tally.number += stats->records[tag].number;
            unknown.tally.bytes += stats->records[tag].bytes;
        } else {
            rows[count++] = (struct row){record, stats->records[tag]};
        }
        if (subrecord != NULL && is_root(subrecord)) {
            roots.tally.number += stats->subrecords[tag].number;
            roots.tally.bytes += stats->subrecords[tag].bytes;
        } else if (subrecord != NULL) {
            rows[count++] = (struct row){subrecord, stats->subrecords[tag]};
        }
    }
    rows[count++] = roots;
    rows[count++] = unknown;
    rows[count++] = (struct row){"damage", stats->damage};
    qsort(rows, count, sizeof *rows, compare_rows);
    print_head(out, "Kinds of records and sub-records", "bytes");
    for (size_t i = 0; i < count; i++)
        if (rows[i].tally.number > 0)
            print_row(out, rows[i].name, rows[i].tally.number, rows[i].tally.bytes, stats->summary.bytes);
}

static void print_classes(const struct stats *stats, FILE *out, const struct class_stats *const top[], size_t count,
                          const char *title)
{
    const struct class_stats *classes = stats->classes.at;
    uint64_t all = 0;
    char label[CLASS_LABEL_SIZE];

    for (size_t i = 0; i < stats->classes.count; i++)
        all += class_bytes(&classes[i]);
    print_head(out, title, "bytes of values");
    for (size_t i = 0; i < count; i++)
        print_row(out, class_label(top[i], label), class_objects(top[i]), class_bytes(top[i]), all);
}

static void print_top_classes(const struct stats *stats, FILE *out)
{
    const struct class_stats *top[CLASSES_SHOWN];

    if (stats_objects(stats) == 0)
        return;
    print_classes(stats, out, top, stats_most_bytes(stats, top, CLASSES_SHOWN), "Classes with the most bytes");
    print_classes(stats, out, top, stats_most_objects(stats, top, CLASSES_SHOWN), "Classes with the most objects");
}

static void print_roots(const struct stats *stats, FILE *out, size_t width)
{
    char line[1024], number[NUMBER_SIZE];
    uint64_t roots = stats_roots(stats);
    int used = snprintf(line, sizeof line, "\nRoots: %s", format_exact(number, roots));
    const char *before = roots > 0 ? ": " : "";

    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = hprof_subrecord_name((uint8_t)tag);

        if (name == NULL || !is_root(name) || stats->subrecords[tag].number == 0)
            continue;
        used += snprintf(line + used, sizeof line - (size_t)used, "%s%s %s", before, name + 5,
                         format_exact(number, stats->subrecords[tag].number));
        before = ", ";
    }
    putc('\n', out);
    wrap_hanging(out, line + 1, 2, 0, width);
}

static void print_strings(const struct stats *stats, FILE *out)
{
    char number[NUMBER_SIZE], bytes[NUMBER_SIZE], longest[NUMBER_SIZE];

    fprintf(out, "Strings: %s, %s of text, the longest %s\n", format_exact(number, stats->records[1].number),
            format_counted(bytes, stats->string_bytes, "byte"), format_counted(longest, stats->longest_string, "byte"));
}

static void print_heap_dumps(const struct stats *stats, FILE *out, bool decimal)
{
    const struct heap_dump_stats *heaps = stats->heap_dumps.at;
    char offset[NUMBER_SIZE], records[NUMBER_SIZE], objects[NUMBER_SIZE], size[NUMBER_SIZE], roots[NUMBER_SIZE];

    fprintf(out, "Heap dumps: %s\n", format_exact(records, stats->heap_dump_count));
    for (size_t i = 0; i < stats->heap_dumps.count && i < HEAP_DUMPS_SHOWN; i++)
        fprintf(out, "  at %s: %s, %s, %s, %s\n", format_offset(offset, heaps[i].offset, decimal),
                format_counted(records, heaps[i].records, "record"), format_size(size, heaps[i].bytes),
                format_counted(objects, heaps[i].objects, "object"), format_counted(roots, heaps[i].roots, "root"));
    if (stats->heap_dump_count > HEAP_DUMPS_SHOWN)
        fprintf(out, "  and %s more\n", format_exact(records, stats->heap_dump_count - HEAP_DUMPS_SHOWN));
}

static void print_visualvm(const struct stats *stats, FILE *out)
{
    const uint64_t megabytes = stats_visualvm_heap(stats);

    if (megabytes > 0)
        fprintf(out, "VisualVM: its heap library opens the dump with -Xmx%" PRIu64 "m\n", megabytes);
}

static void print_damage(const struct stats *stats, FILE *out, bool decimal)
{
    const struct damage_stats *damaged = stats->damaged.at;
    char number[NUMBER_SIZE], offset[NUMBER_SIZE];

    if (stats->damage.number == 0)
        return;
    fprintf(out, "Damage: %s in %s\n", format_counted(number, stats->damage.bytes, "byte"),
            format_counted(offset, stats->damage.number, "place"));
    for (size_t i = 0; i < stats->damaged.count && i < DAMAGE_SHOWN; i++)
        fprintf(out, "  at %s: %s: %s\n", format_offset(offset, damaged[i].offset, decimal),
                format_counted(number, damaged[i].size, "byte"), damaged[i].what);
    if (stats->damage.number > DAMAGE_SHOWN)
        fprintf(out, "  and %s more\n", format_exact(number, stats->damage.number - DAMAGE_SHOWN));
}

static void print_thread_name(const struct thread_stats *thread, FILE *out)
{
    if (has_name(thread)) {
        putc('"', out);
        print_safely(out, thread->name);
        putc('"', out);
    } else {
        fputs("a thread without a name", out);
    }
}

static uint64_t count_frames(const struct stats *stats)
{
    const struct thread_stats *threads = stats->threads.at;
    uint64_t frames = 0;

    for (size_t i = 0; i < stats->threads.count; i++) {
        const struct trace_stats *trace = stats_trace(stats, &threads[i]);

        frames += trace != NULL ? trace->frames : 0;
    }
    return frames;
}

static void print_some_threads(const struct stats *stats, struct hprof_reader *reader, FILE *out)
{
    const struct thread_stats *threads = stats->threads.at;
    char number[NUMBER_SIZE], frames[NUMBER_SIZE], text[FRAME_SIZE];
    size_t shown = 0;

    fprintf(out, "Threads: %s, with %s%s\n", format_exact(number, stats->threads.count),
            format_counted(frames, count_frames(stats), "frame"),
            stats->threads.count > 0 ? "; --threads prints their stacks" : "");
    for (size_t i = 0; i < stats->threads.count && shown < THREADS_SHOWN; i++) {
        const struct trace_stats *trace = stats_trace(stats, &threads[i]);

        if (trace == NULL || trace->frames == 0)
            continue;
        fputs("  ", out);
        print_thread_name(&threads[i], out);
        fputs(" at ", out);
        print_safely(out, stats_frame(stats, reader, trace, 0, text));
        putc('\n', out);
        shown++;
    }
}

void stats_print_text(const struct stats *stats, struct hprof_reader *reader, const struct cli_options *options, FILE *out,
                      size_t width)
{
    print_kinds(stats, out);
    print_top_classes(stats, out);
    print_roots(stats, out, width);
    print_strings(stats, out);
    print_heap_dumps(stats, out, options->decimal);
    print_visualvm(stats, out);
    print_damage(stats, out, options->decimal);
    print_some_threads(stats, reader, out);
    if (stats->is_read_by_lengths && stats->damage.number > 0)
        fputs("A pipe can be read only once: what follows the first damage is not in these figures\n", out);
}

static void print_frames(const struct stats *stats, struct hprof_reader *reader, const struct trace_stats *trace, FILE *out)
{
    char text[FRAME_SIZE], number[NUMBER_SIZE];

    for (uint32_t n = 0; n < trace->frames && n < FRAMES_SHOWN; n++) {
        fputs("    at ", out);
        print_safely(out, stats_frame(stats, reader, trace, n, text));
        putc('\n', out);
    }
    if (trace->frames > FRAMES_SHOWN)
        fprintf(out, "    and %s; --format json prints all\n",
                format_counted(number, trace->frames - FRAMES_SHOWN, "more frame"));
}

void stats_print_threads(const struct stats *stats, struct hprof_reader *reader, FILE *out)
{
    const struct thread_stats *threads = stats->threads.at;

    for (size_t i = 0; i < stats->threads.count; i++) {
        const struct trace_stats *trace = stats_trace(stats, &threads[i]);

        if (i > 0)
            putc('\n', out);
        print_thread_name(&threads[i], out);
        fprintf(out, " thread serial %" PRIu32, threads[i].serial);
        if (threads[i].object_id != 0)
            fprintf(out, ", object 0x%" PRIx64, threads[i].object_id);
        fputs(threads[i].has_ended ? ", has ended\n" : "\n", out);
        if (trace == NULL || trace->frames == 0)
            fputs("    no stack trace\n", out);
        else if (trace->thread != i)
            fprintf(out, "    the frames of thread serial %" PRIu32 "\n", threads[trace->thread].serial);
        else
            print_frames(stats, reader, trace, out);
    }
    if (stats->threads.count == 0)
        fputs("no threads\n", out);
}
