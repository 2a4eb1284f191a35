/* monitor=y: how long threads wait for monitors, and who owns and awaits which. */
#ifndef AGENT_MONITORS_H
#define AGENT_MONITORS_H

#include <jvmti.h>
#include <stdbool.h>

struct thread_data;

enum awaits { AWAITS_NOTHING, AWAITS_ENTRY, AWAITS_NOTIFICATION };

void JNICALL monitors_on_contended(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object);
void JNICALL monitors_on_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object);
void JNICALL monitors_on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jlong timeout);
void JNICALL monitors_on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jboolean timed_out);

/* Of a thread that is gone. */
void monitors_end_await(JNIEnv *env, struct thread_data *data);

/* Each monitor that a thread awaits, as events told, as a local reference. A lock is held. */
typedef void monitors_add(JNIEnv *env, jobject monitor, enum awaits awaits, bool is_virtual, void *context);
void monitors_awaited(JNIEnv *env, monitors_add *add, void *context);

/* Under the lock of the output. */
void monitors_dump(JNIEnv *env); /* monitor_dump.c */
void monitors_write_times(double cutoff);

#endif
