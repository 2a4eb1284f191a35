#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"

void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

/* The input that writing to `fd` would destroy, or NULL. */
static const char *input_behind(int fd, const struct cli_options *options)
{
    struct stat output, input;
    if (fstat(fd, &output) != 0 || !S_ISREG(output.st_mode))
        return NULL;
    for (int i = 0; i < options->file_count; i++) {
        const char *file = options->files[i];
        int failed = strcmp(file, "-") == 0 ? fstat(STDIN_FILENO, &input) : stat(file, &input);
        if (failed == 0 && output.st_dev == input.st_dev && output.st_ino == input.st_ino)
            return file;
    }
    return NULL;
}

static enum hprof_status cannot_open(const char *name)
{
    say_failure(name, strerror(errno));
    return HPROF_IO;
}

enum hprof_status output_open(struct output *output, const struct cli_options *options)
{
    int fd = STDOUT_FILENO;
    struct stat stat;

    *output = (struct output){.stream = stdout, .name = "standard output"};
    if (options->output != NULL) {
        output->name = options->output;
        do {
            fd = open(output->name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
        } while (fd < 0 && errno == EINTR);
        if (fd < 0)
            return cannot_open(output->name);
        output->stream = fdopen(fd, "w");
        if (output->stream == NULL)
            return cannot_open(output->name);
    }

    const char *input = input_behind(fd, options);
    if (input != NULL) {
        say_usage("the output would overwrite the input '", display_name(input), "'");
        if (options->output != NULL)
            fclose(output->stream);
        return HPROF_USAGE;
    }
    if (options->output != NULL && fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && ftruncate(fd, 0) != 0) {
        enum hprof_status status = cannot_open(output->name);
        fclose(output->stream);
        return status;
    }
    return HPROF_VALID;
}

bool output_good(struct output *output)
{
    if (output->error == 0 && ferror(output->stream))
        output->error = errno != 0 ? errno : EIO;
    return output->error == 0;
}

bool output_close(struct output *output)
{
    if (output_good(output) && fflush(output->stream) != 0)
        output->error = errno;
    if (fclose(output->stream) != 0 && output->error == 0)
        output->error = errno;
    if (output->error != 0 && output->error != EPIPE)
        say_failure(output->name, strerror(output->error));
    return output->error == 0;
}
