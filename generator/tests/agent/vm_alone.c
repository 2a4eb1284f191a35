/* What the VM itself takes. Attached, for a heap dump: this agent tags each object, walks along all references, and keeps nothing.
   From the start, for sites: it asks for the stack of each allocation, to the depth that the option says, and tags the object. */
#include <jvmti.h>
#include <stddef.h>
#include <stdlib.h>

static jlong last;
static jint depth;

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

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    depth = atoi(options);
    jvmtiEnv *ti = NULL;
    const jvmtiCapabilities wanted = {.can_tag_objects = 1, .can_generate_sampled_object_alloc_events = 1};
    const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = on_allocation};
    return depth > 16 || (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) || (*ti)->AddCapabilities(ti, &wanted) ||
           (*ti)->SetHeapSamplingInterval(ti, 0) || (*ti)->SetEventCallbacks(ti, &callbacks, sizeof callbacks) ||
           (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
}
