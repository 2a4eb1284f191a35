/* cpu=times and cpu=old: calls and their time, by an event at each entry and exit of a method. */
#ifndef AGENT_TIMES_H
#define AGENT_TIMES_H

#include <jvmti.h>

struct call_stack;

void JNICALL times_on_entry(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method);
void JNICALL times_on_exit(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jboolean by_exception, jvalue value);

/* The carrier that runs here goes on with the calls of this virtual thread, or of its own if it is NULL. */
void times_mount(jthread thread);
void times_end_thread(void);
void times_free(struct call_stack *stack);

/* Under the lock of the output. */
void times_write(double cutoff); /* cpu=times */
void times_write_old(void);

#endif
