#define _DEFAULT_SOURCE
#include "command_line.h"

#include <string.h>

#include "messages.h"
#include "nearest.h"
#include "printable.h"
#include "wrap.h"

#define HELP_INDENT 28 /* where the descriptions of options start */

static bool has_letter(const struct option_row *row)
{
    return row->id < 256;
}

static int argument_kind(const struct option_row *row)
{
    if (row->argument == NULL)
        return no_argument;
    return row->argument[0] == '[' ? optional_argument : required_argument;
}

void command_line_init(struct command_line *line, const struct option_row *rows, size_t row_count, int argc, char **argv)
{
    size_t options = 0, letters = 0;

    *line = (struct command_line){.rows = rows, .row_count = row_count, .argc = argc, .argv = argv};
    line->letters[letters++] = ':';
    for (const struct option_row *row = rows; row < rows + row_count && options < COMMAND_LINE_OPTIONS; row++) {
        if (row->name == NULL)
            continue;
        line->long_options[options++] = (struct option){row->name, argument_kind(row), NULL, row->id};
        if (has_letter(row)) {
            line->letters[letters++] = (char)row->id;
            if (argument_kind(row) == required_argument)
                line->letters[letters++] = ':';
        }
    }
    opterr = 0;
}

const char *command_line_name(const struct command_line *line, int id)
{
    for (size_t i = 0; i < line->row_count; i++) {
        if (line->rows[i].name != NULL && line->rows[i].id == id)
            return line->rows[i].name;
    }
    return "";
}

/* ---- Wrong options ----------------------------------------------------------------------------------------------- */

/* An unknown long option: the start of several names, such as "--max", or perhaps a mistyped name. */
static void refuse_long(const struct command_line *line, const char *word)
{
    char name[64], several[512] = "' is short for", question[NEAREST_QUESTION_SIZE];
    size_t used = strlen(several), matches = 0;
    struct nearest nearest;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    nearest_init(&nearest, name);
    for (const struct option *o = line->long_options; o->name != NULL; o++) {
        nearest_offer(&nearest, o->name);
        if (strncmp(o->name, name, strlen(name)) == 0 && used < sizeof several)
            used += (size_t)snprintf(several + used, sizeof several - used, "%s --%s", matches++ > 0 ? " and" : "", o->name);
    }
    if (name[0] != '\0' && matches > 1)
        say_usage("'", word, several);
    else
        say_usage_asking("there is no option '", word, "'", nearest_question(&nearest, "--", question));
}

/* An unknown letter: perhaps "-profile" was meant to be "--profile". */
static void refuse_letter(const struct command_line *line, int letter)
{
    const char word[] = {'-', (char)letter, '\0'};
    char question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    nearest_init(&nearest, "");
    for (int i = optind - 1; i <= optind && i < line->argc; i++) { /* getopt_long may still be at the word */
        const char *given = line->argv[i];
        for (const struct option *o = line->long_options; o->name != NULL; o++) {
            if (given[0] == '-' && given[1] != '-' && strcmp(given + 1, o->name) == 0)
                nearest.best = o->name;
        }
    }
    say_usage_asking("there is no option '", word, "'", nearest_question(&nearest, "--", question));
}

int command_line_next(struct command_line *line)
{
    int code = getopt_long(line->argc, line->argv, line->letters, line->long_options, NULL);

    if (code != '?' && code != ':')
        return code;
    const char *word = line->argv[optind - 1];
    if (code == ':')
        say_usage("option '", word, "' needs an argument");
    else if (optopt == 0)
        refuse_long(line, word);
    else if (command_line_name(line, optopt)[0] != '\0')
        say_usage("option '", word, "' takes no argument");
    else
        refuse_letter(line, optopt);
    return COMMAND_LINE_REFUSED;
}

/* ---- --help ------------------------------------------------------------------------------------------------------ */

/* Prints "  -o, --output FILE" and returns its columns. */
static size_t print_forms(FILE *out, const struct option_row *row)
{
    char forms[64];
    const char *argument = row->argument != NULL ? row->argument : "";

    snprintf(forms, sizeof forms, "  %c%c%c --%s%s%s", has_letter(row) ? '-' : ' ', has_letter(row) ? row->id : ' ',
             has_letter(row) ? ',' : ' ', row->name, argument[0] != '\0' && argument[0] != '[' ? " " : "", argument);
    fputs(forms, out);
    return text_columns(forms);
}

void command_line_help(FILE *out, const struct option_row *rows, size_t row_count, size_t width)
{
    for (const struct option_row *row = rows; row < rows + row_count; row++) {
        if (row->name == NULL) {
            fprintf(out, "\n%s\n", row->help);
            continue;
        }
        size_t column = print_forms(out, row);
        if (column + 2 > HELP_INDENT && row->help[0] != '\0') {
            putc('\n', out);
            column = 0;
        }
        wrap(out, row->help, HELP_INDENT, column, width);
    }
}
