#include "json.h"

#include <inttypes.h>

#include "printable.h"

/* The number of characters that need no escape. Nearly all need none, so they are written at once. */
static size_t count_plain(const char *text)
{
    size_t n = 0;
    while (text[n] >= 0x20 && text[n] < 0x7F && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

/* Characters that change the direction of text could deceive a reader in a terminal. */
static bool turns_direction(uint32_t c)
{
    return c == 0x61C || (c >= 0x200E && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

static void write_characters(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t plain = count_plain(text);
        if (plain > 0) {
            fwrite(text, 1, plain, out);
            text += plain;
            continue;
        }
        uint32_t c = 0;
        size_t length = utf8_sequence(text, &c);
        if (length == 0) {
            fputs("\xEF\xBF\xBD", out);
            length = 1;
        } else if (c == '"' || c == '\\') {
            putc('\\', out);
            putc((int)c, out);
        } else if (c < 0x20 || (c >= 0x7F && c < 0xA0) || turns_direction(c)) {
            fprintf(out, "\\u%04x", (unsigned)c);
        } else {
            fwrite(text, 1, length, out);
        }
        text += length;
    }
}

static void write_quoted(FILE *out, const char *text)
{
    putc('"', out);
    write_characters(out, text);
    putc('"', out);
}

static void new_line(struct json *json)
{
    if (json->on_one_line)
        return;
    putc('\n', json->out);
    for (unsigned i = 0; i < json->depth; i++)
        fputs("  ", json->out);
}

/* Writes what precedes a value: a comma, a line end, the key. */
static void lead_in(struct json *json, const char *key)
{
    if (json->filled[json->depth - 1])
        fputs(json->on_one_line ? ", " : ",", json->out);
    json->filled[json->depth - 1] = true;
    new_line(json);
    if (key != NULL) {
        write_quoted(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_one(struct json *json, char opening, char closing)
{
    putc(opening, json->out);
    json->closing[json->depth] = closing;
    json->filled[json->depth] = false;
    json->depth++;
}

void json_begin(struct json *json, FILE *out)
{
    *json = (struct json){.out = out};
    open_one(json, '{', '}');
}

void json_begin_line(struct json *json, FILE *out)
{
    *json = (struct json){.out = out, .on_one_line = true};
    open_one(json, '{', '}');
}

void json_finish(struct json *json)
{
    json_close(json);
    putc('\n', json->out);
}

void json_put_object(struct json *json, const char *key)
{
    lead_in(json, key);
    open_one(json, '{', '}');
}

void json_put_array(struct json *json, const char *key)
{
    lead_in(json, key);
    open_one(json, '[', ']');
}

void json_close(struct json *json)
{
    json->depth--;
    if (json->filled[json->depth])
        new_line(json);
    putc(json->closing[json->depth], json->out);
}

void json_put_string(struct json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_put_null(json, key);
        return;
    }
    lead_in(json, key);
    write_quoted(json->out, value);
}

void json_open_string(struct json *json, const char *key)
{
    lead_in(json, key);
    putc('"', json->out);
}

void json_piece(struct json *json, const char *text)
{
    write_characters(json->out, text);
}

void json_close_string(struct json *json)
{
    putc('"', json->out);
}

void json_put_uint(struct json *json, const char *key, uint64_t value)
{
    lead_in(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
    lead_in(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_put_null(struct json *json, const char *key)
{
    lead_in(json, key);
    fputs("null", json->out);
}
