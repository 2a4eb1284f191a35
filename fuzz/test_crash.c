/* Crashes on each input, to test that mutants.c leaves the input. */
#include <signal.h>

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    raise(SIGSEGV);
    return 0;
}
