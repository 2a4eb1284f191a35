/* The commands of the peer of a socket. */
#ifndef AGENT_COMMANDS_H
#define AGENT_COMMANDS_H

#include <jvmti.h>

/* A thread obeys them until the last one. */
void commands_start(JNIEnv *env);

#endif
