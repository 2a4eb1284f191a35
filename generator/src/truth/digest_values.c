/* See digester.h: items, references, values. */
#include "stream/encode.h"
#include "truth/digester.h"

struct item *new_item(struct digester *d, const char *word)
{
    d->item.size = 0;
    item_word(&d->item, word);
    return &d->item;
}

struct hash add_item(struct digester *d, enum digest_form form, enum digest_entry entry)
{
    struct hash hash = hash_item(d->hashers[0], &d->item);

    digest_add(&d->truth->digests[form][entry], &hash);
    return hash;
}

uint64_t resolve(const struct digester *d, uint64_t id)
{
    uint64_t number;

    return heap_dump_target(heap_of(d), id, &number) == TARGET_NOTHING ? 0 : id;
}

/* What a reference is in an item of the content. */
static struct hash content_of(const struct digester *d, uint64_t id)
{
    struct hash hash;
    uint64_t number;

    memset(hash.bytes, 0, sizeof hash.bytes);
    if (!id)
        return hash;
    switch (heap_dump_target(heap_of(d), id, &number)) {
    case TARGET_NOTHING:
        return d->dangling;
    case TARGET_CLASS:
        return heap_of(d)->classes[number].reference;
    case TARGET_OBJECT:
        break;
    }
    if (d->pass > PASS_FIRST_ROUND)
        return d->before[number];
    memset(hash.bytes, 0xFF, sizeof hash.bytes);
    return hash;
}

void put_reference(struct digester *d, enum digest_form form, uint64_t id)
{
    uint8_t number[8];
    struct hash hash;

    if (form == DIGEST_CONTENT) {
        hash = content_of(d, id);
        item_put(&d->item, hash.bytes, sizeof hash.bytes);
    } else {
        put_u8(number, form == DIGEST_EXACT ? id : resolve(d, id));
        item_put(&d->item, number, sizeof number);
    }
}

/* The bytes of a value, without a length. Any byte but 0 is true. */
void put_value(struct digester *d, enum digest_form form, uint8_t type, const uint8_t *value)
{
    unsigned id_size = d->stage.id_size;

    if (type == TYPE_OBJECT)
        put_reference(d, form, get_id(value, id_size));
    else if (type == TYPE_BOOLEAN)
        item_put(&d->item, &(uint8_t){*value != 0}, 1);
    else
        item_put(&d->item, value, type_size(type, id_size));
}

unsigned value_length(const struct digester *d, enum digest_form form, uint8_t type)
{
    if (type != TYPE_OBJECT)
        return type_size(type, d->stage.id_size);
    return form == DIGEST_CONTENT ? HASH_SIZE : sizeof(uint64_t);
}

struct text class_name_of(const struct digester *d, uint64_t id)
{
    uint64_t index;

    return keymap_get(&heap_of(d)->class_at, id, &index) ? heap_of(d)->classes[index].name : (struct text){0, 0};
}
