/* See coroutine.h: contexts of POSIX.1-2001. */
#define _XOPEN_SOURCE 700
#include "base/coroutine.h"
#if HAS_COROUTINES

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define LEAVE_STACK(save, to, size) __sanitizer_start_switch_fiber(save, to, size)
#define ENTER_STACK(saved, from, size) __sanitizer_finish_switch_fiber(saved, from, size)
#else
#define LEAVE_STACK(save, to, size) ((void)(save))
#define ENTER_STACK(saved, from, size) ((void)(saved))
#endif

/* makecontext() passes on arguments of type int alone. */
static void begin(unsigned high, unsigned low)
{
    struct coroutine *c = (struct coroutine *)((uintptr_t)high << 16 << 16 | (uintptr_t)low);

    ENTER_STACK(NULL, &c->callers_stack, &c->callers_stack_size);
    c->run(c->context);
    c->ended = true;
    LEAVE_STACK(NULL, c->callers_stack, c->callers_stack_size);
    setcontext(&c->callers);
}

bool coroutine_init(struct coroutine *c, void *stack, size_t stack_size, void (*run)(void *context), void *context)
{
    uintptr_t self = (uintptr_t)c;

    *c = (struct coroutine){.run = run, .context = context, .stack = stack, .stack_size = stack_size};
    if (getcontext(&c->own) != 0)
        return false;
    c->own.uc_stack.ss_sp = stack;
    c->own.uc_stack.ss_size = stack_size;
    makecontext(&c->own, (void (*)(void))begin, 2, (unsigned)(self >> 16 >> 16), (unsigned)self);
    return true;
}

void coroutine_go_on(struct coroutine *c)
{
    LEAVE_STACK(&c->callers_fake_stack, c->stack, c->stack_size);
    swapcontext(&c->callers, &c->own);
    ENTER_STACK(c->callers_fake_stack, NULL, NULL);
}

void coroutine_wait(struct coroutine *c)
{
    LEAVE_STACK(&c->own_fake_stack, c->callers_stack, c->callers_stack_size);
    swapcontext(&c->own, &c->callers);
    ENTER_STACK(c->own_fake_stack, &c->callers_stack, &c->callers_stack_size);
}

#else

bool coroutine_init(struct coroutine *c, void *stack, size_t stack_size, void (*run)(void *context), void *context)
{
    *c = (struct coroutine){.run = run, .context = context, .stack = stack, .stack_size = stack_size};
    return false;
}

void coroutine_go_on(struct coroutine *c)
{
    (void)c;
}

void coroutine_wait(struct coroutine *c)
{
    (void)c;
}

#endif
