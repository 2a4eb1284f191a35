/* The buffers from which threads of a VM before JDK 17 allocate. */
#ifndef AGENT_BUFFERS_H
#define AGENT_BUFFERS_H

/* After this each object is shown: a thread no longer keeps a buffer that an object does not fit into. */
void buffers_show_all(void);

#endif
