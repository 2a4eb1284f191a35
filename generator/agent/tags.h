/* The tag of an object: the number that its ID is made of, and the site where it was allocated, or which class it is. */
#ifndef AGENT_TAGS_H
#define AGENT_TAGS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

enum { TAG_NUMBER_BITS = 40, TAG_INDEX_MOST = (1 << 23) - 1 };

static inline uint64_t tag_number(jlong tag)
{
    return (uint64_t)tag & (((uint64_t)1 << TAG_NUMBER_BITS) - 1);
}

/* Of a site, or of a class. */
static inline uint32_t tag_index(jlong tag)
{
    return (uint32_t)((uint64_t)tag >> TAG_NUMBER_BITS) & TAG_INDEX_MOST;
}

static inline bool tag_is_class(jlong tag)
{
    return tag < 0;
}

static inline jlong tag_make(bool is_class, uint32_t index, uint64_t number)
{
    return (jlong)((uint64_t)is_class << 63 | (uint64_t)(index & TAG_INDEX_MOST) << TAG_NUMBER_BITS | number);
}

/* Chosen once the largest heap is known: 4 bytes hold the IDs of all objects of most programs. */
void tags_choose_size(jlong heap);
unsigned tags_id_size(void);
uint64_t tags_next_number(void);

/* As written: like those of the agent of JDK 8, all IDs of objects of a run have the same number of digits. */
uint64_t tags_id(uint64_t number);

/* Gives an object a number if it has none. Both calls that it takes are one step for other threads. 0 on failure. */
uint64_t tags_number_of(jobject object);

/* No object gets a number meanwhile, except by a walk of the heap. */
void tags_lock(void);
void tags_unlock(void);

#endif
