/* See jdk_names.h. */
#include "fit/jdk_names.h"

#include <string.h>

static const char *const names[] = {
#define NAME(text) text,
#include "fit/jdk_names.def"
#undef NAME
};
enum { NAMES = sizeof names / sizeof *names };

/* As memcmp() of the text and a name, of which the shorter one comes first. */
static int compare(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    int order = memcmp(text, name, size < length ? size : length);

    return order ? order : size < length ? -1 : size > length;
}

uint32_t jdk_name_number(const char *text, size_t size)
{
    uint32_t low = 0, high = NAMES;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare(text, size, names[middle]);

        if (order == 0)
            return middle + 1;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return JDK_NAME_NONE;
}

const char *jdk_name_text(uint32_t number)
{
    return names[number - 1];
}
