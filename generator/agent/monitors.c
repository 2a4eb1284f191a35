#include "monitors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "names.h"
#include "output.h"
#include "samples.h"
#include "stacks.h"
#include "store.h"
#include "tags.h"
#include "text.h"
#include "threads.h"
#include "vm.h"

/* Monitors of one class that were contended at one trace. */
struct contention {
    uint32_t class;
    uint32_t trace;
    uint64_t entries;
    uint64_t nanoseconds;
};

static struct store contentions = {.size = sizeof(struct contention)};
static struct map by_place;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* not held while the VM is called */

static bool is_contention(uint32_t number, const void *key)
{
    const struct contention *one = store_at(&contentions, number), *other = key;
    return one->class == other->class && one->trace == other->trace;
}

static void add_contention(uint32_t class, uint32_t trace, uint64_t nanoseconds)
{
    struct contention key = {.class = class, .trace = trace};
    uint64_t hash = hash_number(class, trace);
    pthread_mutex_lock(&lock);
    uint32_t number = map_find(&by_place, hash, is_contention, &key);
    if (!number && (number = store_add(&contentions)) != 0) {
        *(struct contention *)store_at(&contentions, number) = key;
        if (!map_add(&by_place, hash, number))
            number = 0;
    }
    if (number) {
        struct contention *found = store_at(&contentions, number);
        found->entries++;
        found->nanoseconds += nanoseconds;
    }
    pthread_mutex_unlock(&lock);
}

void JNICALL monitors_on_contended(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
    (void)env;
    (void)object;
    if (vm_in_agent || !atomic_load(&vm_live))
        return;
    vm_in_agent = true;
    struct thread_local *local = threads_local(thread);
    if (local) {
        local->contended_trace = trace_here(jni, NULL, threads_trace_serial(jni, thread));
        local->contended_since = vm_now();
    }
    vm_in_agent = false;
}

void JNICALL monitors_on_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
    (void)env;
    if (vm_in_agent || !atomic_load(&vm_live))
        return;
    int64_t now = vm_now();
    vm_in_agent = true;
    struct thread_local *local = threads_local(thread);
    if (local && local->contended_since) {
        uint32_t class = class_of_object(jni, object);
        if (class)
            add_contention(class, local->contended_trace, (uint64_t)(now - local->contended_since));
        local->contended_since = 0;
    }
    vm_in_agent = false;
}

/* ---- waits to be notified, as they happen */

static void put_thread(uint32_t thread)
{
    if (thread)
        out_format(out_main(), "thread %u", thread_serial(thread));
    else
        out_format(out_main(), "<unknown thread>");
}

static void write_wait(JNIEnv *jni, jthread thread, jobject object, const char *what, const char *unit, jlong time)
{
    uint32_t class = class_of_object(jni, object), number = thread_of(jni, thread);
    if (!class || (number && thread_at(number)->is_agent))
        return;
    out_lock();
    out_format(out_main(), "%s: MONITOR ", what);
    text_put(name_text(class_at(class)->signature));
    out_format(out_main(), ", %s=%lld, ", unit, (long long)time);
    put_thread(number);
    out_format(out_main(), "\n");
    out_event();
    out_unlock();
}

void JNICALL monitors_on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jlong timeout)
{
    (void)env;
    if (vm_in_agent || !atomic_load(&vm_live))
        return;
    vm_in_agent = true;
    struct thread_local *local = threads_local(thread);
    if (local)
        local->waits_since = vm_now();
    write_wait(jni, thread, object, "WAIT", "timeout", timeout);
    vm_in_agent = false;
}

void JNICALL monitors_on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jboolean timed_out)
{
    (void)env;
    (void)timed_out;
    if (vm_in_agent || !atomic_load(&vm_live))
        return;
    vm_in_agent = true;
    struct thread_local *local = threads_local(thread);
    if (local && local->waits_since) {
        write_wait(jni, thread, object, "WAITED", "time_waited", (vm_now() - local->waits_since) / 1000000);
        local->waits_since = 0;
    }
    vm_in_agent = false;
}

/* ---- the dump */

enum awaits { AWAITS_NOTHING, AWAITS_ENTRY, AWAITS_NOTIFICATION };

struct state {
    jthread object;
    uint32_t thread, trace;
    jint bits;
    enum awaits awaits;
};

struct dump {
    struct state *states;
    jint count;
    bool has_unknown; /* a virtual thread owns a monitor */
    jobject *monitors;
    jvmtiMonitorUsage *usages;
    uint32_t monitor_count, room;
};

static void add_monitor(JNIEnv *env, struct dump *dump, jobject object)
{
    for (uint32_t i = 0; i < dump->monitor_count; i++)
        if ((*env)->IsSameObject(env, dump->monitors[i], object)) {
            (*env)->DeleteLocalRef(env, object);
            return;
        }
    if (dump->monitor_count == dump->room) {
        uint32_t room = dump->room * 2 + 16;
        jobject *monitors = realloc(dump->monitors, room * sizeof *monitors);
        dump->monitors = monitors ? monitors : dump->monitors;
        jvmtiMonitorUsage *usages = monitors ? realloc(dump->usages, room * sizeof *usages) : NULL;
        dump->usages = usages ? usages : dump->usages;
        if (!usages)
            return;
        dump->room = room;
    }
    dump->monitors[dump->monitor_count++] = object;
}

static void find_monitors(JNIEnv *env, struct dump *dump, jthread thread)
{
    jint count = 0;
    jobject *owned = NULL, contended = NULL;
    if (vm_ok((*ti)->GetOwnedMonitorInfo(ti, thread, &count, &owned), "GetOwnedMonitorInfo")) {
        for (jint i = 0; i < count; i++)
            add_monitor(env, dump, owned[i]);
        vm_free(owned);
    }
    if (vm_ok((*ti)->GetCurrentContendedMonitor(ti, thread, &contended), "GetCurrentContendedMonitor") && contended)
        add_monitor(env, dump, contended);
}

static struct state *state_of(JNIEnv *env, const struct dump *dump, jthread thread)
{
    for (jint i = 0; i < dump->count; i++)
        if ((*env)->IsSameObject(env, dump->states[i].object, thread))
            return &dump->states[i];
    return NULL;
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

static void set_awaits(JNIEnv *env, struct dump *dump, jthread *threads, jint count, enum awaits awaits)
{
    for (jint i = 0; i < count; i++) {
        struct state *state = state_of(env, dump, threads[i]);
        if (state)
            state->awaits = awaits;
    }
}

static void ask(JNIEnv *env, struct dump *dump)
{
    for (uint32_t i = 0; i < dump->monitor_count; i++) {
        jvmtiMonitorUsage *usage = &dump->usages[i];
        memset(usage, 0, sizeof *usage);
        if (!vm_ok((*ti)->GetObjectMonitorUsage(ti, dump->monitors[i], usage), "GetObjectMonitorUsage"))
            continue;
        drop_notified(env, usage);
        set_awaits(env, dump, usage->waiters, usage->waiter_count, AWAITS_ENTRY);
        set_awaits(env, dump, usage->notify_waiters, usage->notify_waiter_count, AWAITS_NOTIFICATION);
        bool is_owned = usage->owner || usage->waiter_count;
        dump->has_unknown |= is_owned && (!usage->owner || !state_of(env, dump, usage->owner));
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
    for (jint i = 0; i < dump->count; i++) {
        struct state *state = &dump->states[i];
        state->trace = trace_here(env, state->object, thread_serial(state->thread));
    }
    writer->traces();
    out_format(out, "MONITOR DUMP BEGIN\n");
    if (dump->has_unknown)
        out_format(out, "    THREAD %u, trace %u, status: UN\n", UNKNOWN_THREAD, trace_serial(EMPTY_TRACE));
    for (jint i = 0; i < dump->count; i++) {
        const struct state *state = &dump->states[i];
        out_format(out, "    THREAD %u, trace %u, status: %s%s%s%s\n", thread_serial(state->thread), trace_serial(state->trace),
                   state->bits & JVMTI_THREAD_STATE_SUSPENDED ? "S|" : "",
                   state->bits & JVMTI_THREAD_STATE_INTERRUPTED ? "intr|" : "",
                   state->bits & JVMTI_THREAD_STATE_IN_NATIVE ? "native|" : "", status_of(state));
    }
}

static void put_known(JNIEnv *env, const struct dump *dump, jthread thread)
{
    const struct state *state = thread ? state_of(env, dump, thread) : NULL;
    put_thread(state ? state->thread : 0);
}

static void write_threads(JNIEnv *env, const struct dump *dump, const char *what, jthread *threads, jint count)
{
    out_format(out_main(), "\twaiting to %s:", what);
    for (jint i = 0; i < count; i++) {
        out_format(out_main(), i ? ", " : " ");
        put_known(env, dump, threads[i]);
    }
    out_format(out_main(), "\n");
}

/* A virtual owner is not named by the VM: where threads wait to enter there is one. */
static void write_monitor(JNIEnv *env, const struct dump *dump, jobject object, const jvmtiMonitorUsage *usage)
{
    uint32_t class = class_of_object(env, object);
    if (!class)
        return;
    out_format(out_main(), "    MONITOR ");
    text_put(name_text(class_at(class)->signature));
    if (!usage->owner && !usage->waiter_count) {
        out_format(out_main(), " unowned\n");
    } else {
        const struct state *owner = usage->owner ? state_of(env, dump, usage->owner) : NULL;
        out_format(out_main(), "\n\towner: thread %u, entry count: %d\n", owner ? thread_serial(owner->thread) : UNKNOWN_THREAD,
                   usage->entry_count ? usage->entry_count : 1);
    }
    write_threads(env, dump, "enter", usage->waiters, usage->waiter_count);
    write_threads(env, dump, "be notified", usage->notify_waiters, usage->notify_waiter_count);
}

static void free_usage(JNIEnv *env, jvmtiMonitorUsage *usage)
{
    (*env)->DeleteLocalRef(env, usage->owner);
    vm_free(usage->waiters);
    vm_free(usage->notify_waiters);
}

static void find_states(JNIEnv *env, struct dump *dump, jthread *threads, jint count)
{
    for (jint i = 0; i < count; i++) {
        struct state state = {.object = threads[i], .thread = thread_of(env, threads[i])};
        if (!state.thread || thread_at(state.thread)->is_agent)
            continue;
        vm_ok((*ti)->GetThreadState(ti, threads[i], &state.bits), "GetThreadState");
        dump->states[dump->count++] = state;
    }
}

void monitors_dump(JNIEnv *env)
{
    jint count = 0;
    jthread *threads = NULL;
    if ((*env)->PushLocalFrame(env, 256)) {
        vm_no_exception(env);
        return;
    }
    struct dump dump = {.states = NULL};
    if (vm_ok((*ti)->GetAllThreads(ti, &count, &threads), "GetAllThreads"))
        dump.states = calloc((size_t)count + 1, sizeof *dump.states);
    if (dump.states) {
        find_states(env, &dump, threads, count);
        for (jint i = 0; i < dump.count; i++)
            find_monitors(env, &dump, dump.states[i].object);
        ask(env, &dump);
        write_states(env, &dump);
        for (uint32_t i = 0; i < dump.monitor_count; i++) {
            write_monitor(env, &dump, dump.monitors[i], &dump.usages[i]);
            free_usage(env, &dump.usages[i]);
        }
        out_format(out_main(), "MONITOR DUMP END\n");
        out_flush(out_main());
    }
    vm_free(threads);
    free(dump.states);
    free(dump.monitors);
    free(dump.usages);
    (*env)->PopLocalFrame(env, NULL);
}

/* ---- the table */

static const uint32_t *row_classes;

static void put_class(uint32_t row)
{
    text_put(name_text(class_at(row_classes[row])->name));
    out_format(out_main(), " (Java)");
}

/* Classes are sorted with the rows, of which they are no part. */
static int by_time(const void *a, const void *b)
{
    const struct contention *x = a, *y = b;
    if (x->nanoseconds != y->nanoseconds)
        return x->nanoseconds < y->nanoseconds ? 1 : -1;
    return x->trace != y->trace ? (x->trace < y->trace ? -1 : 1) : x->class < y->class ? -1 : 1;
}

static uint32_t copy_contentions(struct contention **copy)
{
    pthread_mutex_lock(&lock);
    uint32_t count = atomic_load(&contentions.count);
    *copy = calloc((size_t)count + 1, sizeof **copy);
    for (uint32_t i = 0; *copy && i < count; i++)
        (*copy)[i] = *(const struct contention *)store_at(&contentions, i + 1);
    pthread_mutex_unlock(&lock);
    return *copy ? count : 0;
}

void monitors_write_times(double cutoff)
{
    struct contention *all = NULL;
    uint32_t count = copy_contentions(&all);
    struct sample_table table = {.rows = calloc((size_t)count + 1, sizeof *table.rows)};
    uint32_t *classes = calloc((size_t)count + 1, sizeof *classes);
    if (all && table.rows && classes) {
        qsort(all, count, sizeof *all, by_time);
        for (uint32_t i = 0; i < count; i++) {
            table.rows[table.count++] = (struct sample_row){all[i].trace, all[i].entries, all[i].nanoseconds};
            table.total += all[i].nanoseconds;
            classes[i] = all[i].class;
        }
        table.total_shown = table.total / 1000000;
        while (table.count && (double)table.rows[table.count - 1].weight < cutoff * (double)table.total)
            table.count--;
        for (uint32_t i = 0; i < table.count; i++)
            text_trace(table.rows[i].trace);
        row_classes = classes;
        text_table("MONITOR TIME", " ms", "monitor", &table, put_class);
    }
    free(all);
    free(table.rows);
    free(classes);
}
