/* The names of the JDK that a profile may hold. All other names are those of the program, and stay out of it. */
#ifndef HPROF_GEN_JDK_NAMES_H
#define HPROF_GEN_JDK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JDK_NAME_NONE = 0 };

/* The number of a class ("java/lang/String"), field or method of the JDK, from 1 on; JDK_NAME_NONE for any other name. */
uint32_t jdk_name_number(const char *text, size_t size);
/* Its text. */
const char *jdk_name_text(uint32_t number);

#endif
