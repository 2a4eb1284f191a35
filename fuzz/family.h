/* Gives a dump a class and objects of it, for the mutator. */
#ifndef HPROF_FUZZ_FAMILY_H
#define HPROF_FUZZ_FAMILY_H

#include "dice.h"
#include "pieces.h"

/* Inserts a string, a LOAD_CLASS, and into a heap dump record a CLASS_DUMP, two objects of the class, an array of primitives and
 * roots. They have IDs of their own and the right sizes, and refer to each other and to the rest of the dump. */
void insert_family(struct pieces *pieces, struct dice *dice);

#endif
