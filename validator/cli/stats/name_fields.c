#include "name_fields.h"

#include <string.h>

enum { UNKNOWN, VISITED, KNOWN }; /* states */

static const struct {
    const char *class_name, *name;
} sought[NAME_FIELDS] = {[THREAD_NAME] = {"java.lang.Thread", "name"},
                         [STRING_VALUE] = {"java.lang.String", "value"},
                         [STRING_CODER] = {"java.lang.String", "coder"}};

static unsigned size_of_type(uint8_t type, unsigned id_size)
{
    static const uint8_t sizes[] = {[4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8};

    return type < sizeof sizes && sizes[type] != 0 ? sizes[type] : id_size;
}

static struct name_fields *fields_of(struct class_fields *c, uint32_t number)
{
    while (c->classes.count <= number)
        if (list_add(c->stats, &c->classes, sizeof(struct name_fields)) == NULL)
            return NULL;
    return (struct name_fields *)c->classes.at + number;
}

static bool is_named(struct hprof_reader *reader, uint64_t id, const char *name)
{
    const char *text;
    size_t size;

    return hprof_string(reader, id, &text, &size) == 1 && size == strlen(name) && memcmp(text, name, size) == 0;
}

/* The fields of a class, which come before those of its superclass. */
static struct name_fields with_declared(const struct class_fields *c, uint32_t number, const struct name_fields *of_superclass)
{
    struct name_fields fields = {.state = KNOWN};
    struct hprof_class class;
    struct hprof_field field;
    uint64_t size = 0;

    hprof_class_init(&class);
    hprof_field_init(&field);
    hprof_class_at(c->reader, number, &class);
    for (size_t i = 0; i < class.fields && hprof_field_at(c->reader, class.id, false, i, &field) == 1; i++) {
        for (unsigned n = 0; n < NAME_FIELDS; n++) {
            if (fields.type[n] == 0 && strcmp(class.name, sought[n].class_name) == 0 &&
                is_named(c->reader, field.name_id, sought[n].name)) {
                fields.at[n] = field.offset;
                fields.type[n] = field.type;
            }
        }
        size = field.offset + size_of_type(field.type, c->stats->header.id_size);
    }
    for (unsigned n = 0; n < NAME_FIELDS; n++) {
        if (fields.type[n] == 0) {
            fields.at[n] = size + of_superclass->at[n];
            fields.type[n] = of_superclass->type[n];
        }
    }
    return fields;
}

/* Goes up to a class that is known, or to the last one, and back. Superclasses may be a circle. */
struct name_fields find_name_fields(struct class_fields *c, uint64_t class_id)
{
    struct name_fields fields = {.state = KNOWN}, *found = NULL;
    uint32_t number, below = UINT32_MAX;
    struct hprof_class class;

    hprof_class_init(&class);
    while ((number = hprof_class_number(c->reader, class_id)) != UINT32_MAX && (found = fields_of(c, number)) != NULL &&
           found->state == UNKNOWN && hprof_class_at(c->reader, number, &class) == 1 && class.is_dumped) {
        found->state = VISITED;
        found->below = below;
        below = number;
        class_id = class.super_id;
    }
    if (number != UINT32_MAX && found != NULL && found->state == KNOWN)
        fields = *found;
    while (below != UINT32_MAX) {
        found = fields_of(c, below);
        number = below;
        below = found->below;
        *found = fields = with_declared(c, number, &fields);
    }
    return fields;
}
