/* Methods, frames and traces: each is known once. */
#ifndef AGENT_STACKS_H
#define AGENT_STACKS_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct method {
    jmethodID id;
    uint32_t class;
    uint32_t name, signature, source; /* names; source 0 if unknown */
    jint line_count;
    jvmtiLineNumberEntry *lines;
    bool is_waiting; /* a thread of the VM waits in it for work, though it says that it runs */
};

enum line { LINE_UNKNOWN = -1, LINE_NATIVE = -3 };

struct frame {
    jmethodID id;
    jlocation location;
    uint32_t method;
    int32_t line;    /* or one of enum line */
    bool is_written; /* in binary; under the lock of the output */
};

struct trace {
    uint64_t hash;
    uint32_t thread; /* serial number, or 0 */
    uint32_t depth;
    uint32_t *frames;
    bool is_written;       /* under the lock of the output */
    _Atomic uint32_t site; /* of what was last allocated here, or 0 */
    _Atomic uint64_t samples;
    _Atomic uint64_t calls;
    _Atomic int64_t nanoseconds; /* of calls, without callees */
};

enum { EMPTY_TRACE = 1 }; /* the number of the trace without frames, serial number 300000 */

void stacks_start(void);
struct trace *trace_at(uint32_t number);
uint32_t trace_count(void);
uint32_t trace_serial(uint32_t number);
struct frame *frame_at(uint32_t number);
struct method *method_at(uint32_t number);

/* The trace of these frames, of which the first `depth` count; EMPTY_TRACE if there are none, one is unloaded, or memory is out. */
uint32_t trace_of(JNIEnv *env, uint32_t thread_serial, const jvmtiFrameInfo *frames, jint count);

/* The same of all `count` frames, whatever the depth of the options. */
uint32_t trace_of_all(JNIEnv *env, uint32_t thread_serial, const jvmtiFrameInfo *frames, uint32_t count);

/* The location of a frame whose line is not known. */
enum { LOCATION_UNKNOWN = -2 };

/* The trace of a thread; of the current one, which is faster, if it is NULL. */
uint32_t trace_here(JNIEnv *env, jthread thread, uint32_t thread_serial);

/* The number of a method; 0 if the VM has unloaded it, or there is no memory. */
uint32_t method_of(JNIEnv *env, jmethodID id);
const char *method_class(const struct method *method);

unsigned stacks_depth(void);
void stacks_set_depth(unsigned depth);

#endif
