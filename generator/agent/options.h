/* The options of the agent: one string of NAME=VALUE, separated by commas. */
#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum heap_profile { HEAP_OFF = 0, HEAP_DUMP = 1, HEAP_SITES = 2, HEAP_ALL = HEAP_DUMP | HEAP_SITES };
enum times_profile { TIMES_OFF, TIMES_OF_METHODS, TIMES_OLD };

enum { OPTION_PATH = 4096, OPTION_HOST = 256, OPTION_PORT = 8, OPTION_ERROR = 512, MOST_DEPTH = 65535 };

struct options {
    enum heap_profile heap;
    bool samples;
    enum times_profile times;
    bool monitor;
    bool binary;
    char file[OPTION_PATH]; /* empty: the default of the format */
    char host[OPTION_HOST]; /* empty: no socket */
    char port[OPTION_PORT];
    unsigned depth;
    unsigned interval; /* milliseconds */
    double cutoff;
    bool lineno;
    bool thread;
    bool doe;
    bool msa;
    bool force;
    bool verbose;
    bool primfields;
    bool primarrays;
    unsigned gz;     /* 0: not compressed */
    uint64_t sample; /* bytes between two sampled allocations; 0: every allocation */
    bool help;
};

/* On false, `error` (of OPTION_ERROR bytes) says what is wrong. `text` may be NULL. */
bool options_parse(struct options *options, const char *text, char *error);

void options_print_help(FILE *file);

/* Where the output goes: `file`, or its default, with %p replaced by the number of the process. With force=n the number is
   inserted if the file exists. False if the path is too long. */
bool options_path(const struct options *options, long pid, char *path, size_t size);

/* What is given may have control characters, which would start another line of a message. */
static inline void make_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = '?';
}

#endif
