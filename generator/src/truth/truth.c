/* See truth.h. */
#include "truth/truth.h"

#include <stdlib.h>
#include <string.h>

bool truth_name_class(struct truth_class *class, const char *name, size_t size)
{
    class->name = malloc(size + 1);
    if (!class->name)
        return false;
    if (size)
        memcpy(class->name, name, size);
    class->name[size] = '\0';
    return true;
}

void truth_clear(struct truth *t)
{
    for (size_t i = 0; i < t->class_count; i++)
        free(t->classes[i].name);
    free(t->classes);
    answers_clear(&t->answers);
    written_clear(&t->written);
}
