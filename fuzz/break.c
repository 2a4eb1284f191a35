/* See break.h. */
#include "break.h"

#include <stdio.h>
#include <string.h>

#include "generate.h"
#include "memory_file.h"

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

size_t break_dump(const uint8_t *data, size_t size, uint8_t *out, size_t max, struct dice *dice)
{
    static int fd = -1; /* the generator reads dumps from files */
    const struct fault *fault = draw_fault(dice);
    char what[128];
    const char *violate[] = {what};
    struct room room = {.sink = {.put = put, .finish = finish}, .out = out, .max = max};
    struct generate_request request = {
        .violate = violate,
        .violate_count = 1,
        .how = {.at = below(dice, UINT32_MAX), .count = 1, .seed = throw_dice(dice)},
    };
    struct generated generated = {0};
    enum generate_status status;

    fill_memory_file(&fd, data, size);
    request.from = fd;
    snprintf(what, sizeof what, "%s/%s", fault_rule(fault), fault_variant(fault));
    status = generate(&request, &room.sink, &generated);
    generated_free(&generated);
    return status == GENERATED ? room.size : 0;
}
