/* Class names as they are written in Java source. */
#ifndef HPROF_CLASS_NAME_H
#define HPROF_CLASS_NAME_H

#include <stddef.h>

/* Turns "[Ljava/lang/String;" into "java.lang.String[]", in place. Dots in the name stay. `size` is the size of the buffer. */
void show_class_name(char *to, size_t size);

#endif
