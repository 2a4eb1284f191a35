/* What the VM itself takes: this agent asks it for the same as libhprof does, and keeps nothing. Attached, for a heap dump,
   it tags each object and walks along all references. From the start its option says what for: "sites=DEPTH,BYTES" asks for
   the stack of one allocation in so many bytes, with 0 of each one, and tags the object; "samples" asks every 10 ms for the
   stacks of the threads that run; "calls" reads the clock of the thread at each entry and exit of a method. */
#include <jvmti.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static jlong last;
static jint depth, distance;

static jint JNICALL on_object(jlong class_tag, jlong size, jlong *tag, jint length, void *context)
{
    (void)class_tag, (void)size, (void)length, (void)context;
    *tag = ++last;
    return 0;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
                                 jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag, jint length,
                                 void *context)
{
    (void)kind, (void)info, (void)class_tag, (void)referrer_class_tag, (void)size, (void)tag, (void)referrer_tag;
    (void)length, (void)context;
    return JVMTI_VISIT_OBJECTS;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)options, (void)reserved;
    jvmtiEnv *ti = NULL;
    const jvmtiCapabilities wanted = {.can_tag_objects = 1};
    const jvmtiHeapCallbacks tags = {.heap_iteration_callback = on_object}, walk = {.heap_reference_callback = on_reference};
    return (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) || (*ti)->AddCapabilities(ti, &wanted) ||
           (*ti)->IterateThroughHeap(ti, 0, NULL, &tags, NULL) || (*ti)->FollowReferences(ti, 0, NULL, NULL, &walk, NULL);
}

static void JNICALL on_allocation(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
    (void)jni, (void)class, (void)size;
    jvmtiFrameInfo frames[16];
    jint count = 0;
    (*ti)->GetStackTrace(ti, thread, 0, depth, frames, &count);
    (*ti)->SetTag(ti, object, 1);
}

static void sample(jvmtiEnv *ti, JNIEnv *jni, jthread self)
{
    jint count = 0, running = 0, state = 0;
    jthread *threads = NULL;
    jvmtiStackInfo *stacks = NULL;
    if ((*jni)->PushLocalFrame(jni, 1024) || (*ti)->GetAllThreads(ti, &count, &threads))
        return;
    for (jint i = 0; i < count; i++)
        if (!(*ti)->GetThreadState(ti, threads[i], &state) && state & JVMTI_THREAD_STATE_RUNNABLE &&
            !(*jni)->IsSameObject(jni, threads[i], self))
            threads[running++] = threads[i];
    if (running && !(*ti)->GetThreadListStackTraces(ti, running, threads, 4, &stacks))
        (*ti)->Deallocate(ti, (unsigned char *)stacks);
    (*ti)->Deallocate(ti, (unsigned char *)threads);
    (*jni)->PopLocalFrame(jni, NULL);
}

static void JNICALL run(jvmtiEnv *ti, JNIEnv *jni, void *self)
{
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        next.tv_nsec += 10000000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        sample(ti, jni, self);
    }
}

static void JNICALL on_start(jvmtiEnv *ti, JNIEnv *jni, jthread thread)
{
    (void)thread;
    jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
    jobject self = (*jni)->NewObject(jni, class, (*jni)->GetMethodID(jni, class, "<init>", "()V"));
    self = (*jni)->NewGlobalRef(jni, self);
    (*ti)->RunAgentThread(ti, self, run, self, JVMTI_THREAD_NORM_PRIORITY);
}

static void JNICALL on_call(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jmethodID method)
{
    (void)ti, (void)jni, (void)thread, (void)method;
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}

static void JNICALL on_return(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jmethodID method, jboolean by_exception, jvalue value)
{
    (void)by_exception, (void)value;
    on_call(ti, jni, thread, method);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiEnv *ti = NULL;
    jvmtiCapabilities wanted = {.can_tag_objects = 1};
    jvmtiEventCallbacks callbacks = {.VMInit = on_start};
    jvmtiEvent events[2] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_INIT};
    if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11))
        return 1;
    if (sscanf(options, "sites=%d,%d", &depth, &distance) == 2 && depth <= 16) {
        wanted.can_generate_sampled_object_alloc_events = 1;
        callbacks = (jvmtiEventCallbacks){.SampledObjectAlloc = on_allocation};
        events[0] = events[1] = JVMTI_EVENT_SAMPLED_OBJECT_ALLOC;
    } else if (!strcmp(options, "calls")) {
        wanted.can_generate_method_entry_events = wanted.can_generate_method_exit_events = 1;
        callbacks = (jvmtiEventCallbacks){.MethodEntry = on_call, .MethodExit = on_return};
        events[0] = JVMTI_EVENT_METHOD_ENTRY;
        events[1] = JVMTI_EVENT_METHOD_EXIT;
    } else if (strcmp(options, "samples") != 0) {
        return 1;
    }
    return (*ti)->AddCapabilities(ti, &wanted) ||
           (wanted.can_generate_sampled_object_alloc_events && (*ti)->SetHeapSamplingInterval(ti, distance)) ||
           (*ti)->SetEventCallbacks(ti, &callbacks, sizeof callbacks) ||
           (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[0], NULL) ||
           (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[1], NULL);
}
