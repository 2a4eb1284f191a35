/* See option_table.h. */
#include "option_table.h"

const struct option_row option_rows[] = {
    {0, NULL, NULL, "Where"},
    {OPTION_OUTPUT, "output", "FILE", "write the smallest dump so far to FILE; needed"},

    {0, NULL, NULL, "What is tried"},
    {OPTION_MATCH, "match", "TEXT", "TEXT must appear in what COMMAND prints, besides the same exit status or signal"},
    {OPTION_TIMEOUT, "timeout", "SECONDS", "end COMMAND after SECONDS; that it takes so long may be what is sought"},
    {OPTION_KEEP_VALID, "keep-valid", NULL, "try only dumps that hprof-validate finds valid"},

    {0, NULL, NULL, "How much"},
    {OPTION_RUNS, "runs", "N", "stop after N runs of COMMAND; the same command line goes on from there"},
    {OPTION_JOBS, "jobs", "N", "run COMMAND on N dumps at once; 1 by default"},

    {0, NULL, NULL, "Messages"},
    {OPTION_QUIET, "quiet", NULL, "print nothing but errors"},
    {OPTION_VERSION, "version", NULL, "print the version of hprof-reduce"},
    {OPTION_HELP, "help", NULL, "print this help"},
};
const size_t option_row_count = sizeof option_rows / sizeof *option_rows;
