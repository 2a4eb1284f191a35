/* hprof: one name for all tools. It puts the options in order and becomes the tool, so there is nothing here that a tool does. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "become.h"
#include "hprof/hprof.h"
#include "messages.h"
#include "nearest.h"
#include "streams.h"
#include "terminal.h"
#include "wrap.h"

enum { USAGE = 2, HELP_WIDTH = 80, NAME_COLUMN = 11 };

const char program_name[] = "hprof";

/* With a command: the tool gets its option before all others. */
struct command {
    const char *name, *tool, *option;
    bool ends_with_value; /* of the option: the last argument */
    const char *help;
};

static const struct command commands[] = {
    {"check", "hprof-validate", NULL, false, "check dumps against the specification"},
    {"repair", "hprof-validate", "--repair", true, "write a valid copy of what can be read of a dump: FILE COPY"},
    {"show", "hprof-validate", "--show", false, "show the record at an offset: OFFSET FILE"},
    {"stats", "hprof-validate", "--stats", false, "print what is in a dump"},
    {"diff", "hprof-diff", NULL, false, "compare two dumps"},
    {"reduce", "hprof-reduce", NULL, false, "find the smallest dump for which a command still ends as it does"},
    {"gen", "hprof-gen", NULL, false, "make a dump, valid or broken"},
    {"serve", "hprof-serve", NULL, false, "send a dump to a client, as the HPROF agent of JDK 8 does"},
    {"explain", "hprof-validate", "--explain", false, "explain rules: RULE[,RULE...]"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out, size_t width)
{
    wrap(out, "Usage: hprof COMMAND [ARGUMENT]...", 0, 0, width);
    wrap(out, "Checks, repairs, compares and makes HPROF heap dumps.", 0, 0, width);
    putc('\n', out);
    for (size_t i = 0; i < COMMANDS; i++) {
        int column = fprintf(out, "  %-*s", NAME_COLUMN - 2, commands[i].name);

        wrap(out, commands[i].help, NAME_COLUMN, (size_t)column, width);
    }
    putc('\n', out);
    wrap(out,
         "hprof COMMAND --help prints the options of a command: those of hprof-validate, hprof-diff, hprof-reduce, hprof-gen "
         "or hprof-serve, whose exit status it has.",
         0, 0, width);
}

static const struct command *find_command(const char *name)
{
    char question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        nearest_offer(&nearest, commands[i].name);
    }
    say_usage_asking("there is no command '", name, "'", nearest_question(&nearest, "", question));
    return NULL;
}

static bool asks_for_help(char **arguments)
{
    for (; *arguments != NULL && strcmp(*arguments, "--") != 0; arguments++)
        if (strcmp(*arguments, "--help") == 0 || strcmp(*arguments, "-h") == 0)
            return true;
    return false;
}

static int run(const struct command *command, int count, char **given)
{
    char **arguments = calloc((size_t)count + 3, sizeof *arguments), **to = arguments;
    bool has_option = command->option != NULL && !asks_for_help(given);

    if (arguments == NULL) {
        say_failure(command->name, "out of memory");
        return BECOME_NOT_FOUND;
    }
    *to++ = (char *)command->tool;
    if (has_option)
        *to++ = (char *)command->option;
    if (has_option && command->ends_with_value) {
        if (count < 2 || given[count - 1][0] == '-') {
            say_usage("", command->name, " takes FILE and COPY, and these come last");
            free(arguments);
            return USAGE;
        }
        *to++ = given[--count];
    }
    memcpy(to, given, (size_t)count * sizeof *given);
    count = become(command->tool, arguments);
    free(arguments);
    return count;
}

int main(int argc, char **argv)
{
    const struct command *command;

    if (argc < 2) {
        print_help(stderr, terminal_width(STDERR_FILENO, HELP_WIDTH));
        return USAGE;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) { /* as COMMAND --help */
        command = find_command(argv[2]);
        return command != NULL ? run(command, 1, (char *[]){"--help", NULL}) : USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout, terminal_width(STDOUT_FILENO, HELP_WIDTH));
        return flush_standard_output() ? 0 : 3;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("%s %s\n", program_name, HPROF_VERSION);
        return flush_standard_output() ? 0 : 3;
    }
    command = find_command(argv[1]);
    return command != NULL ? run(command, argc - 2, argv + 2) : USAGE;
}
