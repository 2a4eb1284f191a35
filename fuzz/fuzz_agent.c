/* Options and socket commands of the agent. Options that are accepted are in their ranges, and give a path; a refusal has one line
 * that says why. A command that is understood has values that the manual allows, and needs all the bytes that it has by then. */
#include <math.h>
#include <string.h>

#include "../generator/agent/options.h"
#include "../generator/agent/request.h"
#include "target.h"

enum { LONGEST = 1 << 14 };

static void expect_options(const char *text, const struct options *o)
{
    char path[OPTION_PATH] = "";

    if (!o->help && !o->heap && !o->samples && !o->times && !o->monitor)
        fail_target("nothing is asked for: %s", text);
    if (!o->help && o->binary && (o->monitor || o->times))
        fail_target("binary output of what has none: %s", text);
    if ((o->file[0] && o->host[0]) || o->depth > MOST_DEPTH || !o->interval || !isfinite(o->cutoff) || o->cutoff < 0 ||
        o->gz > 9 || o->sample > INT32_MAX)
        fail_target("a value out of its range: %s", text);
    if (options_path(o, 4711, path, sizeof path) && (!path[0] || strstr(path, "%p")))
        fail_target("'%s' is no path: %s", path, text);
    if (options_path(o, 4711, path, 8) && strlen(path) >= 8)
        fail_target("a path longer than its memory: %s", text);
}

static void try_options(const uint8_t *data, size_t size)
{
    char text[LONGEST + 1], error[OPTION_ERROR] = "";
    struct options options;
    const char *copy;

    size = size < LONGEST ? size : LONGEST;
    memcpy(text, data, size);
    text[size] = '\0';
    copy = (const char *)copy_to_guard_page((const uint8_t *)text, strlen(text) + 1);
    if (options_parse(&options, copy, error))
        expect_options(text, &options);
    else if (!error[0] || !memchr(error, '\0', sizeof error) || strpbrk(error, "\n\r\x1b"))
        fail_target("refused without one line that says why: %s", text);
}

static void try_command(unsigned command, unsigned id_size, const uint8_t *data, size_t size)
{
    struct request r, shorter;

    if (!request_parse(&r, command, copy_to_guard_page(data, size), size, id_size))
        return;
    if (r.command != (enum command)command || !isfinite(r.cutoff) || r.cutoff < 0 || r.flags > UINT16_MAX ||
        r.depth > UINT16_MAX || (id_size == 4 && r.thread > UINT32_MAX) ||
        (r.control != CONTROL_NONE && command != COMMAND_CONTROL))
        fail_target("a value out of its range in command %u", command);
    if ((command == COMMAND_SITES || command == COMMAND_SAMPLES || command == COMMAND_CONTROL) &&
        request_parse(&shorter, command, data, 1, id_size))
        fail_target("command %u was understood before its end", command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (data[0] & 1)
        try_command(data[1], data[0] & 2 ? 8 : 4, data + 2, size - 2);
    else
        try_options(data + 1, size - 1);
    return 0;
}
