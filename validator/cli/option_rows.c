#include "option_rows.h"

#include "options.h"
#include "wrap.h"

static const struct option_row rows[] = {
    {0, NULL, NULL, "What is checked"},
    {OPTION_PROFILE, "profile", "NAME",
     "auto (default), strict, hotspot, jdk8-agent, jvmpi-agent, sa, android, graalvm or mat"},
    {OPTION_SELECT, "select", "RULE[,RULE...]", "report no other rules than these and those of the framing"},
    {OPTION_DISABLE, "disable", "RULE[,RULE...]", ""},
    {OPTION_IGNORE, "ignore", "RULE[,RULE...]", ""},
    {OPTION_WARN, "warn", "RULE[,RULE...]", ""},
    {OPTION_ERROR, "error", "RULE[,RULE...]",
     "do not report these rules (--ignore is the same), or report them as warnings or errors. RULE is an ID (OBJ-004), a name "
     "(object-id-duplicate) "
     "or a family (OBJ); of several options the last wins. Framing rules stay errors: nothing after such an error can be "
     "checked"},
    {OPTION_WERROR, "werror", NULL, "warnings are errors"},
    {OPTION_ALLOW_INCOMPLETE, "allow-incomplete", NULL,
     "status 0, not 1, for an incomplete dump: one that lacks something, with no other error"},
    {OPTION_BASELINE, "baseline", "REPORT",
     "an earlier report in JSON, of the same profile: if a rule has no more findings in a file than in that report, they are "
     "notes"},

    {0, NULL, NULL, "What is shown"},
    {OPTION_FORMAT, "format", "NAME",
     "concise (default): what is wrong, what can still be read, and the next command; full: every finding with its path; "
     "lines: "
     "one finding per line, for editors and grep; github: annotations of a workflow; json; jsonl: one object a file, on a line "
     "of "
     "its own; sarif; junit; html, with --stats only"},
    {OPTION_VERBOSE, "verbose", NULL, "the same as --format full"},
    {OPTION_OUTPUT, "output", "FILE", "write the report to FILE, not to standard output; FILE is replaced"},
    {OPTION_STDIN_NAME, "stdin-name", "NAME", "the name of standard input in reports, in place of -"},
    {OPTION_DECIMAL, "decimal", NULL, "offsets in decimal, as dd, head and tail take them, not in hexadecimal"},
    {OPTION_MAX_ERRORS, "max-errors", "N",
     "how many findings of each rule are shown: 5 by default in the format concise, 20 in the others, 0 for all; totals are "
     "always exact. Findings are kept until all is read, so with 0 memory and time grow with them"},
    {OPTION_QUIET, "quiet", NULL,
     "only the verdict of each file, instead of a report as concise, full or lines; reports as github, json, sarif and junit "
     "stay complete. Twice (-qq): nothing on standard output, only the exit status. A report to --output FILE is complete in "
     "any case, and files that cannot be read are named on standard error"},
    {OPTION_COLOR, "color", "WHEN", "auto (default), always or never"},
    {OPTION_PROGRESS, "progress", "WHEN",
     "a bar on standard error: auto (default; on a terminal, after a second), always or never"},

    {OPTION_SHOW, "show", "OFFSET[:COUNT]",
     "instead of checking FILE, show the record at this offset (such as 0x7fff9a) and COUNT before and after it, 2 by default: "
     "in the notation of the corpus, with names, and as bytes"},

    {OPTION_STATS, "stats", NULL,
     "check FILE, and print what is in it: bytes by kind of record, the largest classes, roots, strings, heap dumps, damage, "
     "threads; as JSON with --format json, as a page for browsers with --format html"},
    {OPTION_THREADS, "threads", NULL, "with --stats: only the threads, with their stack traces"},

    {OPTION_REPAIR, "repair", "OUT",
     "instead of checking FILE, write a valid copy of what can be read of it to OUT, compressed if its name ends in .gz, and "
     "print "
     "what was lost; as JSON with --format json. A VM that was killed while it dumped leaves parts beside FILE, FILE.p0 and so "
     "on: "
     "if FILE has no end, they are taken too"},
    {OPTION_PARTS, "parts", "PART[,PART...]",
     "with --repair: the parts of FILE in their order, where they do not lie beside it"},
    {OPTION_NO_STAND_INS, "no-stand-ins", NULL,
     "with --repair: leave objects out whose classes are lost, in place of adding stand-ins for the classes"},
    {OPTION_FORCE, "force", NULL, "with --repair: make the copy even if it holds no object, or if the space may not suffice"},

    {0, NULL, NULL, "How"},
    {OPTION_MAX_MEMORY, "max-memory", "SIZE", "end with status 4 rather than use more: 512M, 2G; no limit by default"},
    {OPTION_JOBS, "jobs", "N",
     "use N threads, 1 to 1024; by default as many as there are processors for this process. Several files are checked at "
     "once; "
     "threads that are left share the parts of a file that is not compressed. Results never depend on N"},

    {0, NULL, NULL, "What is known"},
    {OPTION_EXPLAIN, "explain", "RULE[,RULE...]", "what a rule requires, why, who breaks it, how readers fare, and an example"},
    {OPTION_LIST_RULES, "list-rules", NULL, "all rules; as JSON with --format json"},
    {OPTION_LIST_PROFILES, "list-profiles", NULL, "all profiles and the quirks in each; as JSON with --format json"},
    {OPTION_HELP, "help", NULL, ""},
    {OPTION_VERSION, "version", NULL, ""},
};

const struct option_row *option_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

void options_help(FILE *out, size_t width)
{
    wrap(out, "Usage: hprof-validate [OPTION]... FILE...", 0, 0, width);
    wrap(out,
         "Checks HPROF heap dumps, rule by rule, against SPEC.md. FILE is a dump, compressed by gzip or not; - is standard "
         "input; a directory means the files in it whose names end in .hprof or .hprof.gz.",
         0, 0, width);
    command_line_help(out, rows, sizeof rows / sizeof rows[0], width);
    putc('\n', out);
    wrap(out,
         "Exit status: 0 valid (there may be warnings), 1 an error was found or the dump is incomplete, 2 wrong usage, 3 a "
         "file cannot be read or the "
         "output cannot be written, 4 a limit was reached. Of several files the worst status counts: 4, 3, 1, 0. No dump, "
         "whatever it contains, ends the tool by a signal. SIGINT, SIGTERM and the like end it at once, as they end any "
         "program.",
         0, 0, width);
}
