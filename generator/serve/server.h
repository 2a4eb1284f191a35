/* What the files of the server share. */
#ifndef HPROF_SERVER_H
#define HPROF_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "format/format.h"
#include "serve.h"
#include "text.h"

enum { LENGTH_AT = 5, PIECE = 64 << 10, SETTINGS_SAMPLING = 2 };

enum command {
    COMMAND_GC = 0x01,
    COMMAND_DUMP_HEAP = 0x02,
    COMMAND_ALLOC_SITES = 0x03,
    COMMAND_HEAP_SUMMARY = 0x04,
    COMMAND_EXIT = 0x05,
    COMMAND_DUMP_TRACES = 0x06,
    COMMAND_CPU_SAMPLES = 0x07,
    COMMAND_CONTROL = 0x08,
    COMMAND_END = 0xff
};

enum control {
    CONTROL_COUNTING_ON = 1,
    CONTROL_COUNTING_OFF = 2,
    CONTROL_SAMPLING_ON = 3,
    CONTROL_SAMPLING_OFF = 4,
    CONTROL_CLEAR_SAMPLES = 5,
    CONTROL_CLEAR_SITES = 6,
    CONTROL_SET_DEPTH = 7
};

enum site_flag { SITES_CHANGED_ONLY = 1, SITES_BY_ALLOCATION = 2, SITES_AFTER_GC = 4 };

/* What the orders make the program do. */
enum {
    DROPPED_OBJECTS = 2000, /* allocated, and garbage immediately */
    DROPPED_OBJECT_SIZE = 16,
    SPIN_SAMPLES = 30,
    CALL_DEPTH = 11 /* frames, unless the depth of traces is less */
};

/* When a kind of records is sent. */
enum part { PART_START, PART_TRACES, PART_HEAP, PART_SITES, PART_SAMPLES, PART_SUMMARY };

/* The program that the agent would observe: what orders made it do, in addition to the dump. */
struct program {
    uint64_t dropped_live, dropped; /* objects since the last collection, and in all */
    uint64_t dropped_since_clear;
    bool dropped_since_sites;
    uint32_t samples, spins;
    bool counts_allocations;
    bool is_sampled;     /* cpu=samples, or turned on */
    bool is_thread_off;  /* its main thread is not sampled */
    uint32_t thread_id;  /* the object of this thread */
    uint32_t depth;      /* of new traces */
    uint32_t call_depth; /* of the last new trace; 0 without one */
    bool call_is_sent;
};

struct server {
    int dump, connection, orders; /* orders: -1 for none */
    const uint8_t *mapped;        /* the dump, if there is a text */
    size_t mapped_size;
    struct text *text; /* NULL for records */
    struct timespec began;
    struct program program;
    enum serve_cpu cpu;
    bool has_samples; /* the samples of the dump count: the program ran with cpu=samples */
    bool has_monitors;
    bool traces_sent, sites_sent;
    bool sites_cleared, samples_cleared;
    bool has_ended; /* the program */
    bool gone;      /* the connection is closed */
    int error;      /* file descriptor of the dump */
};

/* ---- sending.c: the parts of the dump ---- */

void send_bytes(struct server *s, const uint8_t *data, size_t size);
bool read_dump(struct server *s, uint8_t *to, size_t size, off_t at);
void send_record(struct server *s, uint8_t tag, const uint8_t *body, uint32_t size);
void send_part(struct server *s, enum part part);
uint32_t first_number(struct server *s, uint8_t tag, uint32_t at);
void send_traces(struct server *s);
uint8_t *read_body(struct server *s, enum part part, uint32_t *size);

/* ---- tables.c: what counts samples and objects ---- */

float get_float(const uint8_t *p);
void send_sites(struct server *s, uint16_t flags, float cutoff);
void send_samples(struct server *s, float cutoff);
void send_summary(struct server *s);
void send_heap(struct server *s);
void send_end(struct server *s); /* what is written when the program ends */

#endif
