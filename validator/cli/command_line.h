/* The table of a tool's options, for getopt_long, for --help, and for suggestions when an option is mistyped. */
#ifndef HPROF_CLI_COMMAND_LINE_H
#define HPROF_CLI_COMMAND_LINE_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COMMAND_LINE_OPTIONS 64
#define COMMAND_LINE_REFUSED '?'

/* A new option needs an id, a row, and a case where the tool handles its options. */
struct option_row {
    int id;               /* what command_line_next() returns: the letter of the short form, or 256 and above */
    const char *name;     /* without dashes; NULL if `help` is the title of the rows that follow */
    const char *argument; /* "FILE"; "[=WHEN]" if the argument is optional; NULL if the option takes none */
    const char *help;     /* a title, or what the option does */
};

struct command_line {
    const struct option_row *rows;
    size_t row_count;
    int argc;
    char **argv;
    struct option long_options[COMMAND_LINE_OPTIONS + 1];
    char letters[2 * COMMAND_LINE_OPTIONS + 2];
};

void command_line_init(struct command_line *line, const struct option_row *rows, size_t row_count, int argc, char **argv);

/* The id of the next option, whose argument is in optarg; -1 when only operands are left, from argv[optind] on;
 * COMMAND_LINE_REFUSED after printing what is wrong. */
int command_line_next(struct command_line *line);

/* The long name of an option, without dashes; "" if no option has this id. */
const char *command_line_name(const struct command_line *line, int id);

void command_line_help(FILE *out, const struct option_row *rows, size_t row_count, size_t width);

#endif
