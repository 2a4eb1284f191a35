/* Reads a dump twice: which objects there are, and then what they refer to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "fit/gathered.h"
#include "fit/jdk_names.h"
#include "format/format.h"

/* ---- The second reading ---- */

/* How far a position is from another. */
static uint32_t distance_between(uint64_t from, uint64_t to)
{
    return to > from ? DISTANCE_ZERO + bits_of(to - from) : DISTANCE_ZERO - bits_of(from - to);
}

static void name_hub(struct gathered *g, uint32_t slot, uint32_t number, uint64_t position)
{
    struct hub *hub = &g->hubs.all[number];
    uint32_t part = position == NO_POSITION ? HUB_PARTS : (uint32_t)(position * HUB_PARTS / g->positions);

    hub->references += hub->references < UINT32_MAX;
    if (!hub->is_found) {
        tally_add(&g->tally, TALLY_HUB, slot, number << HUB_SHIFT | part, 1);
        return;
    }
    tally_add(&g->tally, TALLY_TARGET, slot, hub->class, 1);
    if (hub->position != NO_POSITION && position != NO_POSITION)
        tally_add(&g->tally, TALLY_DISTANCE, slot, distance_between(position, hub->position), 1);
}

/* A sampled object counts for one in `each` objects: itself, and those that were not sampled. */
static void name_object(struct gathered *g, uint32_t slot, uint64_t id, uint64_t position)
{
    struct slot *s = &g->slots[slot];
    uint32_t hub = id ? hubs_number(&g->hubs, id) : HUB_NONE;
    uint64_t each = UINT64_C(1) << g->sample.shift;
    struct sampled *target;

    s->nulls += !id;
    s->set += id != 0;
    if (hub != HUB_NONE)
        name_hub(g, slot, hub, position);
    if (!id || hub != HUB_NONE || !sample_selects(&g->sample, id))
        return;
    target = sample_find(&g->sample, id);
    if (!target) {
        s->nowhere += each;
        return;
    }
    target->references += target->references < UINT32_MAX;
    tally_add(&g->tally, TALLY_TARGET, slot, target->class, each);
    if (target->position != NO_POSITION && position != NO_POSITION)
        tally_add(&g->tally, TALLY_DISTANCE, slot, distance_between(position, target->position), each);
}

static void see_reference(struct gathered *g, uint32_t slot, uint64_t id)
{
    name_object(g, slot, id, g->objects);
}

static void see_static(struct gathered *g, uint32_t slot, uint64_t id)
{
    name_object(g, slot, id, NO_POSITION);
}

/* If the object is a hub, this is where it is. */
static void find_hub(struct gathered *g, const struct hprof_item *item, uint32_t class, uint64_t position)
{
    uint32_t number = hubs_number(&g->hubs, item->id);
    struct hub *hub = &g->hubs.all[number];

    if (number != HUB_NONE && !hub->is_found)
        *hub = (struct hub){.position = position, .class = class, .references = hub->references, .is_found = true};
}

static void see_coder(struct gathered *g)
{
    const uint8_t *coder;

    if (hprof_body(g->reader, g->coder.offset, 1, &coder) == 1)
        g->coders[*coder < CODERS ? *coder : CODERS]++;
}

/* How large it is in a VM's heap, after its references were seen. */
static void see_size(struct gathered *g, const struct hprof_item *item, uint32_t number)
{
    bool is_instance = item->tag == SUB_INSTANCE_DUMP;
    uint64_t references = is_instance                          ? g->classes[number].slots
                          : item->tag == SUB_OBJECT_ARRAY_DUMP ? item->elements
                                                               : 0,
             of_references = references * g->header.id_size;

    follows_see(&g->follows, item->id, !is_instance, references, item->body > of_references ? item->body - of_references : 0);
}

static void see_object(struct gathered *g, const struct hprof_item *item, int64_t *got)
{
    uint32_t number = class_of(g, item);

    find_hub(g, item, number, g->objects);
    if (number != CLASS_UNKNOWN)
        order_add(&g->class_order, (struct ordered){number, item->tag == SUB_OBJECT_ARRAY_DUMP ? bits_of(item->elements) : 0});
    if (number == CLASS_UNKNOWN) {
        g->unknown++;
    } else if (item->tag == SUB_INSTANCE_DUMP) {
        g->classes[number].instances++;
        *got = references_of_instance(g, item, number, see_reference);
        if (number == g->string_class)
            see_coder(g);
    } else {
        g->classes[number].arrays++;
        tally_add(&g->tally, TALLY_LENGTH, number, item->elements, 1);
        if (item->tag == SUB_OBJECT_ARRAY_DUMP)
            *got = references_of_elements(g, item, number, see_reference);
    }
    if (number != CLASS_UNKNOWN)
        see_size(g, item, number);
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
    find_hub(g, item, CLASS_OF_CLASSES, NO_POSITION);
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
        gathered_add_slot(g);
        if (g->no_memory)
            return;
        see_static(g, class->first_static + class->statics++, value.id);
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
        if (!g->records[item->tag]++)
            g->record_order[g->record_order_count++] = item->tag;
        if (item->tag == TAG_FRAME)
            see_frame(g, item);
        if (item->tag == TAG_TRACE)
            tally_add(&g->tally, TALLY_FRAMES, item->thread_serial != 0, item->frames, 1);
    } else if (item->heap_dump == g->heap_dumps) {
        g->heap_tag = item->tag;
        if (!g->heap_records++)
            g->record_order[g->record_order_count++] = item->tag;
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

    if (one->class < g->class_count && hubs_number(&g->hubs, one->id) == HUB_NONE)
        tally_add(&g->tally, TALLY_DEGREE, one->class, degree_value(one->references, one->position, g->objects),
                  UINT64_C(1) << g->sample.shift);
}

/* From the middle of the part where the references to a hub are. */
static void count_hub(struct gathered *g, const struct counted *counted)
{
    const struct hub *hub = &g->hubs.all[counted_value(counted) >> HUB_SHIFT];
    uint64_t part = counted_value(counted) & ((1 << HUB_SHIFT) - 1), from = (2 * part + 1) * g->objects / (2 * HUB_PARTS);
    uint32_t slot = counted_of(counted);

    if (!hub->is_found) {
        g->slots[slot].nowhere += counted->count;
        return;
    }
    tally_add(&g->tally, TALLY_TARGET, slot, hub->class, counted->count);
    if (hub->position != NO_POSITION && part < HUB_PARTS)
        tally_add(&g->tally, TALLY_DISTANCE, slot, distance_between(from, hub->position), counted->count);
}

static void count_hubs(struct gathered *g)
{
    size_t count;
    struct counted *counts = tally_sorted(&g->tally, &count);

    g->no_memory |= !counts || !tally_clear(&g->tally, TALLY_HUB);
    for (size_t i = 0; counts && i < count && counted_kind(&counts[i]) == TALLY_HUB; i++)
        count_hub(g, &counts[i]);
    for (uint32_t i = 1; i <= g->hubs.count; i++) {
        const struct hub *hub = &g->hubs.all[i];

        if (hub->is_found && hub->class < g->class_count)
            tally_add(&g->tally, TALLY_DEGREE, hub->class, degree_value(hub->references, hub->position, g->objects), 1);
    }
    free(counts);
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
            gathered_find(g, &item, &position, &got);
        else
            got = see(g, &item);
        if (got < 0)
            break;
        if (g->no_memory || g->tally.no_memory)
            return HPROF_LIMIT;
    }
    if (is_first)
        g->positions = position;
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
    free(g->classes);
    g->slot_count = 0;
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
    if (status == 0) {
        sample_each(&g->sample, know_class, g);
        if (g->sample.shift)
            hubs_decide(&g->hubs);
    }
    if (status == 0)
        status = -hprof_seek(g->reader, NULL) > 0 ? fail(failure, size, hprof_failure(g->reader)) : 0;
    if (status == 0)
        status = read_once(g, false, failure, size);
    if (status == 0) {
        sample_each(&g->sample, count_degree, g);
        count_hubs(g);
    }
    return g->no_memory || g->tally.no_memory ? HPROF_LIMIT : status;
}

static int64_t refuse_stream(char *failure, size_t size)
{
    return fail(failure, size, "it cannot be read twice, as is needed: give a file, no pipe");
}

enum hprof_status gather(struct gathered *g, int fd, char *failure, size_t size)
{
    struct hprof_read_options options;
    int64_t status;

    *g = (struct gathered){0};
    tally_init(&g->tally);
    if (!sample_init(&g->sample) || !order_init(&g->class_order) || !hubs_init(&g->hubs))
        return HPROF_LIMIT;
    hprof_read_options_init(&options);
    options.unchecked = true;
    hprof_header_init(&g->header);
    if (lseek(fd, 0, SEEK_CUR) < 0) /* a pipe without a writer has no header, either */
        return (enum hprof_status)refuse_stream(failure, size);
    status = hprof_open_fd(fd, &options, &g->reader);
    if (status != HPROF_VALID)
        snprintf(failure, size, "%s", g->reader ? hprof_failure(g->reader) : "out of memory");
    else if (hprof_read_header(g->reader, &g->header) != 1 || !g->header.can_seek)
        status = refuse_stream(failure, size);
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
    order_free(&g->class_order);
    hubs_free(&g->hubs);
    tally_free(&g->tally);
    free(g->classes);
    free(g->serials);
    free(g->slots);
}
