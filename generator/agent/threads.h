/* The threads of the program, and which virtual thread a carrier runs. */
#ifndef AGENT_THREADS_H
#define AGENT_THREADS_H

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { UNKNOWN_THREAD = 200000 }; /* a serial number */

enum { EVENT_VIRTUAL_END = 88 }; /* of JVM TI 21: headers of earlier JDKs do not have the name */

struct awaited;
struct bits;
struct call_stack;

struct thread {
    uint64_t number; /* of the ID of its object */
    uint32_t name, group, parent;
    pthread_mutex_t lock;
    jweak object;                          /* while it lives; under the lock, as is the next */
    jweak mounted;                         /* the virtual thread that runs on it now */
    uint32_t place;                        /* among those that live */
    bool is_agent;                         /* of this agent: left out of all profiles */
    atomic_bool is_unsampled;              /* by a command */
    bool is_start_written, is_end_written; /* under the lock of the output */
    uint32_t trace;                        /* of the heap dump that is being written */
};

/* What belongs to a thread, also to a virtual one. */
struct thread_data {
    struct call_stack *calls; /* times.c */
    int64_t contended_since;  /* monitors.c */
    uint32_t contended_trace;
    int64_t waits_since;
    struct awaited *awaited;
};

/* NULL without memory. */
struct thread_data *threads_data(jthread thread);

/* The virtual thread that runs on this one, or else the thread itself: a local reference, or NULL if it is gone. */
jthread thread_running(JNIEnv *env, struct thread *thread);

void threads_start(JNIEnv *env, jthread current); /* the threads that are there already */
void threads_add_agent(jthread thread);
void threads_watch_virtual(bool mounts); /* on 21 and later */
void threads_find_mounted(JNIEnv *env);  /* virtual threads that run already */

/* The number of a thread, which becomes known if it is not yet; 0 on failure, and of a virtual thread. */
uint32_t thread_of(JNIEnv *env, jthread thread);
bool thread_is_virtual(JNIEnv *env, jthread thread);
struct thread *thread_at(uint32_t number);
uint32_t thread_count(void);
uint32_t thread_serial(uint32_t number); /* UNKNOWN_THREAD for 0 */
uint32_t thread_by_number(uint64_t number);

/* The numbers of the threads that live, in a new array, which the caller frees: a long run has many that do not. */
uint32_t *threads_living(uint32_t *count);

/* The stacks of all threads now: frames of roots are those of these traces. */
void threads_take_traces(JNIEnv *env);

/* Of all virtual threads that were started, the numbers of their IDs; they are the only instances of their class into which the VM
   may walk. The number of that class, or 0. All classes are laid out. */
uint32_t threads_find_started(struct bits *numbers);

void JNICALL threads_on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread);
void JNICALL threads_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread);
void JNICALL threads_on_virtual_end(jvmtiEnv *env, JNIEnv *jni, jthread thread);

/* The serial number of a thread for its traces: 0 if they name no threads, or if it is virtual. */
uint32_t threads_trace_serial(JNIEnv *env, jthread thread);

#endif
