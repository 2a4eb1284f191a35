#include "shorten.h"

#include <string.h>

#include "printable.h"

#define ELLIPSIS "..."

/* The bytes of the first `columns` characters. */
static size_t bytes_of_columns(const char *text, size_t columns)
{
    size_t bytes = 0;

    while (columns > 0 && text[bytes] != '\0') {
        bytes++;
        while (((unsigned char)text[bytes] & 0xC0) == 0x80)
            bytes++;
        columns--;
    }
    return bytes;
}

/* Takes `excess` columns, and as many as "..." needs, out of the middle of a part of the text of `columns` columns. */
static void cut_middle(char *part, size_t columns, size_t excess)
{
    size_t kept = columns - excess - strlen(ELLIPSIS), front = bytes_of_columns(part, (kept + 1) / 2);
    size_t back = bytes_of_columns(part, columns - kept / 2);

    memcpy(part + front, ELLIPSIS, strlen(ELLIPSIS));
    memmove(part + front + strlen(ELLIPSIS), part + back, strlen(part + back) + 1);
}

void cut_words(char *text, size_t limit)
{
    for (char *at = text; *at != '\0'; at += strspn(at, " ")) {
        size_t columns = text_columns_of(at, strcspn(at, " "));
        if (columns > limit)
            cut_middle(at, columns, columns - limit);
        at += strcspn(at, " ");
    }
}

void cut_to_columns(char *text, size_t limit)
{
    enum { LEAST = 24 }; /* what stays of a name */
    size_t columns;

    while ((columns = text_columns(text)) > limit) {
        size_t excess = columns - limit, longest = 0;
        char *word = text;

        for (char *at = text; *at != '\0'; at += strspn(at, " ")) {
            size_t length = strcspn(at, " "), width = text_columns_of(at, length);
            if (width > longest) {
                longest = width;
                word = at;
            }
            at += length;
        }
        if (longest > LEAST + strlen(ELLIPSIS)) {
            size_t most = longest - LEAST - strlen(ELLIPSIS);
            cut_middle(word, longest, excess < most ? excess : most);
        } else {
            char *end = text + bytes_of_columns(text, limit - strlen(ELLIPSIS));
            while (end > text && end[-1] != ' ')
                end--;
            strcpy(end, ELLIPSIS);
        }
    }
}
