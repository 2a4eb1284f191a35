/* See option_values.h. */
#include "option_values.h"

#include <stdio.h>
#include <string.h>

#include "decimals.h"
#include "messages.h"
#include "option_table.h"

/* "--id-size is 4 or 8, not '5'" */
bool wrong(int id, const char *allowed, const char *text)
{
    char before[512];

    snprintf(before, sizeof before, "--%s is %s, not '", option_name(id), allowed);
    say_usage(before, text, "'");
    return false;
}

/* Likewise for a word, which may be mistyped. */
bool wrong_word(int id, const char *allowed, const struct nearest *nearest)
{
    char before[512], question[NEAREST_QUESTION_SIZE];

    snprintf(before, sizeof before, "--%s is %s, not '", option_name(id), allowed);
    say_usage_asking(before, nearest->word, "'", nearest_question(nearest, "", question));
    return false;
}

/* ---- Arguments of options ---- */

bool read_count(int id, const char *text, uint64_t least, uint64_t most, const char *allowed, uint64_t *value)
{
    if (!parse_count(text, value) || *value < least || *value > most)
        return wrong(id, allowed, text);
    return true;
}

bool read_size(int id, const char *text, uint64_t *value)
{
    if (!parse_size(text, value) || !*value)
        return wrong(id, "a size above 0 in bytes, or with K, M, G or T (of 1024) such as 512M or 1.5G", text);
    return true;
}

/* The model checks and names the largest number. */
bool read_many(int id, const char *text, uint64_t *value)
{
    if (count_is_too_large(text) || (parse_count(text, value) && *value == MODEL_UNSET)) {
        *value = MODEL_UNSET - 1;
        return true;
    }
    return read_count(id, text, 0, MODEL_UNSET - 1, "a whole number, such as 1000000, 1_000_000 or 1e6", value);
}

bool read_mean(int id, const char *text, uint64_t *thousandths)
{
    if (!parse_decimal(text, 3, thousandths) || *thousandths == MODEL_UNSET)
        return wrong(id, "a mean of at most three decimals, such as 2.5", text);
    return true;
}

bool read_version(const char *text, enum version *version)
{
    for (enum version v = V101; v <= V103; v++) {
        if (strcmp(text, version_name(v)) == 0) {
            *version = v;
            return true;
        }
    }
    return wrong(OPTION_DUMP_VERSION, "1.0.1, 1.0.2 or 1.0.3", text);
}

bool read_producer(const char *text, const struct producer **producer)
{
    char allowed[512] = "";
    struct nearest nearest;
    size_t used = 0;

    nearest_init(&nearest, text);
    for (size_t i = 0; (*producer = producer_at(i)); i++) {
        if (strcmp(text, producer_name(*producer)) == 0)
            return true;
        nearest_offer(&nearest, producer_name(*producer));
        used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                 !i                   ? ""
                                 : producer_at(i + 1) ? ", "
                                                      : " or ",
                                 producer_name(*producer));
    }
    return wrong_word(OPTION_LIKE, allowed, &nearest);
}

bool read_shape(const char *text, const struct shape **shape)
{
    char allowed[256] = "";
    struct nearest nearest;
    size_t used = 0;

    nearest_init(&nearest, text);
    for (size_t i = 0; (*shape = shapes[i]); i++) {
        if (strcmp(text, (*shape)->name) == 0)
            return true;
        nearest_offer(&nearest, (*shape)->name);
        used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                 !i              ? ""
                                 : shapes[i + 1] ? ", "
                                                 : " or ",
                                 (*shape)->name);
    }
    return wrong_word(OPTION_SHAPE, allowed, &nearest);
}

bool read_load(const char *text, const struct heap_data **load)
{
    char allowed[256] = "";
    struct nearest nearest;
    size_t used = 0;

    nearest_init(&nearest, text);
    for (size_t i = 0; (*load = load_at(i)); i++) {
        if (strcmp(text, load_name(*load)) == 0)
            return true;
        nearest_offer(&nearest, load_name(*load));
        used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                 !i               ? ""
                                 : load_at(i + 1) ? ", "
                                                  : " or ",
                                 load_name(*load));
    }
    return wrong_word(OPTION_LOAD, allowed, &nearest);
}

bool read_records(const char *text, enum records_wanted *records)
{
    static const char *const names[] = {
        [RECORDS_HEAP] = "heap", [RECORDS_SITES] = "sites", [RECORDS_SAMPLES] = "samples", [RECORDS_ALL] = "all"};
    struct nearest nearest;

    nearest_init(&nearest, text);
    for (unsigned i = RECORDS_HEAP; i <= RECORDS_ALL; i++) {
        if (strcmp(text, names[i]) == 0) {
            *records = (enum records_wanted)i;
            return true;
        }
        nearest_offer(&nearest, names[i]);
    }
    return wrong_word(OPTION_RECORDS, "all, heap, sites or samples", &nearest);
}

bool read_at(const char *text, uint64_t *at)
{
    enum { DECIMALS = 9, ONE = 1000000000 };
    uint64_t value;

    if (!parse_decimal(text, DECIMALS, &value) || value > ONE)
        return wrong(OPTION_AT, "a number from 0 (the first place) to 1 (the last), of at most nine decimals", text);
    *at = value == ONE ? UINT32_MAX : (value << 32) / ONE;
    return true;
}

bool read_when(const char *text, enum when *when)
{
    if (!text) {
        *when = WHEN_ALWAYS;
        return true;
    }
    return parse_when(text, when) || wrong(OPTION_PROGRESS, "auto, always or never", text);
}

static bool is_port(const char *text)
{
    uint64_t port;

    return text[strspn(text, "0123456789")] == '\0' && parse_count(text, &port) && port >= 1 && port <= UINT16_MAX;
}

/* HOST:PORT, also [::1]:PORT. */
bool read_serve(struct cli_options *o, const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t size = colon ? (size_t)(colon - text) : 0;

    if (size > 2 && text[0] == '[' && text[size - 1] == ']') {
        text++;
        size -= 2;
    }
    if (!size || size >= sizeof o->serve_host || !is_port(colon + 1))
        return wrong(OPTION_SERVE, "HOST:PORT with a port from 1 to 65535, such as localhost:4711", text);
    memcpy(o->serve_host, text, size);
    o->serve_host[size] = '\0';
    o->serve_port = colon + 1;
    return true;
}

bool read_cpu(struct cli_options *o, const char *text)
{
    static const char *const names[] = {[SERVE_CPU_SAMPLES] = "samples", [SERVE_CPU_TIMES] = "times", [SERVE_CPU_OLD] = "old"};

    for (enum serve_cpu cpu = SERVE_CPU_SAMPLES; cpu <= SERVE_CPU_OLD; cpu++)
        if (strcmp(text, names[cpu]) == 0) {
            o->serve_cpu = cpu;
            return true;
        }
    return wrong(OPTION_CPU, "samples, times or old", text);
}
