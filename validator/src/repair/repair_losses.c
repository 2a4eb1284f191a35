/* See repair.h. What was left out is known by class from the passes. What the copy has of these classes, and which of its classes
 * have lost their names, one more look at it says. */
#include <string.h>

#include "format/subrecord.h"
#include "repair/repair.h"

/* ---- The look at the copy ---- */

struct tally {
    struct repair *r;
    struct names names;
    struct keymap index[LEFT_KINDS]; /* of the classes that lost objects, by kind and key, in `losses` */
    struct class_loss {
        const struct left_out *left;
        uint64_t kept;
    } * losses;
    size_t count, capacity;
    uint64_t filter[16];        /* of their keys: few others pass */
    bool has_system, has_class; /* a loaded class is java.lang.System; java.lang.Class */
};

static bool is_of_objects(enum left_out_kind kind)
{
    return kind == LEFT_INSTANCE || kind == LEFT_OBJECT_ARRAY || kind == LEFT_PRIMITIVE_ARRAY;
}

/* A bit of the filter, and its word. IDs of classes are multiples of 8. */
static uint64_t filter_bit(uint64_t key)
{
    return UINT64_C(1) << (key >> 3 & 63);
}

static uint64_t *filter_word(struct tally *t, uint64_t key)
{
    return &t->filter[(key >> 9 ^ key) & 15];
}

static void count_kept(struct tally *t, enum left_out_kind kind, uint64_t key)
{
    uint64_t index;

    if (*filter_word(t, key) & filter_bit(key) && keymap_get(&t->index[kind], key, &index))
        t->losses[index].kept++;
}

static void count_subrecord(struct tally *t, const uint8_t *p, size_t n)
{
    const unsigned i = t->r->id_size;
    struct cursor c = {p + 1, p + n};
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;
    struct PRIMITIVE_ARRAY_DUMP values;
    struct CLASS_DUMP class;
    char name[NAME_ROOM];

    if (*p == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, i, &instance))
        count_kept(t, LEFT_INSTANCE, instance.class_id);
    else if (*p == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&c, i, &objects))
        count_kept(t, LEFT_OBJECT_ARRAY, objects.class_id);
    else if (*p == SUB_PRIMITIVE_ARRAY_DUMP && read_PRIMITIVE_ARRAY_DUMP(&c, i, &values))
        count_kept(t, LEFT_PRIMITIVE_ARRAY, values.type);
    else if (*p == SUB_CLASS_DUMP && read_CLASS_DUMP(&c, i, &class))
        t->r->result.classes_without_name += t->r->may_lack_names && !names_class(&t->names, class.class_id, name);
}

/* Passes the objects in memory, before an offset. */
static void count_objects(struct tally *t, uint64_t until)
{
    struct input *in = &t->r->in;
    uint64_t left = until - in->offset;
    const uint8_t *p = in->at, *end = left < (size_t)(in->end - p) ? p + left : in->end;
    struct measure m;

    while (is_whole_object(p, end, t->r->id_size, &m)) {
        count_subrecord(t, p, (size_t)m.size);
        p += m.size;
    }
    input_advance(in, (size_t)(p - in->at));
}

/* The sub-records of a heap dump record of the copy, which is valid. False if it cannot be read. */
static bool count_subrecords(struct tally *t, uint64_t end)
{
    struct input *in = &t->r->in;

    while (in->offset < end) {
        struct measure m;

        count_objects(t, end);
        if (in->offset >= end)
            break;
        if (!repair_measure_next(t->r, &m))
            return false;
        count_subrecord(t, in->at, (size_t)(in->end - in->at));
        if (input_skip(in, m.size) < m.size)
            return false;
    }
    return true;
}

/* The next record of the copy is a UTF8 or LOAD_CLASS. */
static void add_name(struct tally *t, uint64_t size)
{
    size_t want = size < NAMES_RECORD_BYTES ? (size_t)size : NAMES_RECORD_BYTES, have = input_need(&t->r->in, want);

    names_add_record(&t->names, (struct cursor){t->r->in.at, t->r->in.at + (have < want ? have : want)});
}

/* The next record is a LOAD_CLASS. */
static void look_at_class(struct tally *t)
{
    const size_t head = RECORD_HEADER_SIZE + SIZE_OF(LOAD_CLASS, t->r->id_size);
    struct LOAD_CLASS class;
    char name[NAME_ROOM];

    if (input_need(&t->r->in, head) < head ||
        !read_LOAD_CLASS(&(struct cursor){t->r->in.at + RECORD_HEADER_SIZE, t->r->in.at + head}, t->r->id_size, &class) ||
        !names_class(&t->names, class.class_id, name))
        return;
    t->has_system |= strcmp(name, "java.lang.System") == 0;
    t->has_class |= strcmp(name, "java.lang.Class") == 0;
}

/* What is read of the copy. */
enum reading { READ_NAMES, READ_CLASSES, READ_HEAPS };

static void read_copy(struct tally *t, enum reading reading)
{
    struct input *in = &t->r->in;

    if (!input_seek(in, HEADER_SIZE))
        return;
    while (input_need(in, RECORD_HEADER_SIZE) >= RECORD_HEADER_SIZE) {
        const uint8_t tag = *in->at;
        const uint64_t length = get_u4(in->at + RECORD_LENGTH_AT), end = in->offset + RECORD_HEADER_SIZE + length;

        if (reading == READ_HEAPS && is_heap_dump_record(tag)) {
            input_advance(in, RECORD_HEADER_SIZE);
            if (!count_subrecords(t, end))
                return;
        } else if (reading == READ_NAMES && (tag == TAG_UTF8 || tag == TAG_LOAD_CLASS)) {
            add_name(t, end - in->offset);
        } else if (reading == READ_CLASSES && tag == TAG_LOAD_CLASS) {
            look_at_class(t);
        }
        if (input_skip(in, end - in->offset) < end - in->offset)
            return;
    }
}

static void ignore_fault(void *context, const struct gzip_finding *finding)
{
    (void)context;
    (void)finding;
}

static void look_at_copy(struct tally *t)
{
    struct repair *r = t->r;

    names_init(&t->names, &r->memory, &r->key, r->id_size);
    input_close(&r->in);
    if (input_open(&r->in, source_of_fd(r->to), 0, &usual_sizes, &r->memory, ignore_fault, NULL)) {
        read_copy(t, READ_NAMES);
        read_copy(t, READ_CLASSES);
        if (t->count || r->may_lack_names)
            read_copy(t, READ_HEAPS);
        r->result.lacks_system = !t->has_system;
        r->result.lacks_class = !t->has_class;
    }
    names_clear(&t->names);
}

/* ---- The report ---- */

static void list_losses(struct tally *t)
{
    struct repair *r = t->r;

    for (size_t i = 0; i < r->left_count; i++) {
        const struct left_out *l = &r->left[i];

        if (!is_of_objects(l->kind) ||
            !memory_grow(&r->memory, (void **)&t->losses, &t->capacity, t->count + 1, sizeof *t->losses))
            continue;
        keymap_put(&t->index[l->kind], l->key, t->count);
        *filter_word(t, l->key) |= filter_bit(l->key);
        t->losses[t->count++] = (struct class_loss){.left = l};
    }
}

void repair_report_losses(struct repair *r)
{
    struct tally t = {.r = r};

    if (!r->asked.on_class_loss)
        return;
    for (int kind = 0; kind < LEFT_KINDS; kind++)
        keymap_init(&t.index[kind], &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    list_losses(&t); /* in the order of report(): the most bytes first */
    if (t.count || r->may_lack_names || r->result.stand_in_names || r->result.stand_in_classes)
        look_at_copy(&t);
    for (size_t i = 0; i < t.count && !r->stopped; i++) {
        char name[NAME_ROOM];
        struct hprof_class_loss loss = {.struct_size = sizeof loss,
                                        .class_name = name,
                                        .objects = t.losses[i].left->count,
                                        .bytes = t.losses[i].left->bytes,
                                        .kept = t.losses[i].kept};

        left_class_name(r, t.losses[i].left, name);
        r->stopped = r->asked.on_class_loss(r->asked.context, &loss) != 0;
    }
    for (int kind = 0; kind < LEFT_KINDS; kind++)
        keymap_clear(&t.index[kind]);
    memory_put(&r->memory, t.losses, t.capacity * sizeof *t.losses);
}
