#include "sentence.h"

#include <ctype.h>
#include <string.h>

#include "catalog.h"
#include "numbers.h"
#include "printable.h"

static const struct {
    const char *id, *sentence;
} sentences[] = {
#define SENTENCE(family, number, sentence) {#family "-" #number, sentence},
#include "sentences.def"
};

/* A text that is being written; what does not fit is left out. */
struct pen {
    char *text;
    size_t used, size;
};

static void write_bytes(struct pen *pen, const char *bytes, size_t count)
{
    size_t room = pen->size - 1 - pen->used;

    count = count < room ? count : room;
    memcpy(pen->text + pen->used, bytes, count);
    pen->used += count;
    pen->text[pen->used] = '\0';
}

static void write_text(struct pen *pen, const char *text)
{
    write_bytes(pen, text, strlen(text));
}

/* ---- The record or sub-record ------------------------------------------------------------------------------------ */

/* The path without the heap dump record that a sub-record lies in: the offset says where it is. */
static const char *subject_of(const char *path)
{
    const char *sub = strstr(path, " > ");

    return sub != NULL && strncmp(path, "HEAP_DUMP", 9) == 0 ? sub + 3 : path;
}

static void write_subject(struct pen *pen, const char *path)
{
    static const struct {
        const char *record, *name;
    } names[] = {{"HEAP_DUMP_SEGMENT #", "segment "}, {"HEAP_DUMP #", "heap dump "}};
    const char *subject = subject_of(path);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i].record);
        if (strncmp(subject, names[i].record, length) == 0) {
            write_text(pen, names[i].name);
            subject += length;
        }
    }
    write_text(pen, subject[0] != '\0' ? subject : "the dump");
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

/* Writes "836604 bytes" as "836,604 bytes"; other numbers are IDs, serials and values, and stay as they are. `after` follows the
 * text. */
static void write_with_counts(struct pen *pen, const char *text, const char *after)
{
    while (*text != '\0') {
        size_t digits = strspn(text, "0123456789");
        const char *unit = text[digits] != '\0' ? text + digits : after;
        if (digits == 0) {
            digits = isalnum((unsigned char)*text)
                         ? strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
                         : 1;
            write_bytes(pen, text, digits);
        } else if (begins_with(unit, " byte") || begins_with(unit, " are there")) {
            for (size_t i = 0; i < digits; i++) {
                if (i > 0 && (digits - i) % 3 == 0)
                    write_bytes(pen, ",", 1);
                write_bytes(pen, text + i, 1);
            }
        } else {
            digits += strspn(text + digits, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
            write_bytes(pen, text, digits);
        }
        text += digits;
    }
}

/* ---- The sentence ------------------------------------------------------------------------------------------------ */

static const char *sentence_of(const struct hprof_rule *rule)
{
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        if (strcmp(sentences[i].id, rule->id) == 0)
            return sentences[i].sentence;
    }
    return "%s: %f; expected %e";
}

static void write_sentence(struct pen *pen, const char *sentence, const struct hprof_finding *f)
{
    for (; *sentence != '\0'; sentence++) {
        if (*sentence != '%') {
            write_bytes(pen, sentence, 1);
            continue;
        }
        switch (*++sentence) {
        case 's':
            write_subject(pen, f->path);
            break;
        case 'f':
            write_with_counts(pen, f->found, sentence + 1);
            break;
        default:
            write_with_counts(pen, f->expected, sentence + 1);
            break;
        }
    }
}

const char *format_sentence(const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f,
                            char text[SENTENCE_SIZE])
{
    static const char one_that[] = "one that ";
    struct pen pen = {.text = text, .size = SENTENCE_SIZE};
    char number[NUMBER_SIZE];

    text[0] = '\0';
    if (f->expected[0] == '\0') { /* there was no memory for the texts of the finding */
        write_text(&pen, "required: ");
        write_text(&pen, f->message);
    } else if (strncmp(f->found, one_that, sizeof one_that - 1) == 0) {
        write_subject(&pen, f->path);
        write_text(&pen, " ");
        write_with_counts(&pen, f->found + sizeof one_that - 1, "");
    } else {
        write_sentence(&pen, sentence_of(rule), f);
    }
    if (f->related_offset != HPROF_NO_OFFSET) {
        write_text(&pen, ", first at ");
        write_text(&pen, format_offset(number, f->related_offset, report->decimal));
    }
    if (is_of_gzip(rule) && f->offset != HPROF_NO_OFFSET)
        write_text(&pen, " (an offset of the compressed file)");
    return text;
}
