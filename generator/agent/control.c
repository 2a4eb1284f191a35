/* From the load of the agent to the end of the VM: which events there are, and when a profile is written. */
#include "control.h"

#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "commands.h"
#include "dump.h"
#include "monitors.h"
#include "output.h"
#include "samples.h"
#include "sites.h"
#include "stacks.h"
#include "store.h"
#include "tags.h"
#include "threads.h"
#include "times.h"
#include "vm.h"
#include "writer.h"

const struct writer *writer;

static atomic_bool is_loaded;
static bool is_attached, can_dump_monitors;
static char *given; /* the options of the load */

bool control_can_dump_monitors(void)
{
    return can_dump_monitors;
}

bool control_is_attached(void)
{
    return is_attached;
}

/* ---- events */

static void enable(jvmtiEvent event, const char *name)
{
    vm_ok((*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, event, NULL), name);
}

static void find_classes(JNIEnv *env)
{
    jint count = 0;
    vm_free(classes_find_all(&count));
    classes_start(env);
}

static void enable_profiles(JNIEnv *env)
{
    if (options.heap)
        sites_start();
    if (options.samples)
        samples_start(env);
    if (options.times) {
        enable(JVMTI_EVENT_METHOD_ENTRY, "MethodEntry");
        enable(JVMTI_EVENT_METHOD_EXIT, "MethodExit");
    }
    if (options.monitor) {
        enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, "MonitorContendedEnter");
        enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, "MonitorContendedEntered");
        enable(JVMTI_EVENT_MONITOR_WAIT, "MonitorWait");
        enable(JVMTI_EVENT_MONITOR_WAITED, "MonitorWaited");
    }
}

static void begin(JNIEnv *env, jthread thread)
{
    if (!vm_push_references(env))
        return;
    vm_in_agent = true;
    vm_find_heap_size(env);
    tags_choose_size(vm_heap_size());
    out_lock();
    writer->start();
    out_unlock();
    threads_start(env, thread);
    find_classes(env);
    atomic_store(&vm_live, true);
    threads_find_mounted(env);
    out_lock();
    out_flush(out_main());
    out_unlock();
    enable(JVMTI_EVENT_CLASS_PREPARE, "ClassPrepare");
    enable(JVMTI_EVENT_THREAD_START, "ThreadStart");
    enable(JVMTI_EVENT_THREAD_END, "ThreadEnd");
    enable(JVMTI_EVENT_DATA_DUMP_REQUEST, "DataDumpRequest");
    enable_profiles(env);
    if (out_is_socket())
        commands_start(env);
    vm_in_agent = false;
    (*env)->PopLocalFrame(env, NULL);
}

static void JNICALL on_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    (void)env;
    begin(jni, thread);
}

static void JNICALL on_class_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
    (void)env;
    (void)jni;
    (void)thread;
    if (!atomic_load(&vm_live))
        return;
    bool before = vm_in_agent;
    vm_in_agent = true;
    class_of(class);
    vm_in_agent = before;
}

/* JVM TI gives the callback no JNI environment. */
static void dump_now(void)
{
    JNIEnv *jni = NULL;
    if (atomic_load(&vm_live) && (*vm_java)->GetEnv(vm_java, (void **)&jni, JNI_VERSION_9) == JNI_OK)
        dump_all(jni);
}

static void JNICALL on_dump_request(jvmtiEnv *env)
{
    (void)env;
    dump_now();
}

static void JNICALL on_death(jvmtiEnv *env, JNIEnv *jni)
{
    (void)env;
    if (!atomic_load(&vm_live))
        return;
    if (options.doe)
        dump_all(jni);
    atomic_store(&vm_live, false);
    out_lock();
    out_close();
    out_unlock();
}

/* Native code called exit(), or the heap had no room for the object that the VM makes to end. */
__attribute__((destructor)) static void end_without_event(void)
{
    if (atomic_load(&vm_live) && options.doe)
        say("HPROF ERROR: the process ends without the event VMDeath: the output at exit is missing");
}

/* ---- loading */

static bool add_capabilities(void)
{
    bool times = options.times != TIMES_OFF;
    jvmtiCapabilities wanted = {.can_tag_objects = 1,
                                .can_get_source_file_name = 1,
                                .can_get_line_numbers = 1,
                                .can_generate_sampled_object_alloc_events = options.heap != HEAP_OFF,
                                .can_generate_monitor_events = options.monitor,
                                .can_generate_method_entry_events = times,
                                .can_generate_method_exit_events = times};
    jvmtiError error = (*ti)->AddCapabilities(ti, &wanted);
    if (error == JVMTI_ERROR_NOT_AVAILABLE)
        say("HPROF ERROR: the VM has not all events for these options: another agent may use them");
    else
        vm_ok(error, "AddCapabilities");
    if (error)
        return false;
    jvmtiCapabilities monitors = {
        .can_get_owned_monitor_info = 1, .can_get_current_contended_monitor = 1, .can_get_monitor_info = 1};
    can_dump_monitors = options.monitor && (*ti)->AddCapabilities(ti, &monitors) == JVMTI_ERROR_NONE;
    return true;
}

/* Headers of JDK 11 do not have the name: it is the bit after can_generate_sampled_object_alloc_events. */
static void add_virtual_threads(void)
{
    jvmtiCapabilities last = {.can_generate_sampled_object_alloc_events = 1}, wanted = {0}, potential = {0};
    unsigned char bytes[sizeof last], wanted_bytes[sizeof wanted] = {0};
    memcpy(bytes, &last, sizeof bytes);
    for (unsigned bit = 0; bit + 1 < 8 * sizeof bytes; bit++)
        if (bytes[bit / 8] >> bit % 8 & 1)
            wanted_bytes[(bit + 1) / 8] = (unsigned char)(1u << (bit + 1) % 8);
    if ((*ti)->GetPotentialCapabilities(ti, &potential) != JVMTI_ERROR_NONE)
        return;
    memcpy(bytes, &potential, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        if (wanted_bytes[i] && !(bytes[i] & wanted_bytes[i]))
            return;
    memcpy(&wanted, wanted_bytes, sizeof wanted);
    if (vm_ok((*ti)->AddCapabilities(ti, &wanted), "AddCapabilities"))
        threads_watch_virtual(options.samples || options.times);
}

/* With room for an event of JVM TI 21, where headers of earlier JDKs have none. */
union event_table {
    jvmtiEventCallbacks events;
    void (*slots[EVENT_VIRTUAL_END - JVMTI_MIN_EVENT_TYPE_VAL + 1])(void);
};

static bool start(JavaVM *java, const char *text)
{
    vm_java = java;
    free(given);
    given = strdup(text ? text : "");
    if ((*java)->GetEnv(java, (void **)&ti, JVMTI_VERSION_11) != JNI_OK) {
        say("HPROF ERROR: this VM has no JVM TI 11: JDK 11 or later is needed");
        return false;
    }
    static union event_table callbacks = {.events = {.VMInit = on_init,
                                                     .VMDeath = on_death,
                                                     .ThreadStart = threads_on_start,
                                                     .ThreadEnd = threads_on_end,
                                                     .ClassPrepare = on_class_prepare,
                                                     .DataDumpRequest = on_dump_request,
                                                     .MethodEntry = times_on_entry,
                                                     .MethodExit = times_on_exit,
                                                     .MonitorContendedEnter = monitors_on_contended,
                                                     .MonitorContendedEntered = monitors_on_entered,
                                                     .MonitorWait = monitors_on_wait,
                                                     .MonitorWaited = monitors_on_waited,
                                                     .SampledObjectAlloc = sites_on_allocation}};
    callbacks.slots[EVENT_VIRTUAL_END - JVMTI_MIN_EVENT_TYPE_VAL] = (void (*)(void))threads_on_virtual_end;
    if (!add_capabilities() || !vm_ok((*ti)->SetEventCallbacks(ti, &callbacks.events, sizeof callbacks), "SetEventCallbacks"))
        return false;
    if (options.samples || options.times || options.monitor)
        add_virtual_threads();
    if (options.heap)
        sites_prepare();
    writer = options.binary ? &binary_writer : &text_writer;
    if (!out_open(&options))
        return false;
    hash_start();
    stacks_start();
    if (options.msa)
        say("HPROF: msa=y has no effect: micro state accounting was of Solaris");
    return true;
}

/* At the start of the VM, an error ends it, as the agent of JDK 8 did: the VM would add lines of its own. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java, char *text, void *reserved)
{
    (void)reserved;
    char error[OPTION_ERROR];
    if (atomic_exchange(&is_loaded, true)) {
        say("HPROF ERROR: the agent is loaded twice");
        exit(1);
    }
    if (!options_parse(&options, text, error)) {
        say("HPROF ERROR: hprof option error: %s", error);
        exit(1);
    }
    if (options.help) {
        options_print_help(stdout);
        exit(0);
    }
    if (!start(java, text))
        exit(1);
    enable(JVMTI_EVENT_VM_INIT, "VMInit");
    enable(JVMTI_EVENT_VM_DEATH, "VMDeath");
    return JNI_OK;
}

/* What works in a VM that runs already; else one line says why not. */
static bool check_attached(void)
{
    if (options.times) {
        say("HPROF ERROR: cpu=times|old works only if the agent is loaded when the VM starts");
        return false;
    }
    return true;
}

/* Into a running VM. Nothing here ends it. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *java, char *text, void *reserved)
{
    (void)reserved;
    char error[OPTION_ERROR];
    struct options parsed;
    JNIEnv *env = NULL;
    if ((*java)->GetEnv(java, (void **)&env, JNI_VERSION_9) != JNI_OK)
        return JNI_ERR;
    if (!options_parse(&parsed, text, error)) {
        bool is_cut = text && *text && !strchr(text, '='); /* jcmd takes =VALUE for itself */
        say("HPROF ERROR: hprof option error: %s%s", error,
            is_cut ? "; with jcmd, options need double quotes: '\"heap=dump\"'" : "");
        return JNI_ERR;
    }
    if (parsed.help) {
        options_print_help(stdout);
        fflush(stdout);
        return JNI_OK;
    }
    if (atomic_load(&vm_live)) {
        if (text && *text && given && strcmp(text, given) != 0)
            say("HPROF: the agent is loaded already, with other options, which still apply");
        dump_now();
        return JNI_OK;
    }
    if (atomic_exchange(&is_loaded, true))
        return JNI_ERR;
    options = parsed;
    is_attached = true;
    if (!check_attached() || !start(java, text)) {
        if (ti)
            (*ti)->DisposeEnvironment(ti);
        ti = NULL;
        atomic_store(&is_loaded, false);
        return JNI_ERR;
    }
    if (options.monitor && !can_dump_monitors)
        say("HPROF: monitor dumps work only if the agent is loaded when the VM starts; MONITOR TIME is written");
    if (options.heap)
        say("HPROF: loaded into a running VM: objects of before have no trace, and each thread may allocate about 512 kB "
            "unseen");
    jthread thread = NULL;
    vm_ok((*ti)->GetCurrentThread(ti, &thread), "GetCurrentThread");
    enable(JVMTI_EVENT_VM_DEATH, "VMDeath");
    begin(env, thread);
    return JNI_OK;
}
