/* "Did you mean ...?": which of several words a mistyped one is closest to. */
#ifndef HPROF_CLI_NEAREST_H
#define HPROF_CLI_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL while no candidate is close enough */
    size_t distance;
};

void nearest_init(struct nearest *nearest, const char *word);

/* Of several candidates at the same distance the first one stays. The candidate must outlive `nearest`. */
void nearest_offer(struct nearest *nearest, const char *candidate);

/* "; did you mean 'hotspot'?", or "" if no candidate is close. */
#define NEAREST_QUESTION_SIZE 96
const char *nearest_question(const struct nearest *nearest, const char *prefix, char question[NEAREST_QUESTION_SIZE]);

#endif
