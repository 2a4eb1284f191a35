/* A sink that looks for the names of classes: whose LOAD_CLASS comes from a file has a name that is known by its ID alone until the
 * string is met. */
#ifndef HPROF_GEN_CLASS_NAMES_H
#define HPROF_GEN_CLASS_NAMES_H

#include "event.h"
#include "truth.h"

struct class_names;

/* For the classes of `truth` that have no name yet, from the same events that the census saw. *needed is false, and NULL returned,
 * if there are none. NULL without memory. */
struct class_names *class_names_new(struct truth *truth, unsigned id_size, bool *needed);
struct stage *class_names_stage(struct class_names *names);
/* False if memory ran out on the way. */
bool class_names_finish(struct class_names *names);
void class_names_free(struct class_names *names);

#endif
