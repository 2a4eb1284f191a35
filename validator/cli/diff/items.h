/* What of an item is compared, and with what. */
#ifndef HPROF_CLI_DIFF_ITEMS_H
#define HPROF_CLI_DIFF_ITEMS_H

#include "diff.h"

enum { HEAD_MOST = 64 /* of the bytes before the body of an instance or array */ };

/* A record that has nothing to compare but the sub-records in it, or the end of a series of such. */
bool holds_heap(const struct hprof_item *item);

/* The bytes that are compared: all of a sub-record; of a record its body, as the time in its head says nothing of the heap. */
uint64_t compared_from(const struct hprof_item *item);
uint64_t compared_to(const struct hprof_item *item);

enum kind kind_of_subrecord(uint8_t tag);
enum kind kind_of(const struct hprof_item *item);
bool has_id(enum kind kind);
bool have_same_key(const struct hprof_item *a, const struct hprof_item *b);

/* The class of an object, or the type of the elements of a primitive array. */
uint64_t class_of(const struct hprof_item *item);
uint64_t class_counted(const struct hprof_class_count *count);

#endif
