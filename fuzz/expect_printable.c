/* See expect_printable.h. */
#include "expect_printable.h"

#include <string.h>

#include "printable.h"
#include "target.h"

/* The length of ESC [ digits and semicolons m. */
static size_t colour(const char *text)
{
    size_t end = text[1] == '[' ? 2 + strspn(text + 2, "0123456789;") : 1;

    if (text[end] != 'm')
        fail_target("an escape sequence that is no colour");
    return end + 1;
}

void expect_printable(const char *text, size_t size, bool has_lines, bool has_colours)
{
    for (size_t i = 0, n; i < size; i += n) {
        uint32_t c = 0;

        if (has_colours && text[i] == '\x1b') {
            n = colour(text + i);
            continue;
        }
        n = utf8_sequence(text + i, &c);
        if (n == 0)
            fail_target("byte 0x%02x in text is not UTF-8", (unsigned char)text[i]);
        if ((c < 0x20 && !(has_lines && c == '\n')) || (c >= 0x7f && c < 0xa0))
            fail_target("control character U+%04X in text", c);
        if (c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
            fail_target("U+%04X, which turns or breaks lines, in text", c);
    }
}
