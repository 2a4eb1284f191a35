/* monitor=y: how long threads wait for monitors, and who owns and awaits which. */
#ifndef AGENT_MONITORS_H
#define AGENT_MONITORS_H

#include <jvmti.h>

struct thread_data;

void JNICALL monitors_on_contended(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object);
void JNICALL monitors_on_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object);
void JNICALL monitors_on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jlong timeout);
void JNICALL monitors_on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jboolean timed_out);

/* Of a thread that is gone. */
void monitors_end_await(JNIEnv *env, struct thread_data *data);

/* Under the lock of the output. */
void monitors_dump(JNIEnv *env);
void monitors_write_times(double cutoff);

#endif
