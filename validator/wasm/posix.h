/* What the tool calls and WASI has not, so that the tool is the same in a browser: there are no signals, other processes,
 * terminals or modes of files. Included before each file of that build (cmake/wasm.cmake). */
#ifndef HPROF_WASM_POSIX_H
#define HPROF_WASM_POSIX_H

#include <errno.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { SIG_BLOCK = 0, SIG_SETMASK = 2, TIOCGWINSZ = 0x5413 };

typedef unsigned char sigset_t; /* as in the headers of WASI, which leave out what uses it */

static inline int sigemptyset(sigset_t *set)
{
    *set = 0;
    return 0;
}

static inline int sigfillset(sigset_t *set)
{
    *set = 1;
    return 0;
}

static inline int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    if (before != NULL)
        *before = 0;
    return 0;
}

static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    return sigprocmask(how, set, before);
}

struct sigaction {
    void (*sa_handler)(int);
    sigset_t sa_mask;
    int sa_flags;
};

static inline int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    (void)number;
    (void)action;
    (void)before;
    errno = ENOSYS;
    return -1;
}

struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

static inline int pipe(int ends[2])
{
    (void)ends;
    errno = ENOSYS;
    return -1;
}

static inline int pipe2(int ends[2], int flags)
{
    (void)ends;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

#endif
