#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "numbers.h"
#include "output.h"
#include "printable.h"

#define INDENT 2
#define REMARK_COLUMN 60
#define ROW_BYTES 16

struct view {
    FILE *out;
    bool color;
    bool decimal;       /* offsets are printed in decimal */
    int offset_columns; /* of the largest offset, so that columns align */
};

static void print_bytes(struct view *view, const struct hprof_line *line)
{
    for (size_t i = 0; i < ROW_BYTES; i++) {
        if (i < line->byte_count)
            fprintf(view->out, "%s%02x", i == ROW_BYTES / 2 ? "  " : " ", line->bytes[i]);
        else
            fputs(i == ROW_BYTES / 2 ? "    " : "   ", view->out);
    }
    fputs("  ", view->out);
    for (size_t i = 0; i < line->byte_count; i++)
        putc(line->bytes[i] >= 0x20 && line->bytes[i] < 0x7f ? line->bytes[i] : '.', view->out);
}

/* Prints ">" at the wanted offset, the offset, the text or the bytes, and the remark. */
static void on_line(void *context, const struct hprof_line *line)
{
    struct view *view = context;
    int indent = INDENT * (int)line->depth, columns = indent;
    char offset[NUMBER_SIZE] = "";

    if (view->color && line->here)
        fputs("\033[1m", view->out);
    putc(line->here ? '>' : ' ', view->out);
    if (line->offset != HPROF_NO_OFFSET)
        format_offset(offset, line->offset, view->decimal);
    fprintf(view->out, "%*s  %*s", view->offset_columns, offset, indent, "");
    if (line->bytes != NULL) {
        print_bytes(view, line);
    } else {
        fputs(line->text, view->out);
        columns += (int)text_columns(line->text);
        if (line->remark[0] != '\0')
            fprintf(view->out, "%*s# %s",
                    line->text[0] == '\0'     ? 0
                    : columns < REMARK_COLUMN ? REMARK_COLUMN - columns
                                              : 2,
                    "", line->remark);
    }
    if (view->color && line->here)
        fputs("\033[0m", view->out);
    putc('\n', view->out);
}

enum hprof_status show_file(const struct cli_options *options)
{
    const char *file = options->files[0];
    int fd = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct hprof_show show = {.offset = options->show_offset, .around = options->show_around, .on_line = on_line};
    struct output output;
    struct view view;

    if (fd < 0) {
        say_failure(display_name(file), strerror(errno));
        return HPROF_IO;
    }
    enum hprof_status status = output_open(&output, options);
    if (status == HPROF_VALID) {
        char offset[NUMBER_SIZE];
        view = (struct view){.out = output.stream,
                             .color = terminal_wants_color(options->color, output.fd),
                             .decimal = options->decimal,
                             .offset_columns = 1 + (int)strlen(format_offset(offset, show.offset, options->decimal))};
        show.context = &view;
        status = hprof_show_fd(fd, &show);
        bool complete = output_close(&output);
        if (status != HPROF_VALID)
            say_failure(display_name(file), show.failure);
        else if (!complete)
            status = HPROF_IO;
    }
    if (fd != STDIN_FILENO)
        close(fd);
    return status;
}
