/* hprof: one name for all tools. It puts the options in order and becomes the tool, so there is nothing here that a tool does. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hprof/hprof.h"
#include "messages.h"
#include "nearest.h"
#include "terminal.h"
#include "wrap.h"

enum { USAGE = 2, NOT_FOUND = 127, HELP_WIDTH = 80, NAME_COLUMN = 11 };

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
    wrap(
        out,
        "hprof COMMAND --help prints the options of a command: those of hprof-validate, hprof-diff, hprof-reduce or hprof-gen, "
        "whose exit status it has.",
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

/* The tool beside this program, or the one on the PATH. A file of a release has the version at the end of its name, and so have the
 * tools beside it: hprof-0.3.0-linux-x86_64 runs hprof-validate-0.3.0-linux-x86_64. */
static int become(const char *tool, char **arguments)
{
    char self[PATH_MAX], path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length > 0) {
        self[length] = '\0';
        char *name = strrchr(self, '/') + 1;
        bool is_hprof = strncmp(name, program_name, strlen(program_name)) == 0;

        snprintf(path, sizeof path, "%.*s%s%s", (int)(name - self), self, tool, is_hprof ? name + strlen(program_name) : "");
        execv(path, arguments);
    }
    execvp(tool, arguments);
    say_failure(tool, strerror(errno));
    return NOT_FOUND;
}

static int run(const struct command *command, int count, char **given)
{
    char **arguments = calloc((size_t)count + 3, sizeof *arguments), **to = arguments;
    bool has_option = command->option != NULL && !asks_for_help(given);

    if (arguments == NULL) {
        say_failure(command->name, "out of memory");
        return NOT_FOUND;
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
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout, terminal_width(STDOUT_FILENO, HELP_WIDTH));
        return fflush(stdout) == 0 ? 0 : 3;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("%s %s\n", program_name, HPROF_VERSION);
        return fflush(stdout) == 0 ? 0 : 3;
    }
    command = find_command(argv[1]);
    return command != NULL ? run(command, argc - 2, argv + 2) : USAGE;
}
