/* See break.h. The generator reads a dump from a file, so the bytes go into one that is only in memory. */
#define _GNU_SOURCE

#include "break.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "generate.h"

struct room {
    struct bytes sink; /* the first member: see bytes.h */
    uint8_t *out;
    size_t size, max;
};

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct room *room = (struct room *)bytes;

    if (size > room->max - room->size)
        return false;
    if (size)
        memcpy(room->out + room->size, data, size);
    room->size += size;
    return true;
}

static bool finish(struct bytes *bytes)
{
    (void)bytes;
    return true;
}

static const struct fault *draw_fault(struct dice *dice)
{
    size_t n = 0;

    while (fault_at(n))
        n++;
    return fault_at((size_t)below(dice, n));
}

/* The file with these bytes; -1 if there is none. */
static int file_of(const uint8_t *data, size_t size)
{
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("dump", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return -1;
    return fd;
}

size_t break_dump(const uint8_t *data, size_t size, uint8_t *out, size_t max, struct dice *dice)
{
    const struct fault *fault = draw_fault(dice);
    char what[128];
    const char *violate[] = {what};
    struct room room = {.sink = {.put = put, .finish = finish}, .out = out, .max = max};
    struct generate_request request = {
        .from = file_of(data, size),
        .violate = violate,
        .violate_count = 1,
        .how = {.at = below(dice, UINT32_MAX), .count = 1, .seed = throw_dice(dice)},
    };
    struct generated generated = {0};
    enum generate_status status;

    if (request.from < 0)
        return 0;
    snprintf(what, sizeof what, "%s/%s", fault_rule(fault), fault_variant(fault));
    status = generate(&request, &room.sink, &generated);
    generated_free(&generated);
    return status == GENERATED ? room.size : 0;
}
