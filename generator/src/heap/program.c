/* What a program leaves in the heap of a VM, beside its load: virtual threads, objects of hidden classes, and classes of one name
 * in several loaders. Only in a heap that has room for all that an idle VM holds. */
#include "heap/heap_data.h"

#include <string.h>

/* As measured in a program with virtual threads, of which all but two were parked. */
enum { VIRTUAL_THREADS = 21, CARRIERS = 2, STATE_RUNNING = 2, STATE_PARKED = 4, CHUNK_SIZE = 179, CHUNK_TOP = 2 };

static struct program *program_of(struct model *m)
{
    return &((struct parts *)m)->program;
}

uint32_t program_thread_roots(const struct model *m)
{
    if (!has_program(m) || m->options.virtual_threads == VIRTUAL_NONE)
        return 0;
    return CARRIERS + (m->options.virtual_threads == VIRTUAL_AS_ROOTS ? VIRTUAL_THREADS : 0);
}

static uint32_t count_hidden(const struct heap_data *data)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < data->row_count; i++)
        count += data->rows[i].row == ROW_ADDED && data->rows[i].share > 0;
    return count;
}

/* The carriers and the virtual threads are the last threads. */
void program_settle(struct model *m)
{
    struct program *p = program_of(m);
    uint64_t others, threads = m->options.threads, left = threads > idle_threads(m) ? threads - idle_threads(m) : 0;

    p->threads = others = threads;
    if (!has_program(m))
        return;
    p->twins = (uint32_t)m->options.loaders + 1;
    p->hidden = count_hidden(m->options.idle);
    if (!program_thread_roots(m) || left <= CARRIERS)
        return;
    p->carriers = CARRIERS;
    p->virtual_threads = VIRTUAL_THREADS;
    if (m->options.virtual_threads == VIRTUAL_ON_CARRIERS) {
        p->threads += p->virtual_threads;
    } else {
        p->virtual_threads = left - CARRIERS < VIRTUAL_THREADS ? (uint32_t)(left - CARRIERS) : VIRTUAL_THREADS;
        others -= p->virtual_threads;
    }
    if (p->virtual_threads < p->carriers)
        p->carriers = p->virtual_threads;
    p->first_carrier = others - p->carriers;
}

bool program_prepare(struct model *m)
{
    struct program *p = program_of(m);
    uint32_t *hidden;

    if (!p->twins)
        return true;
    p->hidden_classes = hidden = shape_memory(m, (p->hidden + 1) * sizeof *hidden);
    if (!hidden)
        return false;
    for (uint32_t i = 0; i < m->options.idle->row_count; i++)
        if (m->options.idle->rows[i].row == ROW_ADDED && m->options.idle->rows[i].share > 0)
            *hidden++ = class_find(m, m->options.idle->rows[i].name);
    p->twin_class = m->class_count;
    for (uint32_t loader = 0; loader < p->twins; loader++) {
        uint32_t class = class_add(m, "com/example/plugin/Plugin", CORE_OBJECT, "L:name I:order", "L:instance");

        if (class == MODEL_NONE)
            return false;
        m->classes[class].loader = 1 + loader;
    }
    if (!p->virtual_threads)
        return true;
    p->classes[THREAD_CARRIER] = class_find(m, "jdk/internal/misc/CarrierThread");
    p->classes[THREAD_VIRTUAL] = class_find(m, "java/lang/VirtualThread");
    p->continuation = class_find(m, "java/lang/VirtualThread$VThreadContinuation");
    p->chunk = class_find(m, "jdk/internal/vm/StackChunk");
    p->chunk_slot = slot_named(m, p->continuation, "tail");
    return true;
}

enum thread_kind thread_kind(const struct model *m, uint64_t thread)
{
    const struct program *p = &parts_of(m)->program;

    if (!p->virtual_threads || thread < p->first_carrier)
        return THREAD_PLATFORM;
    return thread < p->first_carrier + p->carriers ? THREAD_CARRIER : THREAD_VIRTUAL;
}

uint64_t thread_rank(const struct model *m, uint64_t thread)
{
    const struct program *p = &parts_of(m)->program;

    return thread - p->first_carrier - (thread_kind(m, thread) == THREAD_VIRTUAL ? p->carriers : 0);
}

bool is_mounted(const struct model *m, uint64_t rank)
{
    return rank < parts_of(m)->program.carriers;
}

/* ---- Objects: continuations, the stacks of parked threads, instances of the twins and of hidden classes, and a list that has the
 * virtual threads and these instances ---- */

struct place {
    enum { AT_CONTINUATION, AT_CHUNK, AT_TWIN, AT_HIDDEN, AT_LIST } what;
    uint64_t rank;
};

static uint32_t chunks(const struct program *p)
{
    return p->virtual_threads - p->carriers;
}

uint64_t program_object_count(const struct model *m)
{
    const struct program *p = &parts_of(m)->program;

    return (uint64_t)p->virtual_threads + chunks(p) + p->twins + p->hidden + (p->twins > 0);
}

static struct place place_of(const struct model *m, uint64_t index)
{
    const struct program *p = &parts_of(m)->program;
    uint64_t at = index - parts_of(m)->program.first;
    const uint64_t counts[] = {p->virtual_threads, chunks(p), p->twins, p->hidden};
    unsigned what = AT_CONTINUATION;

    for (; what < AT_LIST && at >= counts[what]; what++)
        at -= counts[what];
    return (struct place){what, at};
}

void program_object(const struct model *m, uint64_t index, struct object *o)
{
    const struct program *p = &parts_of(m)->program;
    struct place place = place_of(m, index);

    switch (place.what) {
    case AT_CONTINUATION:
        be_instance(o, p->continuation);
        break;
    case AT_CHUNK:
        be_instance(o, p->chunk);
        break;
    case AT_TWIN:
        be_instance(o, p->twin_class + (uint32_t)place.rank);
        break;
    case AT_HIDDEN:
        be_instance(o, p->hidden_classes[place.rank]);
        break;
    case AT_LIST:
        be_object_array(o, CORE_OBJECT_ARRAY, p->virtual_threads + p->twins + p->hidden);
        break;
    }
}

uint64_t program_reference(const struct model *m, uint64_t index, uint64_t slot)
{
    const struct program *p = &parts_of(m)->program;
    struct place place = place_of(m, index);

    if (place.what == AT_CONTINUATION && slot == p->chunk_slot && !is_mounted(m, place.rank))
        return index + chunks(p);
    if (place.what != AT_LIST)
        return MODEL_NULL;
    if (slot < p->virtual_threads)
        return CORE_FIRST_THREAD + p->first_carrier + p->carriers + slot;
    return index - p->twins - p->hidden + (slot - p->virtual_threads);
}

uint64_t program_list(const struct model *m)
{
    return parts_of(m)->program.twins ? parts_of(m)->program.first + program_object_count(m) - 1 : MODEL_NULL;
}

uint64_t program_continuation(const struct model *m, uint64_t rank)
{
    return parts_of(m)->program.first + rank;
}

/* ---- Values by which a reader tells a mounted thread from a parked one ---- */

static void put_value_named(const struct model *m, uint32_t class, const char *name, uint32_t value, uint8_t *body)
{
    char text[MODEL_STRING_MOST];

    for (; class != MODEL_NONE; class = m->classes[class].super) {
        const struct model_field *field = m->fields + m->classes[class].first_field, *end = field + m->classes[class].fields;

        for (; field < end; field++) {
            unsigned size = type_size(field->type, m->options.id_size);

            if (model_string(m, field->name, text) == strlen(name) && memcmp(text, name, strlen(name)) == 0) {
                for (unsigned i = 0; i < size; i++)
                    body[i] = (uint8_t)(i + 4 < size ? 0 : value >> 8 * (size - 1 - i));
                return;
            }
            body += size;
        }
    }
}

void program_values(const struct model *m, uint64_t index, uint8_t *body)
{
    const struct program *p = &parts_of(m)->program;
    struct place place = place_of(m, index);

    if (place.what == AT_CONTINUATION)
        put_value_named(m, p->continuation, "mounted", is_mounted(m, place.rank), body);
    if (place.what == AT_CHUNK) {
        put_value_named(m, p->chunk, "size", CHUNK_SIZE, body);
        put_value_named(m, p->chunk, "sp", CHUNK_TOP, body);
        put_value_named(m, p->chunk, "bottom", CHUNK_SIZE - CHUNK_TOP, body);
    }
}

void thread_values(const struct model *m, uint64_t thread, uint8_t *body)
{
    if (thread_kind(m, thread) == THREAD_VIRTUAL)
        put_value_named(m, parts_of(m)->program.classes[THREAD_VIRTUAL], "state",
                        is_mounted(m, thread_rank(m, thread)) ? STATE_RUNNING : STATE_PARKED, body);
}
