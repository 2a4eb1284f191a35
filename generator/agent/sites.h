/* Where objects are allocated, and how many of them live. */
#ifndef AGENT_SITES_H
#define AGENT_SITES_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Objects of one class and size from one trace. */
struct site {
    uint32_t class;
    uint32_t trace;
    uint64_t size;
    _Atomic uint64_t allocated;           /* objects */
    uint64_t live;                        /* when they were last counted; under the lock of the output */
    uint64_t forgotten;                   /* of those allocated, by a command; under the lock of the output */
    uint64_t shown_allocated, shown_live; /* when sites were last written; under the lock of the output */
};

/* One row of a table: all sizes together. */
struct site_row {
    uint32_t class;
    uint32_t trace;
    uint64_t live_bytes, live, allocated_bytes, allocated;
};

struct site_table {
    struct site_row *rows;
    uint32_t count;
    struct site_row total; /* of all sites, also those that are not in the table */
};

enum { SITES_INCREMENTAL = 1, SITES_BY_ALLOCATED = 2, SITES_COLLECT = 4 };

struct site *site_at(uint32_t number);
/* The trace where the object of this tag was allocated. */
uint32_t site_trace(jlong tag);

void sites_prepare(void);
void sites_start(void); /* objects that are there already belong to the empty trace */
void sites_pause(bool paused);
void sites_forget(void);

void JNICALL sites_on_allocation(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size);

/* Rows by falling bytes, of which none has a smaller share than `cutoff`. Under the lock of the output; free the rows. */
struct site_table sites_table(unsigned flags, double cutoff);

#endif
