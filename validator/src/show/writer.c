/* See writer.h. Lines, and lists of parts of which not all are shown. */
#include "show/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Lines ---- */

static void append(char *to, size_t *size, const char *format, va_list arguments)
{
    int n = vsnprintf(to + *size, LINE_SIZE - *size, format, arguments);

    if (n > 0)
        *size = *size + (size_t)n < LINE_SIZE ? *size + (size_t)n : LINE_SIZE - 1;
}

void add_text(struct writer *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append(w->text, &w->text_size, format, arguments);
    va_end(arguments);
}

void add_remark(struct writer *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append(w->remark, &w->remark_size, format, arguments);
    va_end(arguments);
}

/* Once a read failed, lines would be wrong. */
void show_line(struct writer *w, const struct hprof_line *line)
{
    struct show *show = w->show;

    if (!show->in.error && !show->stopped && show->asked.on_line)
        show->stopped = show->asked.on_line(show->asked.context, line) != 0;
}

void end_line(struct writer *w, unsigned depth, uint64_t offset, uint64_t size)
{
    const struct hprof_show *asked = &w->show->asked;
    struct hprof_line line = {
        .struct_size = sizeof(struct hprof_line),
        .offset = offset,
        .depth = depth,
        .here = asked->offset >= offset && asked->offset - offset < size,
        .text = w->text[0] == ' ' ? w->text + 1 : w->text, /* the first value in a row has a space before it */
        .remark = w->remark,
    };

    show_line(w, &line);
    w->was_here |= line.here;
    w->text_size = w->remark_size = 0;
    w->text[0] = w->remark[0] = '\0';
}

void close_bracket(struct writer *w, unsigned depth, const char *bracket)
{
    add_text(w, "%s", bracket);
    end_line(w, depth, HPROF_NO_OFFSET, 0);
}

/* ---- Lists ---- */

static bool is_near(const struct show *s, uint64_t offset, uint64_t size, uint64_t margin)
{
    uint64_t target = s->asked.offset, low = offset > margin ? offset - margin : 0;

    return target >= low && target < offset + size + margin;
}

void end_hidden(struct writer *w, struct parts *p, unsigned depth)
{
    if (!p->hidden)
        return;
    add_remark(w, "%" PRIu64 " more", p->hidden);
    end_line(w, depth, HPROF_NO_OFFSET, 0);
    p->hidden = 0;
}

void show_parts(struct writer *w, struct parts *p, add_part *add_one, unsigned type)
{
    uint64_t line = p->per_line * p->size, most = PARTS_ALWAYS, target = w->show->asked.offset;
    uint64_t lines = (p->count + p->per_line - 1) / p->per_line;
    /* Show the first lines, and those around the offset if the list contains it. */
    uint64_t middle = target >= p->offset && target - p->offset < p->count * p->size ? (target - p->offset) / line : 0;
    uint64_t from = middle > most + PARTS_AROUND ? middle - PARTS_AROUND : most, to = middle + PARTS_AROUND + 1;

    for (uint64_t i = 0; i < lines; i++) {
        uint64_t n = p->count - i * p->per_line < p->per_line ? p->count - i * p->per_line : p->per_line;
        struct cursor c;

        if (i == most && from > most && from < lines && to > from) {
            p->hidden = (from - most) * p->per_line;
            end_hidden(w, p, w->depth + 1);
            i = from;
            n = p->count - i * p->per_line < p->per_line ? p->count - i * p->per_line : p->per_line;
        } else if (i >= most && (i < from || i >= to)) {
            p->hidden = p->count - i * p->per_line;
            break;
        }
        c = show_bytes(w->show, p->offset + i * line, (size_t)(n * p->size));
        for (uint64_t j = 0; j < n; j++) {
            const uint8_t *bytes = cursor_take(&c, (size_t)p->size);

            if (!bytes) {
                add_remark(w, "the dump ends here");
                end_line(w, w->depth + 1, p->offset + i * line, n * p->size);
                return;
            }
            add_one(w, bytes, type);
        }
        end_line(w, w->depth + 1, p->offset + i * line, n * p->size);
    }
    end_hidden(w, p, w->depth + 1);
}

/* Ends the line of a field. Most classes have few fields; of many, those far from the offset are hidden. */
void end_part(struct writer *w, struct parts *p, uint64_t index, uint64_t offset, uint64_t size)
{
    if (index < 4 * PARTS_ALWAYS || is_near(w->show, offset, size, 4 * PARTS_AROUND)) {
        char text[LINE_SIZE], remark[LINE_SIZE];

        memcpy(text, w->text, sizeof text);
        memcpy(remark, w->remark, sizeof remark);
        w->text_size = w->remark_size = 0;
        end_hidden(w, p, 2);
        add_text(w, "%s", text);
        add_remark(w, "%s", remark);
        end_line(w, 2, offset, size);
        return;
    }
    w->text_size = w->remark_size = 0;
    w->text[0] = w->remark[0] = '\0';
    p->hidden++;
}
