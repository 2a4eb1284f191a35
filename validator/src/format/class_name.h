/* Names of classes as programmers write them. */
#ifndef HPROF_CLASS_NAME_H
#define HPROF_CLASS_NAME_H

#include <stddef.h>

/* Turns "[Ljava/lang/String;" into "java.lang.String[]", in place. A name that has dots already keeps them. `size` is the room. */
void show_class_name(char *to, size_t size);

#endif
