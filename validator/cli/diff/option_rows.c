#include "option_rows.h"

#include "wrap.h"

static const struct option_row rows[] = {
    {0, NULL, NULL, "Options"},
    {OPTION_FORMAT, "format", "text|json", "text (default) or json"},
    {OPTION_MAX_DIFFERENCES, "max-differences", "N",
     "describe the first N differences, 10 by default; the numbers are always exact"},
    {OPTION_BY, "by", "id|content|auto",
     "compare objects with the same ID; or with the same content, whatever their IDs, such as in dumps of two runs; or (auto, "
     "the "
     "default) by ID if nine of ten objects and strings of the smaller dump have the same ID in the other. The report says "
     "which"},
    {OPTION_ROUNDS, "rounds", "N",
     "by content: compare what objects hold, and what they refer to in up to N steps; 4 by default, at most 1000"},
    {OPTION_IGNORE, "ignore", "WHAT[,WHAT...]",
     "by content: leave out primitive values (payload); the fields named hash, hashCode or hashcode (identity-hash); the order "
     "of "
     "the entries of maps and sets that depends on hash codes (order-of-maps)"},
    {OPTION_HEAP_DUMPS, "heap-dumps", "N[,M]",
     "by content: compare heap dump N of A with heap dump M of B, or N of both; 1 by default. Files of JDK 8's agent have "
     "several"},
    {OPTION_ASSERT_REDACTED, "assert-redacted", NULL,
     "instead of comparing, check that B, which a redactor made of A, holds no value and no text of A, but its structure and "
     "names"},
    {OPTION_CONSTANTS, "constants", "TYPE=VALUE[,TYPE=VALUE...]",
     "with --assert-redacted: the value that the redactor gives to each primitive value of this type; 0 by default"},
    {OPTION_NAMES, "names", NULL, "with --assert-redacted: list each name that remains, such as that of a class"},
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
         "Compares two HPROF heap dumps. If the same object has the same ID in both, as in the input and the output of a "
         "redactor "
         "or a converter: record by record and object by object, whatever their order. Otherwise, as with dumps of two runs of "
         "a "
         "program: by what the objects hold. A and B are files, compressed by gzip or not.",
         0, 0, width);
    command_line_help(out, rows, sizeof rows / sizeof rows[0], width);
    putc('\n', out);
    wrap(out,
         "Exit status: 0 there is no difference, or none was found, or B is redacted, 1 the dumps differ, or B is not "
         "redacted, 2 wrong usage, a "
         "file cannot be read, or damaged parts "
         "could "
         "not be compared.",
         0, 0, width);
}
