#include "messages.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "printable.h"
#include "terminal.h"
#include "wrap.h"

#define INDENT 4

static void write_message(FILE *out, const char *before, const char *subject, const char *after, const char *question)
{
    fprintf(out, "%s: %s", program_name, before);
    print_safely(out, subject);
    fprintf(out, "%s%s", after, question);
}

/* False if the message needs no wrapping, or there is no memory. */
static bool say_wrapped(const char *before, const char *subject, const char *after, const char *question)
{
    size_t width = terminal_width(STDERR_FILENO, WRAP_NEVER), size;
    char *text = NULL;
    FILE *memory = width != WRAP_NEVER ? open_memstream(&text, &size) : NULL;

    if (memory == NULL)
        return false;
    write_message(memory, before, subject, after, question);
    bool is_wide = fclose(memory) == 0 && text_columns(text) > width;
    if (is_wide)
        wrap_hanging(stderr, text, INDENT, 0, width);
    free(text);
    return is_wide;
}

static void say(const char *before, const char *subject, const char *after, const char *question)
{
    if (!say_wrapped(before, subject, after, question)) {
        write_message(stderr, before, subject, after, question);
        putc('\n', stderr);
    }
}

void say_usage_asking(const char *before, const char *subject, const char *after, const char *question)
{
    say(before, subject, after, question);
    fprintf(stderr, "Try '%s --help'.\n", program_name);
}

void say_usage(const char *before, const char *subject, const char *after)
{
    say_usage_asking(before, subject, after, "");
}

void say_failure(const char *subject, const char *failure)
{
    say("", subject, ": ", failure);
}

const char *input_name(const char *file, const char *stdin_name)
{
    return strcmp(file, "-") == 0 && stdin_name != NULL ? stdin_name : file;
}

const char *display_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}
