#include "wrap.h"

#include <stdbool.h>
#include <string.h>

#include "printable.h"

/* `filled`: the line has words already, so a space precedes the next word. */
static void continue_line(FILE *out, const char *text, size_t indent, size_t column, bool filled, size_t width)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " \n"), columns = text_columns_of(text, length);
        if (length > 0) {
            if (filled && (column >= width || columns >= width - column)) {
                putc('\n', out);
                column = 0;
                filled = false;
            }
            if (filled) {
                putc(' ', out);
                column++;
            } else if (column < indent) {
                fprintf(out, "%*s", (int)(indent - column), "");
                column = indent;
            }
            fwrite(text, 1, length, out);
            column += columns;
            filled = true;
        }
        text += length;
        text += *text != '\0';
    }
    putc('\n', out);
}

void wrap(FILE *out, const char *text, size_t indent, size_t column, size_t width)
{
    continue_line(out, text, indent, column, column > indent, width);
}

void wrap_hanging(FILE *out, const char *text, size_t indent, size_t column, size_t width)
{
    size_t length = column > 0 ? 0 : strcspn(text, " ");
    fwrite(text, 1, length, out);
    continue_line(out, text + length, indent, column + text_columns_of(text, length), true, width);
}
