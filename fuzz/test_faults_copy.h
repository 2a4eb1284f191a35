/* What `hprof-gen --from` copies, for test_faults.c. It is a file of its own, because the headers of the generator and those of
 * the tests each have a `struct bytes`. */
#ifndef HPROF_FUZZ_TEST_FAULTS_COPY_H
#define HPROF_FUZZ_TEST_FAULTS_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

struct copy {
    enum hprof_status status; /* HPROF_INVALID: the dump is malformed; HPROF_IO: it is refused, or cannot be read */
    char failure[256];        /* a sentence; empty without a failure */
    const uint8_t *at;        /* all bytes written; valid until the next copy */
    size_t size;
};

struct copy copy_dump(int fd);

#endif
