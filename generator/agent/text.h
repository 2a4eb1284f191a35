/* Parts of the text form that the tables of times and monitors share. */
#ifndef AGENT_TEXT_H
#define AGENT_TEXT_H

#include <inttypes.h>

#include "output.h"
#include "writer.h"

void text_put(const char *text);       /* a name */
void text_put_thread(uint32_t number); /* <unknown thread> for 0 */
void text_put_call(const struct method *method);
void text_trace(uint32_t number); /* if it is not written yet */

/* A table of traces, after those that are not written yet. `what` is the last column: the class of a monitor, or the method. */
void text_table(const char *block, const char *unit, const char *what, const struct sample_table *table);

#endif
