/* For the Python package: whole dumps as columns of numbers, which Python would take minutes to collect item by item. */
#ifndef HPROF_PYTHON_COLUMNS_H
#define HPROF_PYTHON_COLUMNS_H

#include <hprof/read.h>

struct hprof_python_columns {
    uint64_t count;
    uint64_t *a, *b, *c, *d; /* objects: ID, class ID, size, offset. References: from, to; the others are NULL */
    uint8_t *kind;           /* objects: the tag of the sub-record; of references NULL */
};

/* Reads from the present position of the reader to the end of the dump; if `heap_dump` is not 0, that heap dump alone. Both return
 * 1, or what hprof_next() returns if it fails, or -HPROF_LIMIT. hprof_python_free() must follow. */
int hprof_python_objects(struct hprof_reader *reader, uint64_t heap_dump, struct hprof_python_columns *columns);
/* References of fields, static fields and elements that are not null. */
int hprof_python_references(struct hprof_reader *reader, uint64_t heap_dump, struct hprof_python_columns *columns);
void hprof_python_free(struct hprof_python_columns *columns);

/* The size of a structure, by its name: the package compares it with its own. 0 for an unknown one. */
size_t hprof_python_size(const char *structure);

#endif
