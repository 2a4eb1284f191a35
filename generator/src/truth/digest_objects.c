/* See digester.h: instances and arrays. */
#include "stream/encode.h"
#include "truth/digester.h"

/* ---- Instances ---- */

/* The fields. Returns whether a reference is dangling, if the form is DIGEST_EXACT. */
static bool put_fields_of(struct digester *d, enum digest_form form, const struct layout *layout, const uint8_t *values)
{
    enum item_form literal = form == DIGEST_CONTENT ? ITEM_CONTENT : ITEM_IDENTITY;
    size_t done = 0;
    bool dangles = false;

    for (size_t i = 0; i < layout->count; i++) {
        const struct slot *slot = &layout->slots[i];

        item_put(&d->item, layout->literals[literal].bytes + done, slot->ends[literal] - done);
        done = slot->ends[literal];
        put_value(d, form, slot->type, values + slot->at);
        if (form == DIGEST_EXACT && slot->type == TYPE_OBJECT && !dangles) {
            uint64_t id = get_id(values + slot->at, d->stage.id_size);

            dangles = id && !resolve(d, id);
        }
    }
    return dangles;
}

/* The layout, if the values fill it exactly. */
static const struct layout *layout_of(struct digester *d, struct heap_class *class, uint64_t size)
{
    const struct layout *layout = heap_dump_layout(heap_of(d), &d->texts, class);

    return layout->state == LAYOUT_KNOWN && layout->bytes == size ? layout : NULL;
}

static void begin_identity(struct digester *d, const char *word, uint64_t id, uint64_t class_id)
{
    item_number(new_item(d, word), id);
    item_number(&d->item, class_id);
}

static void identify_instance(struct digester *d, const struct layout *layout, const uint8_t *values, size_t size)
{
    uint64_t id = d->fields.INSTANCE_DUMP.object_id, class_id = d->fields.INSTANCE_DUMP.class_id;
    struct hash hash;

    begin_identity(d, "instance bytes", id, class_id);
    item_part(&d->item, values, size);
    add_item(d, DIGEST_EXACT, DIGEST_INSTANCE_BYTES);

    begin_identity(d, "instance", id, class_id);
    if (!layout) {
        item_word(&d->item, "undecoded");
        item_part(&d->item, values, size);
    } else if (put_fields_of(d, DIGEST_EXACT, layout, values)) {
        add_item(d, DIGEST_EXACT, DIGEST_INSTANCES);
        begin_identity(d, "instance", id, class_id);
        put_fields_of(d, DIGEST_RESOLVED, layout, values);
        add_item(d, DIGEST_RESOLVED, DIGEST_INSTANCES);
        return;
    }
    hash = add_item(d, DIGEST_EXACT, DIGEST_INSTANCES);
    digest_add(&d->truth->digests[DIGEST_RESOLVED][DIGEST_INSTANCES], &hash);
}

/* Finds out whether an instance is a String whose text can be read, and from which elements. */
static bool find_text(struct digester *d, const struct layout *layout, const uint8_t *values, struct string_use *use)
{
    uint64_t array, first, end;
    uint8_t coder;

    if (!layout->is_string || layout->value_at == NO_FIELD ||
        heap_dump_target(heap_of(d), get_id(values + layout->value_at, d->stage.id_size), &array) != TARGET_OBJECT)
        return false;
    *use = (struct string_use){.array = array, .string = d->object, .end = UINT32_MAX, .width = 2};
    if (d->kinds[array] == TYPE_CHAR) {
        if (layout->offset_at != NO_FIELD && layout->count_at != NO_FIELD) {
            first = get_u4(values + layout->offset_at);
            end = first + get_u4(values + layout->count_at);
            use->first = (uint32_t)first;
            use->end = end < UINT32_MAX ? (uint32_t)end : UINT32_MAX;
        }
        return true;
    }
    if (layout->coder_at == NO_FIELD || (d->kinds[array] != TYPE_BYTE && d->kinds[array] != KIND_ODD_BYTES))
        return false;
    coder = values[layout->coder_at];
    use->width = coder ? 2 : 1;
    return coder == 0 || (coder == 1 && d->kinds[array] == TYPE_BYTE);
}

static void note_text(struct digester *d, const struct layout *layout, const uint8_t *values)
{
    void *strings = d->strings;
    struct string_use use;

    if (!find_text(d, layout, values, &use) ||
        !memory_grow(&d->memory, &strings, &d->string_capacity, d->string_count + 1, sizeof *d->strings))
        return;
    d->strings = strings;
    d->strings[d->string_count++] = use;
    d->kinds[d->object] = KIND_TEXT;
}

static void hash_instance(struct digester *d, const struct heap_class *class, const struct layout *layout,
                          const uint8_t *values, size_t size)
{
    texts_put(&d->texts, new_item(d, "instance"), class->name);
    if (layout) {
        put_fields_of(d, DIGEST_CONTENT, layout, values);
    } else {
        item_word(&d->item, "undecoded");
        item_part(&d->item, values, size);
    }
    d->now[d->object] = hash_item(d->hashers[0], &d->item);
}

void take_instance(struct digester *d, const uint8_t *values, size_t size)
{
    struct heap_class *class = heap_dump_class_of(heap_of(d), d->fields.INSTANCE_DUMP.class_id);
    const struct layout *layout = class ? layout_of(d, class, size) : NULL;
    bool is_text = d->kinds[d->object] == KIND_TEXT;

    if (!class) /* without memory */
        return;
    if (d->pass == PASS_IDENTITY) {
        identify_instance(d, layout, values, size);
        if (layout)
            note_text(d, layout, values);
    } else if (d->pass > PASS_FIRST_ROUND && (is_text || !layout || !layout->has_references)) {
        d->now[d->object] = d->before[d->object];
    } else if (!is_text) { /* in the first round, its array gives a text its hash */
        hash_instance(d, class, layout, values, size);
    }
    if (d->pass == PASS_LAST_ROUND)
        digest_add(&d->truth->digests[DIGEST_CONTENT][DIGEST_INSTANCES], &d->now[d->object]);
}

/* ---- Arrays ---- */

static void begin_hash(struct digester *d, struct hasher *hasher)
{
    hasher_begin(hasher);
    hasher_add(hasher, d->item.bytes, d->item.size);
}

static void begin_object_array(struct digester *d, const struct OBJECT_ARRAY_DUMP *r)
{
    uint64_t elements = d->body_left / d->stage.id_size;

    if (d->pass == PASS_IDENTITY) {
        begin_identity(d, "object array", r->object_id, r->class_id);
        item_length(&d->item, elements * sizeof(uint64_t));
        begin_hash(d, d->hashers[1]);
    } else {
        texts_put(&d->texts, new_item(d, "object array"), class_name_of(d, r->class_id));
        item_length(&d->item, elements * HASH_SIZE);
    }
    begin_hash(d, d->hashers[0]);
}

static void begin_primitive_array(struct digester *d, const struct PRIMITIVE_ARRAY_DUMP *r)
{
    new_item(d, "primitive array");
    if (d->pass == PASS_IDENTITY)
        item_number(&d->item, r->object_id);
    item_type(&d->item, r->type);
    item_length(&d->item, d->body_left);
    begin_hash(d, d->hashers[0]);
}

void begin_array(struct digester *d)
{
    if (d->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP)
        begin_object_array(d, &d->fields.OBJECT_ARRAY_DUMP);
    else
        begin_primitive_array(d, &d->fields.PRIMITIVE_ARRAY_DUMP);
}

static void add_ids(struct digester *d, struct hasher *hasher, enum digest_form form, const uint8_t *p, size_t size)
{
    const unsigned id_size = d->stage.id_size;

    d->item.size = 0;
    for (size_t at = 0; at + id_size <= size; at += id_size)
        put_reference(d, form, get_id(p + at, id_size));
    hasher_add(hasher, d->item.bytes, d->item.size);
}

static void take_ids(struct digester *d, const uint8_t *p, size_t size)
{
    if (d->pass == PASS_IDENTITY) {
        add_ids(d, d->hashers[0], DIGEST_EXACT, p, size);
        add_ids(d, d->hashers[1], DIGEST_RESOLVED, p, size);
    } else {
        add_ids(d, d->hashers[0], DIGEST_CONTENT, p, size);
    }
}

static void take_primitives(struct digester *d, const uint8_t *p, size_t size)
{
    if (d->fields.PRIMITIVE_ARRAY_DUMP.type == TYPE_BOOLEAN) {
        d->item.size = 0;
        for (size_t i = 0; i < size; i++)
            item_put(&d->item, &(uint8_t){p[i] != 0}, 1);
        p = d->item.bytes;
    }
    hasher_add(d->hashers[0], p, size);
}

void take_elements(struct digester *d, const uint8_t *p, size_t size)
{
    if (d->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP)
        take_ids(d, p, size);
    else
        take_primitives(d, p, size);
}

bool is_text_of_string(const struct digester *d)
{
    return d->pass == PASS_FIRST_ROUND && d->strings_seen < d->string_count && d->strings[d->strings_seen].array == d->object;
}

/* The hash of a String, whose units are elements of the array in `body`. */
static void hash_text(struct digester *d, const struct string_use *use, const uint8_t *body, size_t size)
{
    bool swaps = d->kinds[use->array] == TYPE_BYTE && use->width == 2;
    size_t end = use->end < size / use->width ? use->end : size / use->width;
    size_t first = use->first < end ? use->first : end;

    new_item(d, "text");
    item_length(&d->item, 2 * (end - first));
    for (const uint8_t *p = body + first * use->width; p < body + end * use->width; p += use->width) {
        uint8_t unit[2] = {use->width == 2 ? p[0] : 0, p[use->width - 1]};

        if (swaps)
            memcpy(unit, (uint8_t[]){p[1], p[0]}, sizeof unit);
        item_put(&d->item, unit, sizeof unit);
    }
    d->now[use->string] = hash_item(d->hashers[0], &d->item);
}

void end_array(struct digester *d, const uint8_t *body, size_t size)
{
    bool is_object = d->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP;
    enum digest_entry entry = is_object ? DIGEST_OBJECT_ARRAYS : DIGEST_PRIMITIVE_ARRAYS;
    struct hash hash = hasher_end(d->hashers[0]);

    if (d->pass == PASS_IDENTITY) {
        digest_add(&d->truth->digests[DIGEST_EXACT][entry], &hash);
        if (is_object) {
            hash = hasher_end(d->hashers[1]);
            digest_add(&d->truth->digests[DIGEST_RESOLVED][entry], &hash);
        }
        return;
    }
    d->now[d->object] = hash;
    for (; body && is_text_of_string(d); d->strings_seen++)
        hash_text(d, &d->strings[d->strings_seen], body, size);
    if (d->pass == PASS_LAST_ROUND)
        digest_add(&d->truth->digests[DIGEST_CONTENT][entry], &hash);
}

void keep_hash(struct digester *d)
{
    d->now[d->object] = d->before[d->object];
    if (d->pass == PASS_LAST_ROUND)
        digest_add(&d->truth->digests[DIGEST_CONTENT][DIGEST_PRIMITIVE_ARRAYS], &d->now[d->object]);
}

void take_array_without_elements(struct digester *d)
{
    const struct PRIMITIVE_ARRAY_NODATA *r = &d->fields.PRIMITIVE_ARRAY_NODATA;

    if (d->pass > PASS_FIRST_ROUND) {
        keep_hash(d);
        return;
    }
    new_item(d, "primitive array without elements");
    if (d->pass == PASS_IDENTITY)
        item_number(&d->item, r->object_id);
    item_type(&d->item, r->type);
    item_number(&d->item, r->elements);
    if (d->pass == PASS_IDENTITY)
        add_item(d, DIGEST_EXACT, DIGEST_PRIMITIVE_ARRAYS);
    else
        d->now[d->object] = hash_item(d->hashers[0], &d->item);
}
