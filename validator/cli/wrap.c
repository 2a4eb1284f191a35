#include "wrap.h"

#include <string.h>

#include "printable.h"

void wrap(FILE *out, const char *text, size_t indent, size_t column, size_t width)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        if (length > 0) {
            size_t columns = text_columns_of(text, length);
            if (column > indent && (column >= width || columns >= width - column)) {
                putc('\n', out);
                column = 0;
            }
            if (column < indent) {
                fprintf(out, "%*s", (int)(indent - column), "");
                column = indent;
            } else if (column > indent) {
                putc(' ', out);
                column++;
            }
            fwrite(text, 1, length, out);
            column += columns;
        }
        text += length;
        text += *text != '\0';
    }
    putc('\n', out);
}
