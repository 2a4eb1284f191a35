/* See options.h. */
#include "options.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "decimals.h"
#include "messages.h"
#include "option_table.h"

static const char usage[] = "hprof-serve HOST:PORT DUMP";

static bool wrong(const char *before, const char *text)
{
    say_usage(before, text, "'");
    return false;
}

static bool take_cpu(const char *text, enum serve_cpu *cpu)
{
    static const char *const words[] = {"off", "samples", "times", "old"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *cpu = (enum serve_cpu)(SERVE_CPU_OFF + i);
            return true;
        }
    }
    return wrong("--cpu is off, samples, times or old, not '", text);
}

static bool take_option(struct options *o, int id)
{
    switch ((enum option_id)id) {
    case OPTION_HELP:
        o->action = ACTION_HELP;
        return true;
    case OPTION_VERSION:
        o->action = ACTION_VERSION;
        return true;
    case OPTION_FORMAT:
        o->is_text = strcmp(optarg, "a") == 0;
        return o->is_text || strcmp(optarg, "b") == 0 || wrong("--format is b (records) or a (text), not '", optarg);
    case OPTION_CPU:
        return take_cpu(optarg, &o->cpu);
    case OPTION_MONITOR:
        o->has_monitors = true;
        return true;
    case OPTION_ORDERS:
        o->takes_orders = true;
        return true;
    }
    return false; /* the mistake has been printed */
}

static bool is_port(const char *text)
{
    uint64_t port;

    return text[strspn(text, "0123456789")] == '\0' && parse_count(text, &port) && port >= 1 && port <= UINT16_MAX;
}

/* HOST:PORT, also [::1]:PORT. */
static bool take_address(struct options *o, const char *text)
{
    const char *colon = strrchr(text, ':'), *host = text;
    size_t size = colon ? (size_t)(colon - text) : 0;

    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    }
    if (!size || size >= sizeof o->host || !is_port(colon + 1))
        return wrong("the client is HOST:PORT with a port from 1 to 65535, such as localhost:4711, not '", text);
    memcpy(o->host, host, size);
    o->host[size] = '\0';
    o->port = colon + 1;
    return true;
}

/* As the agent's options do. */
static bool check_text(const struct options *o)
{
    if (!o->is_text && o->cpu > SERVE_CPU_SAMPLES)
        say_usage("--cpu times and --cpu old need --format a, as the agent's options do", "", "");
    else if (!o->is_text && o->has_monitors)
        say_usage("--monitor needs --format a, as the agent's option does", "", "");
    else
        return true;
    return false;
}

bool options_parse(struct options *o, int argc, char **argv)
{
    struct command_line line;
    int id;

    *o = (struct options){.cpu = SERVE_CPU_SAMPLES};
    command_line_init(&line, option_rows, option_row_count, argc, argv);
    while ((id = command_line_next(&line)) != -1) {
        if (!take_option(o, id))
            return false;
        if (o->action != ACTION_SERVE)
            return true;
    }
    if (argc - optind != 2) {
        say_usage(argc - optind < 2 ? "which client, and which dump? " : "one client and one dump: ", usage, "");
        return false;
    }
    o->dump = argv[optind + 1];
    return take_address(o, argv[optind]) && check_text(o);
}
