/* See fit_file.h. */
#define _GNU_SOURCE
#include "fit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "fit/fit.h"
#include "lists.h"
#include "messages.h"
#include "numbers.h"
#include "printable.h"
#include "stream/bytes_file.h"
#include "write.h"

/* "1,022 of 1,300 names of classes" */
static void show_kept(uint64_t kept, uint64_t all, const char *what)
{
    char some[NUMBER_SIZE], whole[NUMBER_SIZE];

    fprintf(stderr, "  %s of %s names of %s\n", format_exact(some, kept), format_exact(whole, all), what);
}

/* So that the owner of the dump knows what he gives away. */
static void show_revealed(const struct cli_options *o, const struct revealed *r)
{
    char number[NUMBER_SIZE], mean[NUMBER_SIZE], last[NUMBER_SIZE];

    if (o->quiet)
        return;
    print_safely(stderr, o->output ? o->output : "standard output");
    fputs(": the profile has no value of a field, no element of an array and no text. It reveals:\n", stderr);
    show_kept(r->kept_classes, r->classes, "classes, because they are in the list of the JDK's names; the others are numbers");
    show_kept(r->kept_fields, r->fields, "fields, likewise");
    show_kept(r->kept_methods, r->methods, "methods of frames, likewise");
    fprintf(stderr, "  how many records, roots, threads and frames there are, and how many of the %s objects each class has\n",
            format_exact(number, r->objects));
    fputs("  what the references of each class name, how far away it is, and how many are null: of ", stderr);
    if (r->sampled_one_of > 1)
        fprintf(stderr, "one of %s objects\n", format_exact(number, r->sampled_one_of));
    else
        fputs("all objects\n", stderr);
    if (r->ordered_one_of > 1)
        fprintf(stderr, "  the order of one of %s objects by class, and how many bits the length of each object array has\n",
                format_exact(number, r->ordered_one_of));
    else
        fputs("  the order of all objects by class, and how many bits the length of each object array has\n", stderr);
    if (r->follow)
        fprintf(stderr,
                "  that %s objects begin in the VM where the one before ends, and how large its headers and references are\n",
                format_exact(number, r->follow));
    fprintf(
        stderr,
        "  lengths of arrays and texts: %s that at least 20 share, %s as means of at least 20, and %s rounded to one digit\n",
        format_exact(number, r->shared_lengths), format_exact(mean, r->pooled), format_exact(last, r->rounded));
    if (r->heap_dumps > 1)
        fprintf(stderr, "It describes the last of %s heap dumps.\n", format_exact(number, r->heap_dumps));
}

static int say_fit_failure(const struct cli_options *o, const struct fit_result *result)
{
    say_failure(o->fit, result->failure);
    return result->status == HPROF_LIMIT ? STATUS_MEMORY : STATUS_IO;
}

static int write_profile(const struct cli_options *o, int fd, struct bytes_file *file)
{
    struct fit_result result;
    FILE *out = open_text(file);
    bool written;

    if (!out) {
        say_failure("profile", "out of memory");
        return STATUS_MEMORY;
    }
    fit_dump(fd, out, &result);
    written = !ferror(out);
    written &= fclose(out) == 0;
    if (result.status != HPROF_VALID)
        return say_fit_failure(o, &result);
    if (!written || !bytes_finish(&file->bytes))
        return say_file_failure(file);
    show_revealed(o, &result.revealed);
    return STATUS_DONE;
}

int fit_file(const struct cli_options *o)
{
    struct bytes_file file;
    int fd, status;

    if (is_same_file(o->output, o->fit)) {
        say_usage("the dump that is read would be overwritten: '", o->fit, "'");
        return STATUS_USAGE;
    }
    fd = open(o->fit, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe is refused, not waited for */
    if (fd < 0) {
        say_failure(o->fit, strerror(errno));
        return STATUS_IO;
    }
    status = bytes_file_open(&file, o->output) ? write_profile(o, fd, &file) : say_file_failure(&file);
    bytes_file_close(&file);
    close(fd);
    return status;
}
