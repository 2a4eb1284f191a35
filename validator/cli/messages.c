#include "messages.h"

#include <stdio.h>
#include <string.h>

#include "printable.h"

void say_usage_asking(const char *before, const char *subject, const char *after, const char *question)
{
    fprintf(stderr, "%s: %s", program_name, before);
    print_safely(stderr, subject);
    fprintf(stderr, "%s%s\nTry '%s --help'.\n", after, question, program_name);
}

void say_usage(const char *before, const char *subject, const char *after)
{
    say_usage_asking(before, subject, after, "");
}

void say_failure(const char *subject, const char *failure)
{
    fprintf(stderr, "%s: ", program_name);
    print_safely(stderr, subject);
    fprintf(stderr, ": %s\n", failure);
}

const char *input_name(const char *file, const char *stdin_name)
{
    return strcmp(file, "-") == 0 && stdin_name != NULL ? stdin_name : file;
}

const char *display_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}
