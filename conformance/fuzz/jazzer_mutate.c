/* libFuzzer's own mutations, with the dictionary, for the mutator of fuzz/. Jazzer loads its driver after the mutator, and keeps its
 * symbols to itself, so they are looked up when they are first needed. */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef size_t mutate_function(uint8_t *data, size_t size, size_t max);

mutate_function LLVMFuzzerMutate;

static int find_driver(struct dl_phdr_info *info, size_t size, void *found)
{
    void *driver;

    (void)size;
    if (!strstr(info->dlpi_name, "jazzer_driver"))
        return 0;
    driver = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    if (driver)
        *(void **)found = dlsym(driver, "LLVMFuzzerMutate");
    return 1;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
    static mutate_function *mutate;

    if (!mutate)
        dl_iterate_phdr(find_driver, &mutate);
    return mutate ? mutate(data, size, max) : size;
}
