#include "oracle_heaps.h"

#include "oracle_definitions.h"

#include <stdlib.h>
#include <string.h>

/* 6.4.2 and 6.3: within a heap dump an ID is defined once. A class counts more than an object of the same ID. */
static void check_unique_objects(struct oracle *o)
{
    const struct object *objects = o->objects.items;
    for (size_t i = 0; i < o->objects.count; i++) {
        const struct object *later = &objects[i];
        if (later->id == 0 || first_definition(&o->object_ids, later->heap, later->id)->item == i)
            continue;
        const struct definition *class = first_definition(&o->dumped_class_ids, later->heap, later->id);
        bool class_before = class && class->at < later->at;
        if (class_before)
            report(o, later->is_class ? "CLS-009" : "OBJ-005", later->at);
        else
            report(o, later->is_class ? "OBJ-005" : "OBJ-004", later->at);
    }
}

static const struct class_dump *superclass(const struct oracle *o, const struct class_dump *c)
{
    const struct definition *d = c->super_id ? first_definition(&o->dumped_class_ids, c->heap, c->super_id) : NULL;
    return d ? &((const struct class_dump *)o->class_dumps.items)[d->item] : NULL;
}

/* The sum of the fields of a class and its superclasses; UINT64_MAX if the chain is not complete. */
static uint64_t size_of_chain(const struct oracle *o, const struct class_dump *c)
{
    uint64_t size = 0;
    for (size_t steps = 0; steps <= o->class_dumps.count; steps++) {
        if (c->untyped)
            return UINT64_MAX;
        size += c->own_size;
        if (c->super_id == 0)
            return size;
        c = superclass(o, c);
        if (!c)
            return UINT64_MAX;
    }
    return UINT64_MAX; /* a cycle */
}

/* 6.3.2: whether a class is the first in the file of a cycle of superclasses. */
static bool begins_cycle(const struct oracle *o, const struct class_dump *first)
{
    const struct class_dump *c = superclass(o, first);
    for (size_t steps = 0; c && c != first && steps <= o->class_dumps.count; steps++) {
        if (c->at < first->at)
            return false;
        c = superclass(o, c);
    }
    return c == first;
}

static void check_classes(struct oracle *o)
{
    const struct class_dump *c = o->class_dumps.items;
    for (size_t i = 0; i < o->class_dumps.count; i++) {
        if (c[i].id == 0 || first_definition(&o->dumped_class_ids, c[i].heap, c[i].id)->item != i)
            continue; /* not the layout that holds */
        uint64_t size = size_of_chain(o, &c[i]);
        if (size != UINT64_MAX && size != c[i].instance_size)
            report(o, "CLS-017", c[i].instance_size_at);
        if (begins_cycle(o, &c[i]))
            report(o, "CLS-011", c[i].super_at);
    }
}

/* 6.5: the values of an instance, of its class, then of its superclass, and so on. */
static void check_instances(struct oracle *o)
{
    const struct instance *instances = o->instances.items;
    for (size_t i = 0; i < o->instances.count; i++) {
        const struct instance *instance = &instances[i];
        const struct definition *d = first_definition(&o->dumped_class_ids, instance->heap, instance->class_id);
        const struct class_dump *c = d ? &((const struct class_dump *)o->class_dumps.items)[d->item] : NULL;
        uint64_t size = c ? size_of_chain(o, c) : UINT64_MAX, at = instance->values_at;
        if (size == UINT64_MAX)
            continue;
        if (size != instance->bytes) {
            report(o, "OBJ-006", instance->bytes_at);
            continue;
        }
        for (; c; c = superclass(o, c))
            for (uint64_t f = 0; f < c->field_count; f++) {
                uint64_t type = u1(o->d, c->fields_at + f * (o->d->id_size + 1) + o->d->id_size);
                note_value(o, instance->heap, type, at);
                at += size_of_type(o->d, type);
            }
    }
}

/* 6.4.3, 6.3.2, 7: each ID that is named and not defined is one finding. */
static void check_objects_defined(struct oracle *o)
{
    struct list missing = {0};
    const struct use *uses = o->object_uses.items;
    for (size_t i = 0; i < o->object_uses.count; i++) {
        bool needs_class = uses[i].role <= ROLE_SUPERCLASS;
        if (uses[i].scope == o->unclosed_heap)
            continue;
        if (!first_definition(needs_class ? &o->dumped_class_ids : &o->object_ids, uses[i].scope, uses[i].id))
            *(struct use *)append(&missing, sizeof(struct use)) = uses[i];
    }
    report_uses(o, &missing);
    free(o->object_uses.items);
    o->object_uses = missing;
}

/* Whether an instance is one of the class of a kind, or of a subclass. It may be if its class is unknown, or its size is wrong. */
static bool may_be_of_kind(const struct oracle *o, const struct instance *instance, enum kind kind)
{
    const struct definition *d = first_definition(&o->dumped_class_ids, instance->heap, instance->class_id);
    const struct class_dump *c = d ? &((const struct class_dump *)o->class_dumps.items)[d->item] : NULL;
    if (!c || size_of_chain(o, c) != instance->bytes)
        return true;
    for (; c; c = superclass(o, c))
        if (c->is_named && c->kind == kind)
            return true;
    return false;
}

/* 6.2.6, 6.2.8, 6.3.1: what must not be a class, and must be an instance of the class of a kind, if its heap dump has that. */
static void check_kind(struct oracle *o, enum kind kind)
{
    static const char *const for_classes[KINDS] = {[KIND_LOADER] = "CLS-022", [KIND_THREAD] = "ROOT-008"};
    static const char *const for_objects[KINDS] = {
        [KIND_LOADER] = "CLS-023", [KIND_THREAD] = "ROOT-009", [KIND_STICKY_CLASS] = "ROOT-010"};
    struct list wrong = {0}, heaps = {0}, right = {0};
    const struct class_dump *c = o->class_dumps.items;
    for (size_t i = 0; i < o->class_dumps.count; i++)
        if (c[i].is_named && c[i].kind == kind && c[i].id != 0 &&
            first_definition(&o->dumped_class_ids, c[i].heap, c[i].id)->item == i)
            define(&heaps, 0, c[i].heap, c[i].at, i);
    const struct instance *instances = o->instances.items;
    for (size_t i = 0; heaps.count && i < o->instances.count; i++)
        if (may_be_of_kind(o, &instances[i], kind))
            define(&right, instances[i].heap, instances[i].id, instances[i].tag_at, i);
    sort_index(&heaps);
    sort_index(&right);
    const struct use *uses = o->kind_uses[kind].items;
    for (size_t i = 0; i < o->kind_uses[kind].count; i++) {
        const struct use *u = &uses[i];
        const char *rule = NULL;
        if (first_definition(&o->dumped_class_ids, u->scope, u->id))
            rule = for_classes[kind];
        else if (first_definition(&heaps, 0, u->scope) && first_definition(&o->object_ids, u->scope, u->id) &&
                 !first_definition(&right, u->scope, u->id))
            rule = for_objects[kind];
        if (rule && u->scope != o->unclosed_heap)
            note_use(&wrong, u->scope, u->id, 0, u->at, rule);
    }
    report_uses(o, &wrong);
    free(heaps.items);
    free(right.items);
    free(wrong.items);
}

static bool is_loaded_by_end_of(const struct oracle *o, size_t heap, uint64_t class_id)
{
    const struct definition *d = first_definition(&o->class_ids, 0, class_id);
    return d && d->at < ((const uint64_t *)o->heap_ends.items)[heap - 1];
}

/* M.3: in each heap dump, as many classes may have been dumped under a wrong ID as loaded classes are named and missing. */
static size_t count_missing_loaded_classes(const struct oracle *o, size_t heap)
{
    const struct use *missing = o->object_uses.items; /* what is left of them */
    size_t count = 0;
    for (size_t i = 0; i < o->object_uses.count; i++)
        if (missing[i].scope == heap && missing[i].role <= ROLE_SUPERCLASS &&
            !first_definition(&o->object_ids, heap, missing[i].id) && is_loaded_by_end_of(o, heap, missing[i].id))
            count++;
    return count;
}

/* 6.3: a dumped class has a LOAD_CLASS. */
static void check_dumped_classes_loaded(struct oracle *o, const struct list *named)
{
    const struct class_dump *c = o->class_dumps.items;
    struct list unloaded = {0};
    size_t heap = 0, strays = 0;
    for (size_t i = 0; i < o->class_dumps.count; i++) {
        if (c[i].heap != heap) {
            heap = c[i].heap;
            strays = count_missing_loaded_classes(o, heap);
        }
        if (c[i].id == 0 || first_definition(&o->dumped_class_ids, heap, c[i].id)->item != i)
            continue;
        if (strays && !is_loaded_by_end_of(o, heap, c[i].id) && !first_definition(named, heap, c[i].id))
            strays--;
        else if (!first_definition(&o->class_ids, 0, c[i].id))
            note_use(&unloaded, 0, c[i].id, 0, c[i].at, "CLS-008");
    }
    report_uses(o, &unloaded);
    free(unloaded.items);
}

/* 2.6 and 6.6 */
static bool is_array_name(const struct string *name)
{
    return (name->size >= 1 && name->text[0] == '[') || (name->size >= 2 && memcmp(name->text + name->size - 2, "[]", 2) == 0);
}

static bool is_primitive_array_name(const struct string *name)
{
    static const char *const names[] = {"[Z",        "[C",     "[F",      "[D",       "[B",     "[S",      "[I",    "[J",
                                        "boolean[]", "char[]", "float[]", "double[]", "byte[]", "short[]", "int[]", "long[]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name->size == strlen(names[i]) && memcmp(name->text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The name of a class for the whole file; NULL if it is not known or changes. */
static const struct string *name_of_class(const struct oracle *o, uint64_t class_id)
{
    const struct loaded_class *loads = o->loaded_classes.items;
    const struct definition *load = first_definition(&o->class_ids, 0, class_id);
    if (!load || loads[load->item].reused)
        return NULL;
    return string_before(o, loads[loads[load->item].current].name, UINT64_MAX);
}

/* 6.3.2 and 6.3.5: an array class has no fields, and its superclass has no superclass. */
static void check_array_layouts(struct oracle *o)
{
    struct list with_fields = {0}, with_superclass = {0};
    const struct class_dump *c = o->class_dumps.items;
    for (size_t i = 0; i < o->class_dumps.count; i++) {
        const struct string *name = c[i].id ? name_of_class(o, c[i].id) : NULL;
        if (!name || !is_array_name(name) || first_definition(&o->dumped_class_ids, c[i].heap, c[i].id)->item != i)
            continue;
        if (c[i].field_count && !c[i].untyped)
            note_use(&with_fields, 0, c[i].id, 0, c[i].at, "CLS-020");
        if (size_of_chain(o, &c[i]) != UINT64_MAX && c[i].super_id && superclass(o, &c[i])->super_id)
            note_use(&with_superclass, 0, c[i].id, 0, c[i].super_at, "CLS-021");
    }
    report_uses(o, &with_fields);
    report_uses(o, &with_superclass);
    free(with_fields.items);
    free(with_superclass.items);
}

/* 6.5 and 6.6: one finding for each class whose name is known and does not go with its objects. */
static void check_array_classes(struct oracle *o)
{
    struct list wrong = {0}, wrong_instances = {0};
    const struct array *arrays = o->object_arrays.items;
    for (size_t i = 0; i < o->object_arrays.count; i++) {
        const struct array *a = &arrays[i];
        const struct string *name = name_of_class(o, a->class_id);
        if (name && !is_array_name(name))
            note_use(&wrong, 0, a->class_id, 0, a->class_at, "OBJ-007");
        else if (name && is_primitive_array_name(name))
            note_use(&wrong, 0, a->class_id, 0, a->class_at, "OBJ-012");
    }
    const struct instance *instances = o->instances.items;
    const struct class_dump *dumps = o->class_dumps.items;
    for (size_t i = 0; i < o->instances.count; i++) {
        const struct string *name = name_of_class(o, instances[i].class_id);
        const struct definition *dump = first_definition(&o->dumped_class_ids, instances[i].heap, instances[i].class_id);
        if (name && dump && is_array_name(name))
            note_use(&wrong_instances, 0, instances[i].class_id, 0, dumps[dump->item].at, "OBJ-011");
    }
    check_array_layouts(o);
    report_uses(o, &wrong_instances);
    report_uses(o, &wrong);
    free(wrong_instances.items);
    free(wrong.items);
}

void check_heap_dumps(struct oracle *o)
{
    struct list named = {0}; /* the classes of objects, and all that is referred to */
    check_unique_objects(o);
    check_classes(o);
    check_instances(o);
    const struct use *uses = o->object_uses.items;
    for (size_t i = 0; i < o->object_uses.count; i++)
        if (uses[i].role <= ROLE_ARRAY_CLASS || uses[i].role == ROLE_REFERENCE)
            define(&named, uses[i].scope, uses[i].id, uses[i].at, i);
    sort_index(&named);
    check_objects_defined(o);
    for (unsigned kind = 0; kind < KINDS; kind++)
        check_kind(o, (enum kind)kind);
    check_dumped_classes_loaded(o, &named);
    check_array_classes(o);
    free(named.items);
}
