#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "name_fields.h"

enum {
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    TYPE_OBJECT = 2,
    TYPE_CHAR = 5,
    TYPE_BYTE = 8,
    CODER_LATIN1 = 0,
    STRETCH_BYTES = 1 << 18
};

/* Objects from an item on. */
static void add_to_stretch(struct stats *stats, const struct hprof_item *item, uint64_t low, uint64_t high)
{
    struct list *list = &stats->stretches;
    struct stretch *last = list->count > 0 ? (struct stretch *)list->at + list->count - 1 : NULL;

    if (last == NULL || item->offset - last->first.offset >= STRETCH_BYTES) {
        last = list_add(stats, list, sizeof *last);
        if (last == NULL)
            return;
        *last = (struct stretch){.first = *item, .low = low};
    }
    if (low < last->low)
        last->low = low;
    if (high > last->high)
        last->high = high;
    last->end = item->offset + item->size;
}

void names_see_object(struct stats *stats, const struct hprof_item *item)
{
    if (item->tag == SUB_INSTANCE_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_DUMP)
        add_to_stretch(stats, item, item->id, item->id);
}

void names_see_objects(struct stats *stats, const struct hprof_item *item, const struct hprof_counted *counted)
{
    add_to_stretch(stats, item, counted->low_id, counted->high_id);
}

/* ---- What is sought ---------------------------------------------------------------------------------------------- */

/* An object on the way to the name of a thread. */
struct wanted {
    uint64_t id;
    size_t thread;
    bool is_latin1; /* if it is an array of bytes */
    bool is_found;  /* alike in all with the same ID */
};

struct search {
    struct stats *stats;
    struct hprof_reader *reader;
    struct class_fields fields;
    struct list now;  /* struct wanted, by ID */
    struct list next; /* what the objects that were found refer to */
    size_t left;      /* of `now`: not found yet */
};

static struct wanted *sought(const struct search *s)
{
    return s->now.at;
}

static int compare_wanted(const void *a, const void *b)
{
    const struct wanted *one = a, *other = b;

    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return (one->is_latin1 > other->is_latin1) - (one->is_latin1 < other->is_latin1);
}

/* The first that has this ID or a larger one. */
static size_t first_from(const struct search *s, uint64_t id)
{
    size_t low = 0, high = s->now.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sought(s)[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The value of a field of the last item. */
static bool value_of(struct search *s, const struct name_fields *fields, enum name_field n, struct hprof_value *value)
{
    struct hprof_field field;

    hprof_field_init(&field);
    hprof_value_init(value);
    field.offset = fields->at[n];
    field.type = fields->type[n];
    return field.type != 0 && hprof_field_value(s->reader, &field, value) == 1;
}

/* ---- Characters -------------------------------------------------------------------------------------------------- */

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* The character at an index of the last item: an array of characters, which are big-endian, or of bytes in one of the two coders.
 * UTF-16 in bytes is in the order of the machine that dumped, which is little-endian on those that HotSpot is mostly used on. */
static uint32_t unit_at(const uint8_t *bytes, size_t index, uint8_t type, bool is_latin1)
{
    if (type == TYPE_CHAR)
        return (uint32_t)(bytes[2 * index] << 8 | bytes[2 * index + 1]);
    return is_latin1 ? bytes[index] : (uint32_t)(bytes[2 * index] | bytes[2 * index + 1] << 8);
}

static const char *read_characters(struct search *s, const struct hprof_item *item, bool is_latin1)
{
    size_t width = item->element_type == TYPE_BYTE && is_latin1 ? 1 : 2, used = 0;
    char text[4 * THREAD_NAME_MOST + 1];
    const uint8_t *bytes;
    int64_t there = hprof_body(s->reader, 0, THREAD_NAME_MOST * width, &bytes);
    size_t count = there > 0 ? (size_t)there / width : 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t c = unit_at(bytes, i, item->element_type, is_latin1);

        if (c >= 0xd800 && c < 0xdc00 && i + 1 < count) {
            uint32_t low = unit_at(bytes, i + 1, item->element_type, is_latin1);

            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i++;
            }
        }
        used += put_utf8(text + used, c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
    }
    text[used] = '\0';
    return keep_text(s->stats, &s->stats->texts, text, used);
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

static void want(struct search *s, uint64_t id, size_t thread, bool is_latin1)
{
    struct wanted *wanted = id != 0 ? list_add(s->stats, &s->next, sizeof *wanted) : NULL;

    if (wanted != NULL)
        *wanted = (struct wanted){.id = id, .thread = thread, .is_latin1 = is_latin1};
}

/* An instance that is wanted by threads from `wanted` on. */
static void found_instance(struct search *s, struct wanted *wanted, const struct hprof_item *item)
{
    const struct name_fields fields = find_name_fields(&s->fields, item->class_id);
    const struct wanted *end = sought(s) + s->now.count;
    struct hprof_value value, coder;

    if ((!value_of(s, &fields, THREAD_NAME, &value) && !value_of(s, &fields, STRING_VALUE, &value)) ||
        value.type != TYPE_OBJECT)
        return;
    bool is_latin1 = !value_of(s, &fields, STRING_CODER, &coder) || coder.integer == CODER_LATIN1;
    for (; wanted < end && wanted->id == item->id; wanted++)
        want(s, value.id, wanted->thread, is_latin1);
}

static void found_array(struct search *s, struct wanted *wanted, const struct hprof_item *item)
{
    struct thread_stats *threads = s->stats->threads.at;
    const struct wanted *end = sought(s) + s->now.count, *last = NULL;

    if (item->element_type != TYPE_CHAR && item->element_type != TYPE_BYTE)
        return;
    for (; wanted < end && wanted->id == item->id; last = wanted++)
        threads[wanted->thread].name = last != NULL && last->is_latin1 == wanted->is_latin1
                                           ? threads[last->thread].name
                                           : read_characters(s, item, wanted->is_latin1);
}

/* Of objects with the same ID the first counts. */
static void found(struct search *s, const struct hprof_item *item)
{
    size_t first = first_from(s, item->id);

    if (first == s->now.count || sought(s)[first].id != item->id || sought(s)[first].is_found)
        return;
    if (item->tag == SUB_INSTANCE_DUMP)
        found_instance(s, sought(s) + first, item);
    else
        found_array(s, sought(s) + first, item);
    for (; first < s->now.count && sought(s)[first].id == item->id; first++, s->left--)
        sought(s)[first].is_found = true;
}

/* Visits the objects that are sought now. */
static int search_stretch(struct search *s, const struct stretch *stretch)
{
    struct hprof_item item = stretch->first;
    int result = hprof_seek(s->reader, &stretch->first);

    while (s->left > 0 && result == 1 && (result = hprof_next(s->reader, &item)) == 1 && item.offset < stretch->end) {
        if (item.kind == HPROF_ITEM_SUBRECORD && (item.tag == SUB_INSTANCE_DUMP || item.tag == SUB_PRIMITIVE_ARRAY_DUMP))
            found(s, &item);
    }
    return result;
}

static int search_all(struct search *s)
{
    const struct stretch *stretches = s->stats->stretches.at;
    int result = 1;

    for (size_t i = 0; i < s->stats->stretches.count && s->left > 0 && result >= 0; i++) {
        size_t first = first_from(s, stretches[i].low);

        if (first < s->now.count && sought(s)[first].id <= stretches[i].high)
            result = search_stretch(s, &stretches[i]);
    }
    return result;
}

enum hprof_status names_find(struct stats *stats, struct hprof_reader *reader)
{
    enum { STEPS = 3 /* the thread, its String, the array of that */ };
    const struct thread_stats *threads = stats->threads.at;
    struct search s = {.stats = stats, .reader = reader, .fields = {.stats = stats, .reader = reader}};
    int result = 1;

    if (stats->threads.count == 0)
        return HPROF_VALID;
    for (size_t i = 0; i < stats->threads.count && !stats->out_of_memory; i++)
        if (threads[i].name == NULL)
            want(&s, threads[i].object_id, i, false);
    for (unsigned step = 0; step < STEPS && result >= 0 && !stats->out_of_memory; step++) {
        struct list before = s.now;

        s.now = s.next;
        s.next = before;
        s.next.count = 0;
        s.left = s.now.count;
        list_sort(stats, &s.now, sizeof(struct wanted), compare_wanted);
        result = search_all(&s);
    }
    list_free(stats, &s.fields.classes, sizeof(struct name_fields));
    list_free(stats, &s.now, sizeof(struct wanted));
    list_free(stats, &s.next, sizeof(struct wanted));
    return stats->out_of_memory ? HPROF_LIMIT : result < 0 ? (enum hprof_status) - result : HPROF_VALID;
}
