/* A line of a profile, word by word. Each word ends at a space or at the end of the line. */
#ifndef HPROF_GEN_PROFILE_LINE_H
#define HPROF_GEN_PROFILE_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct profile_line {
    char *failure; /* PROFILE_FAILURE_SIZE bytes; empty until something is wrong */
    uint32_t number;
    char *at; /* the next word */
};

/* Says why, with the line, unless something was wrong before. Returns false. */
bool line_wrong(struct profile_line *line, const char *why);

/* Whether the next word, or words, are these: then they are read. */
bool line_word(struct profile_line *line, const char *expected);

/* The next word. False if it is no decimal number up to `most`, or names no type; then line_wrong() was called, here and below. */
bool line_number(struct profile_line *line, uint64_t most, uint64_t *value);
bool line_type(struct profile_line *line, uint8_t *type);

/* The rest of the line, one word; NULL if it is not one. */
const char *line_last_word(struct profile_line *line);

bool line_is_end(struct profile_line *line);

#endif
