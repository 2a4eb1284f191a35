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

#define NO_WORD SIZE_MAX

/* Which of the words it is that word_at() gives for 0, 1, ...; NULL after the last. */
static size_t read_word(int id, const char *text, const char *(*word_at)(size_t i))
{
    char allowed[512] = "";
    struct nearest nearest;
    const char *word;
    size_t used = 0;

    nearest_init(&nearest, text);
    for (size_t i = 0; (word = word_at(i)) && used < sizeof allowed; i++) {
        if (strcmp(text, word) == 0)
            return i;
        nearest_offer(&nearest, word);
        used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s", !i ? "" : word_at(i + 1) ? ", " : " or ", word);
    }
    wrong_word(id, allowed, &nearest);
    return NO_WORD;
}

static const char *producer_word(size_t i)
{
    return producer_at(i) ? producer_name(producer_at(i)) : NULL;
}

bool read_producer(const char *text, const struct producer **producer)
{
    size_t i = read_word(OPTION_LIKE, text, producer_word);

    if (i == NO_WORD)
        return false;
    *producer = producer_at(i);
    return true;
}

static const char *shape_word(size_t i)
{
    return shapes[i] ? shapes[i]->name : NULL;
}

bool read_shape(const char *text, const struct shape **shape)
{
    size_t i = read_word(OPTION_SHAPE, text, shape_word);

    if (i == NO_WORD)
        return false;
    *shape = shapes[i];
    return true;
}

static const char *load_word(size_t i)
{
    return load_at(i) ? load_name(load_at(i)) : NULL;
}

bool read_load(const char *text, const struct heap_data **load)
{
    size_t i = read_word(OPTION_LOAD, text, load_word);

    if (i == NO_WORD)
        return false;
    *load = load_at(i);
    return true;
}

static const char *records_word(size_t i)
{
    static const char *const words[] = {"heap", "sites", "samples", "all"};

    return RECORDS_HEAP + i <= RECORDS_ALL ? words[i] : NULL;
}

bool read_records(const char *text, enum records_wanted *records)
{
    size_t i = read_word(OPTION_RECORDS, text, records_word);

    if (i == NO_WORD)
        return false;
    *records = (enum records_wanted)(RECORDS_HEAP + i);
    return true;
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
