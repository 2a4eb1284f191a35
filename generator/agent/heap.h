/* The heap dump: one walk along all references, written while it goes. */
#ifndef AGENT_HEAP_H
#define AGENT_HEAP_H

#include <jvmti.h>

/* Under the lock of the output. */
void heap_dump(JNIEnv *env);

#endif
