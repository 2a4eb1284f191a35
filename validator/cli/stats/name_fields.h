/* Where an instance has the fields that lead to the name of a thread. */
#ifndef HPROF_CLI_STATS_NAME_FIELDS_H
#define HPROF_CLI_STATS_NAME_FIELDS_H

#include "stats.h"

enum name_field { THREAD_NAME, STRING_VALUE, STRING_CODER, NAME_FIELDS };

struct name_fields {
    uint64_t at[NAME_FIELDS];  /* in the body of an instance */
    uint8_t type[NAME_FIELDS]; /* 0: it has none */
    uint8_t state;             /* see name_fields.c */
    uint32_t below;            /* while superclasses are looked at: the number of the subclass */
};

/* What is known of classes, each of which is looked at once. */
struct class_fields {
    struct stats *stats;
    struct hprof_reader *reader;
    struct list classes; /* struct name_fields, by the number of the class */
};

struct name_fields find_name_fields(struct class_fields *c, uint64_t class_id);

#endif
