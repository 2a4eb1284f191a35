/* The entry point of a fuzz target, and how it reports a property that does not hold. */
#ifndef HPROF_FUZZ_TARGET_H
#define HPROF_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints a sentence and aborts, which every engine counts as a crash. */
_Noreturn void fail_target(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A copy of the input whose last byte lies directly before a page that cannot be read, so that any read past the end faults, also
 * without a sanitizer. Valid until the next call. */
const uint8_t *copy_to_guard_page(const uint8_t *data, size_t size);

/* 32 bits with which an input draws options: the low half of the timestamp in the header, or of a gzip file the time in the
 * member's header. No check reads either, so every dump is a seed. 0 if the input is too short. */
uint32_t drawn_bits(const uint8_t *data, size_t size);

/* Of `*bits`, a number below n; the rest of the bits serves the next draw. */
uint32_t draw(uint32_t *bits, uint32_t n);

/* The least size of the blocks in which an input is read: more than 2 for a gzip file whose end says that it holds a long dump, so
 * that no input takes long. */
size_t least_block(const uint8_t *data, size_t size);

#endif
