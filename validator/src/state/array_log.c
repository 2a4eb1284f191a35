/* See array_log.h. An array is its ID, its class ID, and blocks: a number of elements and these, each as the difference to the one
 * before, then a 0. */
#include "state/array_log.h"

#include "format/format.h"

enum {
    BLOCK = 128, /* elements */
    PRUNED_LEAST = 64 << 10,
    LOG_MOST = 4 << 20, /* and a share of the bytes read: */
    LOG_SHARE = 64,
    NAMED_MOST = 1 << 20, /* IDs, which mostly take 2 bytes each */
    NAMED_SHARE = 96
};

static uint64_t from_difference(uint64_t previous, uint64_t number)
{
    return previous + (number >> 1 ^ (0 - (number & 1)));
}

static uint64_t to_difference(uint64_t previous, uint64_t id)
{
    uint64_t difference = id - previous;

    return difference << 1 ^ (0 - (difference >> 63));
}

void array_log_init(struct array_log *a, struct memory *memory, struct id_set *named, array_is_named *is_named, void *context)
{
    *a = (struct array_log){.named = named, .asks_is_named = is_named, .context = context};
    byte_log_init(&a->log, memory);
}

void array_log_clear(struct array_log *a)
{
    byte_log_clear(&a->log);
}

void array_log_begin(struct array_log *a, uint64_t array_id, uint64_t class_id)
{
    a->array_id = a->previous = array_id;
    a->class_id = class_id;
    a->has_elements = false;
    a->is_named = a->asks_is_named(a->context, array_id);
}

/* Elements of the present array that are not defined. */
static void add_elements(struct array_log *a, const uint64_t *ids, size_t n)
{
    struct recent_page near = {.page = NO_PAGE};

    if (!n)
        return;
    if (a->is_named) {
        for (size_t i = 0; i < n; i++)
            a->named_count += !id_set_refer(a->named, &near, id_to_key(ids[i], a->named->id_size), ID_REFERENCED);
        return;
    }
    if (!a->has_elements) {
        byte_log_append_number(&a->log, a->array_id);
        byte_log_append_number(&a->log, a->class_id);
        a->has_elements = true;
    }
    byte_log_append_number(&a->log, n);
    for (size_t i = 0; i < n; i++) {
        byte_log_append_number(&a->log, to_difference(a->previous, ids[i]));
        a->previous = ids[i];
    }
}

static void end_array(struct array_log *a)
{
    if (a->has_elements)
        byte_log_append_number(&a->log, 0);
    a->has_elements = false;
}

void array_log_add(struct array_log *a, struct id_set *objects, struct recent_page *near, const uint8_t *elements, size_t n)
{
    unsigned id_size = objects->id_size;
    uint64_t ids[BLOCK];
    size_t count = 0;

    for (size_t i = 0; i < n && !a->overflowed; i++) {
        uint64_t id = get_id(elements + i * id_size, id_size);

        if (!id || id == a->array_id || id_set_is_defined(objects, near, id_to_key(id, id_size)))
            continue;
        ids[count++] = id;
        if (count == BLOCK) {
            add_elements(a, ids, count);
            count = 0;
        }
    }
    if (!a->overflowed)
        add_elements(a, ids, count);
}

/* Copies what is not defined yet, and nothing else. */
static void prune(struct array_log *a, struct id_set *objects)
{
    struct array_log kept;
    struct recent_page near = {.page = NO_PAGE};
    struct logged_array array;
    uint64_t id;

    array_log_init(&kept, a->log.memory, a->named, a->asks_is_named, a->context);
    for (uint64_t next = 0; !a->log.memory->exhausted && array_log_next(a, &next, &array);) {
        uint64_t ids[BLOCK];
        size_t count = 0;

        byte_log_discard(&a->log, next);
        array_log_begin(&kept, array.array_id, array.class_id);
        while (array_log_element(a, &next, &array, &id)) {
            if (id_set_is_defined(objects, &near, id_to_key(id, objects->id_size)))
                continue;
            ids[count++] = id;
            if (count == BLOCK) {
                add_elements(&kept, ids, count);
                count = 0;
            }
        }
        add_elements(&kept, ids, count);
        end_array(&kept);
    }
    byte_log_clear(&a->log);
    a->log = kept.log;
    a->named_count += kept.named_count;
}

void array_log_end(struct array_log *a, struct id_set *objects, uint64_t read)
{
    uint64_t share = read / LOG_SHARE;

    end_array(a);
    id_set_allow(a->named, share);
    if (a->overflowed || a->log.memory->exhausted)
        return;
    if (a->log.size > PRUNED_LEAST + share && a->log.size > 2 * a->pruned) {
        prune(a, objects);
        a->pruned = a->log.size;
    }
    if (a->log.size > LOG_MOST + share || a->named_count > NAMED_MOST + read / NAMED_SHARE) {
        a->overflowed = true;
        byte_log_clear(&a->log);
        id_set_clear(a->named);
    }
}

bool array_log_next(const struct array_log *a, uint64_t *next, struct logged_array *array)
{
    if (*next >= a->log.size)
        return false;
    array->array_id = array->previous = byte_log_read_number(&a->log, next);
    array->class_id = byte_log_read_number(&a->log, next);
    array->left = 0;
    return true;
}

bool array_log_element(const struct array_log *a, uint64_t *next, struct logged_array *array, uint64_t *id)
{
    if (!array->left)
        array->left = byte_log_read_number(&a->log, next);
    if (!array->left)
        return false;
    array->left--;
    *id = array->previous = from_difference(array->previous, byte_log_read_number(&a->log, next));
    return true;
}
