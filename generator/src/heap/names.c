/* See names.h. */
#include "heap/names.h"

#include <stdlib.h>
#include <string.h>

#include "heap/lengths.h"
#include "stream/random.h"

/* From the same dump as the tables of shape_mixed: the lengths of the strings. */
static const struct length_table symbol_lengths = {
    {{1, 4},    {3, 6},     {5, 7},     {6, 8},     {8, 8},     {9, 9},     {9, 11},    {10, 12},   {11, 13},  {12, 14},
     {13, 15},  {15, 16},   {16, 17},   {17, 19},   {19, 20},   {20, 22},   {22, 24},   {24, 27},   {27, 29},  {29, 33},
     {32, 36},  {35, 39},   {38, 42},   {42, 45},   {45, 50},   {50, 55},   {55, 62},   {62, 70},   {70, 81},  {80, 97},
     {97, 125}, {130, 162}, {167, 206}, {213, 256}, {262, 301}, {302, 334}, {332, 377}, {389, 446}, {462, 900}}};

static const char *const words[] = {
    "Account", "Action", "Array",   "Base",    "Batch",  "Block",  "Buffer", "Cache",  "Channel", "Chunk",   "Client",
    "Code",    "Config", "Context", "Count",   "Cursor", "Data",   "Entry",  "Event",  "Factory", "Field",   "File",
    "Filter",  "Flow",   "Frame",   "Graph",   "Group",  "Handle", "Header", "Host",   "Index",   "Input",   "Item",
    "Key",     "Layout", "Level",   "Line",    "Link",   "List",   "Loader", "Lock",   "Map",     "Message", "Method",
    "Mode",    "Name",   "Node",    "Order",   "Output", "Page",   "Parser", "Path",   "Policy",  "Pool",    "Query",
    "Queue",   "Range",  "Record",  "Request", "Result", "Route",  "Scope",  "Server", "Shape"};
static const char *const packages[] = {"app", "cache", "codec", "core", "data",  "event", "io",   "model",
                                       "net", "plan",  "query", "rule", "store", "task",  "text", "util"};
enum {
    WORDS = sizeof words / sizeof *words,
    PACKAGES = sizeof packages / sizeof *packages,
    NUMBER_MOST = 10,
    BOOTSTRAP_SHARE = 46 /* of 100 classes: from the same dump */
};

/* ---- Adding ---- */

static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t hash = length;

    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (uint8_t)text[i];
    return (uint32_t)(mix(hash) >> 32);
}

/* Where the text is in the table, or where it belongs. */
static uint32_t *place_of(const struct names *names, const char *text, size_t length)
{
    uint32_t mask = names->text_capacity - 1, at = hash_of(text, length) & mask;

    while (names->texts[at]) {
        const struct name_range *range = &names->ranges[names->texts[at] - 1];

        if (range->of == length && memcmp(range->text, text, length) == 0)
            break;
        at = (at + 1) & mask;
    }
    return &names->texts[at];
}

/* At least half of the table is free. */
static bool grow_texts(struct names *names)
{
    uint32_t *old = names->texts, capacity = names->text_capacity;

    if (2 * names->text_count < capacity)
        return true;
    names->text_capacity = capacity ? 2 * capacity : 256;
    names->texts = calloc(names->text_capacity, sizeof *names->texts);
    for (uint32_t i = 0; i < capacity && names->texts; i++)
        if (old[i])
            *place_of(names, names->ranges[old[i] - 1].text, names->ranges[old[i] - 1].of) = old[i];
    free(old);
    if (!names->texts) {
        names->failed = true;
        names->text_capacity = names->text_count = 0;
    }
    return names->texts;
}

/* The newest range, if its text is new. */
static void note_text(struct names *names)
{
    const struct name_range *range = &names->ranges[names->range_count - 1];
    uint32_t *place;

    if (!grow_texts(names))
        return;
    place = place_of(names, range->text, range->of);
    if (!*place) {
        *place = names->range_count;
        names->text_count++;
    }
}

uint32_t names_add(struct names *names, enum name_form form, const char *text, uint32_t of, uint32_t count)
{
    uint32_t first = names->count;

    if (names->range_count == names->capacity) {
        uint32_t capacity = names->capacity ? names->capacity * 2 : 64;
        struct name_range *ranges = realloc(names->ranges, capacity * sizeof *ranges);

        if (!ranges) {
            names->failed = true;
            return 0;
        }
        names->ranges = ranges;
        names->capacity = capacity;
    }
    if (count > UINT32_MAX - 1 - first) {
        names->failed = true;
        return 0;
    }
    names->ranges[names->range_count++] = (struct name_range){first, form, text, of};
    names->count += count;
    if (form == NAME_TEXT)
        note_text(names);
    return first;
}

uint32_t names_text(struct names *names, const char *text, size_t length)
{
    uint32_t place = names->text_capacity ? *place_of(names, text, length) : 0;

    if (place)
        return names->ranges[place - 1].first;
    return names_add(names, NAME_TEXT, text, (uint32_t)length, 1);
}

void names_free(struct names *names)
{
    free(names->ranges);
    free(names->texts);
    *names = (struct names){0};
}

/* ---- Writing ---- */

struct text {
    char *out;
    size_t most, size;
};

static void put(struct text *t, const char *from, size_t size)
{
    if (size > t->most - t->size)
        size = t->most - t->size;
    memmove(t->out + t->size, from, size); /* recursion of put_source */
    t->size += size;
}

static void put_text(struct text *t, const char *from)
{
    put(t, from, strlen(from));
}

static void put_number(struct text *t, uint32_t number)
{
    char digits[NUMBER_MOST];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    put(t, digits + at, sizeof digits - at);
}

/* The first letter may be lower case: verbs of methods, names of fields. */
static void put_word(struct text *t, uint64_t bits, bool small)
{
    const char *word = words[bits % WORDS];
    char first = word[0];

    if (small)
        first = (char)(first - 'A' + 'a');
    put(t, &first, 1);
    put_text(t, word + 1);
}

static void put_class(struct text *t, uint64_t key, uint32_t number)
{
    uint64_t bits = mix_of(key, number, 1);

    put_text(t, (bits >> 24) % 100 < BOOTSTRAP_SHARE ? "jdk/internal/" : "com/example/");
    put_text(t, packages[bits % PACKAGES]);
    put_text(t, "/");
    put_word(t, bits >> 8, false);
    put_word(t, bits >> 16, false);
    put_number(t, number);
}

/* The part after the last '/', up to the first '$'. */
static void put_source(struct text *t, const char *class, size_t size)
{
    size_t from = 0;

    for (size_t i = 0; i < size; i++)
        if (class[i] == '/')
            from = i + 1;
    for (size_t i = from; i < size; i++)
        if (class[i] == '$')
            size = i;
    put(t, class + from, size - from);
    put_text(t, ".java");
}

/* "indexBuffer": a number follows, so that no two are the same. */
static void put_symbol_name(struct text *t, uint64_t bits, size_t end)
{
    struct text name = {t->out, end, t->size};

    for (bool first = true; name.size < end; first = false, bits = mix(bits))
        put_word(&name, bits >> 8, first);
    t->size = name.size;
}

/* "(Lcom/example/io/FileGraph12;)LRecordLayout1234;", with as many parameters as the length needs. */
static void put_signature(struct text *t, uint64_t key, uint64_t bits, size_t end)
{
    enum { PARAMETER_MOST = 40 };
    struct text signature = {t->out, end, t->size};

    put_text(&signature, "(");
    for (; signature.size + PARAMETER_MOST < end; bits = mix(bits)) {
        put_text(&signature, "L");
        put_class(&signature, key, (uint32_t)(bits >> 32) % 1000);
        put_text(&signature, ";");
    }
    put_text(&signature, ")L");
    for (; signature.size < end; bits = mix(bits))
        put_word(&signature, bits, false);
    t->size = signature.size;
}

static void put_symbol(struct text *t, uint64_t key, uint32_t number)
{
    enum { SIGNATURE_LEAST = 28 };
    static const struct lengths lengths = {&symbol_lengths, (uint64_t)1 << 32};
    uint64_t bits = mix_of(key, number, 2);
    size_t length = lengths_draw(&lengths, bits), digits = 1;

    for (uint32_t n = number; n > 9; n /= 10)
        digits++;
    if (length >= SIGNATURE_LEAST) {
        put_signature(t, key, mix(bits), t->size + length - digits - 1);
        put_number(t, number);
        put_text(t, ";");
        return;
    }
    if (length > digits)
        put_symbol_name(t, bits, t->size + length - digits);
    put_number(t, number);
}

size_t names_write(const struct names *names, uint32_t string, char *out, size_t most)
{
    struct text t = {out, most, 0};
    uint32_t low = 0, high = names->range_count;
    const struct name_range *range;
    uint32_t within;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (names->ranges[middle].first <= string)
            low = middle;
        else
            high = middle;
    }
    range = &names->ranges[low];
    within = string - range->first;
    switch (range->form) {
    case NAME_TEXT:
        put(&t, range->text, range->of);
        break;
    case NAME_NUMBERED:
        put_text(&t, range->text);
        put_number(&t, range->of + within);
        break;
    case NAME_CLASS:
        put_class(&t, names->key, range->of + within);
        break;
    case NAME_ARRAY_OF:
        put_text(&t, "[L");
        t.size += names_write(names, range->of + within, out + t.size, most - t.size - 1);
        put_text(&t, ";");
        break;
    case NAME_FIELD:
        put_word(&t, within % WORDS, true);
        put_word(&t, within / WORDS, false);
        break;
    case NAME_SOURCE:
        put_source(&t, out, names_write(names, range->of + within, out, most));
        break;
    case NAME_SYMBOL:
        put_symbol(&t, names->key, within);
        break;
    }
    return t.size;
}
