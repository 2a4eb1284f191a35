/* See show.h. Writes an item: its lines, and rows of its bytes. */
#include <inttypes.h>
#include <time.h>

#include "show/writer.h"

enum {
    ROW_BYTES = 16,
    ROWS_ALWAYS = 2, /* shown at the start of an item */
    ROWS_WHOLE = 4,  /* so few rows are all shown */
    ROWS_AROUND = 4  /* shown on each side of the offset */
};

/* ---- Bytes ---- */

/* Writes bytes in rows, up to `end` or the end of the dump. Returns where the rows end. */
static uint64_t write_rows(struct writer *w, uint64_t from, uint64_t end)
{
    const struct hprof_show *asked = &w->show->asked;

    while (from < end) {
        size_t n = end - from < ROW_BYTES ? (size_t)(end - from) : ROW_BYTES;
        struct cursor c = show_bytes(w->show, from, n);
        struct hprof_line line = {
            .struct_size = sizeof(struct hprof_line),
            .offset = from,
            .depth = w->depth,
            .here = asked->offset >= from && asked->offset - from < n,
            .text = "",
            .remark = "",
            .bytes = c.at,
            .byte_count = cursor_left(&c),
        };

        if (!line.byte_count)
            break;
        show_line(w, &line);
        from += line.byte_count;
    }
    return from;
}

/* Writes the first rows of an item, and those around the offset if the item contains it. */
static void write_bytes(struct writer *w, uint64_t size)
{
    uint64_t start = w->item->offset, end = start + size, target = w->show->asked.offset;
    uint64_t at = start + (size <= ROWS_WHOLE * ROW_BYTES ? size : ROWS_ALWAYS * ROW_BYTES);

    at = write_rows(w, start, at < end ? at : end);
    if (target >= start && target < end) {
        uint64_t row = start + (target - start) / ROW_BYTES * ROW_BYTES, margin = ROWS_AROUND * ROW_BYTES;
        uint64_t from = row > at + margin ? row - margin : at, to = row + margin + ROW_BYTES;

        if (from > at) {
            add_remark(w, "%" PRIu64 " bytes", from - at);
            end_line(w, w->depth, HPROF_NO_OFFSET, 0);
        }
        if (to > from)
            at = write_rows(w, from, to < end ? to : end);
    }
    if (at < end) {
        struct cursor next = show_bytes(w->show, at, 1);

        if (cursor_left(&next))
            add_remark(w, "%" PRIu64 " more bytes", end - at);
        else
            add_remark(w, "the dump ends here, %" PRIu64 " bytes early", end - at);
        end_line(w, w->depth, HPROF_NO_OFFSET, 0);
    }
}

/* ---- Items ---- */

/* Writes the bytes of an item, after a line for the offset if no field contains it. */
static void end_item(struct writer *w, uint64_t size)
{
    uint64_t target = w->show->asked.offset;

    if (!w->was_here && target >= w->item->offset && target - w->item->offset < size) {
        add_remark(w, "bytes outside of all fields");
        end_line(w, w->depth + 1, w->item->offset, size);
    }
    write_bytes(w, size);
}

static void write_header(struct writer *w)
{
    struct cursor c = show_bytes(w->show, 0, HEADER_SIZE);
    const uint8_t *p = cursor_take(&c, HEADER_SIZE);
    time_t seconds;
    struct tm utc;
    char date[40];

    if (!p)
        return;
    p += HEADER_STRING_SIZE;
    add_text(w, "hprof \"JAVA PROFILE 1.0.%d\" id-size %u time %" PRIu64, (int)w->show->replay.version, w->show->replay.id_size,
             get_u8(p + 4));
    seconds = (time_t)(get_u8(p + 4) / 1000);
    if (gmtime_r(&seconds, &utc) && strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", &utc))
        add_remark(w, "%s", date);
    end_line(w, 0, 0, HEADER_SIZE);
}

void show_item(struct show *s, const struct item *item)
{
    struct writer w = {.show = s, .item = item, .depth = item->heap ? 1 : 0};

    switch (item->kind) {
    case ITEM_HEADER:
        write_header(&w);
        break;
    case ITEM_RECORD:
        show_record(&w);
        break;
    case ITEM_HEAP:
        show_heap(&w);
        break;
    case ITEM_SUBRECORD:
        show_subrecord(&w);
        break;
    case ITEM_PART:
        add_text(&w, "raw");
        add_remark(&w, "part %u of a sub-record that crosses the end of its segment", item->part);
        end_line(&w, w.depth, item->offset, item->size);
        break;
    case ITEM_DAMAGE:
        add_text(&w, "raw");
        add_remark(&w, "damage: %" PRIu64 " bytes; %s", item->size, item->why);
        end_line(&w, w.depth, item->offset, item->size);
        break;
    }
    if (item->why_open)
        return;
    end_item(&w, item->kind == ITEM_HEAP ? RECORD_HEADER_SIZE : item->size);
}

void show_heap_end(struct show *s)
{
    struct writer w = {.show = s};

    close_bracket(&w, 0, "}");
}
