/* See truth.h. */
#include "truth.h"

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

bool truth_add_fault(struct truth *t, int rule, const char *variant, uint64_t offset)
{
    size_t n = t->fault_count;

    if (!(n & (n - 1))) { /* the array is full at 0 and at each power of two */
        struct truth_fault *grown = realloc(t->faults, (n ? 2 * n : 1) * sizeof *grown);

        if (!grown)
            return false;
        t->faults = grown;
    }
    t->faults[t->fault_count++] = (struct truth_fault){rule, variant, offset};
    return true;
}

void truth_clear(struct truth *t)
{
    for (size_t i = 0; i < t->class_count; i++)
        free(t->classes[i].name);
    free(t->classes);
    free(t->faults);
}
