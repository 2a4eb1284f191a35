/* See texts.h. In this order: classes, names of the JDK, the signature, made-up names, the others. */
#include "twin/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/jdk_names.h"

static const char signature[] = "()V";

static uint32_t number_of(const char *name)
{
    return name ? jdk_name_number(name, strlen(name)) : JDK_NAME_NONE;
}

static uint32_t class_count(const struct texts *t)
{
    return t->p->class_count - t->first_class;
}

static uint64_t first_filler(const struct texts *t)
{
    return (uint64_t)class_count(t) + t->name_count + 1 + t->made_up;
}

/* ---- Names of classes: "java.util.HashMap$Node[]", "class57" ---- */

/* Whether it is the name of a class that is called by its number; `label` and `size` are then those of the number. */
static bool is_numbered(const char **label, size_t *size)
{
    if (*size <= 5 || memcmp(*label, "class", 5) != 0 || (*label)[5] < '0' || (*label)[5] > '9')
        return false;
    *label += 5;
    *size -= 5;
    return true;
}

/* As agents write it, with dots and brackets, like the profile. */
static uint64_t write_dotted(const char *label, char *out)
{
    size_t size = strlen(label);
    bool numbered = is_numbered(&label, &size);

    return (uint64_t)snprintf(out, TEXTS_NAME_MOST, "%s%.*s", numbered ? "twin.C" : "", (int)(TEXTS_NAME_MOST / 2), label);
}

static uint64_t write_class(const struct texts *t, uint32_t class, char *out)
{
    const char *label = t->p->classes[class].label;
    static const struct {
        const char *name;
        char letter;
    } types[] = {{"boolean", 'Z'}, {"char", 'C'},  {"float", 'F'}, {"double", 'D'},
                 {"byte", 'B'},    {"short", 'S'}, {"int", 'I'},   {"long", 'J'}};
    size_t size = strlen(label), dimensions = 0, at = 0;

    while (size >= 2 && dimensions < 255 && memcmp(label + size - 2, "[]", 2) == 0) {
        size -= 2;
        dimensions++;
    }
    memset(out, '[', dimensions);
    at = dimensions;
    for (size_t i = 0; i < sizeof types / sizeof *types && dimensions; i++)
        if (strlen(types[i].name) == size && memcmp(types[i].name, label, size) == 0) {
            out[at++] = types[i].letter;
            return at;
        }
    if (dimensions)
        out[at++] = 'L';
    if (is_numbered(&label, &size)) {
        memcpy(out + at, "twin/C", 6);
        at += 6;
    }
    size = size < TEXTS_NAME_MOST / 2 ? size : TEXTS_NAME_MOST / 2;
    for (size_t i = 0; i < size; i++)
        out[at++] = label[i] == '.' ? '/' : label[i];
    if (dimensions)
        out[at++] = ';';
    return at;
}

static uint64_t write_name(const struct texts *t, uint64_t string, char *out)
{
    const char *text;
    uint64_t size;

    if (string < class_count(t) && t->p->has_dotted_names)
        return write_dotted(t->p->classes[t->first_class + string].label, out);
    if (string < class_count(t))
        return write_class(t, t->first_class + (uint32_t)string, out);
    string -= class_count(t);
    if (string <= t->name_count) {
        text = string < t->name_count ? jdk_name_text(t->names[string]) : signature;
        size = strlen(text);
        memcpy(out, text, size);
        return size;
    }
    return (uint64_t)snprintf(out, TEXTS_NAME_MOST, "made%llu", (unsigned long long)(string - t->name_count - 1));
}

/* ---- The others ---- */

/* Takes the nearest length of which there is one left. */
static void take_length(struct texts *t, uint64_t length)
{
    struct profile_range texts = t->p->texts;
    uint32_t best = UINT32_MAX;
    uint64_t best_distance = UINT64_MAX;

    for (uint32_t i = 0; i < texts.count && best_distance; i++) {
        uint64_t value = t->p->numbers[texts.first + i].value, distance = value > length ? value - length : length - value;

        if (t->left[i] && distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    if (best == UINT32_MAX)
        return;
    t->left[best]--;
    t->fillers--;
}

/* The line that a string after the names is of. */
static uint64_t filler_length(struct texts *t, uint64_t filler)
{
    if (filler < t->filler)
        t->filler_line = t->filler_before = 0;
    t->filler = filler;
    while (filler - t->filler_before >= t->left[t->filler_line])
        t->filler_before += t->left[t->filler_line++];
    return t->p->numbers[t->p->texts.first + t->filler_line].value;
}

uint64_t texts_size(struct texts *t, uint64_t string)
{
    char name[TEXTS_NAME_MOST];

    return string < first_filler(t) ? write_name(t, string, name) : filler_length(t, string - first_filler(t));
}

/* The number, in letters, as often as it fits. */
uint64_t texts_write(struct texts *t, uint64_t string, char *out)
{
    uint64_t size, number = string;

    if (string < first_filler(t))
        return write_name(t, string, out);
    size = filler_length(t, string - first_filler(t));
    for (uint64_t i = 0; i < size; i++, number /= 26) {
        if (!number)
            number = string;
        out[i] = (char)('a' + number % 26);
    }
    return size;
}

/* ---- Making ---- */

static void need(struct texts *t, const char *name)
{
    uint32_t number = number_of(name);

    if (number && !t->of_names[number]) {
        t->names[t->name_count++] = number;
        t->of_names[number] = t->name_count;
    }
}

bool texts_make(struct texts *t, const struct heap_profile *p, uint32_t first_class)
{
    enum { NAMES_MOST = 1 << 16 };
    char name[TEXTS_NAME_MOST];

    *t = (struct texts){.p = p, .first_class = first_class, .made_up = 1};
    t->of_names = calloc(NAMES_MOST, sizeof *t->of_names);
    t->names = calloc(NAMES_MOST, sizeof *t->names);
    t->left = calloc(p->texts.count + (size_t)1, sizeof *t->left);
    if (!t->of_names || !t->names || !t->left)
        return false;
    for (uint32_t c = 0; c < p->class_count; c++) {
        uint32_t most = p->classes[c].statics > p->classes[c].fields ? p->classes[c].statics : p->classes[c].fields;

        t->made_up = most >= t->made_up ? most + 1 : t->made_up;
    }
    for (uint32_t i = 0; i < p->field_count; i++)
        need(t, p->fields[i].name);
    for (uint32_t i = 0; i < p->frame_count; i++)
        need(t, p->frames[i].method);
    for (uint32_t i = 0; i < p->texts.count; i++) {
        t->left[i] = p->numbers[p->texts.first + i].count;
        t->fillers += t->left[i];
    }
    for (uint64_t s = 0; s < first_filler(t); s++)
        take_length(t, write_name(t, s, name));
    return true;
}

void texts_free(struct texts *t)
{
    free(t->of_names);
    free(t->names);
    free(t->left);
}

/* ---- Asking ---- */

uint64_t texts_count(const struct texts *t)
{
    return first_filler(t) + t->fillers;
}

uint64_t texts_id(const struct texts *t, uint64_t string)
{
    return t->p->id_size == 8 ? UINT64_C(0x7f3a00001000) + 16 * string : string + 1;
}

uint64_t texts_of_class(const struct texts *t, uint32_t class)
{
    return class - t->first_class;
}

uint64_t texts_of_name(const struct texts *t, const char *name, uint32_t n)
{
    uint32_t number = number_of(name);

    if (number)
        return class_count(t) + (uint64_t)t->of_names[number] - 1;
    return (uint64_t)class_count(t) + t->name_count + 1 + n;
}

uint64_t texts_of_signature(const struct texts *t)
{
    return (uint64_t)class_count(t) + t->name_count;
}
