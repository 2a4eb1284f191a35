/* The monitor dump: the states of all threads, who owns and awaits which monitor. */
#include <stdlib.h>

#include "classes.h"
#include "monitors.h"
#include "names.h"
#include "output.h"
#include "stacks.h"
#include "store.h"
#include "tags.h"
#include "text.h"
#include "threads.h"
#include "vm.h"
#include "writer.h"

struct state {
    jthread object;
    uint32_t thread, trace;
    jint bits;
    enum awaits awaits;
};

struct monitor {
    uint64_t number; /* of the ID of the object */
    jobject object;
    jvmtiMonitorUsage usage;
    jint virtual_to_enter, virtual_to_be_notified; /* threads, as events told */
};

struct dump {
    struct state *states;
    uint32_t count;
    uint32_t *places; /* by the numbers of threads: 1 and more are the first state and so on */
    uint32_t thread_count;
    bool has_unknown; /* a virtual thread owns a monitor */
    struct monitor *monitors;
    uint32_t monitor_count;
    size_t room;
    struct map by_number;
};

static bool is_monitor(uint32_t place, const void *key)
{
    const struct monitor *const *monitors = key;
    return monitors[0][place - 1].number == monitors[1]->number;
}

/* NULL without memory. */
static struct monitor *add_monitor(struct dump *dump, jobject object)
{
    struct monitor fresh = {.number = tags_number_of(object), .object = object};
    uint64_t hash = hash_number(0, fresh.number);
    const struct monitor *const key[] = {dump->monitors, &fresh};
    uint32_t place = map_find(&dump->by_number, hash, is_monitor, key);
    if (place)
        return &dump->monitors[place - 1];
    struct monitor *monitors = array_with_room(dump->monitors, dump->monitor_count, &dump->room, sizeof *monitors);
    if (!monitors)
        return NULL;
    dump->monitors = monitors;
    if (!fresh.number || !map_add(&dump->by_number, hash, dump->monitor_count + 1))
        return NULL;
    struct monitor *added = &dump->monitors[dump->monitor_count++];
    *added = fresh;
    return added;
}

static void find_monitors(struct dump *dump, jthread thread)
{
    jint count = 0;
    jobject *owned = NULL, contended = NULL;
    if (vm_ok((*ti)->GetOwnedMonitorInfo(ti, thread, &count, &owned), "GetOwnedMonitorInfo")) {
        for (jint i = 0; i < count; i++)
            add_monitor(dump, owned[i]);
        vm_free(owned);
    }
    if (vm_ok((*ti)->GetCurrentContendedMonitor(ti, thread, &contended), "GetCurrentContendedMonitor") && contended)
        add_monitor(dump, contended);
}

static void add_awaited(JNIEnv *env, jobject object, enum awaits awaits, bool is_virtual, void *context)
{
    struct monitor *monitor = add_monitor(context, object);
    if (!monitor || monitor->object != object)
        (*env)->DeleteLocalRef(env, object);
    if (monitor && is_virtual)
        ++*(awaits == AWAITS_ENTRY ? &monitor->virtual_to_enter : &monitor->virtual_to_be_notified);
}

/* NULL of a virtual thread, and of one that started only now. */
static struct state *state_of(const struct dump *dump, jthread thread)
{
    uint32_t number = thread ? thread_by_number(tags_number_of(thread)) : 0;
    uint32_t place = number <= dump->thread_count ? dump->places[number] : 0;
    return place ? &dump->states[place - 1] : NULL;
}

/* Before 23 the VM lists threads that wait to be notified among those that wait to enter, too. */
static void drop_notified(JNIEnv *env, jvmtiMonitorUsage *usage)
{
    jint kept = 0;
    for (jint i = 0; i < usage->waiter_count; i++) {
        bool is_notified = false;
        for (jint k = 0; k < usage->notify_waiter_count; k++)
            is_notified |= (*env)->IsSameObject(env, usage->waiters[i], usage->notify_waiters[k]) == JNI_TRUE;
        if (!is_notified)
            usage->waiters[kept++] = usage->waiters[i];
    }
    usage->waiter_count = kept;
}

static void set_awaits(struct dump *dump, jthread *threads, jint count, enum awaits awaits)
{
    for (jint i = 0; i < count; i++) {
        struct state *state = state_of(dump, threads[i]);
        if (state)
            state->awaits = awaits;
    }
}

static bool is_awaited(const struct monitor *monitor)
{
    return monitor->usage.waiter_count || monitor->virtual_to_enter;
}

static void ask(JNIEnv *env, struct dump *dump)
{
    for (uint32_t i = 0; i < dump->monitor_count; i++) {
        struct monitor *monitor = &dump->monitors[i];
        jvmtiMonitorUsage *usage = &monitor->usage;
        if (!vm_ok((*ti)->GetObjectMonitorUsage(ti, monitor->object, usage), "GetObjectMonitorUsage"))
            continue;
        drop_notified(env, usage);
        set_awaits(dump, usage->waiters, usage->waiter_count, AWAITS_ENTRY);
        set_awaits(dump, usage->notify_waiters, usage->notify_waiter_count, AWAITS_NOTIFICATION);
        dump->has_unknown |= usage->owner ? !state_of(dump, usage->owner) : is_awaited(monitor);
    }
}

static const char *status_of(const struct state *state)
{
    if (state->awaits)
        return state->awaits == AWAITS_ENTRY ? "MW" : "CW";
    jint bits = state->bits;
    if (!(bits & JVMTI_THREAD_STATE_ALIVE))
        return bits & JVMTI_THREAD_STATE_TERMINATED ? "ZO" : "NS";
    if (bits & JVMTI_THREAD_STATE_SLEEPING)
        return "SL";
    if (bits & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
        return "MW";
    if (bits & JVMTI_THREAD_STATE_WAITING)
        return "CW";
    return bits & JVMTI_THREAD_STATE_RUNNABLE ? "R" : "UN";
}

static void write_states(JNIEnv *env, const struct dump *dump)
{
    struct out *out = out_main();
    for (uint32_t i = 0; i < dump->count; i++) {
        struct state *state = &dump->states[i];
        state->trace = trace_here(env, state->object, thread_serial(state->thread));
    }
    writer->traces();
    out_format(out, "MONITOR DUMP BEGIN\n");
    if (dump->has_unknown)
        out_format(out, "    THREAD %u, trace %u, status: UN\n", UNKNOWN_THREAD, trace_serial(EMPTY_TRACE));
    for (uint32_t i = 0; i < dump->count; i++) {
        const struct state *state = &dump->states[i];
        out_format(out, "    THREAD %u, trace %u, status: %s%s%s%s\n", thread_serial(state->thread), trace_serial(state->trace),
                   state->bits & JVMTI_THREAD_STATE_SUSPENDED ? "S|" : "",
                   state->bits & JVMTI_THREAD_STATE_INTERRUPTED ? "intr|" : "",
                   state->bits & JVMTI_THREAD_STATE_IN_NATIVE ? "native|" : "", status_of(state));
    }
}

/* Those that the VM lists, and at least as many unknown ones as there are virtual ones, of which VMs after JDK 21 list none. */
static void write_threads(const struct dump *dump, const char *what, jthread *threads, jint count, jint virtual)
{
    const char *before = " ";
    out_format(out_main(), "\twaiting to %s:", what);
    for (jint i = 0; i < count || virtual > 0; i++) {
        const struct state *state = i < count ? state_of(dump, threads[i]) : NULL;
        virtual -= !state;
        out_format(out_main(), "%s", before);
        text_put_thread(state ? state->thread : 0);
        before = ", ";
    }
    out_format(out_main(), "\n");
}

/* A virtual owner is not named by the VM: where threads wait to enter there is one. */
static void write_monitor(JNIEnv *env, const struct dump *dump, const struct monitor *monitor)
{
    const jvmtiMonitorUsage *usage = &monitor->usage;
    bool is_owned = usage->owner || is_awaited(monitor);
    uint32_t class = class_of_object(env, monitor->object);
    if (!class || !(is_owned || usage->notify_waiter_count || monitor->virtual_to_be_notified))
        return;
    out_format(out_main(), "    MONITOR ");
    text_put(name_text(class_at(class)->signature));
    if (is_owned) {
        const struct state *owner = state_of(dump, usage->owner);
        out_format(out_main(), "\n\towner: thread %u, entry count: %d\n", owner ? thread_serial(owner->thread) : UNKNOWN_THREAD,
                   usage->entry_count ? usage->entry_count : 1);
    } else {
        out_format(out_main(), " unowned\n");
    }
    write_threads(dump, "enter", usage->waiters, usage->waiter_count, monitor->virtual_to_enter);
    write_threads(dump, "be notified", usage->notify_waiters, usage->notify_waiter_count, monitor->virtual_to_be_notified);
}

/* False without memory. */
static bool find_states(JNIEnv *env, struct dump *dump, jthread *threads, jint count)
{
    dump->states = calloc((size_t)count + 1, sizeof *dump->states);
    for (jint i = 0; dump->states && i < count; i++) {
        struct state state = {.object = threads[i], .thread = thread_of(env, threads[i])};
        if (!state.thread || thread_at(state.thread)->is_agent)
            continue;
        vm_ok((*ti)->GetThreadState(ti, threads[i], &state.bits), "GetThreadState");
        writer->thread_started(state.thread); /* its own event may still wait for the output */
        dump->states[dump->count++] = state;
    }
    dump->thread_count = thread_count();
    dump->places = calloc((size_t)dump->thread_count + 1, sizeof *dump->places);
    for (uint32_t i = 0; dump->places && i < dump->count; i++)
        dump->places[dump->states[i].thread] = i + 1;
    return dump->states && dump->places;
}

static void write_dump(JNIEnv *env, struct dump *dump)
{
    for (uint32_t i = 0; i < dump->count; i++)
        find_monitors(dump, dump->states[i].object);
    monitors_awaited(env, add_awaited, dump);
    ask(env, dump);
    write_states(env, dump);
    for (uint32_t i = 0; i < dump->monitor_count; i++)
        write_monitor(env, dump, &dump->monitors[i]);
    out_format(out_main(), "MONITOR DUMP END\n");
    out_flush(out_main());
}

static void free_dump(struct dump *dump)
{
    for (uint32_t i = 0; i < dump->monitor_count; i++) {
        vm_free(dump->monitors[i].usage.waiters);
        vm_free(dump->monitors[i].usage.notify_waiters);
    }
    map_free(&dump->by_number);
    free(dump->monitors);
    free(dump->places);
    free(dump->states);
}

void monitors_dump(JNIEnv *env)
{
    jint count = 0;
    jthread *threads = NULL;
    if (vm_ok((*ti)->GetAllThreads(ti, &count, &threads), "GetAllThreads")) {
        struct dump dump = {.count = 0};
        if (find_states(env, &dump, threads, count))
            write_dump(env, &dump);
        else
            say_no_memory("monitor dump");
        free_dump(&dump);
    }
    vm_free(threads);
}
