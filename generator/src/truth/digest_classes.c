/* See digester.h: classes, their static fields and constants. References in them take the hashes of the last round. */
#include "truth/digester.h"

/* An item of a class begins with its ID, or in the content with its name. */
static void begin_item(struct digester *d, const char *word, enum digest_form form, const struct heap_class *class)
{
    new_item(d, word);
    if (form == DIGEST_CONTENT)
        texts_put(&d->texts, &d->item, class->name);
    else
        item_number(&d->item, class->id);
}

static void put_type_and_value(struct digester *d, enum digest_form form, const struct entry *entry)
{
    uint8_t type = (uint8_t)entry->type;

    item_type(&d->item, type);
    item_length(&d->item, value_length(d, form, type));
    put_value(d, form, type, entry->value);
}

/* Returns the end of the constants at p. */
static const uint8_t *add_constants(struct digester *d, enum digest_form form, const struct heap_class *class, const uint8_t *p)
{
    struct entry entry;

    for (unsigned n = read_count(&p); n; n--) {
        read_entry(&p, SIZE_OF(CONSTANT, d->stage.id_size), d->stage.id_size, &entry);
        begin_item(d, "constant", form, class);
        item_number(&d->item, get_u2(entry.head));
        put_type_and_value(d, form, &entry);
        add_item(d, form, DIGEST_CONSTANTS);
    }
    return p;
}

static void add_statics(struct digester *d, enum digest_form form, const struct heap_class *class, const uint8_t *p)
{
    struct entry entry;

    for (unsigned n = read_count(&p); n; n--) {
        read_entry(&p, SIZE_OF(STATIC_FIELD, d->stage.id_size), d->stage.id_size, &entry);
        begin_item(d, "static", form, class);
        texts_put(&d->texts, &d->item, texts_find(&d->texts, get_id(entry.head, d->stage.id_size)));
        put_type_and_value(d, form, &entry);
        add_item(d, form, DIGEST_STATICS);
    }
}

static void put_super(struct digester *d, enum digest_form form, uint64_t id)
{
    if (form == DIGEST_EXACT)
        item_number(&d->item, id);
    else if (form == DIGEST_RESOLVED)
        item_number(&d->item, resolve(d, id));
    else if (id)
        texts_put(&d->texts, &d->item, class_name_of(d, id));
    else
        item_part(&d->item, NULL, 0);
}

static void add_class_item(struct digester *d, enum digest_form form, const struct heap_class *class)
{
    const uint8_t *p = class->body + class->fields_at;

    new_item(d, "class");
    if (form != DIGEST_CONTENT)
        item_number(&d->item, class->id);
    texts_put(&d->texts, &d->item, class->name);
    put_super(d, form, class->super_id);
    for (unsigned n = read_count(&p); n; n--, p += SIZE_OF(INSTANCE_FIELD, d->stage.id_size)) {
        texts_put(&d->texts, &d->item, texts_find(&d->texts, get_id(p, d->stage.id_size)));
        item_type(&d->item, p[d->stage.id_size]);
    }
    add_item(d, form, DIGEST_CLASSES);
}

static void add_class(struct digester *d, const struct heap_class *class)
{
    for (enum digest_form form = DIGEST_EXACT; form < DIGEST_FORMS; form++) {
        add_class_item(d, form, class);
        add_statics(d, form, class, add_constants(d, form, class, class->body));
        if (form == DIGEST_CONTENT)
            continue;
        item_number(new_item(d, "loader"), class->id);
        item_number(&d->item, form == DIGEST_EXACT ? class->loader_id : resolve(d, class->loader_id));
        add_item(d, form, DIGEST_LOADERS);
    }
}

void add_classes(struct digester *d)
{
    for (d->heap = 1; d->heap <= d->heap_count; d->heap++)
        for (size_t i = 0; i < heap_of(d)->class_count && !d->memory.exhausted; i++)
            if (heap_of(d)->classes[i].dumped)
                add_class(d, &heap_of(d)->classes[i]);
}
