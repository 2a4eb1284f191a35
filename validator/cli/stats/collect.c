/* One walk over the dump: numbers and bytes by kind and class, the map of the file, heap dumps, damage. */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "stats.h"

enum {
    TAG_UTF8 = 0x01,
    TAG_LOAD_CLASS = 0x02,
    TAG_UNLOAD_CLASS = 0x03,
    TAG_FRAME = 0x04,
    TAG_TRACE = 0x05,
    TAG_START_THREAD = 0x0a,
    TAG_END_THREAD = 0x0b,
    TAG_HEAP_DUMP = 0x0c,
    TAG_HEAP_DUMP_SEGMENT = 0x1c,
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SUB_PRIMITIVE_ARRAY_NODATA = 0xc3,
    SUB_HEAP_DUMP_INFO = 0xfe,
    HEADER_SIZE = 31,
    FIRST_CELL_BYTES = 64,
    PRIMITIVE_TYPES = 12
};

const char *const map_kind_names[MAP_KINDS] = {"names", "classes", "stacks", "instances", "object arrays", "primitive arrays",
                                               "roots", "other",   "damage"};

/* What is counted of a class by its number, while the dump is read. */
struct counted {
    uint64_t instances, arrays, instance_bytes, array_bytes, file_bytes;
};

struct collecting {
    struct stats *stats;
    struct counted *counted;
    size_t capacity;
    struct counted primitive[PRIMITIVE_TYPES]; /* by the type of the elements */
    struct counted unknown;                    /* of classes that are not known */
    unsigned shift;                            /* of the size of a cell */
    uint8_t heap_tag;                          /* of the last record, if it is a heap dump's; else 0 */
    uint64_t at;                               /* where the next item is expected */
    uint64_t sign;                             /* 1, or -1 (modulo 2^64) where an item is taken back */
};

/* ---- The map ----------------------------------------------------------------------------------------------------- */

uint64_t stats_cell(uint64_t dump_bytes)
{
    uint64_t cell = FIRST_CELL_BYTES;

    while (dump_bytes / cell >= MAP_CELLS)
        cell *= 2;
    return cell;
}

static void widen_cells(struct collecting *c)
{
    struct map *map = &c->stats->map;

    for (size_t i = 0; i < MAP_CELLS; i++) {
        for (unsigned kind = 0; kind < MAP_KINDS; kind++) {
            uint64_t bytes = map->bytes[i][kind];

            map->bytes[i][kind] = 0;
            map->bytes[i / 2][kind] += bytes;
        }
    }
    c->shift++;
}

static void add_to_map(struct collecting *c, enum map_kind kind, uint64_t offset, uint64_t size)
{
    while ((offset + size) >> c->shift >= MAP_CELLS)
        widen_cells(c);
    for (uint64_t end = offset + size; offset < end;) {
        uint64_t cell = offset >> c->shift, next = (cell + 1) << c->shift, to = next < end ? next : end;

        c->stats->map.bytes[cell][kind] += c->sign * (to - offset);
        offset = to;
    }
}

static enum map_kind kind_of_record(uint8_t tag)
{
    switch (tag) {
    case TAG_UTF8:
        return MAP_NAMES;
    case TAG_LOAD_CLASS:
    case TAG_UNLOAD_CLASS:
        return MAP_CLASSES;
    case TAG_FRAME:
    case TAG_TRACE:
    case TAG_START_THREAD:
    case TAG_END_THREAD:
        return MAP_STACKS;
    default:
        return MAP_OTHER;
    }
}

static enum map_kind kind_of_subrecord(uint8_t tag)
{
    switch (tag) {
    case SUB_CLASS_DUMP:
        return MAP_CLASSES;
    case SUB_INSTANCE_DUMP:
        return MAP_INSTANCES;
    case SUB_OBJECT_ARRAY_DUMP:
        return MAP_OBJECT_ARRAYS;
    case SUB_PRIMITIVE_ARRAY_DUMP:
    case SUB_PRIMITIVE_ARRAY_NODATA:
        return MAP_PRIMITIVE_ARRAYS;
    case SUB_HEAP_DUMP_INFO:
        return MAP_OTHER;
    default:
        return MAP_ROOTS;
    }
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

static struct counted *counted_class(struct collecting *c, struct hprof_reader *reader, uint64_t class_id)
{
    uint32_t number = hprof_class_number(reader, class_id);

    if (number == UINT32_MAX)
        return &c->unknown;
    if (number >= c->capacity) {
        size_t capacity = number < 512 ? 1024 : 2 * (size_t)number;
        struct counted *grown =
            allowance_resize(&c->stats->memory, c->counted, c->capacity * sizeof *grown, capacity * sizeof *grown);

        if (grown == NULL) {
            c->stats->out_of_memory = true;
            return &c->unknown;
        }
        memset(grown + c->capacity, 0, (capacity - c->capacity) * sizeof *grown);
        c->counted = grown;
        c->capacity = capacity;
    }
    return &c->counted[number];
}

/* Objects of one class. */
static void count_objects(struct collecting *c, struct hprof_reader *reader, const struct hprof_class_count *objects,
                          uint64_t bytes)
{
    bool is_primitive = objects->tag == SUB_PRIMITIVE_ARRAY_DUMP || objects->tag == SUB_PRIMITIVE_ARRAY_NODATA;
    struct counted *counted =
        is_primitive ? &c->primitive[objects->element_type % PRIMITIVE_TYPES] : counted_class(c, reader, objects->class_id);

    counted->file_bytes += c->sign * objects->size;
    if (objects->tag == SUB_INSTANCE_DUMP) {
        counted->instances += c->sign * objects->number;
        counted->instance_bytes += c->sign * bytes;
    } else {
        counted->arrays += c->sign * objects->number;
        counted->array_bytes += c->sign * bytes;
    }
}

static int compare_classes(const void *a, const void *b)
{
    const struct class_stats *one = a, *other = b;

    if (class_bytes(one) != class_bytes(other))
        return class_bytes(one) < class_bytes(other) ? 1 : -1;
    if (class_objects(one) != class_objects(other))
        return class_objects(one) < class_objects(other) ? 1 : -1;
    return one->id < other->id ? -1 : one->id > other->id;
}

static void keep_class(struct stats *stats, const char *name, uint64_t id, const struct counted *counted)
{
    struct class_stats *class = list_add(stats, &stats->classes, sizeof *class);

    if (class == NULL)
        return;
    *class = (struct class_stats){.id = id,
                                  .instances = counted->instances,
                                  .arrays = counted->arrays,
                                  .instance_bytes = counted->instance_bytes,
                                  .array_bytes = counted->array_bytes,
                                  .file_bytes = counted->file_bytes,
                                  .name = name != NULL ? keep_text(stats, &stats->texts, name, strlen(name)) : NULL};
}

static void keep_classes(struct collecting *c, struct hprof_reader *reader)
{
    static const char *const types[PRIMITIVE_TYPES] = {[4] = "boolean[]", [5] = "char[]",  [6] = "float[]", [7] = "double[]",
                                                       [8] = "byte[]",    [9] = "short[]", [10] = "int[]",  [11] = "long[]"};
    static const struct counted none;
    struct hprof_class class;

    hprof_class_init(&class);
    for (uint32_t i = 0; hprof_class_at(reader, i, &class) == 1; i++) {
        const struct counted *counted = i < c->capacity ? &c->counted[i] : &none;

        if (class.is_dumped || counted->instances + counted->arrays > 0)
            keep_class(c->stats, class.name[0] != '\0' ? class.name : NULL, class.id, counted);
        if (class.serial != 0) {
            struct named_class *named = list_add(c->stats, &c->stats->serials, sizeof *named);

            if (named != NULL)
                *named = (struct named_class){class.serial, i};
        }
    }
    for (unsigned type = 0; type < PRIMITIVE_TYPES; type++)
        if (c->primitive[type].arrays > 0)
            keep_class(c->stats, types[type], 0, &c->primitive[type]);
    if (c->unknown.instances + c->unknown.arrays > 0)
        keep_class(c->stats, NULL, 0, &c->unknown);
    list_sort(c->stats, &c->stats->classes, sizeof(struct class_stats), compare_classes);
}

/* ---- Items ------------------------------------------------------------------------------------------------------- */

static struct heap_dump_stats *heap_dump(struct stats *stats, const struct hprof_item *item)
{
    struct list *list = &stats->heap_dumps;

    if (item->heap_dump == 0 || item->heap_dump > HEAP_DUMPS_KEPT)
        return NULL;
    while (list->count < item->heap_dump) {
        struct heap_dump_stats *added = list_add(stats, list, sizeof *added);

        if (added == NULL)
            return NULL;
        added->offset = item->offset;
    }
    return &((struct heap_dump_stats *)list->at)[item->heap_dump - 1];
}

static void see_record(struct collecting *c, const struct hprof_item *item)
{
    struct stats *stats = c->stats;
    uint64_t size = item->size;

    if (item->tag == TAG_HEAP_DUMP || item->tag == TAG_HEAP_DUMP_SEGMENT) {
        struct heap_dump_stats *heap = heap_dump(stats, item);

        size = item->head; /* its sub-records follow */
        if (heap != NULL)
            heap->records += c->sign;
        c->heap_tag = item->tag;
    }
    stats->records[item->tag].number += c->sign;
    stats->records[item->tag].bytes += c->sign * size;
    add_to_map(c, kind_of_record(item->tag), item->offset, size);
    if (item->tag == TAG_UTF8) {
        stats->string_bytes += c->sign * item->body;
        if (item->body > stats->longest_string)
            stats->longest_string = item->body;
    }
}

/* Sub-records of one kind and class, whose bodies have so many bytes. */
static void count_subrecords(struct collecting *c, struct hprof_reader *reader, struct heap_dump_stats *heap,
                             const struct hprof_class_count *some, uint64_t bytes)
{
    struct stats *stats = c->stats;
    enum map_kind kind = kind_of_subrecord(some->tag);
    bool is_object = kind == MAP_INSTANCES || kind == MAP_OBJECT_ARRAYS || kind == MAP_PRIMITIVE_ARRAYS;

    stats->subrecords[some->tag].number += c->sign * some->number;
    stats->subrecords[some->tag].bytes += c->sign * some->size;
    if (heap != NULL) {
        heap->bytes += c->sign * some->size;
        heap->objects += is_object ? c->sign * some->number : 0;
        heap->roots += kind == MAP_ROOTS ? c->sign * some->number : 0;
    }
    if (is_object)
        count_objects(c, reader, some, bytes);
}

static void see_subrecord(struct collecting *c, struct hprof_reader *reader, const struct hprof_item *item)
{
    const struct hprof_class_count one = {
        .class_id = item->class_id, .size = item->size, .number = 1, .tag = item->tag, .element_type = item->element_type};

    count_subrecords(c, reader, heap_dump(c->stats, item), &one, item->body);
    add_to_map(c, kind_of_subrecord(item->tag), item->offset, item->size);
}

/* All but the last of them end in the cell that they begin in. */
static void see_objects(struct collecting *c, struct hprof_reader *reader, const struct hprof_item *item,
                        const struct hprof_counted *counted)
{
    struct heap_dump_stats *heap = heap_dump(c->stats, item);
    uint64_t *cell;

    while (c->stats->counted_within >> c->shift > 1)
        widen_cells(c);
    add_to_map(c, kind_of_subrecord(counted->last_tag), item->offset + item->size - counted->beyond, counted->beyond);
    cell = c->stats->map.bytes[item->offset >> c->shift];
    for (size_t i = 0; i < counted->class_count; i++) {
        const struct hprof_class_count *some = &counted->classes[i];

        count_subrecords(c, reader, heap, some, some->size - (uint64_t)some->head * some->number);
        cell[kind_of_subrecord(some->tag)] += some->size;
    }
    cell[kind_of_subrecord(counted->last_tag)] -= counted->beyond;
}

static void see_damage(struct collecting *c, const struct hprof_item *item)
{
    struct stats *stats = c->stats;

    stats->damage.number++;
    stats->damage.bytes += item->size;
    add_to_map(c, MAP_DAMAGE, item->offset, item->size);
    if (stats->damaged.count < DAMAGE_KEPT) {
        struct damage_stats *damage = list_add(stats, &stats->damaged, sizeof *damage);

        if (damage != NULL)
            *damage = (struct damage_stats){item->offset, item->size, item->damage};
    }
}

/* A record with the tag of a heap dump may hold none: 1.0.1 has no segments. */
static void see_gap(struct collecting *c, const struct hprof_item *item)
{
    if (c->heap_tag != 0 && item->offset > c->at) {
        c->stats->records[c->heap_tag].bytes += item->offset - c->at;
        add_to_map(c, MAP_OTHER, c->at, item->offset - c->at);
    }
    c->heap_tag = 0;
}

static void count_item(struct collecting *c, struct hprof_reader *reader, const struct hprof_item *item,
                       const struct hprof_counted *counted)
{
    if (item->kind == HPROF_ITEM_OBJECTS)
        see_objects(c, reader, item, counted);
    else if (item->kind == HPROF_ITEM_SUBRECORD)
        see_subrecord(c, reader, item);
    else if (item->kind == HPROF_ITEM_RECORD)
        see_record(c, item);
    else
        see_damage(c, item);
}

/* Of a pipe, the end of the dump within an item is noticed after the item. */
static void see_item(struct collecting *c, struct hprof_reader *reader, const struct hprof_item *item,
                     const struct hprof_counted *counted, const struct hprof_item *last)
{
    see_gap(c, item);
    if (item->kind == HPROF_ITEM_DAMAGE && item->offset < c->at && last->kind != HPROF_ITEM_DAMAGE) {
        c->sign = UINT64_MAX;
        count_item(c, reader, last, NULL);
        c->sign = 1;
        c->heap_tag = 0;
    }
    if (item->heap_dump > c->stats->heap_dump_count)
        c->stats->heap_dump_count = item->heap_dump;
    count_item(c, reader, item, counted);
    c->at = item->offset + (c->heap_tag != 0 ? item->head : item->size);
}

enum hprof_status stats_collect(struct stats *stats, struct hprof_reader *reader)
{
    struct collecting c = {.stats = stats, .sign = 1};
    struct hprof_item items[2];
    struct hprof_counted counted;
    unsigned now = 0; /* which of them; the other is the last one */
    int result;

    hprof_item_init(&items[0]);
    hprof_item_init(&items[1]);
    hprof_counted_init(&counted);
    while (FIRST_CELL_BYTES >> c.shift > 1)
        c.shift++;
    add_to_map(&c, MAP_OTHER, 0, HEADER_SIZE);
    while ((result = stats->counted_within != 0 ? hprof_next_counted(reader, &items[now], &counted)
                                                : hprof_next(reader, &items[now])) == 1 &&
           !stats->out_of_memory) {
        see_item(&c, reader, &items[now], &counted, &items[!now]);
        if (items[now].kind == HPROF_ITEM_OBJECTS)
            names_see_objects(stats, &items[now], &counted);
        else
            stats_see_thread(stats, reader, &items[now]);
        now = !now;
    }
    keep_classes(&c, reader);
    allowance_put(&stats->memory, c.counted, c.capacity * sizeof *c.counted);
    stats->map.cell_bytes = UINT64_C(1) << c.shift;
    for (size_t i = 0; i < MAP_CELLS; i++)
        for (unsigned kind = 0; kind < MAP_KINDS; kind++)
            if (stats->map.bytes[i][kind] > 0)
                stats->map.cells = i + 1;
    return stats->out_of_memory ? HPROF_LIMIT : result < 0 ? (enum hprof_status) - result : HPROF_VALID;
}

uint64_t stats_objects(const struct stats *stats)
{
    return stats->subrecords[SUB_INSTANCE_DUMP].number + stats->subrecords[SUB_OBJECT_ARRAY_DUMP].number +
           stats->subrecords[SUB_PRIMITIVE_ARRAY_DUMP].number + stats->subrecords[SUB_PRIMITIVE_ARRAY_NODATA].number;
}

uint64_t stats_classes(const struct stats *stats)
{
    return stats->subrecords[SUB_CLASS_DUMP].number;
}

uint64_t stats_roots(const struct stats *stats)
{
    uint64_t roots = 0;

    for (unsigned tag = 0; tag < 256; tag++)
        if (kind_of_subrecord((uint8_t)tag) == MAP_ROOTS)
            roots += stats->subrecords[tag].number;
    return roots;
}
