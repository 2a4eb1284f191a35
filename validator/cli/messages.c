#include "messages.h"

#include <stdio.h>
#include <string.h>

#include "printable.h"

void say_usage(const char *before, const char *subject, const char *after)
{
    fprintf(stderr, "%s: %s", program_name, before);
    print_safely(stderr, subject);
    fputs(after, stderr);
    fprintf(stderr, "\nTry '%s --help'.\n", program_name);
}

void say_refused_option(int told, int code, bool known, const char *word)
{
    const char letter[] = {'-', (char)code, '\0'};

    if (told == ':')
        say_usage("option '", word, "' needs an argument");
    else if (code == 0)
        say_usage("there is no option '", word, "', or it is short for several");
    else if (known)
        say_usage("option '", word, "' takes no argument");
    else
        say_usage("there is no option '", letter, "'"); /* getopt_long may not be past its word yet */
}

void say_failure(const char *subject, const char *failure)
{
    fprintf(stderr, "%s: ", program_name);
    print_safely(stderr, subject);
    fprintf(stderr, ": %s\n", failure);
}

const char *display_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}
