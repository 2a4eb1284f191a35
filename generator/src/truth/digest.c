/* See digest.h, and digester.h for the passes. */
#include "truth/digest.h"

#include <stdlib.h>

#include "truth/digester.h"

static void refuse(struct digester *d, const char *why)
{
    if (!d->failure)
        d->failure = why;
    d->stop = true;
}

/* ---- Strings ---- */

static void add_string(struct digester *d, uint64_t id, const uint8_t *utf8, size_t size)
{
    const struct text *text = texts_add(&d->texts, id, utf8, size);
    void *hashes = d->string_hashes;

    if (!text || !memory_grow(&d->memory, &hashes, &d->hash_capacity, d->hash_count + 1, sizeof *d->string_hashes))
        return;
    d->string_hashes = hashes;
    item_number(new_item(d, "string"), id);
    texts_put(&d->texts, &d->item, *text);
    add_item(d, DIGEST_EXACT, DIGEST_STRINGS);
    texts_put(&d->texts, new_item(d, "string"), *text);
    d->string_hashes[d->hash_count++] = hash_item(d->hashers[0], &d->item);
}

static bool hash_is_less(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct hash)) < 0;
}

/* A text with several IDs is one item of the content. */
static void add_distinct_strings(struct digester *d)
{
    sort_in_place(d->string_hashes, d->hash_count, sizeof *d->string_hashes, hash_is_less);
    for (size_t i = 0; i < d->hash_count; i++)
        if (!i || memcmp(&d->string_hashes[i], &d->string_hashes[i - 1], sizeof(struct hash)) != 0)
            digest_add(&d->truth->digests[DIGEST_CONTENT][DIGEST_STRINGS], &d->string_hashes[i]);
}

/* ---- What is defined ---- */

static bool add_heap(struct digester *d)
{
    void *heaps = d->heaps;

    if (!memory_grow(&d->memory, &heaps, &d->heap_capacity, d->heap_count + 1, sizeof *d->heaps))
        return false;
    d->heaps = heaps;
    heap_dump_init(&d->heaps[d->heap_count++], &d->memory, d->stage.id_size, &d->key, d->texts.ended);
    return true;
}

/* A HEAP_DUMP is a heap dump. So are all segments up to the next HEAP_DUMP_END. */
static void open_heap(struct digester *d, uint8_t tag)
{
    if (tag == TAG_HEAP_DUMP_SEGMENT && d->series) {
        d->heap = d->series;
    } else {
        if (d->pass == PASS_COLLECT ? !add_heap(d) : d->heaps_seen == d->heap_count) {
            refuse(d, "the file was changed while it was read");
            return;
        }
        d->heap = ++d->heaps_seen;
    }
    if (tag == TAG_HEAP_DUMP_SEGMENT)
        d->series = d->heap;
}

static const char defined_twice[] = "--digests: a heap dump defines an ID twice, so its content is not defined";

static void add_object(struct digester *d, uint64_t id, uint8_t kind)
{
    void *kinds = d->kinds;

    if (!memory_grow(&d->memory, &kinds, &d->kind_capacity, d->object_count + 1, sizeof *d->kinds))
        return;
    d->kinds = kinds;
    d->kinds[d->object_count] = kind;
    if (!heap_dump_add_object(heap_of(d), id, d->object_count++))
        refuse(d, defined_twice);
}

static void collect_object(struct digester *d)
{
    const union fields *f = &d->fields;
    uint8_t type = f->PRIMITIVE_ARRAY_DUMP.type;

    switch (d->layout) {
    case LAYOUT_ID_INSTANCE_DUMP:
        heap_dump_class_of(heap_of(d), f->INSTANCE_DUMP.class_id);
        add_object(d, f->INSTANCE_DUMP.object_id, KIND_INSTANCE);
        break;
    case LAYOUT_ID_OBJECT_ARRAY_DUMP:
        heap_dump_class_of(heap_of(d), f->OBJECT_ARRAY_DUMP.class_id);
        add_object(d, f->OBJECT_ARRAY_DUMP.object_id, TYPE_OBJECT);
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_DUMP:
        add_object(d, f->PRIMITIVE_ARRAY_DUMP.object_id, type == TYPE_BYTE && d->body_left % 2 ? KIND_ODD_BYTES : type);
        break;
    case LAYOUT_ID_PRIMITIVE_ARRAY_NODATA:
        add_object(d, f->PRIMITIVE_ARRAY_NODATA.object_id, KIND_NO_ELEMENTS);
        break;
    default:
        break;
    }
    d->layout = LAYOUT_ID_NONE;
}

/* ---- Roots ---- */

static void add_root(struct digester *d, uint8_t tag, uint64_t id)
{
    static const char *const kinds[] = {
#define SUBRECORD(name, tag, since, clause, layout) [tag] = #name,
#include "format/records.def"
#undef SUBRECORD
    };

    for (enum digest_form form = DIGEST_EXACT; form <= DIGEST_RESOLVED; form++) {
        uint64_t object = form == DIGEST_EXACT ? id : resolve(d, id);

        if (!object)
            continue;
        item_word(new_item(d, "root"), kinds[tag]);
        item_number(&d->item, object);
        add_item(d, form, DIGEST_ROOTS);
    }
}

/* ---- Events ---- */

/* The body, or a part of it. */
static void take_body(struct digester *d, const uint8_t *p, size_t size)
{
    bool is_array = d->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP || d->layout == LAYOUT_ID_PRIMITIVE_ARRAY_DUMP;
    bool is_whole = size == d->body_left && !d->body.size, is_wanted = !is_array || is_text_of_string(d);

    if (d->layout == LAYOUT_ID_NONE)
        return;
    if (is_array)
        take_elements(d, p, size);
    d->body_left -= size;
    if (!is_whole && is_wanted) {
        item_put(&d->body, p, size);
        p = d->body.bytes;
        size = d->body.size;
    }
    if (d->body_left || d->memory.exhausted)
        return;
    if (is_array)
        end_array(d, is_wanted ? p : NULL, size);
    else if (d->layout == LAYOUT_ID_INSTANCE_DUMP)
        take_instance(d, p, size);
    else if (d->layout == LAYOUT_ID_UTF8)
        add_string(d, d->fields.UTF8.id, p, size);
    else if (!heap_dump_add_class(heap_of(d), &d->fields.CLASS_DUMP, p, size))
        refuse(d, defined_twice);
}

static void begin_object(struct digester *d)
{
    if (d->pass == PASS_COLLECT) {
        collect_object(d);
        return;
    }
    if (d->objects_seen == d->object_count) {
        refuse(d, "the file was changed while it was read");
        d->layout = LAYOUT_ID_NONE;
        return;
    }
    d->object = d->objects_seen++;
    if (d->layout == LAYOUT_ID_PRIMITIVE_ARRAY_NODATA) {
        take_array_without_elements(d);
        d->layout = LAYOUT_ID_NONE;
    } else if (d->layout == LAYOUT_ID_PRIMITIVE_ARRAY_DUMP && d->pass > PASS_FIRST_ROUND) {
        keep_hash(d);
        d->layout = LAYOUT_ID_NONE;
    } else if (d->layout != LAYOUT_ID_INSTANCE_DUMP) {
        begin_array(d);
    }
}

/* A record or sub-record. */
static void begin(struct digester *d, const struct event *e)
{
    uint64_t root;

    d->layout = e->layout;
    d->fields = e->fields;
    d->body_left = e->body_size;
    d->body.size = 0;
    switch (e->layout) {
    case LAYOUT_ID_INSTANCE_DUMP:
    case LAYOUT_ID_OBJECT_ARRAY_DUMP:
    case LAYOUT_ID_PRIMITIVE_ARRAY_DUMP:
    case LAYOUT_ID_PRIMITIVE_ARRAY_NODATA:
        begin_object(d);
        break;
    case LAYOUT_ID_UTF8:
    case LAYOUT_ID_CLASS_DUMP:
        if (d->pass != PASS_COLLECT)
            d->layout = LAYOUT_ID_NONE;
        break;
    default:
        d->layout = LAYOUT_ID_NONE;
        if (d->pass == PASS_IDENTITY && is_root(e, &root))
            add_root(d, e->tag, root);
        break;
    }
    if (e->body || !e->body_size)
        take_body(d, e->body ? e->body : (const uint8_t *)"", e->body_size);
}

static void take_record(struct digester *d, const struct event *e)
{
    const struct LOAD_CLASS *load = &e->fields.LOAD_CLASS;

    begin(d, e);
    if (e->tag == TAG_HEAP_DUMP_END)
        d->series = 0;
    if (d->pass != PASS_COLLECT)
        return;
    if (e->layout == LAYOUT_ID_LOAD_CLASS)
        texts_load(&d->texts, load->class_serial, load->class_id, load->name);
    else if (e->layout == LAYOUT_ID_UNLOAD_CLASS)
        texts_unload(&d->texts, e->fields.UNLOAD_CLASS.class_serial);
}

static void take(struct stage *stage, struct event *e)
{
    struct digester *d = (struct digester *)stage;

    if (d->stop)
        return;
    switch (e->kind) {
    case EVENT_RECORD:
        take_record(d, e);
        break;
    case EVENT_OPEN:
        open_heap(d, e->tag);
        break;
    case EVENT_SUBRECORD:
        begin(d, e);
        break;
    case EVENT_PART:
        take_body(d, e->body, e->body_size);
        break;
    case EVENT_HEADER:
    case EVENT_BATCH:
    case EVENT_RAW:
    case EVENT_CLOSE:
    case EVENT_END:
        break;
    }
    if (d->item.too_long)
        refuse(d, "--digests: an array or a string takes more than 4 GiB in the encoding of digests");
    d->stop |= d->memory.exhausted;
}

/* ---- Passes ---- */

static enum digest_status run_pass(struct digester *d, struct source *source, enum pass pass)
{
    bool good;

    d->pass = pass;
    d->heaps_seen = d->objects_seen = d->strings_seen = 0;
    d->heap = d->series = 0;
    d->layout = LAYOUT_ID_NONE;
    good = source->run(source, &d->stage, &d->stop);
    if (d->memory.exhausted)
        return DIGEST_NO_MEMORY;
    if (!good && !d->failure)
        return DIGEST_SOURCE_FAILED;
    return d->failure ? DIGEST_REFUSED : DIGEST_DONE;
}

/* Between the first pass and the second. */
static bool prepare_objects_and_classes(struct digester *d)
{
    size_t hashes = d->object_count * sizeof *d->now;

    add_distinct_strings(d);
    for (size_t i = 0; i < d->heap_count; i++)
        heap_dump_name_classes(&d->heaps[i], &d->texts, d->hashers[0], &d->item);
    d->before = memory_get_zeroed(&d->memory, hashes);
    d->now = memory_get_zeroed(&d->memory, hashes);
    return !d->memory.exhausted;
}

static bool use_is_less(const void *a, const void *b)
{
    return ((const struct string_use *)a)->array < ((const struct string_use *)b)->array;
}

static void end_round(struct digester *d)
{
    struct hash *now = d->now;

    d->now = d->before;
    d->before = now;
}

static enum digest_status run_passes(struct digester *d, struct source *source)
{
    enum digest_status status = run_pass(d, source, PASS_COLLECT);

    if (status == DIGEST_DONE && !prepare_objects_and_classes(d))
        status = DIGEST_NO_MEMORY;
    if (status == DIGEST_DONE)
        status = run_pass(d, source, PASS_IDENTITY);
    sort_in_place(d->strings, d->string_count, sizeof *d->strings, use_is_less);
    for (enum pass pass = PASS_FIRST_ROUND; status == DIGEST_DONE && pass <= PASS_LAST_ROUND; pass++) {
        status = run_pass(d, source, pass);
        end_round(d);
    }
    if (status == DIGEST_DONE)
        add_classes(d);
    if (d->memory.exhausted)
        return DIGEST_NO_MEMORY;
    if (!hasher_failed(d->hashers[0]) && !hasher_failed(d->hashers[1]))
        return status;
    refuse(d, "its digests cannot be computed: libcrypto fails");
    return DIGEST_REFUSED;
}

/* Entries without references are the same in both forms of identity. */
static void copy_entries(struct truth *t)
{
    static const enum digest_entry same[] = {DIGEST_STRINGS, DIGEST_INSTANCE_BYTES, DIGEST_PRIMITIVE_ARRAYS};

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        t->digests[DIGEST_RESOLVED][same[i]] = t->digests[DIGEST_EXACT][same[i]];
}

static void clear(struct digester *d)
{
    size_t hashes = d->object_count * sizeof *d->now;

    for (size_t i = 0; i < d->heap_count; i++)
        heap_dump_clear(&d->heaps[i]);
    memory_put(&d->memory, d->heaps, d->heap_capacity * sizeof *d->heaps);
    memory_put(&d->memory, d->kinds, d->kind_capacity * sizeof *d->kinds);
    memory_put(&d->memory, d->before, hashes);
    memory_put(&d->memory, d->now, hashes);
    memory_put(&d->memory, d->strings, d->string_capacity * sizeof *d->strings);
    memory_put(&d->memory, d->string_hashes, d->hash_capacity * sizeof *d->string_hashes);
    item_clear(&d->body);
    item_clear(&d->item);
    texts_clear(&d->texts);
    hasher_free(d->hashers[0]);
    hasher_free(d->hashers[1]);
}

enum digest_status digest_source(struct source *source, struct truth *truth, const char **failure)
{
    struct digester d = {.stage = {.take = take, .id_size = source->id_size}, .truth = truth, .key = hash_key_draw()};
    enum digest_status status = DIGEST_NO_MEMORY;

    memory_init(&d.memory, NULL, 0);
    texts_init(&d.texts, &d.memory, &d.key);
    item_init(&d.body, &d.memory);
    item_init(&d.item, &d.memory);
    d.hashers[0] = hasher_new();
    d.hashers[1] = hasher_new();
    source->detail = DETAIL_FIELDS;
    if (d.hashers[0] && d.hashers[1]) {
        d.dangling = hash_item(d.hashers[0], new_item(&d, "dangling"));
        status = run_passes(&d, source);
    }
    copy_entries(truth);
    *failure = d.failure;
    clear(&d);
    return status;
}
