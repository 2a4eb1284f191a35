/* The options of the VM. It publishes, for debuggers, where they are. */
#ifndef AGENT_FLAGS_H
#define AGENT_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

/* Where the library of the VM has a variable, as dlsym() says; NULL if it has none of this name. */
typedef void *find_symbol(void *library, const char *name);

/* Sets an option whose value is a word. False if the VM has none of this name. */
bool flag_set(find_symbol *find, void *library, const char *name, uintptr_t value);

#endif
