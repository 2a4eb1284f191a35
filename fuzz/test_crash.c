/* Crashes on each input but an empty one, to test that mutants.c leaves the input and that replay.c goes on with the next. */
#include <signal.h>

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    if (size)
        raise(SIGSEGV);
    return 0;
}
