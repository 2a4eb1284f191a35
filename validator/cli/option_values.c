#define _DEFAULT_SOURCE
#include "option_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decimals.h"
#include "hprof/hprof.h"
#include "messages.h"
#include "nearest.h"

#define MAX_JOBS 1024
#define SHOWN_AROUND 2

bool read_max_errors(const char *text, uint64_t *value)
{
    if (parse_count(text, value))
        return true;
    say_usage("--max-errors takes a whole number, 0 for all findings, not '", text, "'");
    return false;
}

bool read_jobs(const char *text, unsigned *jobs)
{
    uint64_t value;

    if (!parse_count(text, &value) || value < 1 || value > MAX_JOBS) {
        say_usage("--jobs takes a whole number from 1 to 1024, not '", text, "'");
        return false;
    }
    *jobs = (unsigned)value;
    return true;
}

/* OFFSET or OFFSET:COUNT; an offset in hexadecimal, as findings have it, or decimal. */
bool read_show(const char *text, uint64_t *offset, uint64_t *around)
{
    const char *colon = strchr(text, ':');
    char *end;

    errno = 0;
    *offset = strtoull(text, &end, 0);
    *around = SHOWN_AROUND;
    if (text[0] >= '0' && text[0] <= '9' && errno == 0 && end == (colon != NULL ? colon : text + strlen(text)) &&
        (colon == NULL || parse_count(colon + 1, around)))
        return true;
    say_usage("--show takes an offset, such as 0x7fff9a, or an offset and a count, such as 0x7fff9a:5, not '", text, "'");
    return false;
}

bool read_max_memory(const char *text, uint64_t *bytes)
{
    if (parse_size(text, bytes) && *bytes > 0)
        return true;
    say_usage("--max-memory takes a size above 0 in bytes, or with K, M, G or T (of 1024) such as 512M or 2G, not '", text,
              "'");
    return false;
}

bool read_when(const char *option, const char *text, enum when *when)
{
    if (parse_when(text, when))
        return true;
    say_usage(option, text, "'");
    return false;
}

bool read_format(const char *text, enum format *format)
{
    static const char *const names[] = {[FORMAT_CONCISE] = "concise", [FORMAT_FULL] = "full",   [FORMAT_LINES] = "lines",
                                        [FORMAT_GITHUB] = "github",   [FORMAT_JSON] = "json",   [FORMAT_JSONL] = "jsonl",
                                        [FORMAT_SARIF] = "sarif",     [FORMAT_JUNIT] = "junit", [FORMAT_HTML] = "html"};
    static const struct {
        const char *name;
        enum format format;
    } old_names[] = {{"text", FORMAT_CONCISE}, {"text-full", FORMAT_FULL}};
    char question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    nearest_init(&nearest, text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *format = (enum format)i;
            return true;
        }
        nearest_offer(&nearest, names[i]);
    }
    for (size_t i = 0; i < sizeof old_names / sizeof old_names[0]; i++) {
        if (strcmp(text, old_names[i].name) == 0) {
            *format = old_names[i].format;
            return true;
        }
    }
    say_usage_asking("--format takes concise, full, lines, github, json, jsonl, sarif, junit or html, not '", text, "'",
                     nearest_question(&nearest, "", question));
    return false;
}

bool read_profile(const char *text, size_t *profile)
{
    char names[256] = "' (there are ", question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    *profile = hprof_profile_find(text);
    if (*profile != SIZE_MAX)
        return true;

    nearest_init(&nearest, text);
    for (size_t i = 0; hprof_profile_at(i) != NULL; i++) {
        const char *name = hprof_profile_at(i)->name;
        nearest_offer(&nearest, name);
        if (strlen(names) + strlen(name) + 4 < sizeof names) {
            strcat(names, i > 0 ? ", " : "");
            strcat(names, name);
        }
    }
    strcat(names, ")");
    say_usage_asking("no profile is called '", text, names, nearest_question(&nearest, "", question));
    return false;
}
