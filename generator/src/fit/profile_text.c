/* Writes what was counted as a profile: a text with a line for each fact, see hprof-gen(1). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "fit/gathered.h"
#include "fit/jdk_names.h"
#include "fit/labels.h"
#include "fit/pool.h"
#include "format/format.h"

enum { TARGETS_KEPT = 16 };

struct writing {
    struct gathered *g;
    FILE *out;
    const struct label *labels;
    const struct counted *counts; /* sorted */
    size_t count;
    struct revealed *revealed;
};

/* ---- Names of tags ---- */

static const char *record_word(uint8_t tag)
{
    switch (tag) {
#define RECORD(name, tag, since, clause, layout) \
    case tag: \
        return #name;
#include "format/records.def"
#undef RECORD
    default:
        return "?";
    }
}

static const char *subrecord_word(uint8_t tag)
{
    switch (tag) {
#define SUBRECORD(name, tag, since, clause, layout) \
    case tag: \
        return #name;
#include "format/records.def"
#undef SUBRECORD
    default:
        return "?";
    }
}

/* ---- Parts of lines ---- */

static void put_class(struct writing *w, uint32_t class)
{
    char label[LABEL_SIZE];

    if (class == CLASS_OF_CLASSES) {
        fputs("a class", w->out);
    } else if (class >= w->g->class_count) {
        fputs("unknown", w->out);
    } else {
        label_write(w->labels, class, label);
        fprintf(w->out, "%" PRIu32 " %s", class, label);
    }
}

/* The name of a field, if it is one of the JDK's. */
static void put_name(struct writing *w, uint64_t name_id, uint64_t *kept)
{
    const char *text;
    size_t size;
    uint32_t number = hprof_string(w->g->reader, name_id, &text, &size) == 1 ? jdk_name_number(text, size) : JDK_NAME_NONE;

    fprintf(w->out, " %s", number ? jdk_name_text(number) : "-");
    *kept += number != JDK_NAME_NONE;
}

static struct counted_range range_of(const struct writing *w, enum tally_kind kind, uint32_t of)
{
    return counted_find(w->counts, w->count, kind, of);
}

/* ---- Lengths ---- */

static void put_lengths(struct writing *w, const char *word, enum tally_kind kind, uint32_t of)
{
    struct pool pool;
    struct pooled one;

    pool_init(&pool, range_of(w, kind, of));
    while (pool_next(&pool, &one)) {
        static const char *const how[] = {[POOLED_SHARED] = "", [POOLED_MEAN] = " mean", [POOLED_ROUNDED] = " rounded"};

        fprintf(w->out, "%s %" PRIu64 " %" PRIu64 "%s\n", word, one.count, one.length, how[one.how]);
        w->revealed->lengths += one.count;
        w->revealed->shared_lengths += one.how == POOLED_SHARED ? one.count : 0;
        w->revealed->pooled += one.how == POOLED_MEAN ? one.count : 0;
        w->revealed->rounded += one.how == POOLED_ROUNDED ? one.count : 0;
    }
}

/* ---- References ---- */

static bool is_commoner(const void *a, const void *b)
{
    const struct counted *one = a, *other = b;

    return one->count != other->count ? one->count > other->count : one->key < other->key;
}

/* The commonest classes, and how many references lead to others. */
static void put_targets(struct writing *w, uint32_t slot)
{
    struct counted_range range = range_of(w, TALLY_TARGET, slot);
    struct counted kept[TARGETS_KEPT + 1];
    uint64_t rest = 0;
    size_t count = 0;

    for (size_t i = 0; i < range.count; i++) {
        size_t at = count < TARGETS_KEPT ? count++ : TARGETS_KEPT;

        kept[at] = range.at[i];
        while (at && is_commoner(&kept[at], &kept[at - 1])) {
            struct counted moved = kept[at];

            kept[at] = kept[at - 1];
            kept[--at] = moved;
        }
        if (count == TARGETS_KEPT && i >= TARGETS_KEPT)
            rest += kept[TARGETS_KEPT].count;
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(w->out, "  to %" PRIu64 " ", kept[i].count);
        put_class(w, counted_value(&kept[i]));
        putc('\n', w->out);
    }
    if (rest)
        fprintf(w->out, "  to %" PRIu64 " rest\n", rest);
    if (w->g->slots[slot].nowhere)
        fprintf(w->out, "  to %" PRIu64 " nothing\n", w->g->slots[slot].nowhere);
    w->revealed->nowhere += w->g->slots[slot].nowhere;
}

static void put_slot(struct writing *w, const char *word, uint32_t slot)
{
    struct counted_range distances = range_of(w, TALLY_DISTANCE, slot);
    const struct slot *s = &w->g->slots[slot];

    fprintf(w->out, " %s %" PRIu64 " null %" PRIu64 "\n", word, s->set, s->nulls);
    put_targets(w, slot);
    for (size_t i = 0; i < distances.count; i++)
        fprintf(w->out, "  at %" PRIu64 " %d\n", distances.at[i].count, (int)counted_value(&distances.at[i]) - DISTANCE_ZERO);
}

/* ---- Classes ---- */

static void put_fields(struct writing *w, uint64_t class_id, bool is_static, uint32_t first_static)
{
    struct hprof_field field;

    hprof_field_init(&field);
    for (size_t i = 0; hprof_field_at(w->g->reader, class_id, is_static, i, &field) == 1; i++) {
        if (field.class_id != class_id)
            return; /* those of superclasses */
        fprintf(w->out, " %s %s", is_static ? "static" : "field", type_word(field.type));
        w->revealed->fields++;
        put_name(w, field.name_id, &w->revealed->kept_fields);
        putc('\n', w->out);
        if (is_static && field.type == TYPE_OBJECT)
            put_slot(w, "is", first_static++);
    }
}

/* The objects of each bucket; then where those are that several references name. */
static void put_degrees(struct writing *w, struct counted_range degrees)
{
    for (size_t i = 0; i < degrees.count;) {
        uint32_t bucket = counted_value(&degrees.at[i]) >> 8;
        uint64_t count = 0;

        for (; i < degrees.count && counted_value(&degrees.at[i]) >> 8 == bucket; i++)
            count += degrees.at[i].count;
        fprintf(w->out, " named %" PRIu64 " %" PRIu32 "%s\n", count, degree_least(bucket), bucket > DEGREES_EXACT ? "+" : "");
    }
    for (size_t i = 0; i < degrees.count; i++) {
        uint32_t value = counted_value(&degrees.at[i]);

        if (value >> 8 > 1)
            fprintf(w->out, " where %" PRIu64 " %" PRIu32 "%s %" PRIu32 "\n", degrees.at[i].count, degree_least(value >> 8),
                    value >> 8 > DEGREES_EXACT ? "+" : "", value & 0xff);
    }
}

static void put_objects(struct writing *w, uint32_t number)
{
    const struct gathered_class *class = &w->g->classes[number];

    if (class->instances)
        fprintf(w->out, " instances %" PRIu64 "\n", class->instances);
    for (uint32_t i = 0; i < class->slots; i++)
        put_slot(w, "reference", class->first_slot + i);
    if (class->arrays)
        fprintf(w->out, " arrays %" PRIu64 "\n", class->arrays);
    put_lengths(w, " length", TALLY_LENGTH, number);
    if (class->has_elements)
        put_slot(w, "elements", class->element_slot);
    put_degrees(w, range_of(w, TALLY_DEGREE, number));
}

static void put_methods(struct writing *w, uint32_t number)
{
    struct counted_range methods = range_of(w, TALLY_METHOD, number);

    for (size_t i = 0; i < methods.count; i++) {
        uint32_t name = counted_value(&methods.at[i]);

        fprintf(w->out, " frames %" PRIu64 " %s\n", methods.at[i].count, name ? jdk_name_text(name) : "-");
        w->revealed->methods += methods.at[i].count;
        w->revealed->kept_methods += name ? methods.at[i].count : 0;
    }
}

/* A class whose name is the program's may have a method with a name of the JDK. */
static void put_dumped(struct writing *w, uint32_t number)
{
    struct hprof_class class;

    hprof_class_init(&class);
    if (hprof_class_at(w->g->reader, number - FIRST_CLASS, &class) != 1)
        return;
    w->revealed->classes += w->labels[number].has_name;
    w->revealed->kept_classes += label_is_kept(&w->labels[number]);
    if (!class.serial)
        fputs(" not loaded\n", w->out);
    if (!class.is_dumped) {
        fputs(" not dumped\n", w->out);
        return;
    }
    if (class.super_id) {
        uint32_t super = hprof_class_number(w->g->reader, class.super_id);

        fputs(" super ", w->out);
        put_class(w, super < CLASS_UNKNOWN - FIRST_CLASS ? super + FIRST_CLASS : CLASS_UNKNOWN);
        putc('\n', w->out);
    }
    if (class.loader_id)
        fputs(" loaded by an object\n", w->out);
    put_fields(w, class.id, true, w->g->classes[number].first_static);
    put_fields(w, class.id, false, 0);
}

static void put_classes(struct writing *w)
{
    for (uint32_t i = 0; i < w->g->class_count; i++) {
        if (i < FIRST_CLASS && !w->g->classes[i].arrays)
            continue;
        fputs("class ", w->out);
        put_class(w, i);
        putc('\n', w->out);
        if (i >= FIRST_CLASS)
            put_dumped(w, i);
        put_objects(w, i);
        put_methods(w, i);
    }
    if (range_of(w, TALLY_METHOD, CLASS_NONE).count) {
        fputs("no class\n", w->out);
        put_methods(w, CLASS_NONE);
    }
}

/* ---- The dump ---- */

static void put_order(struct writing *w)
{
    const struct order *o = &w->g->class_order;

    for (size_t i = 0; i < o->count; i++) {
        fprintf(w->out, "%s %" PRIu32, i % ORDER_STRETCH ? "" : "order", o->objects[i].class);
        if (o->objects[i].bits)
            fprintf(w->out, ":%" PRIu32, o->objects[i].bits);
        if (i % ORDER_STRETCH == ORDER_STRETCH - 1 || i + 1 == o->count)
            putc('\n', w->out);
    }
}

static void put_records(struct writing *w)
{
    const struct gathered *g = w->g;

    for (unsigned i = 0; i < g->record_order_count; i++) {
        uint8_t tag = g->record_order[i];

        fprintf(w->out, "record %" PRIu64 " %s 0x%02x\n", tag == g->heap_tag ? g->heap_records : g->records[tag],
                record_word(tag), tag);
    }
    for (unsigned i = 0; i < g->order_count; i++)
        fprintf(w->out, "sub-record %" PRIu64 " %s 0x%02x\n", g->subrecords[g->order[i]], subrecord_word(g->order[i]),
                g->order[i]);
    for (uint32_t of = 0; of < 2; of++) {
        struct counted_range frames = range_of(w, TALLY_FRAMES, of);

        for (size_t i = 0; i < frames.count; i++)
            fprintf(w->out, "%s %" PRIu64 " %" PRIu32 "\n", of ? "stack" : "trace", frames.at[i].count,
                    counted_value(&frames.at[i]));
    }
    put_lengths(w, "text", TALLY_TEXT, 0);
}

/* Only if most do: others are by chance. */
static void put_follows(struct writing *w)
{
    struct heap_sizes sizes;
    uint64_t count = follows_most(&w->g->follows, &sizes);

    w->revealed->follow = count > w->g->objects / 2 ? count : 0;
    if (w->revealed->follow)
        fprintf(w->out, "follow %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", count, sizes.header, sizes.array_header,
                sizes.reference);
}

static void put_head(struct writing *w)
{
    const struct gathered *g = w->g;

    fprintf(w->out,
            "hprof-gen profile 1\n"
            "version %s\n"
            "id-size %" PRIu32 "\n"
            "objects %" PRIu64 "\n",
            g->header.version, g->header.id_size, g->objects);
    if (g->unknown)
        fprintf(w->out, "objects-of-unknown-classes %" PRIu64 "\n", g->unknown);
    if (g->has_dotted_names)
        fputs("class-names with dots\n", w->out);
    fprintf(w->out, "sampled-one-of %" PRIu64 "\n", UINT64_C(1) << g->sample.shift);
    if (g->string_class != CLASS_UNKNOWN && (g->coders[0] || g->coders[1] || g->coders[CODERS]))
        fprintf(w->out, "coder %" PRIu64 " latin1 %" PRIu64 " utf16\n", g->coders[0], g->coders[1]);
    put_follows(w);
}

bool profile_write(struct gathered *g, FILE *out, struct revealed *revealed)
{
    struct writing w = {.g = g, .out = out, .revealed = revealed};
    struct label *labels = labels_new(g);
    struct counted *counts = tally_sorted(&g->tally, &w.count);
    bool good = labels && counts;

    w.labels = labels;
    w.counts = counts;
    if (good) {
        *revealed = (struct revealed){.objects = g->objects,
                                      .unknown = g->unknown,
                                      .sampled_one_of = UINT64_C(1) << g->sample.shift,
                                      .ordered_one_of = UINT64_C(1) << g->class_order.shift,
                                      .heap_dumps = g->heap_dumps};
        put_head(&w);
        put_records(&w);
        put_classes(&w);
        put_order(&w);
    }
    free(labels);
    free(counts);
    return good;
}
