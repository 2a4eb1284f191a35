/* See addresses.h. */
#include "twin/addresses.h"

#include <stdlib.h>

#include "stream/encode.h"

/* Where heaps are usually, with compressed references and without. */
#define BASE UINT64_C(0x700000000)
#define HIGH_BASE UINT64_C(0x7f4000000000)
#define LOW_BASE UINT64_C(0x2000) /* with IDs of 4 bytes */

enum {
    MIRROR = 112,     /* an instance of java.lang.Class, without static fields */
    ALIGNED_BITS = 3, /* objects begin at multiples of 8 bytes, in a heap of more than 2^32 of these at larger ones */
    SPARE = 16,
    STEP = 16, /* between equidistant IDs of 8 bytes, */
    STEP4 = 8  /* and of 4 */
};

struct measure {
    const struct heap_profile *p;
    const struct graph *g;
    uint32_t first_class;
    uint64_t *instances; /* by class: bytes of one */
    uint64_t *arrays;    /* by class: measured so far */
    unsigned bits;       /* a step in the heap has 2^bits bytes */
};

/* ---- Sizes ---- */

static uint64_t bytes_of_fields(const struct heap_profile *p, uint32_t first, uint32_t count)
{
    uint64_t size = 0;

    for (uint32_t i = first; i < first + count; i++)
        size += type_size(p->fields[i].type, p->sizes.reference);
    return size;
}

static void measure_instances(struct measure *m)
{
    for (uint32_t c = 0; c < m->p->class_count; c++) {
        const struct profile_class *class = &m->p->classes[c];

        m->instances[c] = m->p->sizes.header + bytes_of_fields(m->p, class->first_field, class->fields);
        while (m->p->classes[c].instances && class->super != CLASS_NONE_INDEX) {
            class = &m->p->classes[class->super];
            m->instances[c] += bytes_of_fields(m->p, class->first_field, class->fields);
        }
    }
}

static uint64_t size_of_class(const struct measure *m, uint32_t class)
{
    return MIRROR + bytes_of_fields(m->p, m->p->classes[class].first_static, m->p->classes[class].statics);
}

/* Of the next object. */
static uint64_t size_of_object(struct measure *m, uint64_t object)
{
    bool is_array;
    uint32_t class = graph_class(m->g, object, &is_array);
    uint8_t type = profile_element_type(&m->p->classes[class]);

    if (!is_array)
        return m->instances[class];
    return m->p->sizes.array_header +
           graph_length(m->g, class, m->arrays[class]++) * type_size(type ? type : TYPE_OBJECT, m->p->sizes.reference);
}

/* ---- Places ---- */

static uint64_t in_steps(const struct measure *m, uint64_t bytes)
{
    return m->p->sizes.header ? (bytes + (UINT64_C(1) << m->bits) - 1) >> m->bits : 1;
}

/* Classes are evenly between the objects. Returns the end of the last place; if it has more than 32 bits, the places are wrong. */
static uint64_t place(struct measure *m, uint32_t *at)
{
    uint64_t end = 0, objects = graph_objects(m->g), classes = m->p->class_count - m->first_class, next = 0;

    memset(m->arrays, 0, m->p->class_count * sizeof *m->arrays);
    for (uint64_t i = 0; i <= objects; i++) {
        for (; next < classes && next * objects <= i * classes; next++) {
            at[next] = (uint32_t)end;
            end += in_steps(m, size_of_class(m, m->first_class + (uint32_t)next));
        }
        if (i < objects) {
            at[classes + i] = (uint32_t)end;
            end += in_steps(m, size_of_object(m, i));
        }
    }
    return end;
}

/* As few bytes in a step as there are enough IDs for, and IDs that are as far from each other as they can be. */
static bool fit(struct addresses *a, struct measure *m, uint64_t room)
{
    uint64_t end;

    m->bits = ALIGNED_BITS;
    while ((end = place(m, a->at) + SPARE) > UINT32_MAX || end > room)
        if (!m->p->sizes.header || ++m->bits > 32)
            return false;
    a->step = m->p->sizes.header ? UINT64_C(1) << m->bits : m->p->id_size == 8 ? STEP : STEP4;
    while (end > room / a->step)
        a->step /= 2;
    return true;
}

bool addresses_lay_out(struct addresses *a, const struct heap_profile *p, uint32_t first_class, const struct graph *g,
                       const char **failure)
{
    struct measure m = {.p = p, .g = g, .first_class = first_class};
    size_t classes = p->class_count + (size_t)1;
    bool good;

    *failure = NULL;
    a->base = p->id_size == 4 ? LOW_BASE : p->sizes.reference == 8 ? HIGH_BASE : BASE;
    a->at = malloc((classes + graph_objects(g)) * sizeof *a->at);
    m.instances = calloc(classes, sizeof *m.instances);
    m.arrays = calloc(classes, sizeof *m.arrays);
    good = a->at && m.instances && m.arrays;
    if (good) {
        measure_instances(&m);
        good = fit(a, &m, (p->id_size == 4 ? UINT32_MAX : UINT64_MAX) - a->base);
        *failure = good ? NULL : "the profile has more objects than IDs of its size can name";
    }
    free(m.instances);
    free(m.arrays);
    return good;
}

void addresses_free(struct addresses *a)
{
    free(a->at);
}
