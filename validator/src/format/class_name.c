/* See class_name.h. */
#include "format/class_name.h"

#include <stdio.h>
#include <string.h>

void show_class_name(char *to, size_t size)
{
    static const struct {
        char code;
        const char *name;
    } primitive[] = {{'Z', "boolean"}, {'C', "char"},  {'F', "float"}, {'D', "double"},
                     {'B', "byte"},    {'S', "short"}, {'I', "int"},   {'J', "long"}};
    char element[512];
    size_t dimensions = strspn(to, "["), n = strlen(to);

    for (char *p = to; *p; p++)
        if (*p == '/')
            *p = '.';
    if (!dimensions || n + 2 * dimensions + 8 > size || n >= sizeof element)
        return;
    snprintf(element, sizeof element, "%s", to + dimensions);
    if (element[0] == 'L' && to[n - 1] == ';') {
        element[strlen(element) - 1] = '\0';
        memmove(element, element + 1, strlen(element));
    } else if (n == dimensions + 1) {
        for (size_t i = 0; i < sizeof primitive / sizeof *primitive; i++)
            if (primitive[i].code == element[0])
                snprintf(element, sizeof element, "%s", primitive[i].name);
    }
    n = strlen(element);
    memcpy(to, element, n);
    for (; dimensions; dimensions--, n += 2)
        memcpy(to + n, "[]", 2);
    to[n] = '\0';
}
