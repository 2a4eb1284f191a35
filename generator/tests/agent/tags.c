/* What the VM itself takes for a heap dump: this agent tags each object, walks along all references, and keeps nothing. */
#include <jvmti.h>
#include <stddef.h>

static jlong last;

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
