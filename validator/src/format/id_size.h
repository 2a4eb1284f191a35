/* Which size of IDs the records of a dump have, whatever its header says. */
#ifndef HPROF_ID_SIZE_H
#define HPROF_ID_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the header of a dump that begins with these n bytes states an ID size, 4 or 8, but its first records have the other
 * one. */
bool id_size_is_wrong(const uint8_t *p, size_t n);

#endif
