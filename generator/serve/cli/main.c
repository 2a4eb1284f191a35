/* hprof-serve: sends the records of a dump to a client, as the HPROF agent of JDK 8 does with net=HOST:PORT. The files beside this
 * folder do the work. This file has the order of steps and the exit status: 0 done, 2 wrong usage, 3 something cannot be read, or
 * nobody listens, 4 out of memory. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent_dump.h"
#include "messages.h"
#include "option_table.h"
#include "options.h"
#include "streams.h"
#include "terminal.h"
#include "wrap.h"

enum { STATUS_DONE = 0, STATUS_USAGE = 2, STATUS_IO = 3, STATUS_MEMORY = 4, HELP_WIDTH = 80 };

const char program_name[] = "hprof-serve";

static int fail(int status, const char *subject, const char *why)
{
    say_failure(subject, why);
    return status;
}

static int finish_output(void)
{
    return flush_standard_output() ? STATUS_DONE : STATUS_IO;
}

static int print_help(void)
{
    size_t width = terminal_width(STDOUT_FILENO, HELP_WIDTH);

    wrap(stdout, "Usage: hprof-serve [OPTION]... HOST:PORT DUMP", 0, 0, width);
    wrap(stdout,
         "Connects to a client like the HPROF agent of JDK 8 with net=HOST:PORT, and sends the records of DUMP, one of this "
         "agent, "
         "as commands ask for them. Only loopback addresses are allowed.",
         0, 0, width);
    command_line_help(stdout, option_rows, option_row_count, width);
    putchar('\n');
    wrap(stdout, "Exit status: 0 done; 2 wrong usage; 3 the dump or the client fails; 4 out of memory.", 0, 0, width);
    fputs("For example:\n  hprof-gen --like jdk8-agent --records all -o agent.hprof\n"
          "  hprof-serve localhost:4711 agent.hprof\n",
          stdout);
    return finish_output();
}

static int send_dump(const struct options *o, int dump, int connection)
{
    struct serve_options how = {
        .orders = o->takes_orders ? STDIN_FILENO : -1, .cpu = o->cpu, .has_monitors = o->has_monitors, .is_text = o->is_text};
    uint8_t command = 0;
    char failure[80];

    switch (serve_dump(dump, connection, &how, &command)) {
    case SERVE_DONE:
        break;
    case SERVE_UNKNOWN:
        snprintf(failure, sizeof failure, "failed to recognize cmd %u: the agent would end its VM", command);
        say_failure(o->host, failure);
        break;
    case SERVE_FAILED:
        return fail(errno == ENOMEM ? STATUS_MEMORY : STATUS_IO, o->dump, strerror(errno));
    }
    return STATUS_DONE;
}

static int serve(const struct options *o)
{
    int dump = open(o->dump, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), /* a pipe is refused, not waited for */
        connection, status;
    char failure[HPROF_FAILURE_SIZE];
    const char *why;

    if (dump < 0)
        return fail(STATUS_IO, o->dump, strerror(errno));
    status = (int)agent_dump_check(dump, o->cpu != SERVE_CPU_OFF, failure);
    if (status != HPROF_VALID) {
        status = fail(status == HPROF_LIMIT ? STATUS_MEMORY : STATUS_IO, o->dump, failure);
    } else {
        connection = serve_connect(o->host, o->port, &why);
        status = connection < 0 ? fail(STATUS_IO, o->host, why) : send_dump(o, dump, connection);
        if (connection >= 0)
            close(connection);
    }
    close(dump);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;

    signal(SIGPIPE, SIG_IGN); /* a client may go away */
    if (!options_parse(&options, argc, argv))
        return STATUS_USAGE;
    switch (options.action) {
    case ACTION_HELP:
        return print_help();
    case ACTION_VERSION:
        printf("%s %s\n", program_name, HPROF_VERSION);
        return finish_output();
    case ACTION_SERVE:
        break;
    }
    return serve(&options);
}
