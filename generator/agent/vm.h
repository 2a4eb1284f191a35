/* The VM that the agent is loaded into. */
#ifndef AGENT_VM_H
#define AGENT_VM_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"

extern jvmtiEnv *ti;
extern JavaVM *vm_java;
extern struct options options;

/* From VMInit, or the load into a running VM, to VMDeath. Callbacks do nothing before and after. */
extern atomic_bool vm_live;

/* Set while a thread does work of the agent: what that allocates or calls is not the program's. */
extern _Thread_local bool vm_in_agent;

/* A part of a line on standard error, which the next part continues. */
void say_part(const char *text);

/* One line on standard error, after the end of an unfinished one. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A part of the output is left out. */
void say_no_memory(const char *part);

/* True if the call succeeded. Errors of a phase, or of a thread or class that is gone, are usual; others are reported once. */
bool vm_ok(jvmtiError error, const char *call);

void vm_free(void *memory);

/* Nanoseconds of a clock that never goes back. */
int64_t vm_now(void);

/* Clears an exception that a call of Java left; whether there was none. */
bool vm_no_exception(JNIEnv *env);

/* A weak global reference, or NULL without memory; the VM would throw an error of its own in the program. */
jweak vm_weak(JNIEnv *env, jobject object);

/* Begins a frame for as many local references as HotSpot grants; PopLocalFrame ends it. False, with a line, without memory. */
bool vm_push_references(JNIEnv *env);

/* A global reference to a class of the platform; NULL if there is none of this name. The loader may run code of the program, so no
   lock is held, and dumps use classes that were found when the agent began. */
jclass vm_find_class(JNIEnv *env, const char *name);

/* java.lang.Runtime: its object and its class, as local references. False on failure. */
bool vm_runtime(JNIEnv *env, jobject *runtime, jclass *class);

/* The largest heap that the VM may have, in bytes; 0 until it is found. */
void vm_find_heap_size(JNIEnv *env);
jlong vm_heap_size(void);

/* Starts a daemon thread of the agent, that profiles leave out. */
bool vm_start_thread(JNIEnv *env, const char *name, jvmtiStartFunction run);

#endif
