#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum { FILES_MAX = 8 };
static char *volatile files[FILES_MAX];
static volatile sig_atomic_t bar;

static void replace_file(char *old, char *new)
{
    size_t i = 0;

    while (i < FILES_MAX && files[i] != old)
        i++;
    if (i < FILES_MAX) /* else there was no room, or it was removed already */
        files[i] = new;
}

void interrupt_add_file(char *path)
{
    replace_file(NULL, path);
}

void interrupt_remove_file(char *path)
{
    if (path != NULL)
        replace_file(path, NULL);
}

void interrupt_set_bar(bool on_terminal)
{
    bar = on_terminal;
}

static void clean_up(int number)
{
    static const char wipe[] = "\r\033[K";

    for (size_t i = 0; i < FILES_MAX; i++) {
        if (files[i] != NULL)
            unlink(files[i]);
    }
    if (bar)
        (void)!write(STDERR_FILENO, wipe, sizeof wipe - 1);
    signal(number, SIG_DFL);
    raise(number);
}

void interrupt_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;

        /* A signal that was ignored at start (nohup) stays ignored. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            struct sigaction action = {.sa_handler = clean_up};

            sigemptyset(&action.sa_mask);
            sigaction(numbers[i], &action, NULL);
        }
    }
}
