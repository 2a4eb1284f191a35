/* A sink that finds the names of classes. A LOAD_CLASS from a file gives only the ID of the name; the string may be anywhere. */
#ifndef HPROF_GEN_CLASS_NAMES_H
#define HPROF_GEN_CLASS_NAMES_H

#include "stream/event.h"
#include "truth/truth.h"

struct class_names;

/* For the classes of `truth` without a name. It needs the same events as the census. If all classes have names, *needed is
 * false and the result NULL. NULL without memory. */
struct class_names *class_names_new(struct truth *truth, unsigned id_size, bool *needed);
struct stage *class_names_stage(struct class_names *names);
/* False if memory ran out on the way. */
bool class_names_finish(struct class_names *names);
void class_names_free(struct class_names *names);

#endif
