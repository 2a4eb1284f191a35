/* What --ignore leaves out, by the names of classes and fields. */
#ifndef HPROF_CLI_DIFF_IGNORED_H
#define HPROF_CLI_DIFF_IGNORED_H

#include "shapes.h"

enum { IGNORED = 3 };
extern const char *const ignored_names[IGNORED]; /* of the bits, from the lowest on */

bool field_is_ignored(unsigned ignored, const char *class_name, const char *field, uint8_t type);

/* The reference from one entry of a map to the next. */
bool is_entry_link(const char *field, const char *class_name);
bool is_entry_key(const char *field, const char *class_name);

/* The order in which an array of this class has the entries of a map; IN_ORDER if it is no such class. */
enum shape_order order_of_array(const char *class_name);

/* Whether the field has the array of a map that keeps keys and values, or of a set that keeps elements, without entries. */
bool is_map_table(const char *class_name, const char *field, enum shape_order *order);

#endif
