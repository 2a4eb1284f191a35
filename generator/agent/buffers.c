/* A thread that meets an object too large for the rest of its buffer keeps that buffer, and allocates the object elsewhere. A VM
   before JDK 17 then shows no object from the rest of the buffer. With -XX:TLABRefillWasteFraction=1 threads keep no such buffer.
   The VM reads this number whenever a thread takes a buffer, and it publishes, for debuggers, where its options are. */
#include "buffers.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "vm.h"

enum { FIRST_THAT_SHOWS_ALL = 17 };

/* The value of a variable of the VM's library, of 8 bytes, as all that it publishes; 0 if there is none. */
static uint64_t published(void *library, const char *name)
{
    const uint64_t *found = dlsym(library, name);
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

/* The part `value` of the entry of a type or, if `field` is not NULL, of one of its fields; 0 if there is none. */
static uint64_t entry_value(const struct table *table, const char *type, const char *field)
{
    for (const char *entry = table->first; entry && table->stride && text_at(entry, table->type_name); entry += table->stride)
        if (!strcmp(text_at(entry, table->type_name), type) && (!field || !strcmp(text_at(entry, table->field_name), field)))
            return *(const uint64_t *)(const void *)(entry + table->value);
    return 0;
}

/* The options of the VM: an array of structures. */
struct flags {
    const char *first;
    uint64_t count, size;
    uint64_t name, address; /* where a structure has them */
};

static bool find_flags(struct flags *flags, void *library)
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
    flags->size = entry_value(&types, "JVMFlag", NULL);
    flags->name = entry_value(&fields, "JVMFlag", "_name");
    flags->address = entry_value(&fields, "JVMFlag", "_addr");
    fields.value = published(library, "gHotSpotVMStructEntryAddressOffset"); /* of static fields */
    const uint64_t *first = (const uint64_t *)(uintptr_t)entry_value(&fields, "JVMFlag", "flags");
    const uint64_t *count = (const uint64_t *)(uintptr_t)entry_value(&fields, "JVMFlag", "numFlags");
    if (!first || !count || !flags->size || flags->name == flags->address)
        return false;
    flags->first = (const char *)(uintptr_t)*first;
    flags->count = *count;
    return flags->first;
}

static bool set_flag(void *library, const char *name, uintptr_t value)
{
    struct flags flags;
    if (!find_flags(&flags, library))
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

void buffers_show_all(void)
{
    jint version = 0;
    if (!vm_ok((*ti)->GetVersionNumber(ti, &version), "GetVersionNumber") ||
        (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR >= FIRST_THAT_SHOWS_ALL)
        return;
    Dl_info vm;
    void *library = NULL;
    if (dladdr(*(void *const *)(const void *)&(*ti)->GetVersionNumber, &vm))
        library = dlopen(vm.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library || !set_flag(library, "TLABRefillWasteFraction", 1))
        say("HPROF WARNING: allocations may be missing from the sites; with -XX:-UseTLAB none is");
    if (library)
        dlclose(library);
}
