#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 64

void nearest_init(struct nearest *nearest, const char *word)
{
    *nearest = (struct nearest){.word = word};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, ignoring case. Keeps three rows
 * of the table of distances between prefixes. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1], length = strlen(b);
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            row[j] = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[length];
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word);

    if (length == 0 || length > LONGEST || strlen(candidate) > LONGEST)
        return;
    size_t distance = edit_distance(nearest->word, candidate);
    if (distance <= 1 + length / 4 && distance < length && (nearest->best == NULL || distance < nearest->distance)) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}

const char *nearest_question(const struct nearest *nearest, const char *prefix, char question[NEAREST_QUESTION_SIZE])
{
    question[0] = '\0';
    if (nearest->best != NULL)
        snprintf(question, NEAREST_QUESTION_SIZE, "; did you mean '%s%s'?", prefix, nearest->best);
    return question;
}
