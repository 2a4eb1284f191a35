/* --stats --format html: one page without scripts and without anything from elsewhere. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "numbers.h"
#include "page_style.h"
#include "printable.h"
#include "report.h"
#include "stats.h"

enum { CLASSES_SHOWN = 30, FINDINGS_SHOWN = 100, DAMAGE_SHOWN = 100, THREADS_SHOWN = 500, MAP_HEIGHT = 100 };

/* The findings of each cell of the map. */
struct marks {
    size_t count[MAP_CELLS], gravest[MAP_CELLS]; /* the first of the gravest */
};

struct page {
    const struct stats *stats;
    struct hprof_reader *reader;
    FILE *out;
    struct marks marks;
};

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Text of the dump: control characters are escaped, as in all reports, and then what HTML would read. A line may break after one
 * of some characters. */
static void put_broken_text(FILE *out, const char *text, const char *breaks)
{
    char safe[4096];

    format_safely(safe, sizeof safe, text);
    for (const char *c = safe; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*c, out);
        }
        if (strchr(breaks, *c) != NULL)
            fputs("<wbr>", out);
    }
}

static void put_text(FILE *out, const char *text)
{
    put_broken_text(out, text, "");
}

static void put_name(FILE *out, const char *name)
{
    fputs("<td class=name>", out);
    put_broken_text(out, name, "._$");
    fputs("</td>", out);
}

static void put_number(FILE *out, uint64_t number)
{
    char text[NUMBER_SIZE];

    fprintf(out, "<td class=n>%s</td>", format_exact(text, number));
}

static double share(uint64_t part, uint64_t all)
{
    return all == 0 ? 0.0 : 100.0 * (double)part / (double)all;
}

static void put_bar(FILE *out, uint64_t part, uint64_t all)
{
    fprintf(out, "<td class=n>%.1f %%</td><td class=bar><b style=\"width:%.2f%%\"></b></td>", share(part, all),
            share(part, all));
}

static void begin_table(FILE *out, const char *id, const char *title, const char *heads)
{
    fprintf(out, "<h2 id=%s>%s</h2>\n<div class=scroll><table>\n<tr>%s</tr>\n", id, title, heads);
}

static void end_table(FILE *out)
{
    fputs("</table></div>\n", out);
}

static void put_more(FILE *out, uint64_t all, uint64_t shown)
{
    char number[NUMBER_SIZE];

    if (all > shown)
        fprintf(out, "<p class=note>and %s more</p>\n", format_exact(number, all - shown));
}

/* ---- The map ----------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of_cell(const struct map *map, size_t cell)
{
    uint64_t bytes = 0;

    for (unsigned kind = 0; kind < MAP_KINDS; kind++)
        bytes += map->bytes[cell][kind];
    return bytes;
}

/* The only kind in a cell; MAP_KINDS if there are several. */
static unsigned only_kind(const struct map *map, size_t cell)
{
    for (unsigned kind = 0; kind < MAP_KINDS; kind++)
        if (map->bytes[cell][kind] > 0)
            return map->bytes[cell][kind] == bytes_of_cell(map, cell) ? kind : MAP_KINDS;
    return MAP_KINDS;
}

static void put_mixed_cell(const struct map *map, size_t cell, FILE *out)
{
    const double height_of_byte = (double)MAP_HEIGHT / (double)bytes_of_cell(map, cell);
    uint64_t before = 0;

    for (unsigned kind = 0; kind < MAP_KINDS; kind++) {
        uint64_t bytes = map->bytes[cell][kind];

        if (bytes > 0)
            fprintf(out, "<rect class=k%u x=%zu y=%.2f width=1 height=%.2f />", kind, cell, (double)before * height_of_byte,
                    (double)bytes * height_of_byte);
        before += bytes;
    }
}

static void put_cells(const struct map *map, FILE *out)
{
    for (size_t cell = 0; cell < map->cells;) {
        unsigned kind = only_kind(map, cell);
        size_t end = cell + 1;

        while (kind < MAP_KINDS && end < map->cells && only_kind(map, end) == kind)
            end++;
        if (kind < MAP_KINDS)
            fprintf(out, "<rect class=k%u x=%zu y=0 width=%zu height=%d />", kind, cell, end - cell, MAP_HEIGHT);
        else
            put_mixed_cell(map, cell, out);
        putc('\n', out);
        cell = end;
    }
}

/* The cell of the map that has the offset of a finding; MAP_CELLS if there is none. Offsets in the compressed file are
 * elsewhere. */
static size_t cell_of(const struct stats *stats, const struct finding_stats *finding)
{
    if (finding->offset == HPROF_NO_OFFSET || is_of_gzip(hprof_rule_at(finding->rule)) ||
        finding->offset / stats->map.cell_bytes >= stats->map.cells)
        return MAP_CELLS;
    return (size_t)(finding->offset / stats->map.cell_bytes);
}

static void find_marks(const struct stats *stats, struct marks *marks)
{
    const struct finding_stats *findings = stats->findings.at;

    memset(marks, 0, sizeof *marks);
    for (size_t i = 0; i < stats->findings.count; i++) {
        size_t cell = cell_of(stats, &findings[i]);

        if (cell == MAP_CELLS)
            continue;
        if (marks->count[cell]++ == 0 || findings[i].severity > findings[marks->gravest[cell]].severity)
            marks->gravest[cell] = i;
    }
}

/* Whether a mark leads to this finding. */
static bool is_marked(const struct page *p, size_t finding)
{
    const struct finding_stats *f = (const struct finding_stats *)p->stats->findings.at + finding;
    size_t cell = cell_of(p->stats, f);

    return cell < MAP_CELLS && p->marks.gravest[cell] == finding;
}

/* A mark above each cell that has findings; it leads to the first of the gravest. */
static void put_marks(const struct page *p)
{
    const struct finding_stats *findings = p->stats->findings.at;
    double length = (double)p->stats->summary.bytes;
    char offset[NUMBER_SIZE];

    fputs("<div class=marks>", p->out);
    for (size_t cell = 0; cell < p->stats->map.cells; cell++) {
        const struct finding_stats *f = &findings[p->marks.gravest[cell]];

        if (p->marks.count[cell] == 0)
            continue;
        fprintf(p->out, "<a class=\"mark %s\" href=\"#f%zu\" style=\"left:%.3f%%\" title=\"%s at %s",
                severity_name(f->severity), p->marks.gravest[cell], 100.0 * (double)f->offset / length,
                hprof_rule_at(f->rule)->id, format_offset(offset, f->offset, false));
        if (p->marks.count[cell] > 1)
            fprintf(p->out, " and %zu more", p->marks.count[cell] - 1);
        fputs("\">&#9660;</a>", p->out);
    }
    fputs("</div>\n", p->out);
}

static void put_map(const struct page *p)
{
    const struct map *map = &p->stats->map;
    uint64_t totals[MAP_KINDS] = {0}, end = p->stats->summary.bytes;
    char number[NUMBER_SIZE];

    for (size_t cell = 0; cell < map->cells; cell++)
        for (unsigned kind = 0; kind < MAP_KINDS; kind++)
            totals[kind] += map->bytes[cell][kind];
    fputs("<h2 id=map>Map of the file</h2>\n<div class=map>\n", p->out);
    put_marks(p);
    fprintf(p->out,
            "<svg role=img aria-label=\"kinds of records along the file\" viewBox=\"0 0 %.4f %d\" preserveAspectRatio=none "
            "shape-rendering=crispEdges>\n",
            (double)end / (double)map->cell_bytes, MAP_HEIGHT);
    put_cells(map, p->out);
    fputs("</svg>\n<div class=axis>", p->out);
    for (unsigned quarter = 0; quarter <= 4; quarter += 2)
        fprintf(p->out, "<span>%s</span>", format_offset(number, quarter == 4 ? end : end / 4 * quarter, false));
    fputs("</div>\n<ul class=legend>\n", p->out);
    for (unsigned kind = 0; kind < MAP_KINDS; kind++)
        if (totals[kind] > 0)
            fprintf(p->out, "<li data-bytes=%" PRIu64 "><i class=k%u></i>%s, %s</li>\n", totals[kind], kind,
                    map_kind_names[kind], format_size(number, totals[kind]));
    fputs("</ul>\n</div>\n", p->out);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void put_kind(const struct page *p, const char *name, const struct tally_of_bytes *tally)
{
    if (tally->number == 0)
        return;
    fputs("<tr>", p->out);
    put_name(p->out, name);
    put_number(p->out, tally->number);
    put_number(p->out, tally->bytes);
    put_bar(p->out, tally->bytes, p->stats->summary.bytes);
    fputs("</tr>\n", p->out);
}

static void put_kinds(const struct page *p)
{
    begin_table(p->out, "kinds", "Kinds of records and sub-records",
                "<th>kind</th><th class=n>number</th><th class=n>bytes</th><th class=n>share</th><th class=bar></th>");
    for (unsigned tag = 0; tag < 256; tag++)
        put_kind(p, hprof_record_name((uint8_t)tag) != NULL ? hprof_record_name((uint8_t)tag) : "undefined record",
                 &p->stats->records[tag]);
    for (unsigned tag = 0; tag < 256; tag++)
        if (hprof_subrecord_name((uint8_t)tag) != NULL)
            put_kind(p, hprof_subrecord_name((uint8_t)tag), &p->stats->subrecords[tag]);
    put_kind(p, "damage", &p->stats->damage);
    end_table(p->out);
}

static void put_some_classes(const struct page *p, const struct class_stats *const top[], size_t count, const char *id,
                             const char *title, uint64_t (*share_of)(const struct class_stats *))
{
    const struct class_stats *classes = p->stats->classes.at;
    uint64_t all = 0;
    char label[CLASS_LABEL_SIZE];

    for (size_t i = 0; i < p->stats->classes.count; i++)
        all += share_of(&classes[i]);
    begin_table(
        p->out, id, title,
        "<th>class</th><th class=n>objects</th><th class=n>bytes of values</th><th class=n>share</th><th class=bar></th>");
    for (size_t i = 0; i < count; i++) {
        fputs("<tr>", p->out);
        put_name(p->out, class_label(top[i], label));
        put_number(p->out, class_objects(top[i]));
        put_number(p->out, class_bytes(top[i]));
        put_bar(p->out, share_of(top[i]), all);
        fputs("</tr>\n", p->out);
    }
    end_table(p->out);
}

static void put_classes(const struct page *p)
{
    const struct class_stats *top[CLASSES_SHOWN];

    if (stats_objects(p->stats) == 0)
        return;
    put_some_classes(p, top, stats_most_bytes(p->stats, top, CLASSES_SHOWN), "bytes", "Classes with the most bytes",
                     class_bytes);
    put_some_classes(p, top, stats_most_objects(p->stats, top, CLASSES_SHOWN), "objects", "Classes with the most objects",
                     class_objects);
    fputs("<p class=note>Bytes of values are those of fields and elements, as the dump has them, without headers.</p>\n",
          p->out);
}

static void put_heap_dumps(const struct page *p)
{
    const struct heap_dump_stats *heaps = p->stats->heap_dumps.at;
    char offset[NUMBER_SIZE];

    begin_table(p->out, "heaps", "Heap dumps",
                "<th>offset</th><th class=n>records</th><th class=n>bytes</th><th class=n>objects</th><th class=n>roots</th>");
    for (size_t i = 0; i < p->stats->heap_dumps.count; i++) {
        fprintf(p->out, "<tr><td>%s</td>", format_offset(offset, heaps[i].offset, false));
        put_number(p->out, heaps[i].records);
        put_number(p->out, heaps[i].bytes);
        put_number(p->out, heaps[i].objects);
        put_number(p->out, heaps[i].roots);
        fputs("</tr>\n", p->out);
    }
    end_table(p->out);
    put_more(p->out, p->stats->heap_dump_count, p->stats->heap_dumps.count);
}

static void put_damage(const struct page *p)
{
    const struct damage_stats *damaged = p->stats->damaged.at;
    char offset[NUMBER_SIZE];

    if (p->stats->damage.number == 0)
        return;
    begin_table(p->out, "damage", "Damage", "<th>offset</th><th class=n>bytes</th><th>what is wrong</th>");
    for (size_t i = 0; i < p->stats->damaged.count && i < DAMAGE_SHOWN; i++) {
        fprintf(p->out, "<tr><td>%s</td>", format_offset(offset, damaged[i].offset, false));
        put_number(p->out, damaged[i].size);
        fprintf(p->out, "<td>%s</td></tr>\n", damaged[i].what);
    }
    end_table(p->out);
    put_more(p->out, p->stats->damage.number, DAMAGE_SHOWN);
    if (p->stats->is_read_by_lengths)
        fputs("<p class=note>A pipe can be read only once: what follows the first damage is not in these figures.</p>\n",
              p->out);
}

/* The first ones, and those that a mark leads to. */
static void put_findings(const struct page *p)
{
    const struct finding_stats *findings = p->stats->findings.at;
    char offset[NUMBER_SIZE];
    uint64_t shown = 0;

    if (p->stats->findings.count == 0)
        return;
    begin_table(p->out, "findings", "Findings", "<th>offset</th><th>rule</th><th>what is wrong</th>");
    for (size_t i = 0; i < p->stats->findings.count; i++) {
        const struct hprof_rule *rule = hprof_rule_at(findings[i].rule);

        if (i >= FINDINGS_SHOWN && !is_marked(p, i))
            continue;
        fprintf(p->out, "<tr id=f%zu><td>%s%s</td><td class=%s>%s</td><td class=name>", i,
                findings[i].offset == HPROF_NO_OFFSET ? "unknown" : format_offset(offset, findings[i].offset, false),
                is_of_gzip(rule) ? " of the compressed file" : "", severity_name(findings[i].severity), rule->id);
        put_text(p->out, findings[i].text);
        fputs("</td></tr>\n", p->out);
        shown++;
    }
    end_table(p->out);
    put_more(p->out, p->stats->summary.errors + p->stats->summary.warnings, shown);
}

static void put_thread_name(const struct page *p, const struct thread_stats *thread)
{
    put_text(p->out, has_name(thread) ? thread->name : "a thread without a name");
}

/* A trace that several threads have is in the first of them, to which the others lead. */
static void put_frames(const struct page *p, const struct trace_stats *trace, size_t thread)
{
    char text[FRAME_SIZE], number[NUMBER_SIZE];

    if (trace->thread != thread) {
        fprintf(p->out, "<p>the frames of <a href=\"#t%zu\">", trace->thread);
        put_thread_name(p, (const struct thread_stats *)p->stats->threads.at + trace->thread);
        fputs("</a></p>", p->out);
        return;
    }
    fprintf(p->out, "<pre id=t%zu>", thread);
    for (uint32_t n = 0; n < trace->frames && n < FRAMES_SHOWN; n++) {
        fputs("at ", p->out);
        put_text(p->out, stats_frame(p->stats, p->reader, trace, n, text));
        putc('\n', p->out);
    }
    if (trace->frames > FRAMES_SHOWN)
        fprintf(p->out, "and %s\n", format_counted(number, trace->frames - FRAMES_SHOWN, "more frame"));
    fputs("</pre>", p->out);
}

static void put_threads(const struct page *p)
{
    const struct thread_stats *threads = p->stats->threads.at;
    char number[NUMBER_SIZE];

    fprintf(p->out, "<h2 id=threads>Threads: %s</h2>\n", format_exact(number, p->stats->threads.count));
    for (size_t i = 0; i < p->stats->threads.count && i < THREADS_SHOWN; i++) {
        const struct trace_stats *trace = stats_trace(p->stats, &threads[i]);

        fputs("<details><summary>", p->out);
        put_thread_name(p, &threads[i]);
        fprintf(p->out, ", %" PRIu32 " frame%s%s</summary>", trace != NULL ? trace->frames : 0,
                plural(trace != NULL ? trace->frames : 0), threads[i].has_ended ? ", has ended" : "");
        if (trace != NULL && trace->frames > 0)
            put_frames(p, trace, i);
        fputs("</details>\n", p->out);
    }
    put_more(p->out, p->stats->threads.count, THREADS_SHOWN);
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static void put_head(const struct page *p, const char *name)
{
    const struct hprof_summary *s = &p->stats->summary;
    char number[NUMBER_SIZE], missing[MISSING_SIZE];

    fputs("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
          "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>",
          p->out);
    put_text(p->out, name);
    fprintf(p->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", page_style);
    put_text(p->out, name);
    fprintf(p->out, "</h1>\n<p class=\"verdict %s\">",
            s->incomplete              ? "incomplete"
            : s->status == HPROF_VALID ? "valid"
                                       : "invalid");
    fputs(s->incomplete ? "incomplete: " : s->status == HPROF_VALID ? "valid" : "INVALID", p->out);
    if (s->incomplete)
        fputs(report_missing(s, missing), p->out);
    if (s->errors > 0)
        fprintf(p->out, ", %s", format_counted(number, s->errors, "error"));
    if (s->warnings > 0)
        fprintf(p->out, ", %s", format_counted(number, s->warnings, "warning"));
    fputs("</p>\n<p class=facts>", p->out);
    put_text(p->out, s->producer[0] != '\0' ? s->producer : "unknown producer");
    fprintf(p->out, ", %s, version %s, IDs of %u bytes", format_size(number, s->bytes), s->version, s->id_size);
    if (s->compressed)
        fprintf(p->out, ", gzip %s", format_size(number, s->file_bytes));
    fprintf(p->out, ", %s", format_counted(number, stats_objects(p->stats), "object"));
    fprintf(p->out, ", %s", format_counted(number, stats_roots(p->stats), "root"));
    fprintf(p->out, ", %s", format_counted(number, p->stats->records[1].number, "string"));
    fprintf(p->out, " with %s of text", format_counted(number, p->stats->string_bytes, "byte"));
    if (stats_visualvm_heap(p->stats) > 0)
        fprintf(p->out, "; VisualVM's heap library opens it with -Xmx%" PRIu64 "m", stats_visualvm_heap(p->stats));
    fputs("</p>\n", p->out);
}

void stats_print_page(const struct stats *stats, struct hprof_reader *reader, const char *name, FILE *out)
{
    struct page page = {.stats = stats, .reader = reader, .out = out};

    find_marks(stats, &page.marks);
    put_head(&page, name);
    put_map(&page);
    put_damage(&page);
    put_findings(&page);
    put_kinds(&page);
    put_classes(&page);
    put_heap_dumps(&page);
    put_threads(&page);
    fprintf(out, "<p class=note>hprof-validate %s</p>\n</body>\n</html>\n", HPROF_VERSION);
}
