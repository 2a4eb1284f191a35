/* What a signal that ends the process (SIGINT and the like) has to clean up first: files that are not complete, and the progress
 * bar on the terminal. */
#ifndef HPROF_CLI_INTERRUPT_H
#define HPROF_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on signals clean up; those that are ignored stay ignored. */
void interrupt_watch(void);

/* A file to remove; its name must stay where it is until it is taken back. */
void interrupt_add_file(char *path);
void interrupt_remove_file(char *path);

/* Whether there is a bar to be wiped off. */
void interrupt_set_bar(bool on_terminal);

#endif
