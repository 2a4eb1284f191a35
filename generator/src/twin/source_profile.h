/* The events of a twin: a made-up heap like the one that a profile describes. */
#ifndef HPROF_GEN_SOURCE_PROFILE_H
#define HPROF_GEN_SOURCE_PROFILE_H

#include "stream/source.h"

/* Reads the profile of --fit from a descriptor. As many objects as it has if `objects` is 0. Returns NULL with *failure, a sentence
 * about the profile, which is valid until the next call; NULL if memory ran out. */
struct source *source_profile_new(int fd, uint64_t objects, uint64_t seed, const char **failure);
/* The objects of the dump. */
uint64_t source_profile_objects(const struct source *source);

#endif
