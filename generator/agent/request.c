#include "request.h"

#include <math.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t left;
    bool is_short;
};

static uint64_t take(struct bytes *from, unsigned size)
{
    uint64_t value = 0;
    if (from->left < size) {
        from->is_short = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | from->at[i];
    from->at += size;
    from->left -= size;
    return value;
}

static double take_cutoff(struct bytes *from)
{
    uint32_t bits = (uint32_t)take(from, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) && value > 0 ? (double)value : 0;
}

/* The manual's 6 has a depth. The agent of JDK 8 took none and forgot sites, and set the depth at 7: its clients work, too. */
static bool parse_control(struct request *request, struct bytes *from, unsigned id_size)
{
    unsigned what = (unsigned)take(from, 2);
    switch (what) {
    case 1:
    case 2:
    case 5:
        request->control = (enum control)what;
        break;
    case 3:
    case 4:
        request->control = (enum control)what;
        request->thread = take(from, id_size);
        break;
    case 6:
    case 7:
        request->control = what == 6 && from->left == 0 ? CONTROL_FORGET_SITES : CONTROL_DEPTH;
        if (request->control == CONTROL_DEPTH)
            request->depth = (unsigned)take(from, 2);
        break;
    default:
        return false;
    }
    return !from->is_short;
}

bool request_parse(struct request *request, unsigned command, const uint8_t *data, size_t size, unsigned id_size)
{
    struct bytes from = {data, size, false};
    *request = (struct request){.command = (enum command)command};
    switch (command) {
    case COMMAND_COLLECT:
    case COMMAND_HEAP:
    case COMMAND_SUMMARY:
    case COMMAND_EXIT:
    case COMMAND_TRACES:
    case COMMAND_END:
        return true;
    case COMMAND_SITES:
    case COMMAND_SAMPLES:
        request->flags = (unsigned)take(&from, 2);
        request->cutoff = take_cutoff(&from);
        return !from.is_short;
    case COMMAND_CONTROL:
        return parse_control(request, &from, id_size);
    }
    return false;
}
