#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "monitors.h"
#include "names.h"
#include "stacks.h"
#include "store.h"
#include "tags.h"
#include "times.h"
#include "vm.h"
#include "writer.h"

static struct store threads = {.size = sizeof(struct thread)};
static struct map by_object;
static struct {
    uint32_t *numbers;
    uint32_t count;
    size_t room;
} living; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jclass base_class, virtual_class;                /* of virtual threads, of 21 and later; else NULL */
static jvmtiExtensionFunction get_carrier, get_virtual; /* likewise, of HotSpot */

/* The thread of the VM that runs here; 0 while it is not known, as of one that was there before the agent. */
static _Thread_local uint32_t current;

struct thread *thread_at(uint32_t number)
{
    return store_at(&threads, number);
}

uint32_t thread_count(void)
{
    return atomic_load(&threads.count);
}

uint32_t thread_serial(uint32_t number)
{
    return UNKNOWN_THREAD + number;
}

static bool is_thread(uint32_t number, const void *key)
{
    return thread_at(number)->number == *(const uint64_t *)key;
}

uint32_t thread_by_number(uint64_t number)
{
    return map_find(&by_object, hash_number(0, number), is_thread, &number);
}

static void describe_group(JNIEnv *env, jthreadGroup group, struct thread *thread)
{
    jvmtiThreadGroupInfo info = {0}, above = {0};
    if (!group || !vm_ok((*ti)->GetThreadGroupInfo(ti, group, &info), "GetThreadGroupInfo"))
        return;
    thread->group = name_of(info.name);
    if (info.parent && vm_ok((*ti)->GetThreadGroupInfo(ti, info.parent, &above), "GetThreadGroupInfo")) {
        thread->parent = name_of(above.name);
        (*env)->DeleteLocalRef(env, above.parent);
        vm_free(above.name);
    }
    (*env)->DeleteLocalRef(env, info.parent);
    vm_free(info.name);
}

static struct thread describe(JNIEnv *env, jthread object, uint64_t number)
{
    struct thread thread = {.number = number};
    jvmtiThreadInfo info = {0};
    if (vm_ok((*ti)->GetThreadInfo(ti, object, &info), "GetThreadInfo")) {
        thread.name = name_of(info.name);
        describe_group(env, info.thread_group, &thread);
        (*env)->DeleteLocalRef(env, info.thread_group);
        (*env)->DeleteLocalRef(env, info.context_class_loader);
        vm_free(info.name);
    }
    thread.object = vm_weak(env, object);
    return thread;
}

/* Under the lock, as is the next. */
static bool add_living(uint32_t number)
{
    uint32_t *numbers = array_with_room(living.numbers, living.count, &living.room, sizeof *numbers);
    if (!numbers)
        return false;
    living.numbers = numbers;
    thread_at(number)->place = living.count;
    living.numbers[living.count++] = number;
    return true;
}

static void remove_living(uint32_t number)
{
    uint32_t place = thread_at(number)->place;
    if (place >= living.count || living.numbers[place] != number)
        return;
    uint32_t last = living.numbers[--living.count];
    living.numbers[place] = last;
    thread_at(last)->place = place;
}

uint32_t *threads_living(uint32_t *count)
{
    pthread_mutex_lock(&lock);
    uint32_t *copy = calloc((size_t)living.count + 1, sizeof *copy);
    *count = copy ? living.count : 0;
    if (*count)
        memcpy(copy, living.numbers, *count * sizeof *copy);
    pthread_mutex_unlock(&lock);
    return copy;
}

/* Takes the weak reference, unless another thread was faster. */
static uint32_t add(struct thread *thread)
{
    uint64_t number = thread->number, hash = hash_number(0, number);
    pthread_mutex_lock(&lock);
    uint32_t found = map_find(&by_object, hash, is_thread, &number);
    if (!found && (found = store_add(&threads, thread)) != 0) {
        pthread_mutex_init(&thread_at(found)->lock, NULL);
        thread->object = NULL;
        if (!map_add(&by_object, hash, found) || !add_living(found))
            found = 0;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool thread_is_virtual(JNIEnv *env, jthread object)
{
    return base_class && object && (*env)->IsInstanceOf(env, object, base_class);
}

uint32_t thread_of(JNIEnv *env, jthread object)
{
    if (thread_is_virtual(env, object))
        return 0;
    uint64_t number = tags_number_of(object);
    uint32_t found = number ? thread_by_number(number) : 0;
    if (found || !number)
        return found;
    struct thread thread = describe(env, object, number);
    found = add(&thread);
    if (thread.object)
        (*env)->DeleteWeakGlobalRef(env, thread.object);
    if (found)
        writer->thread_started(found);
    return found;
}

void threads_add_agent(jthread object)
{
    struct thread thread = {.number = tags_number_of(object), .is_agent = true};
    if (thread.number)
        add(&thread);
}

void threads_start(JNIEnv *env, jthread first)
{
    base_class = vm_find_class(env, "java/lang/BaseVirtualThread");
    virtual_class = vm_find_class(env, "java/lang/VirtualThread");
    current = thread_of(env, first);
    jint count = 0;
    jthread *all = NULL;
    if (!vm_ok((*ti)->GetAllThreads(ti, &count, &all), "GetAllThreads"))
        return;
    for (jint i = 0; i < count; i++) {
        thread_of(env, all[i]);
        (*env)->DeleteLocalRef(env, all[i]);
    }
    vm_free(all);
}

void JNICALL threads_on_start(jvmtiEnv *env, JNIEnv *jni, jthread object)
{
    (void)env;
    if (!atomic_load(&vm_live))
        return;
    bool before = vm_in_agent;
    vm_in_agent = true;
    current = thread_of(jni, object);
    vm_in_agent = before;
}

static void forget_data(JNIEnv *env, jthread object)
{
    void *found = NULL;
    if ((*ti)->GetThreadLocalStorage(ti, object, &found) != JVMTI_ERROR_NONE || !found)
        return;
    (*ti)->SetThreadLocalStorage(ti, object, NULL);
    struct thread_data *data = found;
    times_free(data->calls);
    monitors_end_await(env, data);
    free(data);
}

/* The weak reference would stay, and the VM goes through all of them at each collection. */
static void end(JNIEnv *env, uint32_t number)
{
    struct thread *thread = thread_at(number);
    pthread_mutex_lock(&lock);
    remove_living(number);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&thread->lock);
    jweak object = thread->object;
    thread->object = NULL;
    pthread_mutex_unlock(&thread->lock);
    (*env)->DeleteWeakGlobalRef(env, object);
}

void JNICALL threads_on_end(jvmtiEnv *env, JNIEnv *jni, jthread object)
{
    (void)env;
    if (!atomic_load(&vm_live))
        return;
    bool before = vm_in_agent;
    vm_in_agent = true;
    uint32_t number = thread_of(jni, object);
    current = 0;
    times_end_thread();
    forget_data(jni, object);
    if (number) {
        end(jni, number);
        writer->thread_ended(number);
    }
    vm_in_agent = before;
}

uint32_t threads_trace_serial(JNIEnv *env, jthread object)
{
    uint32_t number = options.thread ? thread_of(env, object) : 0;
    return number ? thread_serial(number) : 0;
}

struct thread_data *threads_data(jthread object)
{
    void *found = NULL;
    if (!vm_ok((*ti)->GetThreadLocalStorage(ti, object, &found), "GetThreadLocalStorage") || found)
        return found;
    found = calloc(1, sizeof(struct thread_data));
    if (found && !vm_ok((*ti)->SetThreadLocalStorage(ti, object, found), "SetThreadLocalStorage")) {
        free(found);
        found = NULL;
    }
    return found;
}

void threads_take_traces(JNIEnv *env)
{
    jint count = 0;
    jthread *all = NULL;
    for (uint32_t i = thread_count(); i; i--)
        thread_at(i)->trace = 0;
    if (!vm_ok((*ti)->GetAllThreads(ti, &count, &all), "GetAllThreads"))
        return;
    for (jint i = 0; i < count; i++) {
        uint32_t number = thread_of(env, all[i]);
        if (number && !thread_at(number)->is_agent) {
            thread_at(number)->trace = trace_here(env, all[i], thread_serial(number));
            writer->thread_started(number); /* its own event may still wait for the output */
        }
        (*env)->DeleteLocalRef(env, all[i]);
    }
    vm_free(all);
}

/* ---- virtual threads */

static void set_mounted(JNIEnv *env, uint32_t number, jweak fresh)
{
    struct thread *thread = thread_at(number);
    pthread_mutex_lock(&thread->lock);
    jweak old = thread->mounted;
    thread->mounted = fresh;
    pthread_mutex_unlock(&thread->lock);
    if (old)
        (*env)->DeleteWeakGlobalRef(env, old);
}

jthread thread_running(JNIEnv *env, struct thread *thread)
{
    pthread_mutex_lock(&thread->lock); /* else the reference may be deleted meanwhile */
    jthread object = thread->mounted ? (*env)->NewLocalRef(env, thread->mounted) : NULL;
    object = object ? object : (*env)->NewLocalRef(env, thread->object);
    pthread_mutex_unlock(&thread->lock);
    return object;
}

static bool find_current(JNIEnv *env, jthread mounted)
{
    jthread carrier = NULL;
    if (!current && get_carrier && vm_ok(get_carrier(ti, mounted, &carrier), "GetCarrierThread") && carrier)
        current = thread_of(env, carrier);
    (*env)->DeleteLocalRef(env, carrier);
    return current;
}

static void JNICALL on_mount(jvmtiEnv *env, JNIEnv *jni, jthread object)
{
    (void)env;
    if (!atomic_load(&vm_live))
        return;
    if (find_current(jni, object))
        set_mounted(jni, current, vm_weak(jni, object));
    times_mount(object);
}

static void JNICALL on_unmount(jvmtiEnv *env, JNIEnv *jni, jthread object)
{
    (void)env;
    if (!atomic_load(&vm_live))
        return;
    times_mount(NULL);
    if (find_current(jni, object))
        set_mounted(jni, current, NULL);
}

void threads_find_mounted(JNIEnv *env)
{
    uint32_t count, *numbers = threads_living(&count);
    for (uint32_t i = 0; get_virtual && i < count; i++) {
        jthread carrier = thread_running(env, thread_at(numbers[i])), mounted = NULL;
        if (carrier && vm_ok(get_virtual(ti, carrier, &mounted), "GetVirtualThread") && mounted)
            set_mounted(env, numbers[i], vm_weak(env, mounted));
        (*env)->DeleteLocalRef(env, mounted);
        (*env)->DeleteLocalRef(env, carrier);
    }
    free(numbers);
}

void JNICALL threads_on_virtual_end(jvmtiEnv *env, JNIEnv *jni, jthread object)
{
    (void)env;
    if (!atomic_load(&vm_live))
        return;
    times_mount(NULL);
    forget_data(jni, object);
}

static void free_extension(char *id, char *description, jvmtiParamInfo *parameters, jint count)
{
    for (jint i = 0; i < count; i++)
        vm_free(parameters[i].name);
    vm_free(parameters);
    vm_free(id);
    vm_free(description);
}

static void find_functions(void)
{
    jint count = 0;
    jvmtiExtensionFunctionInfo *infos = NULL;
    if (!vm_ok((*ti)->GetExtensionFunctions(ti, &count, &infos), "GetExtensionFunctions"))
        return;
    for (jint i = 0; i < count; i++) {
        jvmtiExtensionFunctionInfo *info = &infos[i];
        if (!strcmp(info->id, "com.sun.hotspot.functions.GetCarrierThread"))
            get_carrier = info->func;
        if (!strcmp(info->id, "com.sun.hotspot.functions.GetVirtualThread"))
            get_virtual = info->func;
        vm_free(info->errors);
        free_extension(info->id, info->short_description, info->params, info->param_count);
    }
    vm_free(infos);
}

static bool watch(jint event, jvmtiExtensionEvent callback)
{
    return vm_ok((*ti)->SetExtensionEventCallback(ti, event, callback), "SetExtensionEventCallback") &&
           vm_ok((*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)event, NULL), "SetEventNotificationMode");
}

/* The events of mounting are extensions of HotSpot: JVM TI has none for this. */
void threads_watch_virtual(bool mounts)
{
    vm_ok((*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)EVENT_VIRTUAL_END, NULL), "VirtualThreadEnd");
    jint count = 0;
    if (!mounts)
        return;
    jvmtiExtensionEventInfo *infos = NULL;
    if (!vm_ok((*ti)->GetExtensionEvents(ti, &count, &infos), "GetExtensionEvents"))
        return;
    for (jint i = 0; i < count; i++) {
        if (!strcmp(infos[i].id, "com.sun.hotspot.events.VirtualThreadMount"))
            watch(infos[i].extension_event_index, (jvmtiExtensionEvent)(void (*)(void))on_mount);
        if (!strcmp(infos[i].id, "com.sun.hotspot.events.VirtualThreadUnmount"))
            watch(infos[i].extension_event_index, (jvmtiExtensionEvent)(void (*)(void))on_unmount);
        free_extension(infos[i].id, infos[i].short_description, infos[i].params, infos[i].param_count);
    }
    vm_free(infos);
    find_functions();
}

/* ---- which virtual threads were started */

struct started {
    struct bits *numbers;
    jint state; /* the index of the field, as JVM TI counts */
};

static jint JNICALL on_state(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag,
                             jvalue value, jvmtiPrimitiveType type, void *context)
{
    (void)kind;
    (void)class_tag;
    (void)type;
    const struct started *started = context;
    if (info->field.index != started->state || !value.i)
        return 0;
    if (!tag_number(*tag))
        *tag |= (jlong)tags_next_number();
    bits_set(started->numbers, tag_number(*tag));
    return 0;
}

static jint index_of_field(const struct class *class, const char *name)
{
    for (uint32_t i = 0; i < class->field_count; i++)
        if (!strcmp(name_text(class->fields[i].name), name))
            return (jint)(class->interface_fields + class->inherited_fields + i);
    return -1;
}

/* A walk looks for the stack of each virtual thread. The VM (21 to 28) crashes if a constructor has not come to the field for it,
   and only `state`, which is 0 until the thread is started, shows that it has. */
uint32_t threads_find_started(struct bits *numbers)
{
    uint32_t number = class_of(virtual_class);
    if (!number)
        return 0;
    struct started started = {.numbers = numbers, .state = index_of_field(class_at(number), "state")};
    static const jvmtiHeapCallbacks callbacks = {.primitive_field_callback = on_state};
    tags_lock();
    vm_ok((*ti)->IterateThroughHeap(ti, 0, virtual_class, &callbacks, &started), "IterateThroughHeap");
    tags_unlock();
    return number;
}
