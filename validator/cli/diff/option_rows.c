#include "option_rows.h"

#include "wrap.h"

static const struct option_row rows[] = {
    {0, NULL, NULL, "Options"},
    {OPTION_FORMAT, "format", "text|json", "text (default) or json"},
    {OPTION_MAX_DIFFERENCES, "max-differences", "N",
     "describe the first N differences, 10 by default; the numbers are always exact"},
    {OPTION_ASSERT_REDACTED, "assert-redacted", NULL,
     "instead of comparing, check that B, which a redactor made of A, holds no value and no text of A, but its structure and "
     "names"},
    {OPTION_CONSTANTS, "constants", "TYPE=VALUE[,TYPE=VALUE...]",
     "with --assert-redacted: the value that the redactor gives to each primitive value of this type; 0 by default"},
    {OPTION_QUIET, "quiet", NULL, "print nothing; the exit status says whether the dumps differ"},
    {OPTION_JOBS, "jobs", "N",
     "check with N threads, 1 to 1024; by default as many as there are processors for this process. Results never depend on N"},
    {OPTION_HELP, "help", NULL, ""},
    {OPTION_VERSION, "version", NULL, ""},
};

const struct option_row *option_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

void print_help(FILE *out, size_t width)
{
    wrap(out, "Usage: hprof-diff [OPTION]... A B", 0, 0, width);
    wrap(out,
         "Compares two HPROF heap dumps in which the same object has the same ID, such as the input and the output of a "
         "redactor or "
         "a converter: record by record and object by object, whatever their order. A and B are files, compressed by gzip or "
         "not.",
         0, 0, width);
    command_line_help(out, rows, sizeof rows / sizeof rows[0], width);
    putc('\n', out);
    wrap(out,
         "Exit status: 0 there is no difference, or B is redacted, 1 the dumps differ, or B is not redacted, 2 wrong usage, a "
         "file cannot be read, or damaged parts "
         "could "
         "not be compared.",
         0, 0, width);
}
