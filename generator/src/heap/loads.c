/* The loads by name. */
#include "heap/heap_data.h"

/* Nothing: the heap of an idle VM. */
static const struct heap_data load_none = {.name = "none",
                                           .about = "nothing: an idle VM; --objects is at most what it holds",
                                           .class_count = CORE_CLASSES,
                                           .shares = DATA_SHARES};

static const struct heap_data *const loads[] = {&load_javac, &load_web, &load_map, &load_none};

const struct heap_data *load_at(size_t index)
{
    return index < sizeof loads / sizeof *loads ? loads[index] : NULL;
}

const char *load_name(const struct heap_data *load)
{
    return load->name;
}

const char *load_about(const struct heap_data *load)
{
    return load->about;
}

bool load_is_none(const struct heap_data *load)
{
    return load == &load_none;
}
