/* Names, each once: of classes, methods, fields, sources and threads. */
#ifndef AGENT_NAMES_H
#define AGENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name {
    char *text; /* modified UTF-8 */
    uint32_t size;
    bool is_written; /* in binary; under the lock of the output */
};

/* The number of a name; 0 if `text` is NULL or there is no memory. */
uint32_t name_of(const char *text);
struct name *name_at(uint32_t number);
const char *name_text(uint32_t number); /* "" for 0 */

/* A class as source code names it: `[Ljava/lang/String;` becomes `java.lang.String[]`. */
uint32_t name_of_signature(const char *signature);

#endif
