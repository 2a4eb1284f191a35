/* See versioned.h. */
#include "base/versioned.h"

#include <string.h>

enum { SIZE_MOST = 1 << 20 /* no version will have a larger structure */ };

static size_t size_of(const void *callers)
{
    size_t size;

    memcpy(&size, callers, sizeof size);
    return size >= sizeof size && size <= SIZE_MOST ? size : 0;
}

const char not_initialised[] = "a structure was not initialised by its function, whose name ends in _init";

bool is_versioned(const void *callers)
{
    return !callers || size_of(callers);
}

const char *take_versioned(void *own, size_t size, const void *callers)
{
    const unsigned char *bytes = callers;
    size_t theirs = size_of(callers);

    memset(own, 0, size);
    if (!theirs)
        return not_initialised;
    for (size_t i = size; i < theirs; i++)
        if (bytes[i])
            return "a structure has a member that this version of the library does not know";
    memcpy(own, callers, theirs < size ? theirs : size);
    memcpy(own, &size, sizeof size);
    return NULL;
}

bool give_versioned(void *callers, const void *own, size_t size)
{
    size_t theirs = callers ? size_of(callers) : 0, at = sizeof theirs, both = theirs < size ? theirs : size;

    if (theirs <= at)
        return !callers;
    memcpy((unsigned char *)callers + at, (const unsigned char *)own + at, both - at);
    memset((unsigned char *)callers + both, 0, theirs - both);
    return true;
}
