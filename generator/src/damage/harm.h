/* Which items of a dump are not whole any more. Items and changes come in the order of the dump; what is listed goes to a
 * temporary file, so memory does not grow with the damage. */
#ifndef HPROF_GEN_HARM_H
#define HPROF_GEN_HARM_H

#include "stream/items.h"

struct harmed {
    struct item item;
    bool lost; /* none of its bytes is left in its place; else some are */
};

struct harm;

/* NULL without memory. */
struct harm *harm_new(void);
void harm_free(struct harm *harm);

/* An item, before any change of its bytes. */
void harm_item(struct harm *harm, const struct item *item);
/* The bytes from `from` to `to` are missing or overwritten. `same`: by the same values. */
void harm_touch(struct harm *harm, uint64_t from, uint64_t to, bool same);
/* The bytes before and after this offset are not next to each other any more. */
void harm_split(struct harm *harm, uint64_t at);
/* The fate of all bytes before this offset is known. */
void harm_pass(struct harm *harm, uint64_t at);

/* After the last byte. False without memory or disk space. */
bool harm_finish(struct harm *harm);
uint64_t harm_count(const struct harm *harm, bool lost);
bool harm_next(struct harm *harm, struct harmed *next);

#endif
