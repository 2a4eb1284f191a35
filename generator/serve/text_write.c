/* See text_parts.h. */
#include "text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- Writing ---- */

void flush(struct text *t)
{
    if (t->is_read && t->used)
        t->is_read = t->put(t->context, t->buffer, t->used);
    t->used = 0;
}

static void write_bytes(struct text *t, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t part = size < BUFFER - t->used ? size : BUFFER - t->used;

        memcpy(t->buffer + t->used, bytes, part);
        t->used += part;
        bytes += part;
        size -= part;
        if (t->used == BUFFER)
            flush(t);
    }
}

void write_format(struct text *t, const char *format, ...)
{
    char line[LINE_MOST];
    va_list values;
    int size;

    va_start(values, format);
    size = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    write_bytes(t, (const uint8_t *)line, (size_t)size);
}

/* "Thu Jan  1 00:00:00 2026" */
void write_date(struct text *t)
{
    time_t now = time(NULL);
    struct tm parts;
    char date[32];

    localtime_r(&now, &parts);
    strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &parts);
    write_format(t, "%s\n", date);
}

/* ---- Names ---- */

size_t write_string(struct text *t, uint64_t id, const char *without)
{
    uint64_t at;
    size_t size;

    if (!id || !keymap_get(&t->maps[STRINGS], id, &at)) {
        write_format(t, "%s", without);
        return strlen(without);
    }
    size = get_u4(t->dump + at + RECORD_LENGTH_AT) - ID_SIZE;
    write_bytes(t, t->dump + at + RECORD_HEADER_SIZE + ID_SIZE, size);
    return size;
}

void write_class(struct text *t, const struct keymap *map, uint64_t key)
{
    uint64_t name = 0;

    keymap_get(map, key, &name);
    write_string(t, name, "<Unknown>");
}

bool read_frame(const struct text *t, uint64_t id, struct FRAME *frame)
{
    struct cursor c;
    uint64_t at;

    if (!id || !keymap_get(&t->maps[FRAMES], id, &at))
        return false;
    c = (struct cursor){.at = t->dump + at, .end = t->dump + t->size};
    return read_FRAME(&c, ID_SIZE, frame);
}

void write_method(struct text *t, uint64_t frame_id)
{
    struct FRAME frame;

    if (!read_frame(t, frame_id, &frame)) {
        write_format(t, "<empty trace>");
        return;
    }
    write_class(t, &t->maps[SERIALS], frame.class_serial);
    write_format(t, ".");
    write_string(t, frame.method, "<Unknown Method>");
}

/* Of a class or an array of objects, whose name is as in the source: "Ljava/lang/Object;". */
void write_signature(struct text *t, uint64_t class_id)
{
    uint64_t name = 0, at;
    const uint8_t *text;
    size_t size;

    keymap_get(&t->maps[NAMES], class_id, &name);
    if (!keymap_get(&t->maps[STRINGS], name, &at)) {
        write_format(t, "<Unknown>");
        return;
    }
    text = t->dump + at + RECORD_HEADER_SIZE + ID_SIZE;
    size = get_u4(t->dump + at + RECORD_LENGTH_AT) - ID_SIZE;
    for (; size > 2 && text[size - 1] == ']'; size -= 2)
        write_format(t, "[");
    write_format(t, "L");
    for (size_t i = 0; i < size; i++)
        write_format(t, "%c", text[i] == '.' ? '/' : text[i]);
    write_format(t, ";");
}
