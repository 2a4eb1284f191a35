/* What is known of strings, classes and fields, shared by a reader and its clones. Texts and classes stay where they are once they
 * are known, so each reader remembers the classes that it looked up. */
#include <string.h>

#include "base/utf8.h"
#include "format/class_name.h"
#include "format/native.h"
#include "format/subrecord.h"
#include "read/reader.h"

enum { NAME_KEPT = 255, STRING_MOST = 1 << 20 };

static const void *address(uint64_t value)
{
    return (const void *)(uintptr_t)value;
}

/* ---- Strings ---- */

void know_string(struct hprof_reader *r, uint64_t id, const uint8_t *text, uint64_t size)
{
    struct shared_dump *d = r->dump;
    struct known_string *string = NULL;
    uint8_t *known;

    if (size > STRING_MOST)
        return;
    pthread_mutex_lock(&d->lock);
    known = keymap_claim(&d->strings, id);
    if (known && !native_load(known, sizeof(uint64_t)))
        string = arena_get(&d->arena, sizeof *string + (size_t)size);
    if (string) {
        string->size = size;
        memcpy(string->text, text, (size_t)size);
        native_store(known, sizeof(uint64_t), (uintptr_t)string);
    }
    pthread_mutex_unlock(&d->lock);
}

static const struct known_string *find_string(struct shared_dump *d, uint64_t id)
{
    uint64_t value;
    bool found;

    pthread_mutex_lock(&d->lock);
    found = keymap_get(&d->strings, id, &value);
    pthread_mutex_unlock(&d->lock);
    return found ? address(value) : NULL;
}

int hprof_string(struct hprof_reader *r, uint64_t id, const char **text, size_t *size)
{
    const struct known_string *string = find_string(r->dump, id);

    *text = string ? string->text : "";
    *size = string ? (size_t)string->size : 0;
    return string != NULL;
}

/* ---- Classes ---- */

/* Under the lock. NULL if memory ran out. */
static struct known_class *claim_class(struct shared_dump *d, uint64_t id)
{
    struct known_class *class;
    uint64_t value;
    void *by_number = d->by_number;

    if (keymap_get(&d->classes, id, &value))
        return (struct known_class *)(uintptr_t)value;
    if (d->class_count == UINT32_MAX ||
        !memory_grow(&d->memory, &by_number, &d->class_capacity, d->class_count + 1, sizeof *d->by_number))
        return NULL;
    d->by_number = by_number;
    class = arena_get(&d->arena, sizeof *class);
    if (!class || !keymap_put(&d->classes, id, (uintptr_t) class))
        return NULL;
    *class = (struct known_class){.id = id, .number = (uint32_t)d->class_count};
    d->by_number[d->class_count++] = class;
    return class;
}

void know_load(struct hprof_reader *r, const struct LOAD_CLASS *load)
{
    struct shared_dump *d = r->dump;
    struct known_class *class;

    pthread_mutex_lock(&d->lock);
    class = claim_class(d, load->class_id);
    if (class && !class->serial) {
        class->serial = load->class_serial;
        class->name_id = load->name;
    }
    pthread_mutex_unlock(&d->lock);
}

/* Passes the entries at *at of the class dump, and returns how many they are. */
static uint16_t pass_entries(const uint8_t **at, size_t head, unsigned id_size)
{
    uint16_t count = read_count(at);
    struct entry entry;

    for (unsigned i = 0; i < count; i++)
        read_entry(at, head, id_size, &entry);
    return count;
}

void know_class_dump(struct hprof_reader *r, const uint8_t *p, size_t size)
{
    struct shared_dump *d = r->dump;
    const unsigned id_size = d->id_size;
    const uint64_t id = get_id(p + 1, id_size);
    struct known_class *class;
    uint8_t *copy;
    const uint8_t *at;

    pthread_mutex_lock(&d->lock);
    class = claim_class(d, id);
    copy = class && !class->dump ? arena_get(&d->arena, size) : NULL;
    if (copy) {
        memcpy(copy, p, size);
        at = copy + 1 + SIZE_OF(CLASS_DUMP, id_size);
        pass_entries(&at, SIZE_OF(CONSTANT, id_size), id_size);
        class->static_fields_at = (uint32_t)(at - copy) + 2;
        class->static_fields = pass_entries(&at, SIZE_OF(STATIC_FIELD, id_size), id_size);
        class->fields = read_count(&at);
        class->fields_at = (uint32_t)(at - copy);
        class->super_id = get_id(copy + 1 + OFFSET_OF(CLASS_DUMP, super_id, id_size), id_size);
        class->size = get_u4(copy + 1 + OFFSET_OF(CLASS_DUMP, instance_size, id_size));
        class->dump = copy;
    }
    pthread_mutex_unlock(&d->lock);
}

struct known_class *find_class(struct hprof_reader *r, uint64_t id)
{
    struct shared_dump *d = r->dump;
    struct known_class **cached = &r->cache[(id ^ id >> 11) / 8 % CLASS_CACHE];
    uint64_t value;
    bool found;

    if (*cached && (*cached)->id == id)
        return *cached;
    pthread_mutex_lock(&d->lock);
    found = keymap_get(&d->classes, id, &value);
    pthread_mutex_unlock(&d->lock);
    if (!found)
        return NULL;
    return *cached = (struct known_class *)(uintptr_t)value;
}

/* What is known of a class at one moment: another reader may be adding to it. */
static bool copy_class(struct hprof_reader *r, uint64_t id, struct known_class *copy)
{
    const struct known_class *class = find_class(r, id);

    if (!class)
        return false;
    pthread_mutex_lock(&r->dump->lock);
    *copy = *class;
    pthread_mutex_unlock(&r->dump->lock);
    return true;
}

/* "java.lang.String[]" in `to`; "" if the name is not known. */
static void show_name(struct hprof_reader *r, const struct known_class *class, char to[NAME_KEPT + 1])
{
    const struct known_string *string = class->serial ? find_string(r->dump, class->name_id) : NULL;

    to[0] = '\0';
    if (string && utf8_show(to, NAME_KEPT + 1, (const uint8_t *)string->text, (size_t)string->size, false))
        show_class_name(to, NAME_KEPT + 1);
}

static int describe_class(struct hprof_reader *r, const struct known_class *class, struct hprof_class *to)
{
    struct hprof_class own = {.struct_size = sizeof own,
                              .id = class->id,
                              .number = class->number,
                              .serial = class->serial,
                              .name_id = class->name_id,
                              .is_dumped = class->dump != NULL};

    show_name(r, class, own.name);
    if (class->dump) {
        own.super_id = class->super_id;
        own.loader_id = get_id(class->dump + 1 + OFFSET_OF(CLASS_DUMP, loader_id, r->dump->id_size), r->dump->id_size);
        own.instance_size = class->size;
        own.fields = class->fields;
        own.static_fields = class->static_fields;
    }
    return reader_give(r, to, &own, sizeof own);
}

int hprof_class(struct hprof_reader *r, uint64_t id, struct hprof_class *to)
{
    struct known_class class;

    if (!copy_class(r, id, &class))
        return 0;
    return describe_class(r, &class, to);
}

uint32_t hprof_class_number(struct hprof_reader *r, uint64_t id)
{
    const struct known_class *class = find_class(r, id);

    return class ? class->number : UINT32_MAX;
}

int hprof_class_at(struct hprof_reader *r, uint32_t number, struct hprof_class *to)
{
    struct shared_dump *d = r->dump;
    struct known_class class = {0};
    bool found;

    pthread_mutex_lock(&d->lock);
    found = number < d->class_count;
    if (found)
        class = *d->by_number[number];
    pthread_mutex_unlock(&d->lock);
    return found ? describe_class(r, &class, to) : 0;
}

/* ---- Fields ---- */

/* The instance field or static field with an index, of those that the class itself declares. */
static struct hprof_field declared_field(const struct hprof_reader *r, const struct known_class *class, bool is_static,
                                         size_t index)
{
    const unsigned id_size = r->dump->id_size;
    const uint8_t *at = class->dump + (is_static ? class->static_fields_at : class->fields_at);
    const size_t head = is_static ? SIZE_OF(STATIC_FIELD, id_size) : SIZE_OF(INSTANCE_FIELD, id_size);
    struct hprof_field field = {.struct_size = sizeof field, .class_id = class->id, .is_static = is_static};

    for (size_t i = 0; i < index; i++) {
        unsigned size = type_size(get_u1(at + head - 1), id_size);

        at += head + (is_static ? size : 0);
        field.offset += size;
    }
    field.name_id = get_id(at, id_size);
    field.type = get_u1(at + head - 1);
    if (is_static)
        field.offset = (uint64_t)(at - class->dump) + head - (1 + SIZE_OF(CLASS_DUMP, id_size));
    return field;
}

/* The bytes of the fields that the class itself declares. */
static uint64_t declared_size(const struct hprof_reader *r, const struct known_class *class)
{
    const unsigned id_size = r->dump->id_size;
    const uint8_t *at = class->dump + class->fields_at;
    uint64_t size = 0;

    for (size_t i = 0; i < class->fields; i++, at += SIZE_OF(INSTANCE_FIELD, id_size))
        size += type_size(get_u1(at + SIZE_OF(INSTANCE_FIELD, id_size) - 1), id_size);
    return size;
}

enum { DEPTH_MOST = 10000 /* of superclasses, which may be a circle */ };

/* Goes to the first field that a class declares; false if its CLASS_DUMP is not known. */
static bool enter_class(struct hprof_reader *r, struct field_cursor *c, uint64_t class_id)
{
    if (c->depth >= DEPTH_MOST || !copy_class(r, class_id, &c->class) || !c->class.dump)
        return false;
    c->depth++;
    c->within = 0;
    c->at = c->class.dump + (c->is_static ? c->class.static_fields_at : c->class.fields_at);
    return true;
}

/* Goes on to the field with this index, into superclasses if it must. */
static bool advance(struct hprof_reader *r, struct field_cursor *c, size_t index)
{
    const unsigned id_size = r->dump->id_size;
    const size_t head = c->is_static ? SIZE_OF(STATIC_FIELD, id_size) : SIZE_OF(INSTANCE_FIELD, id_size);

    for (;;) {
        size_t count = c->is_static ? c->class.static_fields : c->class.fields;

        if (c->within == count) {
            if (c->is_static || !enter_class(r, c, c->class.super_id))
                return false;
            continue;
        }
        if (c->index == index)
            return true;
        unsigned size = type_size(get_u1(c->at + head - 1), id_size);
        c->at += head + (c->is_static ? size : 0);
        c->offset += size;
        c->within++;
        c->index++;
    }
}

int hprof_field_at(struct hprof_reader *r, uint64_t class_id, bool is_static, size_t index, struct hprof_field *to)
{
    const unsigned id_size = r->dump->id_size;
    const size_t head = is_static ? SIZE_OF(STATIC_FIELD, id_size) : SIZE_OF(INSTANCE_FIELD, id_size);
    struct field_cursor *c = &r->fields;
    struct hprof_field field;

    if (!c->is_set || c->class_id != class_id || c->is_static != is_static || c->index > index) {
        *c = (struct field_cursor){.class_id = class_id, .is_static = is_static};
        c->is_set = enter_class(r, c, class_id);
    }
    c->is_set = c->is_set && advance(r, c, index);
    if (!c->is_set)
        return 0;
    field = (struct hprof_field){.struct_size = sizeof field,
                                 .class_id = c->class.id,
                                 .name_id = get_id(c->at, id_size),
                                 .type = get_u1(c->at + head - 1),
                                 .is_static = is_static,
                                 .offset = c->offset};
    if (is_static)
        field.offset = (uint64_t)(c->at - c->class.dump) + head - (1 + SIZE_OF(CLASS_DUMP, id_size));
    return reader_give(r, to, &field, sizeof field);
}

static bool is_named(struct hprof_reader *r, uint64_t id, const char *name)
{
    const struct known_string *string = find_string(r->dump, id);

    return string && string->size == strlen(name) && memcmp(string->text, name, (size_t)string->size) == 0;
}

/* Looks for a field among those that the class declares, in one pass over them. */
static bool find_declared(struct hprof_reader *r, const struct known_class *class, bool is_static, const char *name,
                          struct hprof_field *field)
{
    const unsigned id_size = r->dump->id_size;
    const size_t head = is_static ? SIZE_OF(STATIC_FIELD, id_size) : SIZE_OF(INSTANCE_FIELD, id_size);
    const uint8_t *at = class->dump + (is_static ? class->static_fields_at : class->fields_at);

    for (size_t i = 0; i < (is_static ? class->static_fields : class->fields); i++) {
        if (is_named(r, get_id(at, id_size), name)) {
            *field = declared_field(r, class, is_static, i);
            return true;
        }
        at += head + (is_static ? type_size(get_u1(at + head - 1), id_size) : 0);
    }
    return false;
}

int hprof_field(struct hprof_reader *r, uint64_t class_id, const char *name, struct hprof_field *to)
{
    struct known_class class;
    struct hprof_field field;
    uint64_t before = 0, id = class_id;
    bool found = false, is_static;

    for (unsigned depth = 0; !found && id && depth < DEPTH_MOST && copy_class(r, id, &class) && class.dump; depth++) {
        found = find_declared(r, &class, false, name, &field);
        if (found)
            field.offset += before;
        before += declared_size(r, &class);
        id = class.super_id;
    }
    is_static = !found && copy_class(r, class_id, &class) && class.dump && find_declared(r, &class, true, name, &field);
    return found || is_static ? reader_give(r, to, &field, sizeof field) : 0;
}
