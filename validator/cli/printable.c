#include "printable.h"

#include <stdbool.h>
#include <string.h>

size_t utf8_sequence(const char *text, uint32_t *character)
{
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length;
    uint32_t c;

    if (s[0] == 0)
        return 0;
    if (s[0] < 0x80) {
        *character = s[0];
        return 1;
    }
    if ((s[0] & 0xE0) == 0xC0) {
        length = 2;
        c = s[0] & 0x1Fu;
    } else if ((s[0] & 0xF0) == 0xE0) {
        length = 3;
        c = s[0] & 0x0Fu;
    } else if ((s[0] & 0xF8) == 0xF0) {
        length = 4;
        c = s[0] & 0x07u;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; i++) { /* also ends at the NUL */
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    if (c < smallest[length] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *character = c;
    return length;
}

size_t text_columns_of(const char *text, size_t size)
{
    size_t columns = 0;
    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

size_t text_columns(const char *text)
{
    return text_columns_of(text, strlen(text));
}

/* Whether a character would move the cursor, end the line, or change the direction of text. */
static bool must_be_escaped(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/* Writes one character, or one byte that is not UTF-8, to `piece`. Returns its length in `text`. */
static size_t escape_one(const char *text, char piece[8])
{
    uint32_t c = 0;
    size_t length = utf8_sequence(text, &c);

    if (length == 0) {
        snprintf(piece, 8, "\\x%02x", (unsigned)(unsigned char)*text);
        return 1;
    }
    if (c == '\n')
        memcpy(piece, "\\n", 3);
    else if (c == '\t')
        memcpy(piece, "\\t", 3);
    else if (c == '\r')
        memcpy(piece, "\\r", 3);
    else if (must_be_escaped(c))
        snprintf(piece, 8, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c & 0xFFFF);
    else {
        memcpy(piece, text, length);
        piece[length] = '\0';
    }
    return length;
}

size_t print_safely(FILE *out, const char *text)
{
    size_t columns = 0;
    char piece[8];
    while (*text != '\0') {
        text += escape_one(text, piece);
        fputs(piece, out);
        columns += text_columns(piece);
    }
    return columns;
}

bool format_safely(char *buffer, size_t size, const char *text)
{
    char piece[8];
    size_t used = 0;
    while (*text != '\0') {
        text += escape_one(text, piece);
        size_t length = strlen(piece);
        if (used + length >= size) {
            buffer[used] = '\0';
            return false;
        }
        memcpy(buffer + used, piece, length);
        used += length;
    }
    buffer[used] = '\0';
    return true;
}
