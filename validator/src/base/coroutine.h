/* A function on a stack of its own, which waits where it is until its caller goes on with it: for code that asks for bytes, in a
 * program that hands them out. No thread is involved. */
#ifndef HPROF_COROUTINE_H
#define HPROF_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h> /* says which C library this is */

#if defined __GLIBC__ || defined __FreeBSD__ || defined __NetBSD__
#define HAS_COROUTINES 1
#include <ucontext.h>
#else
#define HAS_COROUTINES 0 /* musl, macOS and WASI have no makecontext(), or no longer */
#endif

struct coroutine {
    bool ended; /* run() has returned */

    /* private */
    void (*run)(void *context);
    void *context;
    const void *stack;
    size_t stack_size;
#if HAS_COROUTINES
    ucontext_t own, callers;
    /* So that AddressSanitizer knows which stack is in use. */
    void *own_fake_stack, *callers_fake_stack;
    const void *callers_stack;
    size_t callers_stack_size;
#endif
};

/* Prepares a call of run(context) on the stack, a block that the caller releases once it has ended. A coroutine must stay where it
 * is. False if the system cannot do this. */
bool coroutine_init(struct coroutine *c, void *stack, size_t stack_size, void (*run)(void *context), void *context);

/* By the caller: goes on with run() until it waits or returns. Not after it has ended. */
void coroutine_go_on(struct coroutine *c);

/* By run(): goes on with the caller. Returns in the next coroutine_go_on(). */
void coroutine_wait(struct coroutine *c);

#endif
