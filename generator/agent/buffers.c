/* A thread that meets an object too large for the rest of its buffer keeps that buffer, and allocates the object elsewhere. A VM
   before JDK 17 then shows no object from the rest of the buffer. With -XX:TLABRefillWasteFraction=1 threads keep no such buffer.
   The VM reads this number whenever a thread takes a buffer. */
#include "buffers.h"

#include <dlfcn.h>

#include "flags.h"
#include "vm.h"

enum { FIRST_THAT_SHOWS_ALL = 17 };

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
    if (!library || !flag_set(dlsym, library, "TLABRefillWasteFraction", 1))
        say("HPROF WARNING: allocations may be missing from the sites; with -XX:-UseTLAB none is");
    if (library)
        dlclose(library);
}
