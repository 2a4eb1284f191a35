/* See option_table.h. */
#include "option_table.h"

const struct option_row option_rows[] = {
    {0, NULL, NULL, "What is sent"},
    {OPTION_FORMAT, "format", "b|a", "b, records, the default; or a, the text that the agent writes by default"},
    {OPTION_CPU, "cpu", "off|samples|times|old",
     "the agent's option cpu; samples is the default, off is an agent without it; times and old need --format a"},
    {OPTION_MONITOR, "monitor", NULL, "with --format a: what the agent writes of monitors with monitor=y"},

    {0, NULL, NULL, "What the program does"},
    {OPTION_ORDERS, "orders", NULL,
     "read on standard input what the program does, a byte each; its end is the end of the program"},

    {0, NULL, NULL, "Messages"},
    {OPTION_VERSION, "version", NULL, "print the version of hprof-serve"},
    {OPTION_HELP, "help", NULL, "print this help"},
};
const size_t option_row_count = sizeof option_rows / sizeof *option_rows;
