/* model.h: a made-up heap is the same each time and on every machine, and another one with another seed. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "heap/model.h"
#include "made_model.h"

static uint64_t hash(uint64_t h, uint64_t v)
{
    return (h ^ v) * 0x100000001B3U;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        h = hash(h, ((const uint8_t *)bytes)[i]);
    return h;
}

enum { STRINGS_HASHED = 20000, FRAMES_HASHED = 1000, SLOTS_HASHED = 100, BYTES_HASHED = 64 };

static uint64_t hash_of(const struct model *m)
{
    uint32_t *references = reference_fields(m);
    uint64_t h = 0xCBF29CE484222325U;

    for (uint32_t c = 0; c < m->class_count; c++) {
        const struct model_class *class = &m->classes[c];

        h = hash(hash(hash(h, class->name), class->super), class->instance_bytes);
        h = hash(hash(h, model_class_loader(m, c)), class->interface);
        for (uint32_t f = 0; f < (uint32_t) class->fields + class->statics && f < SLOTS_HASHED; f++) {
            const struct model_field *field = &m->fields[class->first_field + f];

            h = hash(hash(h, field->name), field->type);
        }
        h = hash(h, model_static(m, c, 0));
    }
    for (uint32_t s = 0; s < m->string_count && s < STRINGS_HASHED; s++) {
        char text[MODEL_STRING_MOST];

        h = hash_bytes(h, text, model_string(m, s, text));
    }
    for (uint64_t f = 0; f < FRAMES_HASHED && m->options.threads && m->options.stack_depth; f++) {
        uint64_t thread = f % m->options.threads, depth = f % m->options.stack_depth;
        struct model_frame frame;

        model_frame(m, thread, depth, &frame);
        h = hash(hash(hash(h, frame.method), frame.class), (uint32_t)frame.line);
        h = hash(h, model_local(m, thread, depth));
    }
    for (uint64_t i = 0; i < m->options.objects; i++) {
        struct object o;
        uint8_t bytes[BYTES_HASHED];
        uint64_t slots;

        model_object(m, i, &o);
        slots = slots_of(references, &o);
        h = hash(hash(hash(h, o.kind), o.class), o.elements);
        for (uint64_t s = 0; s < slots && s < SLOTS_HASHED; s++)
            h = hash(h, model_reference(m, i, &o, s));
        if (o.kind == OBJECT_PRIMITIVE_ARRAY) {
            size_t size = (size_t)o.elements * type_size(o.type, 8);

            size = size < sizeof bytes ? size : sizeof bytes;
            model_elements(m, i, &o, 0, bytes, size);
            h = hash_bytes(h, bytes, size);
        }
    }
    free(references);
    return hash(h, model_random(m, 1, 2));
}

static void same_on_every_machine(void **state)
{
    /* A change here changes what every seed makes. */
    static const struct {
        const char *shape;
        uint64_t hash;
    } golden[] = {
        {"mixed", 0x1E1A9485484FA163}, {"list", 0x932742737F534647},   {"tree", 0x674DD21447C56EDD},
        {"graph", 0x0EA6CC369B31A441}, {"arrays", 0x11A2636F5A8CE64C}, {"strings", 0xA3DB23B9C1089917},
        {"wide", 0x9D5C64B6D11F316A},  {"deep", 0x840DBEA1E935A8A4},   {"threads", 0xC6609283F49A3375},

    };

    (void)state;
    for (size_t i = 0; shapes[i]; i++) {
        struct model *m = made_with(shapes[i]->name, 20000);
        uint64_t h = hash_of(m);

        assert_string_equal(shapes[i]->name, golden[i].shape);
        if (h != golden[i].hash)
            fail_msg("%s: 0x%016" PRIX64, golden[i].shape, h);
        model_free(m);
    }
}

static void seed_changes_all(void **state)
{
    (void)state;
    for (size_t i = 0; shapes[i]; i++) {
        struct model_options options = unset(5000);
        struct model *one = made(shapes[i], &options), *again = made(shapes[i], &options), *other;

        options.seed = 2;
        other = made(shapes[i], &options);
        assert_true(hash_of(one) == hash_of(again));
        assert_false(hash_of(one) == hash_of(other));
        model_free(one);
        model_free(again);
        model_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_on_every_machine),
        cmocka_unit_test(seed_changes_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
