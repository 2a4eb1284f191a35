#include "flags.h"

#include <string.h>

struct library {
    find_symbol *find;
    void *handle;
};

/* The value of a variable of the VM's library, of 8 bytes, as all that it publishes; 0 if there is none. */
static uint64_t published(const struct library *library, const char *name)
{
    const uint64_t *found = library->find(library->handle, name);
    return found ? *found : 0;
}

/* Of a table of the VM: where the entries are, and where each has its parts. */
struct table {
    const char *first;
    uint64_t stride, type_name, field_name, value;
};

static const char *text_at(const char *entry, uint64_t offset)
{
    return *(const char *const *)(const void *)(entry + offset);
}

/* The part `value` of the entry of a type or, if `field` is not NULL, of one of its fields. False if there is none. */
static bool entry_value(uint64_t *value, const struct table *table, const char *type, const char *field)
{
    for (const char *entry = table->first; entry && table->stride && text_at(entry, table->type_name); entry += table->stride)
        if (!strcmp(text_at(entry, table->type_name), type) && (!field || !strcmp(text_at(entry, table->field_name), field)))
            return memcpy(value, entry + table->value, sizeof *value);
    return false;
}

/* An array of structures. */
struct flags {
    const char *first;
    uint64_t count, size;
    uint64_t name, address; /* where a structure has them */
};

static bool find_flags(struct flags *flags, const struct library *library)
{
    struct table types = {.first = (const char *)(uintptr_t)published(library, "gHotSpotVMTypes"),
                          .stride = published(library, "gHotSpotVMTypeEntryArrayStride"),
                          .type_name = published(library, "gHotSpotVMTypeEntryTypeNameOffset"),
                          .value = published(library, "gHotSpotVMTypeEntrySizeOffset")};
    struct table fields = {.first = (const char *)(uintptr_t)published(library, "gHotSpotVMStructs"),
                           .stride = published(library, "gHotSpotVMStructEntryArrayStride"),
                           .type_name = published(library, "gHotSpotVMStructEntryTypeNameOffset"),
                           .field_name = published(library, "gHotSpotVMStructEntryFieldNameOffset"),
                           .value = published(library, "gHotSpotVMStructEntryOffsetOffset")};
    struct table statics = fields;
    statics.value = published(library, "gHotSpotVMStructEntryAddressOffset");
    uint64_t first = 0, count = 0;
    if (!entry_value(&flags->size, &types, "JVMFlag", NULL) || !entry_value(&flags->name, &fields, "JVMFlag", "_name") ||
        !entry_value(&flags->address, &fields, "JVMFlag", "_addr") || !entry_value(&first, &statics, "JVMFlag", "flags") ||
        !entry_value(&count, &statics, "JVMFlag", "numFlags"))
        return false;
    flags->first = *(const char *const *)(uintptr_t)first;
    flags->count = *(const uint64_t *)(uintptr_t)count;
    return flags->first;
}

bool flag_set(find_symbol *find, void *library, const char *name, uintptr_t value)
{
    struct flags flags;
    if (!find_flags(&flags, &(struct library){find, library}))
        return false;
    for (uint64_t i = 0; i < flags.count; i++) {
        const char *flag = flags.first + i * flags.size, *its_name = text_at(flag, flags.name);
        if (its_name && !strcmp(its_name, name)) {
            **(_Atomic uintptr_t *const *)(const void *)(flag + flags.address) = value;
            return true;
        }
    }
    return false;
}
