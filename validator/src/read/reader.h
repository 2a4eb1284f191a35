/* The reader of hprof/read.h. A dump is shared by a reader and its clones; all that a reader has of its own is its position. */
#ifndef HPROF_READER_H
#define HPROF_READER_H

#include <pthread.h>

#include "base/arena.h"
#include "base/keymap.h"
#include "format/format.h"
#include "hprof/read.h"
#include "input/input.h"
#include "state/counted.h"
#include "state/jumps.h"

struct known_string {
    uint64_t size;
    char text[];
};

/* A class by its LOAD_CLASS, its CLASS_DUMP, or both. Stays where it is. */
struct known_class {
    uint64_t id, name_id;
    uint32_t number, serial;
    const uint8_t *dump; /* a copy of the sub-record, from the tag on; NULL before it is known */
    /* Offsets in the copy, after the number of fields, which is there. */
    uint32_t static_fields_at, fields_at;
    uint32_t size;
    uint16_t static_fields, fields;
    uint64_t super_id;
};

/* Where the objects of a heap dump are: see index.c. */
struct object_index {
    uint64_t *words; /* NULL before hprof_index() */
    struct bucket {
        uint64_t high, first;
    } * buckets;
    size_t count, bucket_count;
    struct heap_range { /* a heap dump record, or sub-records after damage */
        uint64_t record, from, to, begun, series;
    } * ranges;
    size_t range_count, range_capacity;
    uint64_t heap_dump;
};

struct shared_dump {
    pthread_mutex_t lock;        /* of all that follows up to the memory */
    pthread_mutex_t memory_lock; /* of the memory */
    unsigned readers;
    struct keymap strings; /* ID to the address of a struct known_string */
    struct keymap classes; /* ID to the address of a struct known_class */
    struct known_class **by_number;
    size_t class_count, class_capacity;
    struct arena arena;
    struct memory memory, own; /* `own`: of this structure and the readers, without a limit */

    /* Do not change while there are clones. */
    struct hash_key key;
    struct input_source source;
    struct hprof_header header;
    enum version format;
    unsigned id_size;
    uint64_t size; /* of the decompressed dump; UINT64_MAX if it is not known */
    struct jumps jumps;
    struct counted *counted; /* NULL if objects are not counted */
    struct object_index index;
};

/* Where the next item is read, and in which context. */
struct reading {
    uint64_t at;
    uint64_t heap_record, heap_end; /* of the heap dump record that contains it; heap_end is 0 outside */
    uint64_t heap_dump;             /* the last one, */
    uint64_t begun;                 /* how many there were so far, */
    uint64_t series;                /* and the one whose segments may go on; 0 for none */
    bool is_over;                   /* nothing follows damage */
};

/* The field that hprof_field_at() was asked for last, so that the next one is found at once. */
struct field_cursor {
    bool is_set, is_static;
    uint64_t class_id;        /* that was asked for, */
    size_t index;             /* and the index */
    struct known_class class; /* that declares the field; a copy */
    unsigned depth;           /* superclasses passed */
    const uint8_t *at;        /* the entry in its CLASS_DUMP, */
    size_t within;            /* its index there, */
    uint64_t offset;          /* and the offset of an instance field in the body */
};

enum { CLASS_CACHE = 256, JOINED_MOST = 16 << 20, BODY_MOST = 1 << 20 };

struct hprof_reader {
    struct shared_dump *dump;
    struct input in;
    bool is_open;
    struct reading next;
    uint64_t clear_from, clear_to; /* no jump begins at these offsets but the last */
    struct hprof_item item;        /* the last one; `kind` is 0 for none */
    uint8_t *joined;               /* its bytes, if it crosses segments; else NULL */
    size_t joined_size;
    struct known_class *cache[CLASS_CACHE]; /* of classes that were looked up */
    struct field_cursor fields;
    enum hprof_status status; /* of the last failure that is for good */
    char failure[HPROF_FAILURE_SIZE];
};

/* ---- reader.c ---- */
/* Returns the negative status. */
int reader_fail(struct hprof_reader *r, enum hprof_status status, const char *sentence);
/* 0 if the reader can be used, else a negative status. */
int reader_ready(const struct hprof_reader *r);
/* 1 if a result was given to the caller's structure, else a negative status. */
int reader_give(struct hprof_reader *r, void *callers, const void *own, size_t size);
/* The failure of the input or of memory, if there is one; else 0. */
int reader_check(struct hprof_reader *r);
void drop_joined(struct hprof_reader *r);

/* ---- next.c ---- */
int read_next(struct hprof_reader *r);
/* Reads the sub-record at an offset of a heap dump record; false if there is none. */
bool read_subrecord_at(struct hprof_reader *r, const struct reading *where);
/* Makes `n` bytes at an offset contiguous at in.at; returns how many there are, at most n. */
size_t reader_see(struct hprof_reader *r, uint64_t offset, size_t n);

/* ---- fields.c ---- */
/* Of the instance or array at p, whose size is that of its head. False, without a change, if it is none or its head is not all
 * there. */
bool read_object_fields(const uint8_t *p, size_t n, unsigned id_size, struct hprof_item *item);
/* Of the sub-record that starts at p and of which n bytes are there. */
void read_subrecord_fields(struct hprof_reader *r, const uint8_t *p, size_t n);
/* Of the record at in.at, of which `there` bytes are there. */
void read_record_fields(struct hprof_reader *r, size_t there);

/* ---- known.c ---- */
void know_string(struct hprof_reader *r, uint64_t id, const uint8_t *text, uint64_t size);
void know_load(struct hprof_reader *r, const struct LOAD_CLASS *load);
/* The CLASS_DUMP at p, all of it, whose size is right. */
void know_class_dump(struct hprof_reader *r, const uint8_t *p, size_t size);
struct known_class *find_class(struct hprof_reader *r, uint64_t id);

/* ---- index.c ---- */
void index_clear(struct shared_dump *dump);

#endif
