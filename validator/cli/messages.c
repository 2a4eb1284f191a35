#include "messages.h"

#include <stdio.h>
#include <string.h>

#include "printable.h"

void say_usage(const char *before, const char *subject, const char *after)
{
    fputs(PROGRAM ": ", stderr);
    fputs(before, stderr);
    print_safely(stderr, subject);
    fputs(after, stderr);
    fputs("\nTry '" PROGRAM " --help'.\n", stderr);
}

void say_failure(const char *subject, const char *failure)
{
    fputs(PROGRAM ": ", stderr);
    print_safely(stderr, subject);
    fprintf(stderr, ": %s\n", failure);
}

const char *display_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}
