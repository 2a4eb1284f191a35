/* See old_serve.h. */
#include "old_serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "become.h"
#include "lists.h"
#include "messages.h"
#include "write.h"

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

/* The temporary file has no name but that of its descriptor, which hprof-serve inherits. */
static int become_server(const struct cli_options *o, int spool)
{
    char *arguments[10], name[32];
    size_t n = 0;

    snprintf(name, sizeof name, "/dev/fd/%d", spool);
    arguments[n++] = "hprof-serve";
    if (o->serve_format) {
        arguments[n++] = "--format";
        arguments[n++] = (char *)(uintptr_t)o->serve_format;
    }
    if (o->serve_cpu) {
        arguments[n++] = "--cpu";
        arguments[n++] = (char *)(uintptr_t)o->serve_cpu;
    }
    if (o->has_monitors)
        arguments[n++] = "--monitor";
    if (o->takes_orders)
        arguments[n++] = "--orders";
    arguments[n++] = (char *)(uintptr_t)o->serve;
    arguments[n++] = name;
    arguments[n] = NULL;
    become("hprof-serve", arguments);
    return STATUS_IO;
}

int old_serve(const struct cli_options *o)
{
    struct spool spool = {.bytes = {.put = spool_put, .finish = spool_finish}, .file = tmpfile()};
    int status;

    if (!spool.file) {
        say_failure("temporary file", strerror(errno));
        return STATUS_IO;
    }
    fprintf(stderr, "%s: --serve is a tool now: hprof-serve %s DUMP\n", program_name, o->serve);
    status = make_spool(o, &spool);
    if (status == STATUS_DONE)
        status = become_server(o, fileno(spool.file));
    fclose(spool.file);
    return status;
}
