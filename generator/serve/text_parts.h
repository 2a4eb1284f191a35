/* What the files of the text output share. */
#ifndef HPROF_TEXT_PARTS_H
#define HPROF_TEXT_PARTS_H

#include <stdarg.h>

#include "base/keymap.h"
#include "base/memory.h"
#include "format/subrecord.h"
#include "text.h"

enum { ID_SIZE = 4, OBJECT_HEADER = 16, OBJECT_ALIGNMENT = 8, BUFFER = 64 << 10, LINE_MOST = 256 };

enum map {
    STRINGS, /* ID to the offset of the record */
    NAMES,   /* class ID to string ID */
    SERIALS, /* class serial to string ID */
    FRAMES,  /* ID to the offset of the fields */
    TRACES,  /* serial to the offset of the fields */
    CLASSES, /* ID to the offset of the CLASS_DUMP */
    STARTED, /* thread serial to nothing */
    OBJECTS, /* ID of an object or class of the heap dump to nothing */
    MAPS
};

/* Who owns and awaits monitors. */
struct monitors {
    uint32_t first;  /* ID of the first monitor; 0 for none */
    uint32_t owner;  /* thread serial; 0 for none, like the next two */
    uint32_t enters; /* the thread that waits to enter */
    uint32_t trace;  /* its trace */

    /* While the dump is walked: */
    uint32_t sought, listed; /* an object; threads that are written */
    const uint8_t *found;    /* the sub-record of this object */
};

enum { INTERVAL = 10, SPIN_INTERVALS = 30 }; /* milliseconds between samples; samples of an order to spin */

struct text {
    const uint8_t *dump;
    size_t size;
    text_put *put;
    void *context;
    bool is_read; /* somebody reads what is put */

    struct memory memory;
    struct keymap maps[MAPS];
    uint32_t any_trace;      /* JNI global references have none in a binary dump */
    uint64_t objects, bytes; /* of the heap dump */

    struct monitors monitors;

    size_t used;
    uint8_t buffer[BUFFER];
};

typedef bool each_subrecord(struct text *t, const uint8_t *p, uint64_t size);

/* ---- text_write.c: bytes and names ---- */

void write_format(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void flush(struct text *t);
void write_date(struct text *t);
size_t write_string(struct text *t, uint64_t id, const char *without);
void write_class(struct text *t, const struct keymap *map, uint64_t key);
void write_method(struct text *t, uint64_t frame_id);
bool read_frame(const struct text *t, uint64_t id, struct FRAME *frame);
void write_signature(struct text *t, uint64_t class_id);

/* ---- text.c: the tables ---- */

double percent(double part, double whole);
bool read_trace(const struct text *t, uint32_t trace_serial, struct TRACE *trace, struct cursor *frames);
uint64_t first_frame(const struct text *t, uint32_t trace_serial);

/* ---- text_heap.c: sub-records ---- */

uint64_t align(uint64_t size);
uint64_t array_size(uint64_t elements, unsigned type);
bool walk_heap(struct text *t, const uint8_t *p, size_t left, each_subrecord *each);
bool write_each(struct text *t, const uint8_t *p, uint64_t size);
const char *primitive_name(unsigned type);
void walk_dump(struct text *t, each_subrecord *each); /* all heap dumps */

#endif
