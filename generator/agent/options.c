#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct parser {
    struct options *options;
    const char *name;
    const char *value; /* NULL if there is no = */
    char *error;
};

static bool fail(struct parser *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->error, OPTION_ERROR, format, arguments);
    va_end(arguments);
    return false;
}

/* The place of `value` among `choices`, or -1. */
static int choose(const char *value, const char *const *choices)
{
    for (int i = 0; value && choices[i]; i++)
        if (!strcmp(value, choices[i]))
            return i;
    return -1;
}

/* Several heap options add up, and so do samples and times, as in JDK 8. */
static bool parse_heap(struct parser *p)
{
    static const char *const choices[] = {"dump", "sites", "all", NULL};
    int choice = choose(p->value, choices);
    if (choice < 0)
        return fail(p, "heap option value must be dump|sites|all");
    p->options->heap |= (enum heap_profile)(choice + 1);
    return true;
}

static bool parse_cpu(struct parser *p)
{
    static const char *const choices[] = {"samples", "y", "times", "old", NULL};
    int choice = choose(p->value, choices);
    if (choice < 0)
        return fail(p, "cpu option value must be samples|times|old");
    if (choice < 2)
        p->options->samples = true;
    else
        p->options->times = choice == 2 ? TIMES_OF_METHODS : TIMES_OLD;
    return true;
}

static bool parse_format(struct parser *p)
{
    static const char *const choices[] = {"a", "b", NULL};
    int choice = choose(p->value, choices);
    if (choice < 0)
        return fail(p, "format option value must be a|b");
    p->options->binary = choice == 1;
    return true;
}

static bool parse_file(struct parser *p)
{
    if (p->options->file[0] || p->options->host[0])
        return fail(p, "file or net options should only appear once");
    if (!p->value || !p->value[0])
        return fail(p, "syntax error parsing file=filename");
    if (strlen(p->value) >= sizeof p->options->file)
        return fail(p, "file option value is too long");
    memcpy(p->options->file, p->value, strlen(p->value) + 1);
    return true;
}

static bool parse_net(struct parser *p)
{
    if (p->options->file[0] || p->options->host[0])
        return fail(p, "file or net options should only appear once");
    const char *colon = p->value ? strrchr(p->value, ':') : NULL;
    if (!colon || !colon[1])
        return fail(p, "net option missing port");
    size_t host = (size_t)(colon - p->value), port = strlen(colon + 1);
    if (host == 0)
        return fail(p, "net option missing host");
    if (host >= sizeof p->options->host)
        return fail(p, "net option host is too long");
    if (strspn(colon + 1, "0123456789") != port || port > 5 || atoi(colon + 1) < 1 || atoi(colon + 1) > 65535)
        return fail(p, "net option port must be a number from 1 to 65535");
    bool is_bracketed = p->value[0] == '[' && p->value[host - 1] == ']' && host > 2; /* an address of IPv6 */
    snprintf(p->options->host, sizeof p->options->host, "%.*s", (int)(is_bracketed ? host - 2 : host), p->value + is_bracketed);
    memcpy(p->options->port, colon + 1, port + 1);
    return true;
}

/* A decimal number without sign, of the whole value. */
static bool read_number(const char *value, unsigned long *number)
{
    if (!value || !value[0] || strspn(value, "0123456789") != strlen(value))
        return false;
    errno = 0;
    *number = strtoul(value, NULL, 10);
    return !errno;
}

static bool parse_depth(struct parser *p)
{
    unsigned long number;
    if (!read_number(p->value, &number))
        return fail(p, "depth option value must be decimal and >= 0");
    if (number > MOST_DEPTH)
        return fail(p, "depth option value must be <= %d", MOST_DEPTH);
    p->options->depth = (unsigned)number;
    return true;
}

static bool parse_interval(struct parser *p)
{
    unsigned long number;
    if (!read_number(p->value, &number) || !number)
        return fail(p, "interval option value must be decimal and > 0");
    if (number > INT32_MAX)
        return fail(p, "interval option value must be <= %d", INT32_MAX);
    p->options->interval = (unsigned)number;
    return true;
}

/* With a point: a VM that runs has set the locale of the user, in which strtod may want a comma. */
static double read_float(const char *text, char **end)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", NULL);
    double number = c ? strtod_l(text, end, c) : 0;
    if (c)
        freelocale(c);
    return number;
}

static bool parse_cutoff(struct parser *p)
{
    char *end = NULL;
    double number = p->value && p->value[0] ? read_float(p->value, &end) : 0;
    if (!end || *end || !isfinite(number) || number < 0 || isspace((unsigned char)p->value[0]))
        return fail(p, "cutoff option value must be floating point and >= 0");
    p->options->cutoff = number;
    return true;
}

static bool parse_gz(struct parser *p)
{
    unsigned long number;
    if (!read_number(p->value, &number) || number < 1 || number > 9)
        return fail(p, "gz option value must be 1 to 9");
    p->options->gz = (unsigned)number;
    return true;
}

static bool parse_sample(struct parser *p)
{
    char digits[24];
    size_t size = p->value ? strlen(p->value) : 0;
    unsigned shift = size && strchr("kK", p->value[size - 1]) ? 10 : size && strchr("mM", p->value[size - 1]) ? 20 : 0;
    size -= shift ? 1 : 0;
    unsigned long number = 0;
    if (size < sizeof digits) {
        memcpy(digits, p->value ? p->value : "", size);
        digits[size] = 0;
    }
    if (size >= sizeof digits || !read_number(digits, &number) || !number || number > (unsigned long)INT32_MAX >> shift)
        return fail(p, "sample option value must be a number of bytes, such as 512k, below 2g");
    p->options->sample = (uint64_t)number << shift;
    return true;
}

struct flag {
    const char *name;
    size_t offset; /* of a bool in struct options; IGNORED if nothing depends on it */
};

#define IGNORED ((size_t)-1)

static const struct flag flags[] = {
    {"monitor", offsetof(struct options, monitor)},
    {"lineno", offsetof(struct options, lineno)},
    {"thread", offsetof(struct options, thread)},
    {"doe", offsetof(struct options, doe)},
    {"msa", offsetof(struct options, msa)},
    {"force", offsetof(struct options, force)},
    {"verbose", offsetof(struct options, verbose)},
    {"primfields", offsetof(struct options, primfields)},
    {"primarrays", offsetof(struct options, primarrays)},
    {"gc_okay", IGNORED},
};

static bool parse_flag(struct parser *p, const struct flag *flag)
{
    static const char *const choices[] = {"n", "y", NULL};
    int choice = choose(p->value, choices);
    if (choice < 0)
        return fail(p, "%s option value must be y|n", flag->name);
    if (flag->offset != IGNORED)
        *(bool *)((char *)p->options + flag->offset) = choice == 1;
    return true;
}

static const struct {
    const char *name;
    bool (*parse)(struct parser *);
} parsers[] = {
    {"heap", parse_heap},     {"cpu", parse_cpu},           {"format", parse_format}, {"file", parse_file},
    {"net", parse_net},       {"depth", parse_depth},       {"cutoff", parse_cutoff}, {"gz", parse_gz},
    {"sample", parse_sample}, {"interval", parse_interval},
};

static bool parse_one(struct parser *p)
{
    if (!strcmp(p->name, "help") && !p->value) {
        p->options->help = true;
        return true;
    }
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (!strcmp(p->name, parsers[i].name))
            return parsers[i].parse(p);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(p->name, flags[i].name))
            return parse_flag(p, &flags[i]);
    return fail(p, "Unknown option: %.200s", p->name);
}

static bool check_combination(struct parser *p)
{
    struct options *o = p->options;
    if (!o->heap && !o->samples && !o->times && !o->monitor)
        o->heap = HEAP_ALL;
    if (o->binary && o->times)
        return fail(p, "cpu=times|old is not supported with format=b");
    if (o->binary && o->monitor)
        return fail(p, "monitor=y is not supported with format=b");
    if (o->gz && o->host[0])
        return fail(p, "gz is not supported with net");
    return true;
}

/* What the message is about, in one line. */
static void add_context(char *error, const char *text)
{
    size_t size = strlen(error);
    snprintf(error + size, OPTION_ERROR - size, " (%.200s)", text);
    make_one_line(error);
}

bool options_parse(struct options *options, const char *text, char *error)
{
    *options = (struct options){.depth = 4,
                                .interval = 10,
                                .cutoff = 0.0001,
                                .lineno = true,
                                .doe = true,
                                .force = true,
                                .verbose = true,
                                .primfields = true,
                                .primarrays = true};
    struct parser p = {.options = options, .error = error};
    text = text ? text : "";
    char *copy = strdup(text);
    if (!copy)
        return fail(&p, "no memory");
    bool ok = true;
    char *rest = copy;
    while (ok && rest && *rest) {
        char *name = strsep(&rest, ",");
        char *equals = strchr(name, '=');
        if (equals)
            *equals = 0;
        p.name = name;
        p.value = equals ? equals + 1 : NULL;
        ok = parse_one(&p);
    }
    ok = ok && (options->help || check_combination(&p));
    free(copy);
    if (!ok)
        add_context(error, text);
    return ok;
}

void options_print_help(FILE *file)
{
    fputs("\n"
          "     HPROF: Heap and CPU Profiling Agent (JVM TI), for JDK 11 and later\n"
          "\n"
          "hprof usage: java -agentlib:hprof=[help]|[<option>=<value>, ...]\n"
          "\n"
          "Option Name and Value  Description                    Default\n"
          "---------------------  -----------                    -------\n"
          "heap=dump|sites|all    heap profiling                 all\n"
          "cpu=samples|times|old  CPU usage                      off\n"
          "monitor=y|n            monitor contention             n\n"
          "format=a|b             text(txt) or binary output     a\n"
          "file=<file>            write data to file             java.hprof[.txt]\n"
          "net=<host>:<port>      send data over a socket        off\n"
          "depth=<size>           stack trace depth              4\n"
          "interval=<ms>          sample interval in ms          10\n"
          "cutoff=<value>         output cutoff point            0.0001\n"
          "lineno=y|n             line number in traces?         y\n"
          "thread=y|n             thread in traces?              n\n"
          "doe=y|n                dump on exit?                  y\n"
          "msa=y|n                Solaris micro state accounting n\n"
          "force=y|n              force output to <file>         y\n"
          "verbose=y|n            print messages about dumps     y\n"
          "gz=<level>             compress the file, 1 to 9      off\n"
          "sample=<bytes>         estimate sites by sampling     off\n"
          "primfields=y|n         values of fields in dumps?     y\n"
          "primarrays=y|n         values of arrays in dumps?     y\n"
          "\n"
          "Obsolete Options\n"
          "----------------\n"
          "gc_okay=y|n\n"
          "\n"
          "Examples\n"
          "--------\n"
          "  - Get sample cpu information every 20 millisec, with a stack depth of 3:\n"
          "      java -agentlib:hprof=cpu=samples,interval=20,depth=3 classname\n"
          "  - Get heap usage information based on the allocation sites:\n"
          "      java -agentlib:hprof=heap=sites classname\n"
          "\n"
          "Notes\n"
          "-----\n"
          "  - The VM finds the library with -agentlib:hprof if its folder is on LD_LIBRARY_PATH. Else name it:\n"
          "      java -agentpath:/FOLDER/libhprof.so=[help]|[<option>=<value>, ...]\n"
          "  - The option format=b cannot be used with monitor=y.\n"
          "  - The option format=b cannot be used with cpu=old|times.\n"
          "  - %p in the name of the file is replaced by the number of the process.\n"
          "  - The option msa=y has no effect: it was of Solaris.\n",
          file);
}

/* As the agent of JDK 8: the number of the process before .txt, or at the end. */
static bool path_with_pid(const char *path, long pid, char *result, size_t size)
{
    size_t length = strlen(path);
    const char *suffix = length > 4 && strcmp(path + length - 4, ".txt") == 0 ? ".txt" : "";
    int written = snprintf(result, size, "%.*s.%ld%s", (int)(length - strlen(suffix)), path, pid, suffix);
    return written >= 0 && (size_t)written < size;
}

bool options_path(const struct options *options, long pid, char *path, size_t size)
{
    const char *from = options->file[0] ? options->file : options->binary ? "java.hprof" : "java.hprof.txt";
    char expanded[OPTION_PATH];
    size_t used = 0;
    for (; *from; from++) {
        if (from[0] == '%' && from[1] == 'p') {
            int written = snprintf(expanded + used, sizeof expanded - used, "%ld", pid);
            used += (size_t)written;
            from++;
        } else {
            expanded[used++] = *from;
        }
        if (used >= sizeof expanded)
            return false;
    }
    expanded[used] = 0;
    if (!options->force && access(expanded, F_OK) == 0)
        return path_with_pid(expanded, pid, path, size);
    if (used >= size)
        return false;
    memcpy(path, expanded, used + 1);
    return true;
}
