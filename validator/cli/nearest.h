/* "Did you mean ...?": the candidate that is closest to a mistyped word. */
#ifndef HPROF_CLI_NEAREST_H
#define HPROF_CLI_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL while no candidate is close enough */
    size_t distance;
};

void nearest_init(struct nearest *nearest, const char *word);

/* Offers a candidate, which must outlive `nearest`. Of several at the same distance, the first wins. */
void nearest_offer(struct nearest *nearest, const char *candidate);

/* "; did you mean 'hotspot'?", or "" if no candidate is close. */
#define NEAREST_QUESTION_SIZE 96
const char *nearest_question(const struct nearest *nearest, const char *prefix, char question[NEAREST_QUESTION_SIZE]);

#endif
