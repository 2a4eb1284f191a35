#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "numbers.h"
#include "output.h"
#include "printable.h"
#include "terminal.h"
#include "wrap.h"

#define INDENT 2
#define REMARK_COLUMN 60
#define ROW_BYTES 16

struct view {
    FILE *out;
    bool color;
    bool decimal;       /* offsets are printed in decimal */
    int offset_columns; /* of the largest offset, so that columns align */
    size_t width;       /* of the terminal, or WRAP_NEVER */
    uint64_t wanted;    /* the offset that is marked */
    int fd;
    const char *file;
    bool has_begun; /* a line was printed */
};

/* Prints ">" at the wanted offset, and the offset. Returns the columns of this, which all lines have in common. */
static size_t print_margin(const struct view *view, bool here, uint64_t offset)
{
    char number[NUMBER_SIZE] = "";

    putc(here ? '>' : ' ', view->out);
    if (offset != HPROF_NO_OFFSET)
        format_offset(number, offset, view->decimal);
    fprintf(view->out, "%*s  ", view->offset_columns, number);
    return (size_t)view->offset_columns + 3;
}

static void begin_line(const struct view *view, bool here)
{
    if (view->color && here)
        fputs("\033[1m", view->out);
}

static void end_line(const struct view *view, bool here)
{
    if (view->color && here)
        fputs("\033[0m", view->out);
    putc('\n', view->out);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* The columns of a row: each byte in hexadecimal, a gap in the middle, each byte as a character. */
static size_t row_columns(size_t bytes)
{
    return 4 * bytes + 2 + (bytes > ROW_BYTES / 2);
}

/* As many bytes as fit the terminal. */
static size_t bytes_in_row(const struct view *view, size_t before)
{
    size_t bytes = ROW_BYTES;

    while (bytes > 1 && (before >= view->width || row_columns(bytes) > view->width - before))
        bytes /= 2;
    return bytes;
}

static void print_row(const struct view *view, const uint8_t *bytes, size_t count, size_t row)
{
    for (size_t i = 0; i < row; i++) {
        const char *gap = i == ROW_BYTES / 2 ? "  " : " ";
        if (i < count)
            fprintf(view->out, "%s%02x", gap, bytes[i]);
        else
            fprintf(view->out, "%s  ", gap);
    }
    fputs("  ", view->out);
    for (size_t i = 0; i < count; i++)
        putc(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.', view->out);
}

static void print_bytes(const struct view *view, const struct hprof_line *line, int indent)
{
    size_t row = bytes_in_row(view, (size_t)view->offset_columns + 3 + (size_t)indent);

    for (size_t i = 0; i < line->byte_count; i += row) {
        size_t count = line->byte_count - i < row ? line->byte_count - i : row;
        bool here = line->here && view->wanted - (line->offset + i) < count;

        begin_line(view, here);
        print_margin(view, here, line->offset + i);
        fprintf(view->out, "%*s", indent, "");
        print_row(view, line->bytes + i, count, row);
        end_line(view, here);
    }
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Prints a text from `column` on. Lines end at spaces, and within words that are wider than a line; all but the first are
 * indented. Returns the column of its end. */
static size_t print_wrapped(const struct view *view, const char *text, size_t column, size_t indent)
{
    enum { LEAST = 8 };
    size_t width = view->width > indent + LEAST ? view->width : indent + LEAST;

    while (*text != '\0') {
        size_t length = strcspn(text + 1, " ") + 1, columns = text_columns_of(text, length);
        if (column + columns > width && column > indent) {
            fprintf(view->out, "\n%*s", (int)indent, "");
            column = indent;
            text += strspn(text, " ");
            continue;
        }
        size_t room = width - column, bytes = 0;
        for (size_t taken = 0; bytes < length && taken < room; taken++) {
            do
                bytes++;
            while (((unsigned char)text[bytes] & 0xC0) == 0x80);
        }
        fwrite(text, 1, bytes, view->out);
        column += text_columns_of(text, bytes);
        text += bytes;
    }
    return column;
}

static void print_text(const struct view *view, const struct hprof_line *line, int indent)
{
    begin_line(view, line->here);
    size_t margin = print_margin(view, line->here, line->offset) + (size_t)indent, text = text_columns(line->text);
    fprintf(view->out, "%*s", indent, "");
    size_t column = print_wrapped(view, line->text, margin, margin + INDENT);
    if (line->remark[0] != '\0') {
        size_t gap = text == 0 ? 0 : (size_t)indent + text < REMARK_COLUMN ? REMARK_COLUMN - (size_t)indent - text : 2;
        if (column + gap + 2 + text_columns(line->remark) > view->width && text > 0) {
            fprintf(view->out, "\n%*s", (int)margin + INDENT, "");
            column = margin + INDENT;
            gap = 0;
        }
        fprintf(view->out, "%*s# ", (int)gap, "");
        print_wrapped(view, line->remark, column + gap + 2, margin + INDENT);
    }
    end_line(view, line->here);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* An offset of the compressed file, as findings of gzip have it, would lead elsewhere. */
static void note_compression(const struct view *view)
{
    uint8_t magic[2];

    if (pread(view->fd, magic, sizeof magic, 0) != sizeof magic || magic[0] != 0x1f || magic[1] != 0x8b)
        return;
    fputs("# ", view->out);
    size_t column = 2 + print_safely(view->out, view->file);
    print_wrapped(view,
                  " is compressed: offsets are of the dump in it; those of the rules GZ are of the file, and are not shown",
                  column, 2);
    putc('\n', view->out);
}

static int on_line(void *context, const struct hprof_line *line)
{
    struct view *view = context;
    int indent = INDENT * (int)line->depth;

    if (!view->has_begun)
        note_compression(view);
    view->has_begun = true;
    if (line->bytes != NULL)
        print_bytes(view, line, indent);
    else
        print_text(view, line, indent);
    return 0;
}

enum hprof_status show_file(const struct cli_options *options)
{
    const char *file = options->files[0];
    int fd = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct hprof_show show;
    struct hprof_show_result result;
    struct output output;
    struct view view;

    if (fd < 0) {
        say_failure(display_name(file), strerror(errno));
        return HPROF_IO;
    }
    hprof_show_init(&show);
    hprof_show_result_init(&result);
    show.offset = options->show_offset;
    show.around = options->show_around;
    show.on_line = on_line;
    enum hprof_status status = output_open(&output, options);
    if (status == HPROF_VALID) {
        char offset[NUMBER_SIZE];
        view = (struct view){.out = output.stream,
                             .color = terminal_wants_color(options->color, output.fd),
                             .decimal = options->decimal,
                             .width = terminal_width(output.fd, WRAP_NEVER),
                             .wanted = show.offset,
                             .fd = fd,
                             .file = file,
                             .offset_columns = 1 + (int)strlen(format_offset(offset, show.offset, options->decimal))};
        show.context = &view;
        status = hprof_show_fd(fd, &show, &result);
        bool complete = output_close(&output);
        if (status != HPROF_VALID)
            say_failure(display_name(file), result.failure);
        else if (!complete)
            status = HPROF_IO;
    }
    if (fd != STDIN_FILENO)
        close(fd);
    return status;
}
