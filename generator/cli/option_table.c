/* See option_table.h. */
#include "option_table.h"

const struct option_row option_rows[] = {
    {0, NULL, NULL, "Where"},
    {OPTION_OUTPUT, "output", "FILE", "write the dump to FILE, not to standard output; FILE appears when it is complete"},
    {OPTION_MANIFEST, "manifest", "FILE", "write to FILE what is in the dump, as JSON"},
    {OPTION_DIGESTS, "digests", NULL, "add digests of the content to the manifest, by which readers or dumps can be compared"},
    {OPTION_ANSWERS, "answers", NULL,
     "add to the manifest what a reader should answer: reachable objects, sizes by class, texts, the largest retained sizes"},
    {OPTION_GZ, "gz", "LEVEL", "compress the dump, 1 (fast) to 9 (small), as HotSpot does: a gzip member for each MiB"},

    {0, NULL, NULL, "How much"},
    {OPTION_OBJECTS, "objects", "N", "the number of instances and arrays: 1000000, 1_000_000 or 1e6, the default"},
    {OPTION_BYTES, "bytes", "SIZE", "make as many objects as fill SIZE bytes: 512M, 1.5G"},
    {OPTION_SEED, "seed", "N", "the seed of the generator, 1 by default"},

    {0, NULL, NULL, "What file"},
    {OPTION_DUMP_VERSION, "dump-version", "1.0.1|1.0.2|1.0.3",
     "the version of the dump; with --from, 1.0.2 makes a dump of Android (1.0.3) one that all readers know"},
    {OPTION_ID_SIZE, "id-size", "4|8", "the size of IDs in bytes"},
    {OPTION_SEGMENT_SIZE, "segment-size", "SIZE", "the most bytes in a HEAP_DUMP_SEGMENT"},
    {OPTION_HEAP_DUMPS, "heap-dumps", "N", "the number of heap dumps in the file, which share the objects"},
    {OPTION_RECORDS, "records", "WHICH",
     "the records outside the heap dump: heap (as few as possible), sites (ALLOC_SITES), samples (CPU_SAMPLES) or all"},
    {OPTION_LIKE, "like", "PRODUCER", "write what a producer writes: its records, their order, IDs and quirks:"},

    {0, NULL, NULL, "What heap"},
    {OPTION_SHAPE, "shape", "SHAPE", "how objects refer to each other:"},
    {OPTION_LOAD, "load", "LOAD", "what the program does whose heap mixed is like:"},
    {OPTION_CLASSES, "classes", "N", "the number of classes, without those that PRODUCER adds"},
    {OPTION_THREADS, "threads", "N", "the number of threads, with their objects, names and stacks"},
    {OPTION_STACK_DEPTH, "stack-depth", "N", "the number of frames of each thread"},
    {OPTION_REFERENCES, "references", "MEAN",
     "the mean number of references, null included: of an object of mixed, a node of list, an instance of wide and deep, a "
     "task "
     "of threads; of the children of a node of tree that has any; of the neighbours of a node of graph; of the elements of an "
     "Object[] of arrays that are not null"},
    {OPTION_ARRAY_LENGTH, "array-length", "MEAN",
     "the mean length of an array of arrays, or of an array of mixed that holds no text"},
    {OPTION_STRING_LENGTH, "string-length", "MEAN",
     "the mean number of bytes of a String's text, in mixed and strings. All means have up to three decimals"},

    {0, NULL, NULL, "What is wrong"},
    {OPTION_VIOLATE, "violate", "RULE[/VARIANT][,RULE...]", "break these rules of SPEC.md, and no others"},
    {OPTION_AT, "at", "FRACTION",
     "plant the fault at this share of the dump: 0 is the first possible offset, 1 the last; 0.5 by default"},
    {OPTION_VIOLATIONS, "violations", "N", "plant the fault N times, evenly from --at to the end; once by default"},
    {OPTION_EACH_FAULT, "each-fault", "DIR",
     "write to DIR a dump with each fault that this one can have, or with those of --violate, and a manifest of each"},
    {OPTION_LIST_VIOLATIONS, "list-violations", NULL, "list every rule that can be broken, and its variants"},
    {OPTION_DAMAGE, "damage", "KIND[:N][@FRACTION][,KIND...]",
     "damage the dump as real ones are damaged, at a place that the seed draws or at this share of the dump; the manifest "
     "lists "
     "what is not whole any more"},
    {OPTION_LIST_DAMAGE, "list-damage", NULL, "list the kinds of damage, and what N is"},
    {OPTION_FROM, "from", "FILE", "take the records of FILE, a dump, instead of making new ones"},

    {0, NULL, NULL, "Real heaps"},
    {OPTION_FIT, "fit", "FILE",
     "describe the heap of FILE, a dump, by its structure: objects by class, lengths, references; no value and no text. The "
     "profile goes to -o"},

    {OPTION_FROM_PROFILE, "from-profile", "FILE",
     "make a heap like the one that FILE, a profile of --fit, describes: as many objects, or --objects"},
    {0, NULL, NULL, "Old forms"},
    {OPTION_SERVE, "serve", "HOST:PORT",
     "send the dump as hprof-serve does, with a warning; the next four are options of hprof-serve"},
    {OPTION_FORMAT, "format", "b|a", "records or text"},
    {OPTION_CPU, "cpu", "samples|times|old", "the agent's option cpu"},
    {OPTION_MONITOR, "monitor", NULL, "what the agent writes of monitors"},
    {OPTION_ORDERS, "orders", NULL, "read on standard input what the program does"},

    {0, NULL, NULL, "Messages"},
    {OPTION_PROGRESS, "progress", "[=WHEN]",
     "show a progress bar on standard error: auto (on a terminal, after a second), always or never"},
    {OPTION_QUIET, "quiet", NULL, "print no summary on standard error; there is one if it is a terminal"},
    {OPTION_VERSION, "version", "[=1.0.1|1.0.2|1.0.3]",
     "print the version of hprof-gen; with a number, the old form of --dump-version"},
    {OPTION_HELP, "help", "[=all]", "print the most used options, or all"},
};
const size_t option_row_count = sizeof option_rows / sizeof *option_rows;

const char *option_name(int id)
{
    const struct command_line line = {.rows = option_rows, .row_count = option_row_count};

    return command_line_name(&line, id);
}
