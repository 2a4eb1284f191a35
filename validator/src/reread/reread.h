/* Reading the dump, or a part of it, again: to check instances that waited for their class, and to find offsets. */
#ifndef HPROF_REREAD_H
#define HPROF_REREAD_H

#include "checks/checker.h"
#include "checks/heap.h"

/* ---- read_again.c ---- */

/* Callbacks for records that are read again; each may be NULL. They return false to stop. */
struct visitor {
    /* A record; the window is at its body and must stay there. */
    bool (*record)(struct checker *ck, void *context, unsigned tag, uint64_t length);
    /* A sub-record, whose fixed part is in the window; must move past it. Without this callback, heap dump records are
     * skipped; with it, reading ends with the heap dump. */
    bool (*subrecord)(struct checker *ck, void *context, uint64_t size);
    /* Handles as many sub-records of the n bytes in the window as it can, and returns the bytes they take. */
    size_t (*many)(struct checker *ck, void *context, size_t n);
    void *context;
};
/* Reads the dump again, exactly as the first time, from a record, or from a sub-record of the heap dump record that ends at
 * heap_end (0 for a record), up to an offset. */
void read_again(struct checker *ck, uint64_t from, uint64_t heap_end, uint64_t end, const struct visitor *visitor);

/* ---- waiting_instances.c ---- */
/* Checks the instances that waited, once all classes of the heap dump are known. False if the input cannot be read again. */
bool check_waiting(struct checker *ck);
/* Checks those of one range, and moves the input. */
void check_waiting_range(struct checker *ck, const struct waiting_range *range);

/* ---- find_arrays.c ---- */
/* At the end of a heap dump: calls meet_naming_array() for each object array before an offset that names a missing object. */
void find_arrays(struct checker *ck, uint64_t end);

/* ---- name_references.c ---- */
/* Finds what names the objects for which the wanted offsets from index `first` on were found, as the offsets are before an end. */
void name_references(struct checker *ck, size_t first, uint64_t end);

/* ---- find_offsets.c ---- */
/* Reports the IDs that are defined twice before an offset, if that was left for later; nothing from there on was checked. */
void report_duplicates(struct checker *ck, uint64_t end);
/* At the end of a heap dump; the same holds. */
void find_offsets_in_dump(struct checker *ck, uint64_t end);
/* At the end of the file. */
void find_offsets_of_records(struct checker *ck);

#endif
