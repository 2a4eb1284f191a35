/* Objects of a heap_data, as a pattern that is repeated. */
#ifndef HPROF_GEN_CELLS_H
#define HPROF_GEN_CELLS_H

#include "heap/heap_data.h"
#include "heap/rare_classes.h"

struct pattern;

struct cells {
    uint64_t first, count; /* of the objects */
    uint64_t key;
    uint64_t cells; /* whole ones */
    struct rare_classes rare;
    const struct pattern *pattern;
};

/* What the user asks for in place of the data's; MODEL_UNSET for each that is not asked for. */
struct cells_wanted {
    uint64_t references, array_length, string_length; /* means, in thousandths */
};

/* Adds the classes, except the rare ones, and makes the pattern of a cell of `size` objects. Of classes without objects, `part` of
 * `whole` are added. False: m->failure says why. */
bool cells_prepare(struct model *m, struct cells *cells, const struct heap_data *data, uint32_t size,
                   const struct cells_wanted *wanted, uint64_t part, uint64_t whole);
void cells_place(struct cells *cells, uint64_t first, uint64_t count);

void cells_object(const struct model *m, const struct cells *cells, uint64_t index, struct object *o);
uint64_t cells_reference(const struct cells *cells, uint64_t index, uint64_t slot);
bool cells_is_utf16(const struct cells *cells, uint64_t index); /* of a byte[] */

/* Of a shape whose memory begins with its cells. */
void cells_shape_object(const struct model *m, uint64_t index, struct object *o);
uint64_t cells_shape_reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot);
void cells_shape_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                     uint64_t *out);

#endif
