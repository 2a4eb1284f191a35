/* What depends on how the agent was loaded. */
#ifndef AGENT_CONTROL_H
#define AGENT_CONTROL_H

#include <stdbool.h>

bool control_can_dump_monitors(void);
bool control_is_attached(void); /* loaded into a running VM */

#endif
