/* Reads a dump twice: which objects there are, and then what they refer to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "fit/gathered.h"
#include "fit/jdk_names.h"
#include "format/format.h"

enum { BODY_AT_ONCE = 1 << 20 };

static bool is_object(uint8_t tag)
{
    return tag == SUB_INSTANCE_DUMP || tag == SUB_OBJECT_ARRAY_DUMP || tag == SUB_PRIMITIVE_ARRAY_DUMP ||
           tag == SUB_PRIMITIVE_ARRAY_NODATA;
}

static uint32_t class_with(const struct gathered *g, uint64_t class_id)
{
    uint32_t number = hprof_class_number(g->reader, class_id);

    return number < CLASS_UNKNOWN - FIRST_CLASS ? number + FIRST_CLASS : CLASS_UNKNOWN;
}

static bool is_primitive_array(uint8_t tag)
{
    return tag == SUB_PRIMITIVE_ARRAY_DUMP || tag == SUB_PRIMITIVE_ARRAY_NODATA;
}

static uint32_t class_of(const struct gathered *g, const struct hprof_item *item)
{
    return is_primitive_array(item->tag) ? (uint32_t)item->element_type - FIRST_PRIMITIVE : class_with(g, item->class_id);
}

static uint64_t id_at(const struct gathered *g, const uint8_t *bytes)
{
    return get_id(bytes, g->header.id_size);
}

/* ---- The first reading: objects, and texts ---- */

static bool add_object(struct gathered *g, const struct hprof_item *item, uint64_t position)
{
    if (!sample_selects(&g->sample, item->id))
        return true;
    if (is_primitive_array(item->tag))
        return sample_add(&g->sample, item->id, position, 0, (uint32_t)item->element_type - FIRST_PRIMITIVE);
    return sample_add(&g->sample, item->id, position, item->class_id, CLASS_UNKNOWN);
}

static void find_objects(struct gathered *g, const struct hprof_item *item, uint64_t *position)
{
    if (item->kind == HPROF_ITEM_RECORD) {
        if (item->tag == TAG_UTF8)
            tally_add(&g->tally, TALLY_TEXT, 0, (uint32_t)item->body, 1);
        return;
    }
    if (item->heap_dump != g->heap_dumps) {
        g->heap_dumps = item->heap_dump;
        *position = 0;
        sample_clear(&g->sample);
    }
    if (item->tag == SUB_CLASS_DUMP)
        g->no_memory |= !sample_add(&g->sample, item->id, NO_POSITION, 0, CLASS_OF_CLASSES);
    else if (is_object(item->tag))
        g->no_memory |= !add_object(g, item, (*position)++);
}

/* ---- The second reading ---- */

/* The index of the first of `count` slots. */
static uint32_t add_slots(struct gathered *g, size_t count)
{
    size_t first = g->slot_count;

    if (first + count > g->slot_capacity) {
        size_t capacity = 2 * g->slot_capacity > first + count ? 2 * g->slot_capacity : first + count + 1024;
        struct slot *grown = realloc(g->slots, capacity * sizeof *grown);

        if (!grown) {
            g->no_memory = true;
            return 0;
        }
        g->slots = grown;
        g->slot_capacity = capacity;
    }
    memset(g->slots + first, 0, count * sizeof *g->slots);
    g->slot_count += count;
    return (uint32_t)first;
}

static void lay_out(struct gathered *g, struct gathered_class *class, uint64_t class_id)
{
    struct hprof_field field;

    hprof_field_init(&field);
    class->is_laid_out = true;
    class->first_slot = (uint32_t)g->slot_count;
    for (size_t i = 0; hprof_field_at(g->reader, class_id, false, i, &field) == 1; i++) {
        if (field.type == TYPE_OBJECT) {
            uint32_t slot = add_slots(g, 1);

            if (g->no_memory)
                return;
            g->slots[slot].offset = field.offset;
            class->slots++;
        }
    }
}

static void see_reference(struct gathered *g, uint32_t slot, uint64_t id, uint64_t position)
{
    struct slot *s = &g->slots[slot];
    struct sampled *target;

    if (!id) {
        s->nulls++;
        return;
    }
    s->set++;
    if (!sample_selects(&g->sample, id))
        return;
    target = sample_find(&g->sample, id);
    if (!target) {
        s->nowhere++;
        return;
    }
    if (target->references < UINT32_MAX)
        target->references++;
    tally_add(&g->tally, TALLY_TARGET, slot, target->class, 1);
    if (target->position != NO_POSITION && position != NO_POSITION) {
        uint64_t ahead = target->position - position, size = target->position > position ? ahead : 0 - ahead;
        uint32_t bits = 0;

        while (bits < 64 && size >> bits)
            bits++;
        tally_add(&g->tally, TALLY_DISTANCE, slot, target->position > position ? DISTANCE_ZERO + bits : DISTANCE_ZERO - bits,
                  1);
    }
}

/* Below 0: reading failed. */
static int64_t see_instance(struct gathered *g, const struct hprof_item *item, uint32_t number)
{
    struct gathered_class *class = &g->classes[number];
    unsigned id_size = g->header.id_size;
    const uint8_t *bytes;
    int64_t size;

    if (!class->is_laid_out)
        lay_out(g, class, item->class_id);
    if (g->no_memory)
        return 0;
    size = hprof_body(g->reader, 0, BODY_AT_ONCE, &bytes);
    for (uint32_t i = 0; size > 0 && i < class->slots; i++) {
        uint64_t offset = g->slots[class->first_slot + i].offset;

        if (offset + id_size <= (uint64_t)size)
            see_reference(g, class->first_slot + i, id_at(g, bytes + offset), g->objects);
    }
    if (number == g->string_class && size > 0 && g->coder.offset < (uint64_t)size) {
        uint8_t coder = bytes[g->coder.offset];

        g->coders[coder < CODERS ? coder : CODERS]++;
    }
    return size;
}

static int64_t see_elements(struct gathered *g, const struct hprof_item *item, uint32_t number)
{
    struct gathered_class *class = &g->classes[number];
    unsigned id_size = g->header.id_size;

    if (!class->has_elements) {
        class->element_slot = add_slots(g, 1);
        class->has_elements = true;
    }
    for (uint64_t at = 0; !g->no_memory && at < item->body;) {
        const uint8_t *bytes;
        int64_t size = hprof_body(g->reader, at, BODY_AT_ONCE, &bytes);

        if (size < (int64_t)id_size)
            return size;
        for (int64_t i = 0; i + id_size <= size; i += id_size)
            see_reference(g, class->element_slot, id_at(g, bytes + i), g->objects);
        at += (uint64_t)size / id_size * id_size;
    }
    return 0;
}

static void see_object(struct gathered *g, const struct hprof_item *item, int64_t *got)
{
    uint32_t number = class_of(g, item);

    if (number == CLASS_UNKNOWN) {
        g->unknown++;
    } else if (item->tag == SUB_INSTANCE_DUMP) {
        g->classes[number].instances++;
        *got = see_instance(g, item, number);
    } else {
        g->classes[number].arrays++;
        tally_add(&g->tally, TALLY_LENGTH, number, item->elements, 1);
        if (item->tag == SUB_OBJECT_ARRAY_DUMP)
            *got = see_elements(g, item, number);
    }
    g->objects++;
}

static void see_class(struct gathered *g, const struct hprof_item *item)
{
    uint32_t number = hprof_class_number(g->reader, item->id);
    struct gathered_class *class;
    struct hprof_field field;
    struct hprof_value value;

    if (number >= g->class_count - FIRST_CLASS)
        return;
    class = &g->classes[number + FIRST_CLASS];
    hprof_field_init(&field);
    hprof_value_init(&value);
    if (class->statics)
        return; /* the class is defined twice */
    class->first_static = (uint32_t)g->slot_count;
    for (size_t i = 0; hprof_field_at(g->reader, item->id, true, i, &field) == 1; i++) {
        if (field.type != TYPE_OBJECT)
            continue;
        if (hprof_field_value(g->reader, &field, &value) != 1)
            break;
        add_slots(g, 1);
        if (g->no_memory)
            return;
        see_reference(g, class->first_static + class->statics++, value.id, NO_POSITION);
    }
}

static void see_frame(struct gathered *g, const struct hprof_item *item)
{
    uint32_t low = 0, high = g->serial_count, class = CLASS_NONE;
    const char *text;
    size_t size;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->serials[middle].serial < item->class_serial)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < g->serial_count && g->serials[low].serial == item->class_serial)
        class = g->serials[low].class;
    if (hprof_string(g->reader, item->name_id, &text, &size) != 1)
        size = 0;
    tally_add(&g->tally, TALLY_METHOD, class, size ? jdk_name_number(text, size) : JDK_NAME_NONE, 1);
}

static void see_record(struct gathered *g, const struct hprof_item *item)
{
    if (item->tag != TAG_HEAP_DUMP && item->tag != TAG_HEAP_DUMP_SEGMENT) {
        g->records[item->tag]++;
        if (item->tag == TAG_FRAME)
            see_frame(g, item);
        if (item->tag == TAG_TRACE)
            tally_add(&g->tally, TALLY_FRAMES, item->thread_serial != 0, item->frames, 1);
    } else if (item->heap_dump == g->heap_dumps) {
        g->heap_tag = item->tag;
        g->heap_records++;
    }
}

static int64_t see(struct gathered *g, const struct hprof_item *item)
{
    int64_t got = 0;

    if (item->kind == HPROF_ITEM_RECORD) {
        see_record(g, item);
    } else if (item->heap_dump == g->heap_dumps) {
        if (!g->subrecords[item->tag]++)
            g->order[g->order_count++] = item->tag;
        if (item->tag == SUB_CLASS_DUMP)
            see_class(g, item);
        else if (is_object(item->tag))
            see_object(g, item, &got);
    }
    return got;
}

/* ---- The end ---- */

static void count_degree(void *context, struct sampled *one)
{
    struct gathered *g = context;

    if (one->class < g->class_count)
        tally_add(&g->tally, TALLY_DEGREE, one->class, degree_bucket(one->references), 1);
}

static int64_t fail(char *failure, size_t size, const char *why)
{
    snprintf(failure, size, "%s", why);
    return HPROF_INVALID;
}

static int64_t read_once(struct gathered *g, bool is_first, char *failure, size_t size)
{
    struct hprof_item item;
    uint64_t position = 0;
    int64_t got;

    hprof_item_init(&item);
    while ((got = hprof_next(g->reader, &item)) == 1) {
        if (item.kind == HPROF_ITEM_DAMAGE) {
            snprintf(failure, size, "damaged at offset 0x%" PRIx64 ": hprof-validate --repair makes a copy of what can be read",
                     item.offset);
            return HPROF_INVALID;
        }
        got = 0;
        if (is_first)
            find_objects(g, &item, &position);
        else
            got = see(g, &item);
        if (got < 0)
            break;
        if (g->no_memory || g->tally.no_memory)
            return HPROF_LIMIT;
    }
    if (got < 0)
        snprintf(failure, size, "%s", hprof_failure(g->reader));
    return -got;
}

/* The class whose values of `coder` are counted: they say in which form a text is, and are no text. */
static void find_coder(struct gathered *g)
{
    struct hprof_class class;

    hprof_class_init(&class);
    hprof_field_init(&g->coder);
    g->string_class = CLASS_UNKNOWN;
    for (uint32_t i = 0; g->string_class == CLASS_UNKNOWN && hprof_class_at(g->reader, i, &class) == 1; i++)
        if (strcmp(class.name, "java.lang.String") == 0 && hprof_field(g->reader, class.id, "coder", &g->coder) == 1 &&
            g->coder.type == TYPE_BYTE && !g->coder.is_static)
            g->string_class = i + FIRST_CLASS;
}

/* A class may follow its objects, so their classes are known only after the first reading. */
static void know_class(void *context, struct sampled *one)
{
    if (one->class == CLASS_UNKNOWN)
        one->class = class_with(context, one->class_id);
}

static bool is_serial_less(const void *a, const void *b)
{
    const struct class_serial *one = a, *other = b;

    return one->serial != other->serial ? one->serial < other->serial : one->class < other->class;
}

static int64_t make_classes(struct gathered *g)
{
    struct hprof_class class;
    uint32_t count = 0;

    hprof_class_init(&class);
    while (hprof_class_at(g->reader, count, &class) == 1)
        count++;
    g->class_count = FIRST_CLASS + count;
    g->classes = calloc(g->class_count, sizeof *g->classes);
    g->serials = malloc(g->class_count * sizeof *g->serials);
    if (!g->classes || !g->serials)
        return HPROF_LIMIT;
    for (uint32_t i = 0; hprof_class_at(g->reader, i, &class) == 1; i++)
        if (class.serial)
            g->serials[g->serial_count++] = (struct class_serial){class.serial, i + FIRST_CLASS};
    sort_in_place(g->serials, g->serial_count, sizeof *g->serials, is_serial_less);
    find_coder(g);
    return 0;
}

static int64_t read_twice(struct gathered *g, char *failure, size_t size)
{
    int64_t status = read_once(g, true, failure, size);

    if (status == 0 && !g->heap_dumps)
        status = fail(failure, size, "it has no heap dump");
    if (status == 0)
        status = make_classes(g);
    if (status == 0)
        sample_each(&g->sample, know_class, g);
    if (status == 0)
        status = -hprof_seek(g->reader, NULL) > 0 ? fail(failure, size, hprof_failure(g->reader)) : 0;
    if (status == 0)
        status = read_once(g, false, failure, size);
    if (status == 0)
        sample_each(&g->sample, count_degree, g);
    return g->no_memory || g->tally.no_memory ? HPROF_LIMIT : status;
}

enum hprof_status gather(struct gathered *g, int fd, char *failure, size_t size)
{
    struct hprof_read_options options;
    int64_t status;

    *g = (struct gathered){0};
    tally_init(&g->tally);
    if (!sample_init(&g->sample))
        return HPROF_LIMIT;
    hprof_read_options_init(&options);
    options.unchecked = true;
    hprof_header_init(&g->header);
    status = hprof_open_fd(fd, &options, &g->reader);
    if (status != HPROF_VALID)
        snprintf(failure, size, "%s", g->reader ? hprof_failure(g->reader) : "out of memory");
    else if (hprof_read_header(g->reader, &g->header) != 1 || !g->header.can_seek)
        status = fail(failure, size, "it cannot be read twice, as is needed: give a file, no pipe");
    else
        status = read_twice(g, failure, size);
    if (status == HPROF_LIMIT && !*failure)
        snprintf(failure, size, "out of memory");
    return (enum hprof_status)status;
}

void gathered_free(struct gathered *g)
{
    hprof_close(g->reader);
    sample_free(&g->sample);
    tally_free(&g->tally);
    free(g->classes);
    free(g->serials);
    free(g->slots);
}
