/* See emitter.h: CLASS_DUMPs. */
#include "producers/emitter.h"

#include "stream/encode.h"

static uint8_t *put_value(const struct emitter *em, uint8_t *p, unsigned type, unsigned form, uint64_t object, uint64_t bits)
{
    unsigned size = type_size(type, em->id_size);

    if (type == TYPE_OBJECT)
        return put_id(p, object, em->id_size);
    if (type == TYPE_BOOLEAN)
        bits &= 1;
    else if (form == VALUE_SMALL)
        bits &= 127;
    else if (form == VALUE_ZERO)
        bits = 0;
    put_u8(p, bits << (64 - 8 * size));
    return p + size;
}

static uint8_t *put_constants(const struct emitter *em, uint8_t *p, uint32_t class)
{
    static const uint8_t types[] = {TYPE_OBJECT, TYPE_OBJECT, TYPE_BOOLEAN, TYPE_CHAR, TYPE_FLOAT,
                                    TYPE_DOUBLE, TYPE_BYTE,   TYPE_SHORT,   TYPE_INT,  TYPE_LONG};
    const struct model_class *c = &em->model->classes[class];
    unsigned n = em->producer->style.constants == CONSTANTS_ALL       ? sizeof types
                 : em->producer->style.constants == CONSTANTS_OBJECTS ? 2
                                                                      : 0;

    if (c->element || class % 2)
        n = 0;
    p = put_u2(p, (uint16_t)n);
    for (unsigned i = 0; i < n; i++) {
        p = put_u2(p, (uint16_t)(i + 1));
        p = put_u1(p, types[i]);
        p = put_value(em, p, types[i], VALUE_ANY, class_id(em, i ? CORE_STRING : c->super),
                      model_random(em->model, class, 2 + i));
    }
    return p;
}

static uint8_t *put_statics(const struct emitter *em, uint8_t *p, uint32_t class)
{
    const struct model *m = em->model;
    const struct model_class *c = &m->classes[class];
    const struct model_field *f = m->fields + c->first_field + c->fields;
    uint8_t *count = p;
    uint16_t own = 0;
    uint32_t slot = 0;

    p += 2;
    for (unsigned i = 0; i < c->statics; i++, f++) {
        uint64_t object = f->type == TYPE_OBJECT ? object_id(em, model_static(m, class, slot++)) : 0;

        p = put_id(p, id_of(&em->ids.strings, f->name), em->id_size);
        p = put_u1(p, f->type);
        p = put_value(em, p, f->type, f->form, object, model_random(m, class, 100 + i));
    }
    for (const struct own_static *s = em->producer->own.statics; s && s->each; s++)
        if (class % s->each == s->rest && (s->value || !c->element)) {
            p = put_id(p, id_of(&em->ids.strings, own_string(em, s->name)), em->id_size);
            p = put_u1(p, TYPE_OBJECT);
            p = put_id(p, s->value ? s->value(em, class) : 0, em->id_size);
            own++;
        }
    put_u2(count, (uint16_t)(c->statics + own));
    return p;
}

static uint8_t *put_instance_fields(const struct emitter *em, uint8_t *p, uint32_t class)
{
    const struct model_class *c = &em->model->classes[class];
    const struct model_field *f = em->model->fields + c->first_field;

    p = put_u2(p, c->fields);
    for (unsigned i = 0; i < c->fields; i++, f++) {
        p = put_id(p, id_of(&em->ids.strings, f->name), em->id_size);
        p = put_u1(p, f->type);
    }
    return p;
}

static void give_class(struct emitter *em, struct event *e, uint32_t class, const uint8_t *end)
{
    e->body = em->room;
    e->body_size = (uint64_t)(end - em->room);
    if (em->producer->hooks.on_class)
        em->producer->hooks.on_class(em, e, class);
    give(em->run.to, e);
}

static void give_model_class(struct emitter *em, uint32_t class)
{
    const struct model_class *c = &em->model->classes[class];
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);

    if (em->producer->hooks.before_class)
        em->producer->hooks.before_class(em, class);
    e.fields.CLASS_DUMP = (struct CLASS_DUMP){.class_id = class_id(em, class),
                                              .trace_serial = em->traces[class],
                                              .super_id = class_id(em, c->super),
                                              .loader_id = object_id(em, model_class_loader(em->model, class)),
                                              .instance_size = c->instance_bytes};
    give_class(em, &e, class, put_instance_fields(em, put_statics(em, put_constants(em, em->room, class), class), class));
}

/* A class of the producer's own has only the fields of its superclass. */
static void give_own_class(struct emitter *em, unsigned number)
{
    enum { NOTHING = 3 * 2 }; /* no constants, statics, fields */
    const struct own_class *own = &em->producer->own.classes[number];
    uint32_t class = own_class(em, number);
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);

    e.fields.CLASS_DUMP = (struct CLASS_DUMP){.class_id = class_id(em, class),
                                              .trace_serial = em->traces[class],
                                              .super_id = class_id(em, own->super),
                                              .instance_size = field_bytes(em, class)};
    memset(em->room, 0, NOTHING);
    give_class(em, &e, class, em->room + NOTHING);
}

void part_classes(struct emitter *em)
{
    for (uint32_t c = 0; c < em->model->class_count && !*em->run.stop; c++)
        give_model_class(em, c);
    for (unsigned c = 0; c < em->counts.own_classes; c++)
        if (!em->producer->own.classes[c].absent)
            give_own_class(em, c);
}
