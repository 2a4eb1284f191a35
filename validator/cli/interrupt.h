/* Cleans up when a signal such as SIGINT ends the process: removes incomplete files, and the progress bar from the terminal. */
#ifndef HPROF_CLI_INTERRUPT_H
#define HPROF_CLI_INTERRUPT_H

#include <stdbool.h>

/* Installs the signal handlers. Signals that are ignored stay ignored. */
void interrupt_watch(void);

/* A file to remove. The path must stay valid until interrupt_remove_file(). */
void interrupt_add_file(char *path);
void interrupt_remove_file(char *path);

/* Whether there is a progress bar to erase. */
void interrupt_set_bar(bool on_terminal);

#endif
