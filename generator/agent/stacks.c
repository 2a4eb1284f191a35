#include "stacks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "names.h"
#include "store.h"
#include "vm.h"

enum { FIRST_SERIAL = 300000 };

static struct store methods = {.size = sizeof(struct method)}, frames = {.size = sizeof(struct frame)},
                    traces = {.size = sizeof(struct trace)};
static struct map by_id, by_place, by_stack;
static pthread_mutex_t methods_lock = PTHREAD_MUTEX_INITIALIZER, traces_lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic unsigned depth_now;

void stacks_start(void)
{
    store_add(&traces, &(struct trace){0}); /* EMPTY_TRACE */
    depth_now = options.depth;
}

struct trace *trace_at(uint32_t number)
{
    return store_at(&traces, number);
}

uint32_t trace_count(void)
{
    return atomic_load(&traces.count);
}

uint32_t trace_serial(uint32_t number)
{
    return FIRST_SERIAL + number - EMPTY_TRACE;
}

struct frame *frame_at(uint32_t number)
{
    return store_at(&frames, number);
}

struct method *method_at(uint32_t number)
{
    return store_at(&methods, number);
}

const char *method_class(const struct method *method)
{
    return name_text(class_at(method->class)->name);
}

unsigned stacks_depth(void)
{
    return depth_now;
}

void stacks_set_depth(unsigned depth)
{
    depth_now = depth;
}

static bool is_method(uint32_t number, const void *key)
{
    return method_at(number)->id == *(const jmethodID *)key;
}

/* Its class is 0 if it was unloaded since the stack of its thread was taken. */
static struct method describe(JNIEnv *env, jmethodID id)
{
    struct method method = {.id = id};
    char *name = NULL, *signature = NULL, *source = NULL;
    jclass class = NULL;
    if (vm_ok((*ti)->GetMethodName(ti, id, &name, &signature, NULL), "GetMethodName")) {
        method.name = name_of(name);
        method.signature = name_of(signature);
    }
    if (vm_ok((*ti)->GetMethodDeclaringClass(ti, id, &class), "GetMethodDeclaringClass")) {
        method.class = class_of(class);
        if (vm_ok((*ti)->GetSourceFileName(ti, class, &source), "GetSourceFileName"))
            method.source = name_of(source);
        (*env)->DeleteLocalRef(env, class);
    }
    if (!method.name || !method.signature)
        method.class = 0;
    if (options.lineno)
        vm_ok((*ti)->GetLineNumberTable(ti, id, &method.line_count, &method.lines), "GetLineNumberTable");
    method.is_waiting = method.class &&
                        (!strcmp(name, "waitForReferencePendingList") || !strcmp(name, "takeVirtualThreadListToUnblock")) &&
                        !strncmp(name_text(class_at(method.class)->name), "java.lang.", 10);
    vm_free(name);
    vm_free(signature);
    vm_free(source);
    return method;
}

uint32_t method_of(JNIEnv *env, jmethodID id)
{
    uint64_t hash = hash_number(0, (uintptr_t)id);
    uint32_t number = map_find(&by_id, hash, is_method, &id);
    if (number)
        return number;
    struct method method = describe(env, id); /* calls the VM: not under the lock */
    pthread_mutex_lock(&methods_lock);
    number = map_find(&by_id, hash, is_method, &id);
    if (!number && method.class && (number = store_add(&methods, &method)) != 0) {
        if (!map_add(&by_id, hash, number))
            number = 0;
    } else {
        vm_free(method.lines);
    }
    pthread_mutex_unlock(&methods_lock);
    return number;
}

static int32_t line_of(const struct method *method, jlocation location)
{
    if (!options.lineno || location == LOCATION_UNKNOWN)
        return LINE_UNKNOWN;
    if (location < 0)
        return LINE_NATIVE;
    jlocation best = -1;
    int32_t line = LINE_UNKNOWN;
    for (jint i = 0; i < method->line_count; i++) {
        const jvmtiLineNumberEntry *entry = &method->lines[i];
        if (entry->start_location <= location && entry->start_location >= best) {
            best = entry->start_location;
            line = entry->line_number;
        }
    }
    return line;
}

static bool is_frame(uint32_t number, const void *key)
{
    const struct frame *frame = frame_at(number);
    const jvmtiFrameInfo *info = key;
    return frame->id == info->method && frame->location == info->location;
}

static uint32_t frame_of(JNIEnv *env, const jvmtiFrameInfo *info)
{
    uint64_t hash = hash_number((uintptr_t)info->method, (uint64_t)info->location);
    uint32_t number = map_find(&by_place, hash, is_frame, info);
    if (number)
        return number;
    struct frame frame = {.id = info->method, .location = info->location, .method = method_of(env, info->method)};
    if (!frame.method)
        return 0;
    frame.line = line_of(method_at(frame.method), info->location);
    pthread_mutex_lock(&methods_lock);
    number = map_find(&by_place, hash, is_frame, info);
    if (!number && (number = store_add(&frames, &frame)) != 0 && !map_add(&by_place, hash, number))
        number = 0;
    pthread_mutex_unlock(&methods_lock);
    return number;
}

struct stack {
    uint64_t hash;
    uint32_t thread;
    uint32_t depth;
    const jvmtiFrameInfo *frames;
};

static bool is_trace(uint32_t number, const void *key)
{
    const struct trace *trace = trace_at(number);
    const struct stack *stack = key;
    if (trace->hash != stack->hash || trace->thread != stack->thread || trace->depth != stack->depth)
        return false;
    for (uint32_t i = 0; i < stack->depth; i++)
        if (!is_frame(trace->frames[i], &stack->frames[i]))
            return false;
    return true;
}

static bool fill(JNIEnv *env, struct trace *trace, const struct stack *stack)
{
    *trace = (struct trace){.hash = stack->hash, .thread = stack->thread, .depth = stack->depth};
    trace->frames = malloc(stack->depth * sizeof *trace->frames + 1);
    for (uint32_t i = 0; trace->frames && i < stack->depth; i++) {
        trace->frames[i] = frame_of(env, &stack->frames[i]);
        if (!trace->frames[i]) {
            free(trace->frames);
            return false;
        }
    }
    return trace->frames;
}

/* Under the lock of the traces. */
static uint32_t add(const struct stack *stack, struct trace *filled)
{
    uint32_t found = map_find(&by_stack, stack->hash, is_trace, stack); /* another thread may have been faster */
    uint32_t added = found ? 0 : store_add(&traces, filled);
    if (!added) {
        free(filled->frames);
        return found ? found : EMPTY_TRACE;
    }
    return map_add(&by_stack, stack->hash, added) ? added : EMPTY_TRACE;
}

uint32_t trace_of_all(JNIEnv *env, uint32_t thread_serial, const jvmtiFrameInfo *found, uint32_t count)
{
    struct stack stack = {0, thread_serial, count, found};
    if (!stack.depth && !stack.thread)
        return EMPTY_TRACE;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stack.depth; i++) /* addresses and positions, which nobody chooses: two steps of a sum do */
        sum = (sum ^ (uintptr_t)found[i].method) * 0xd6e8feb86659fd93 + (sum >> 32) + (uint64_t)found[i].location;
    stack.hash = hash_number(sum, stack.thread);
    uint32_t number = map_find(&by_stack, stack.hash, is_trace, &stack);
    struct trace filled;
    if (number || !fill(env, &filled, &stack))
        return number ? number : EMPTY_TRACE;
    pthread_mutex_lock(&traces_lock);
    number = add(&stack, &filled);
    pthread_mutex_unlock(&traces_lock);
    return number;
}

uint32_t trace_of(JNIEnv *env, uint32_t thread_serial, const jvmtiFrameInfo *found, jint count)
{
    unsigned most = stacks_depth();
    return trace_of_all(env, options.thread ? thread_serial : 0, found, (unsigned)count < most ? (uint32_t)count : most);
}

uint32_t trace_here(JNIEnv *env, jthread thread, uint32_t thread_serial)
{
    enum { USUAL = 64 };
    jvmtiFrameInfo few[USUAL], *found = few;
    jint count = 0, depth = (jint)stacks_depth();
    if (!depth)
        return trace_of(env, thread_serial, NULL, 0);
    if (depth > USUAL && !(found = malloc((size_t)depth * sizeof *found)))
        return EMPTY_TRACE;
    if (!vm_ok((*ti)->GetStackTrace(ti, thread, 0, depth, found, &count), "GetStackTrace"))
        count = 0;
    uint32_t number = trace_of(env, thread_serial, found, count);
    if (found != few)
        free(found);
    return number;
}
