/* The file as far as it was read: what its top-level records define, and what they use before it is defined. */
#ifndef HPROF_FILE_H
#define HPROF_FILE_H

#include "base/byte_log.h"
#include "base/chunks.h"
#include "base/keymap.h"
#include "format/format.h"
#include "state/classes.h"
#include "state/heap_index.h"
#include "state/id_set.h"
#include "state/jumps.h"
#include "state/losses.h"
#include "state/pending_uses.h"
#include "state/string_table.h"

/* SPEC.md 2.4: the agent of JDK 5 to 8 counts from these numbers on. */
enum { AGENT_FIRST_CLASS = 100000, AGENT_FIRST_THREAD = 200000, AGENT_FIRST_TRACE = 300000 };

/* Signs by which producer.c recognizes producers. */
struct producer_signs {
    uint8_t first_tag;
    uint64_t timed;            /* records whose time is not 0 */
    bool loads_ended;          /* after LOAD_CLASS came a record other than it and UTF8 */
    bool loads_are_whole;      /* when they ended, none of their records was skipped */
    uint64_t agent_loads;      /* LOAD_CLASS records with such numbers as the HPROF agent gives, */
    uint64_t agent_traces;     /* and such TRACEs */
    bool trace_zero;           /* there is a TRACE 0 */
    bool trace_one_empty;      /* TRACE 1 has no frames */
    uint32_t trace_one_thread; /* the thread of TRACE 1 */
    uint64_t addresses;        /* UTF8 records whose ID may be the address of a symbol of a VM */
};

/* A TRACE takes 20 bytes here: the smallest one in a dump takes 21. */
struct __attribute__((packed, aligned(4))) trace {
    uint64_t hash; /* of the whole record, to recognize a repetition */
    uint64_t at;
    uint32_t frames;
};

struct file {
    unsigned id_size;
    enum version version;
    struct losses losses;
    struct jumps jumps;
    struct jumps regained; /* to lost objects, for who reads the dump after the check: in place of those that are from there */
    struct heap_index heap_index;
    struct producer_signs signs;

    struct strings strings;
    struct id_set class_serials;    /* *defined* if there was a LOAD_CLASS */
    struct id_set unloaded_serials; /* *defined* if an UNLOAD_CLASS followed it */
    struct keymap frames;           /* to the hash of the record */
    struct keymap traces;           /* to an index in trace_list */
    struct chunks trace_list;       /* struct trace */
    struct keymap threads;          /* serial of a started thread to enum thread_flag */
    uint32_t highest_thread;        /* of the serials that a TRACE or a START_THREAD names */
    struct id_set rooted_threads; /* *defined* if an earlier heap dump has a ROOT_THREAD_OBJECT, or its absence was reported */
    struct classes classes;       /* those of LOAD_CLASS, and the layouts of the present heap dump */
    struct byte_log frame_roots;  /* roots of earlier heap dumps that name a frame, by stack trace: see check_roots.c */
    uint64_t last_frame_root;

    /* Used before they were defined. */
    struct pending_uses string_uses, class_serial_uses, frame_uses, trace_uses, thread_uses, class_uses;
};

void file_init(struct file *file, struct memory *memory, const struct hash_key *key);
/* When its ID size is known. */
void file_begin(struct file *file, struct memory *memory, const struct hash_key *key);
void file_clear(struct file *file);
/* A record names a thread by this serial. */
static inline void file_note_thread(struct file *file, uint32_t serial)
{
    if (serial > file->highest_thread)
        file->highest_thread = serial;
}

#endif
