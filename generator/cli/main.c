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
#include "serve.h"
#include "write.h"

const char program_name[] = "hprof-gen";

enum { HELP_WIDTH = 80 };

/* ---- What is known ---- */

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

/* ---- Serving ---- */

/* Makes the dump whose parts are sent. */
struct spool {
    struct bytes bytes;
    FILE *file;
};

static bool spool_put(struct bytes *bytes, const void *data, size_t size)
{
    return fwrite(data, 1, size, ((struct spool *)bytes)->file) == size;
}

static bool spool_finish(struct bytes *bytes)
{
    return fflush(((struct spool *)bytes)->file) == 0;
}

static const struct producer *find_like(const char *name)
{
    size_t i = 0;

    while (strcmp(producer_name(producer_at(i)), name) != 0)
        i++;
    return producer_at(i);
}

static int make_spool(const struct cli_options *o, struct spool *spool)
{
    struct generate_request request = o->request;
    struct generated *generated = calloc(1, sizeof *generated);
    enum generate_status status = GENERATE_NO_MEMORY;

    request.made.producer = find_like("jdk8-agent");
    request.made.records = RECORDS_ALL;
    if (generated)
        status = generate(&request, &spool->bytes, generated);
    if (status == GENERATE_FAILED && !generated->failure)
        say_failure("temporary file", strerror(errno));
    else if (status != GENERATED)
        say_generate_failure(o, status, generated, NULL, NULL);
    if (generated)
        generated_free(generated);
    free(generated);
    return (int)status;
}

static int serve(const struct cli_options *o)
{
    struct spool spool = {.bytes = {.put = spool_put, .finish = spool_finish}, .file = tmpfile()};
    const char *failure;
    int connection = spool.file ? serve_connect(o->serve_host, o->serve_port, &failure) : -1, status = STATUS_IO;
    uint8_t command = 0;
    char failed[80];

    if (!spool.file) {
        say_failure("temporary file", strerror(errno));
        return STATUS_IO;
    }
    if (connection < 0) {
        say_failure(o->serve_host, failure);
    } else {
        status = make_spool(o, &spool);
        if (status == STATUS_DONE) {
            struct serve_options how = {.orders = o->takes_orders ? STDIN_FILENO : -1,
                                        .cpu = o->request.made.records == RECORDS_SITES && o->has_records ? SERVE_CPU_OFF
                                               : o->serve_cpu                                             ? o->serve_cpu
                                                                                                          : SERVE_CPU_SAMPLES,
                                        .has_monitors = o->has_monitors,
                                        .is_text = o->is_text};

            switch (serve_dump(fileno(spool.file), connection, &how, &command)) {
            case SERVE_DONE:
                break;
            case SERVE_UNKNOWN:
                snprintf(failed, sizeof failed, "failed to recognize cmd %u: the agent would end its VM", command);
                say_failure(o->serve_host, failed);
                break;
            case SERVE_FAILED:
                say_failure("temporary file", strerror(errno));
                status = errno == ENOMEM ? STATUS_MEMORY : STATUS_IO;
                break;
            }
        }
        close(connection);
    }
    fclose(spool.file);
    return status;
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
        status = options.serve_port ? serve(&options) : write_files(&options, NULL);
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
