/* What the agent writes, in one of two forms. */
#ifndef AGENT_WRITER_H
#define AGENT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "classes.h"
#include "sites.h"
#include "stacks.h"
#include "threads.h"

enum root {
    ROOT_UNKNOWN = 0xff,
    ROOT_JNI_GLOBAL = 0x01,
    ROOT_JNI_LOCAL = 0x02,
    ROOT_JAVA_FRAME = 0x03,
    ROOT_STICKY_CLASS = 0x05,
    ROOT_THREAD_BLOCK = 0x06,
    ROOT_MONITOR_USED = 0x07,
    ROOT_THREAD_OBJECT = 0x08
};

struct heap_root {
    enum root kind;
    uint64_t number;    /* of the ID */
    uint64_t reference; /* of a JNI global one */
    uint32_t thread;    /* serial number */
    int32_t frame;      /* -1: none */
    uint32_t trace;
    uint32_t class; /* of ROOT_STICKY_CLASS */
};

/* An object, and the bytes of its values as the binary format has them. */
struct heap_object {
    uint64_t number;
    const struct class *class;
    uint32_t trace;
    uint64_t size;   /* that the VM takes for it */
    uint64_t length; /* of an array */
    const uint8_t *values;
    uint64_t value_bytes;
};

struct constant {
    uint32_t index;
    uint64_t number;
};

/* What references of a class there are. */
struct class_values {
    uint64_t signers, domain;
    uint8_t *statics; /* static_bytes of the class */
    struct constant *constants;
    uint32_t constant_count;
    size_t constant_room;
};

struct sample_row {
    uint32_t trace;
    uint32_t class; /* of a monitor; else 0 */
    uint64_t count;
    uint64_t weight; /* what rows are ordered by, and shares are of */
};

struct sample_table {
    struct sample_row *rows;
    uint32_t count;
    uint64_t total;       /* of the weights of all rows, also those that are left out */
    uint64_t total_shown; /* as BEGIN has it */
};

struct writer {
    /* Of any thread: they take the lock of the output. */
    void (*class_loaded)(uint32_t class);
    void (*thread_started)(uint32_t thread);
    void (*thread_ended)(uint32_t thread);

    /* Under the lock of the output. */
    void (*start)(void);
    void (*traces)(void); /* all that are not written yet */
    bool (*heap_begin)(void);
    void (*heap_root)(const struct heap_root *root);
    void (*heap_object)(const struct heap_object *object);
    void (*heap_class)(uint32_t class, const struct class_values *values, uint64_t loader, uint32_t trace);
    void (*heap_end)(void);
    void (*sites)(const struct site_table *table, unsigned flags, double cutoff);
    void (*summary)(const struct site_row *total);
    void (*samples)(const struct sample_table *table);
};

extern const struct writer *writer;
extern const struct writer binary_writer, text_writer;

#endif
