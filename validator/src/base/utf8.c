/* See utf8.h. */
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

static bool continues(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The size of the character at p; 0 if the n bytes there do not begin with a valid character. */
static size_t character(const uint8_t *p, size_t n)
{
    uint8_t lead = p[0];
    size_t size;

    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        size = 2;
    else if (lead >= 0xe0 && lead <= 0xef)
        size = 3;
    else if (lead >= 0xf0 && lead <= 0xf4)
        size = 4;
    else if (lead == 0xc0) /* modified UTF-8: NUL is the only overlong form */
        return n >= 2 && p[1] == 0x80 ? 2 : 0;
    else
        return 0;

    if (n < size || (lead == 0xe0 && p[1] < 0xa0) || (lead == 0xf0 && p[1] < 0x90) || (lead == 0xf4 && p[1] > 0x8f))
        return 0; /* truncated, overlong, or above U+10FFFF */
    for (size_t i = 1; i < size; i++)
        if (!continues(p[i]))
            return 0;
    return size;
}

size_t utf8_valid(const uint8_t *p, size_t n)
{
    size_t i = 0;

    while (i < n) {
        uint64_t eight;
        size_t size;

        if (n >= sizeof eight) { /* the last eight may have been seen in part */
            size_t at = i < n - sizeof eight ? i : n - sizeof eight;

            memcpy(&eight, p + at, sizeof eight);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                i = at + sizeof eight;
                continue;
            }
        }
        size = character(p + i, n - i);
        if (!size)
            return i;
        i += size;
    }
    return n;
}

/* Whether a character can be shown as it is: printable, and legal in UTF-8, JSON and XML. */
static bool printable(const uint8_t *p, size_t size)
{
    if (size == 1)
        return p[0] >= 0x20 && p[0] < 0x7f;
    if (size == 2)
        return p[0] >= 0xc2 && !(p[0] == 0xc2 && p[1] < 0xa0); /* not C0 80, not C1 controls */
    if (size == 3)
        return !(p[0] == 0xed && p[1] >= 0xa0) &&                   /* no surrogates */
               !(p[0] == 0xe2 && (p[1] == 0x80 || p[1] == 0x81)) && /* no separators, directions, joiners */
               !(p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf) &&   /* no byte order mark */
               !(p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe);     /* no U+FFFE, U+FFFF */
    return size == 4;
}

size_t utf8_plain(const uint8_t *p, size_t n)
{
    size_t i = 0, size;

    while (i < n && p[i] != '"' && p[i] != '\\' && (size = character(p + i, n - i)) && printable(p + i, size))
        i += size;
    return i;
}

static bool is_surrogate(const uint8_t *p, unsigned second)
{
    return p[0] == 0xed && (p[1] & 0xf0) == second && continues(p[2]);
}

/* Turns a pair of surrogates, 6 bytes, into the 4 bytes of standard UTF-8. */
static bool join_pair(const uint8_t *p, size_t n, uint8_t to[4])
{
    uint32_t code;

    if (n < 6 || !is_surrogate(p, 0xa0) || !is_surrogate(p + 3, 0xb0))
        return false;
    code = 0x10000 + ((uint32_t)(p[1] & 0x0f) << 16 | (uint32_t)(p[2] & 0x3f) << 10 | (uint32_t)(p[4] & 0x0f) << 6 |
                      (uint32_t)(p[5] & 0x3f));
    to[0] = (uint8_t)(0xf0 | code >> 18);
    for (int i = 1; i < 4; i++)
        to[i] = (uint8_t)(0x80 | (code >> (18 - 6 * i) & 0x3f));
    return true;
}

size_t utf8_show(char *to, size_t size, const uint8_t *p, size_t n, bool more)
{
    size_t length = 0;

    if (size < 8)
        return 0;
    while (n) {
        size_t bytes = character(p, n), need = 4;
        char escape[5];
        uint8_t joined[4];
        const char *from = escape;

        if (join_pair(p, n, joined)) {
            from = (const char *)joined;
            bytes = 6;
        } else if (bytes && printable(p, bytes)) {
            from = (const char *)p;
            need = bytes;
        } else {
            bytes = 1;
            snprintf(escape, sizeof escape, "\\x%02x", p[0]);
        }
        if (length + need + 4 > size) {
            more = true;
            break;
        }
        memcpy(to + length, from, need);
        length += need;
        p += bytes;
        n -= bytes;
    }
    if (more) {
        memcpy(to + length, "...", 3);
        length += 3;
    }
    to[length] = '\0';
    return length;
}
