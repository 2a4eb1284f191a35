/* What is known of a file before a failure: classes, stack traces and threads, as a heap dump of HotSpot has them. */
#ifndef HPROF_TESTS_KNOWN_H
#define HPROF_TESTS_KNOWN_H

#include <stdint.h>

#include <cmocka.h>

#include "dice.h"
#include "state/file.h"

enum {
    CLASSES = 1 << 10,
    TRACES = 1 << 9,
    THREADS = 40,
    CLASS_STEP = 0x68,
    FIELDS_SIZE = 8 /* of an instance of each class: a long */
};

struct known {
    struct memory memory;
    struct file file;
    uint64_t lowest; /* ID of a class */
};

static inline void learn(struct known *k, unsigned id_size, bool has_classes, bool has_traces)
{
    static const struct hash_key key = {0x1234567890abcdef, 0x9E3779B97F4A7C15};
    const uint8_t field[9] = {[8] = 11};

    *k = (struct known){.lowest = id_size == 8 ? 0x7f3240000000 : 0x1a400000};
    memory_init(&k->memory, NULL, 0);
    file_init(&k->file, &k->memory, &key);
    k->file.id_size = id_size;
    file_begin(&k->file, &k->memory, &key);
    classes_begin_dump(&k->file.classes);
    for (uint64_t i = 0; has_classes && i < CLASSES; i++) {
        const struct CLASS_DUMP class = {.class_id = k->lowest + i * CLASS_STEP, .instance_size = FIELDS_SIZE};

        classes_add(&k->file.classes, class.class_id);
        classes_add_layout(&k->file.classes, &class, 31 + i, field + (8 - id_size), 1);
    }
    for (uint32_t i = 1; has_traces && i <= TRACES; i++)
        keymap_put(&k->file.traces, i, i);
    k->file.highest_thread = THREADS;
}

static inline void forget(struct known *k)
{
    file_clear(&k->file);
    assert_int_equal(k->memory.used, 0);
}

static inline uint64_t id_of_class(const struct known *k)
{
    return k->lowest + (uint64_t)below(CLASSES) * CLASS_STEP;
}

/* An ID near those of classes, and of none. */
static inline uint64_t id_of_object(const struct known *k)
{
    return k->lowest + (uint64_t)below(1 << 17) * CLASS_STEP + 8 * (uint64_t)(1 + below(CLASS_STEP / 8 - 1));
}

#endif
