/* The objects of every heap: the thread group, the application's class loader, the threads, their names (Strings, each with its
 * byte[]), the mirrors of primitive types, more class loaders, and those of program.c. In this order, so that a small heap has the
 * threads rather than their names. */
#include "heap/parts.h"

#include <string.h>

enum { GROUP, LOADER, THREADS = CORE_FIRST_THREAD };

static uint32_t find_coder(const struct model *m)
{
    const struct model_class *c = &m->classes[CORE_STRING];
    char text[MODEL_STRING_MOST];
    uint32_t at = 0;

    for (uint32_t f = c->first_field; f < c->first_field + c->fields; f++) {
        if (model_string(m, m->fields[f].name, text) == strlen("coder") && memcmp(text, "coder", strlen("coder")) == 0)
            return at;
        at += type_size(m->fields[f].type, m->options.id_size);
    }
    return UINT32_MAX;
}

void core_prepare(struct model *m)
{
    struct parts *parts = (struct parts *)m;
    struct core_slots *slots = &parts->slots;

    *slots = (struct core_slots){.group_name = slot_named(m, CORE_THREAD_GROUP, "name"),
                                 .loader_parent = slot_named(m, CORE_CLASS_LOADER, "parent"),
                                 .string_value = slot_named(m, CORE_STRING, "value"),
                                 .coder_at = find_coder(m)};
    parts->program.classes[THREAD_PLATFORM] = CORE_THREAD;
    for (int kind = 0; kind < (parts->program.virtual_threads ? THREAD_KINDS : THREAD_CARRIER); kind++) {
        uint32_t class = parts->program.classes[kind];

        slots->threads[kind].loader = slot_named(m, class, "contextClassLoader");
        slots->threads[kind].group = slot_named(m, class, "group");
        slots->threads[kind].name = slot_named(m, class, "name");
        slots->threads[kind].continuation = kind == THREAD_PLATFORM ? UINT32_MAX : slot_named(m, class, "cont");
        slots->threads[kind].carrier = slot_named(m, class, "carrierThread");
    }
}

static uint64_t names_from(const struct model *m)
{
    return THREADS + parts_of(m)->program.threads;
}

static uint64_t mirrors_from(const struct model *m)
{
    return names_from(m) + 2 * (parts_of(m)->program.threads + 1);
}

static uint64_t loaders_from(const struct model *m)
{
    return mirrors_from(m) + m->options.mirrors;
}

uint64_t core_object_count(const struct model *m)
{
    return loaders_from(m) + m->options.loaders;
}

static uint64_t if_there(const struct model *m, uint64_t object)
{
    return object < m->options.objects ? object : MODEL_NULL;
}

/* Name 0 is that of the group; those of the threads follow. */
static uint32_t name_string(const struct model *m, uint64_t name)
{
    return name == 0 ? model_thread_group_name(m) : model_thread_name(m, name - 1);
}

void core_object(const struct model *m, uint64_t index, struct object *o)
{
    uint64_t name = index - names_from(m);

    if (index == GROUP)
        be_instance(o, CORE_THREAD_GROUP);
    else if (index == LOADER)
        be_instance(o, CORE_CLASS_LOADER);
    else if (index < names_from(m))
        be_instance(o, parts_of(m)->program.classes[thread_kind(m, index - THREADS)]);
    else if (index >= parts_of(m)->program.first)
        program_object(m, index, o);
    else if (index >= mirrors_from(m))
        be_instance(o, index < loaders_from(m) ? CORE_CLASS : CORE_CLASS_LOADER);
    else if (name % 2 == 0)
        be_instance(o, CORE_STRING);
    else {
        char text[MODEL_STRING_MOST];

        be_primitive_array(o, parts_of(m)->text_type, model_string(m, name_string(m, name / 2), text));
    }
}

bool core_text(const struct model *m, uint64_t index, char text[MODEL_STRING_MOST], size_t *size)
{
    uint64_t name = index - names_from(m);

    if (index >= mirrors_from(m) || index < names_from(m) || name % 2 == 0)
        return false;
    *size = model_string(m, name_string(m, name / 2), text);
    return true;
}

static uint64_t thread_reference(const struct model *m, uint64_t thread, uint64_t slot)
{
    enum thread_kind kind = thread_kind(m, thread);
    const struct core_slots *slots = &parts_of(m)->slots;
    bool is_virtual = kind == THREAD_VIRTUAL;
    uint64_t rank = thread_rank(m, thread);

    if (slot == slots->threads[kind].loader)
        return if_there(m, LOADER);
    if (slot == slots->threads[kind].group)
        return if_there(m, GROUP);
    if (slot == slots->threads[kind].name)
        return if_there(m, names_from(m) + 2 * (thread + 1));
    if (slot == slots->threads[kind].continuation)
        return program_continuation(m, rank);
    if (is_virtual && slot == slots->threads[kind].carrier && is_mounted(m, rank))
        return THREADS + parts_of(m)->program.first_carrier + rank;
    return MODEL_NULL;
}

uint64_t core_reference(const struct model *m, uint64_t index, uint64_t slot)
{
    const struct core_slots *slots = &parts_of(m)->slots;

    if (index >= parts_of(m)->program.first)
        return program_reference(m, index, slot);
    if (index == GROUP)
        return slot == slots->group_name ? if_there(m, names_from(m)) : MODEL_NULL;
    if (index == LOADER)
        return MODEL_NULL;
    if (index >= mirrors_from(m))
        return index >= loaders_from(m) && slot == slots->loader_parent ? if_there(m, LOADER) : MODEL_NULL;
    if (index >= names_from(m))
        return if_there(m, index + 1);
    return thread_reference(m, index - THREADS, slot);
}

void model_values(const struct model *m, uint64_t index, const struct object *o, uint8_t *body)
{
    const struct parts *parts = parts_of(m);

    if (o->class == CORE_STRING && parts->slots.coder_at != UINT32_MAX)
        body[parts->slots.coder_at] = model_is_utf16(m, index, o);
    else if (index >= THREADS && index < names_from(m))
        thread_values(m, index - THREADS, body);
    else if (index >= parts_of(m)->program.first && index < parts->core_objects)
        program_values(m, index, body);
}

uint64_t model_thread_object(const struct model *m, uint64_t thread)
{
    return if_there(m, THREADS + thread);
}

uint64_t model_mirror(const struct model *m, uint64_t mirror)
{
    return if_there(m, mirrors_from(m) + mirror);
}

/* The application's class loader, except for a few packages, each of which has one of its own. */
static uint64_t loader_of_package(const struct model *m, const char *name, size_t size)
{
    enum { PACKAGES_OF_OTHERS = 8 };
    uint64_t bits = 0, loader;

    while (size && name[size - 1] != '/')
        size--;
    for (size_t i = 0; i < size; i++)
        bits = mix_of(bits, (uint8_t)name[i], 12);
    loader = bits % (PACKAGES_OF_OTHERS * m->options.loaders + 1);
    loader = loader && loader <= m->options.loaders ? if_there(m, loaders_from(m) + loader - 1) : MODEL_NULL;
    return loader == MODEL_NULL ? if_there(m, LOADER) : loader;
}

/* Classes that are not of the JDK have a loader. An array has that of its elements. */
uint64_t model_class_loader(const struct model *m, uint32_t class)
{
    uint32_t loader = m->classes[class].loader;
    static const char *const bootstrap[] = {"java/", "jdk/", "sun/"};
    char text[MODEL_STRING_MOST];
    const char *name = text;
    size_t size = model_string(m, m->classes[class].name, text);

    if (loader)
        return if_there(m, loader == 1 ? LOADER : loaders_from(m) + loader - 2);
    if (m->classes[class].element == TYPE_OBJECT)
        name += 2, size -= 2; /* "[L" */
    else if (m->classes[class].element)
        return MODEL_NULL;
    for (size_t i = 0; i < sizeof bootstrap / sizeof *bootstrap; i++)
        if (size > strlen(bootstrap[i]) && memcmp(name, bootstrap[i], strlen(bootstrap[i])) == 0)
            return MODEL_NULL;
    return loader_of_package(m, name, size);
}
