#include "vm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "threads.h"

jvmtiEnv *ti;
JavaVM *vm_java;
struct options options;
atomic_bool vm_live;
_Thread_local bool vm_in_agent;

static atomic_bool is_within_line;

void say_part(const char *text)
{
    fputs(text, stderr);
    atomic_store(&is_within_line, text[0] && text[strlen(text) - 1] != '\n');
}

void say(const char *format, ...)
{
    char line[OPTION_PATH + OPTION_ERROR];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    make_one_line(line);
    fprintf(stderr, "%s%s\n", atomic_exchange(&is_within_line, false) ? "\n" : "", line);
}

void say_no_memory(const char *part)
{
    say("HPROF ERROR: no memory for the %s: it is left out", part);
}

bool vm_ok(jvmtiError error, const char *call)
{
    static atomic_flag reported[256];
    switch ((int)error) {
    case JVMTI_ERROR_NONE:
        return true;
    case JVMTI_ERROR_WRONG_PHASE:
    case JVMTI_ERROR_THREAD_NOT_ALIVE:
    case JVMTI_ERROR_INVALID_THREAD:
    case JVMTI_ERROR_INVALID_CLASS:
    case JVMTI_ERROR_INVALID_METHODID:
    case JVMTI_ERROR_CLASS_NOT_PREPARED:
    case JVMTI_ERROR_ABSENT_INFORMATION:
    case JVMTI_ERROR_NATIVE_METHOD:
        return false;
    }
    if (!atomic_flag_test_and_set(&reported[(unsigned)error % 256]))
        say("HPROF ERROR: %s fails with JVM TI error %d", call, (int)error);
    return false;
}

void vm_free(void *memory)
{
    if (memory)
        (*ti)->Deallocate(ti, memory);
}

int64_t vm_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

bool vm_no_exception(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env))
        return true;
    (*env)->ExceptionClear(env);
    return false;
}

jweak vm_weak(JNIEnv *env, jobject object)
{
    jweak reference = (*env)->NewWeakGlobalRef(env, object);
    return vm_no_exception(env) ? reference : NULL;
}

bool vm_push_references(JNIEnv *env)
{
    enum { MOST_REFERENCES = 1 << 16 };
    if ((*env)->PushLocalFrame(env, MOST_REFERENCES) == 0)
        return true;
    vm_no_exception(env);
    say("HPROF ERROR: no memory for local references");
    return false;
}

jclass vm_find_class(JNIEnv *env, const char *class_name)
{
    jclass found = (*env)->FindClass(env, class_name);
    jclass global = vm_no_exception(env) ? (*env)->NewGlobalRef(env, found) : NULL;
    (*env)->DeleteLocalRef(env, found);
    return global;
}

bool vm_runtime(JNIEnv *env, jobject *runtime, jclass *class)
{
    *class = (*env)->FindClass(env, "java/lang/Runtime");
    if (!vm_no_exception(env))
        return false;
    jmethodID get = (*env)->GetStaticMethodID(env, *class, "getRuntime", "()Ljava/lang/Runtime;");
    if (!vm_no_exception(env))
        return false;
    *runtime = (*env)->CallStaticObjectMethod(env, *class, get);
    return vm_no_exception(env);
}

static jlong heap_size;

void vm_find_heap_size(JNIEnv *env)
{
    jobject runtime = NULL;
    jclass class = NULL;
    if (!vm_runtime(env, &runtime, &class))
        return;
    jmethodID size = (*env)->GetMethodID(env, class, "maxMemory", "()J");
    if (vm_no_exception(env))
        heap_size = (*env)->CallLongMethod(env, runtime, size);
    vm_no_exception(env);
    (*env)->DeleteLocalRef(env, runtime);
    (*env)->DeleteLocalRef(env, class);
}

jlong vm_heap_size(void)
{
    return heap_size;
}

static jthread make_thread(JNIEnv *env, const char *name)
{
    jclass class = (*env)->FindClass(env, "java/lang/Thread");
    if (!vm_no_exception(env))
        return NULL;
    jmethodID construct = (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/String;)V");
    if (!vm_no_exception(env))
        return NULL;
    jstring text = (*env)->NewStringUTF(env, name);
    if (!vm_no_exception(env))
        return NULL;
    jthread thread = (*env)->NewObject(env, class, construct, text);
    (*env)->DeleteLocalRef(env, text);
    (*env)->DeleteLocalRef(env, class);
    return vm_no_exception(env) ? thread : NULL;
}

bool vm_start_thread(JNIEnv *env, const char *name, jvmtiStartFunction run)
{
    jthread thread = make_thread(env, name);
    if (thread)
        threads_add_agent(thread);
    bool ok = thread && vm_ok((*ti)->RunAgentThread(ti, thread, run, NULL, JVMTI_THREAD_NORM_PRIORITY), "RunAgentThread");
    (*env)->DeleteLocalRef(env, thread);
    if (!ok)
        say("HPROF ERROR: the thread '%s' does not start", name);
    return ok;
}
