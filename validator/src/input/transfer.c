/* See transfer.h. */
#include "input/transfer.h"

#include <string.h>

#include "format/header.h"
#include "input/file_kind.h"
#include "input/gzip_header.h"

enum {
    LINE_ENDS_LEAST = 4,
    CHARACTERS_LEAST = 8,
    SEVEN_BIT_LEAST = 4096, /* bytes: IDs, lengths and floats of a dump have bytes from 128 on much earlier */
    TIMES_MOST = 4          /* that a file went the same way */
};

/* ---- Gzip --------------------------------------------------------------------------------------------------------- */

/* Takes a transfer to characters of Latin-1 in UTF-8 back. Returns the new size; 0 if the bytes are not such characters. */
static size_t take_back_latin1(uint8_t *p, size_t n)
{
    size_t made = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i] < 0x80) {
            p[made++] = p[i];
        } else if ((p[i] == 0xc2 || p[i] == 0xc3) && (i + 1 == n || (p[i + 1] & 0xc0) == 0x80)) {
            if (i + 1 < n)
                p[made++] = (uint8_t)(p[i] << 6 | (p[i + 1] & 0x3f));
            i++;
        } else {
            return 0;
        }
    }
    return made;
}

/* No transfer changes the method or the flags. */
bool transfer_begins_gzip(const uint8_t *p, size_t n)
{
    static const uint8_t without_high_bytes[][3] = {{0x1f, 0x8b & 0x7f, DEFLATE_METHOD}, {0x1f, '?', DEFLATE_METHOD}};
    uint8_t head[GZIP_SIGN << TIMES_MOST];
    size_t size = n < sizeof head ? n : sizeof head;

    memcpy(head, p, size);
    for (size_t i = 0; i < 2 && size >= GZIP_SIGN; i++)
        if (memcmp(head, without_high_bytes[i], sizeof *without_high_bytes) == 0 && !(head[3] & RESERVED_FLAGS))
            return true;
    for (int times = 0; times <= TIMES_MOST && size >= GZIP_SIGN; times++) {
        if (is_gzip_sign(head))
            return true;
        size = take_back_latin1(head, size);
    }
    return false;
}

/* ---- Where the dump begins ------------------------------------------------------------------------------------------ */

size_t transfer_header(const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;
    enum version version;

    if (!find_file_kind(p, n).may_be_text)
        return SIZE_MAX;
    for (const uint8_t *at = p;
         (size_t)(end - at) >= HEADER_STRING_SIZE && (at = memchr(at, *HEADER_MAGIC, (size_t)(end - at))); at++)
        if ((size_t)(end - at) >= HEADER_STRING_SIZE && parse_header_version(at, &version))
            return (size_t)(at - p);
    return SIZE_MAX;
}

size_t transfer_gzip(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i + 1 < n && !is_no_text(p[i]); i++)
        if (p[i + 1] == 0x1f && transfer_begins_gzip(p + i + 1, n - (i + 1)))
            return i + 1;
    return SIZE_MAX;
}

size_t transfer_start(const uint8_t *p, size_t n)
{
    size_t header;

    if (transfer_begins_gzip(p, n)) /* which may hold the text of a header, stored */
        return 0;
    header = transfer_header(p, n);
    return header != SIZE_MAX ? header : transfer_gzip(p, n);
}

/* ---- What was changed ----------------------------------------------------------------------------------------------- */

/* A transfer as text turns each LF into CR LF, so every LF follows a CR, which does not happen by chance. */
static bool line_ends_were_changed(const uint8_t *p, size_t n)
{
    size_t line_ends = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i] != '\n')
            continue;
        if (!i || p[i - 1] != '\r')
            return false;
        line_ends++;
    }
    return line_ends >= LINE_ENDS_LEAST;
}

/* All characters have one byte, or are from U+0080 to U+00FF. */
static bool is_latin1_in_utf8(const uint8_t *p, size_t n)
{
    size_t characters = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i] < 0x80)
            continue;
        if ((p[i] != 0xc2 && p[i] != 0xc3) || (i + 1 < n && (p[i + 1] & 0xc0) != 0x80))
            return false;
        i++;
        characters++;
    }
    return characters >= CHARACTERS_LEAST;
}

bool has_high_byte(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] >= 0x80)
            return true;
    return false;
}

/* How bytes from 128 on were lost: where each became '?', there are many of these; else that is a byte like any other. */
static unsigned loss_of_high_bytes(const uint8_t *p, size_t n)
{
    enum { OFTEN = 64 }; /* it is one byte of 128 in compressed data without the highest bits */
    size_t replaced = 0;

    for (size_t i = 0; i < n; i++)
        replaced += p[i] == '?';
    return replaced > n / OFTEN ? HPROF_TRANSFER_ASCII : HPROF_TRANSFER_SEVEN_BIT;
}

unsigned transfer_of(const uint8_t *p, size_t n)
{
    static const char magic[] = "JAVA PROFILE ";
    bool is_gzip = transfer_begins_gzip(p, n);
    /* Other files may have no high bytes at all, or other ends of lines. */
    bool is_dump = n >= sizeof magic && memcmp(p, magic, sizeof magic - 1) == 0;
    bool is_known = n >= SEVEN_BIT_LEAST && (is_gzip || is_dump);
    unsigned changes;

    if (find_file_kind(p, n).name) /* no dump, and text may be as it was written */
        return 0;
    changes = ((is_gzip || is_dump) && line_ends_were_changed(p, n) ? HPROF_TRANSFER_CRLF : 0) |
              (is_latin1_in_utf8(p, n) ? HPROF_TRANSFER_LATIN1 : 0) |
              (is_known && !has_high_byte(p, n) ? loss_of_high_bytes(p, n) : 0);
    return changes && is_gzip ? changes | HPROF_TRANSFER_GZIP : changes;
}
