/* A target that crashes on each input. To test what mutants.c leaves. */
#include <signal.h>

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    raise(SIGSEGV);
    return 0;
}
