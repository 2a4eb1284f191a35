/* Structures of the caller, whose size at the beginning says which version of the header the caller was compiled with. */
#ifndef HPROF_VERSIONED_H
#define HPROF_VERSIONED_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the members that both know from the caller's structure; the others of `own`, which has `size` bytes, are zeroed. NULL, or
 * a sentence that says why the structure is refused. */
const char *take_versioned(void *own, size_t size, const void *callers);

/* Whether a structure of the caller was initialised, or is NULL; and the sentence for one that was not. */
bool is_versioned(const void *callers);
extern const char not_initialised[];

/* Copies the members that both know into the caller's structure, except its size, and zeroes the others. `callers` may be NULL.
 * False, without a change, if it was not initialised. */
bool give_versioned(void *callers, const void *own, size_t size);

#endif
