/* hprof-gen: writes heap dumps, valid or faulty, and manifests. The layers of src/ do the work. This file has the order of
 * steps, the files, and the exit status: 0 done (or the reader of a pipe has gone), 2 wrong usage, 3 something cannot be read
 * or written, 4 out of memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "each_fault.h"
#include "fit_file.h"
#include "lists.h"
#include "messages.h"
#include "old_serve.h"
#include "write.h"

const char program_name[] = "hprof-gen";

enum { HELP_WIDTH = 80 };

/* Help that nobody requested must not go to standard output, which may lead to a reader of dumps. */
static int show_usage(void)
{
    options_help(stderr, terminal_width(STDERR_FILENO, HELP_WIDTH));
    return STATUS_USAGE;
}

static int show_help(bool all)
{
    (all ? options_help_all : options_help)(stdout, terminal_width(STDOUT_FILENO, HELP_WIDTH));
    return finish_listing();
}

/* Otherwise the first file that is opened would get the messages. */
static void have_standard_error(void)
{
    int null;

    if (fcntl(STDERR_FILENO, F_GETFD) != -1)
        return;
    null = open("/dev/null", O_WRONLY);
    if (null >= 0 && null != STDERR_FILENO) {
        dup2(null, STDERR_FILENO);
        close(null);
    }
}

int main(int argc, char **argv)
{
    struct cli_options options;
    bool no_memory;
    int status = STATUS_DONE;

    have_standard_error();
    /* A failed write is reported later. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!options_parse(&options, argc, argv, &no_memory)) {
        options_free(&options);
        return no_memory ? STATUS_MEMORY : STATUS_USAGE;
    }
    switch (options.action) {
    case ACTION_GENERATE:
        status = options.serve ? old_serve(&options) : write_files(&options, NULL);
        break;
    case ACTION_EACH_FAULT:
        status = write_each_fault(&options);
        break;
    case ACTION_FIT:
        status = fit_file(&options);
        break;
    case ACTION_LIST_VIOLATIONS:
        status = list_faults();
        break;
    case ACTION_LIST_DAMAGE:
        status = list_damage();
        break;
    case ACTION_HELP:
        status = show_help(false);
        break;
    case ACTION_HELP_ALL:
        status = show_help(true);
        break;
    case ACTION_USAGE:
        status = show_usage();
        break;
    case ACTION_VERSION:
        printf("%s %s\n", program_name, HPROF_VERSION);
        status = finish_listing();
        break;
    }
    options_free(&options);
    return status;
}
