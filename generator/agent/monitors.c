#include "monitors.h"

#include <pthread.h>
#include <stdlib.h>

#include "classes.h"
#include "names.h"
#include "output.h"
#include "samples.h"
#include "stacks.h"
#include "store.h"
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

/* A thread that awaits a monitor. After JDK 21 only events say which monitor a thread waits for, and what virtual threads await. */
struct awaited {
    jweak monitor;
    enum awaits awaits;
    bool is_virtual; /* the thread */
    struct awaited *next, **link;
};

static struct awaited *all_awaited;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the contentions and of all that is awaited */

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
    if (!number && (number = store_add(&contentions, &key)) != 0 && !map_add(&by_place, hash, number))
        number = 0;
    if (number) {
        struct contention *found = store_at(&contentions, number);
        found->entries++;
        found->nanoseconds += nanoseconds;
    }
    pthread_mutex_unlock(&lock);
}

static void begin_await(JNIEnv *env, struct thread_data *data, jobject monitor, enum awaits awaits, bool is_virtual)
{
    struct awaited *awaited = data->awaited ? NULL : malloc(sizeof *awaited);
    if (!awaited)
        return;
    *awaited = (struct awaited){vm_weak(env, monitor), awaits, is_virtual, NULL, &all_awaited};
    pthread_mutex_lock(&lock);
    awaited->next = all_awaited;
    if (all_awaited)
        all_awaited->link = &awaited->next;
    all_awaited = awaited;
    pthread_mutex_unlock(&lock);
    data->awaited = awaited;
}

void monitors_end_await(JNIEnv *env, struct thread_data *data)
{
    struct awaited *awaited = data->awaited;
    if (!awaited)
        return;
    pthread_mutex_lock(&lock);
    *awaited->link = awaited->next;
    if (awaited->next)
        awaited->next->link = awaited->link;
    pthread_mutex_unlock(&lock);
    (*env)->DeleteWeakGlobalRef(env, awaited->monitor);
    free(awaited);
    data->awaited = NULL;
}

void monitors_awaited(JNIEnv *env, monitors_add *add, void *context)
{
    pthread_mutex_lock(&lock);
    for (const struct awaited *at = all_awaited; at; at = at->next) {
        jobject object = (*env)->NewLocalRef(env, at->monitor);
        if (object)
            add(env, object, at->awaits, at->is_virtual, context);
    }
    pthread_mutex_unlock(&lock);
}

void JNICALL monitors_on_contended(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
    (void)env;
    if (vm_in_agent || !atomic_load(&vm_live))
        return;
    vm_in_agent = true;
    struct thread_data *data = threads_data(thread);
    if (data) {
        data->contended_trace = trace_here(jni, NULL, threads_trace_serial(jni, thread));
        data->contended_since = vm_now();
        if (thread_is_virtual(jni, thread))
            begin_await(jni, data, object, AWAITS_ENTRY, true);
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
    struct thread_data *data = threads_data(thread);
    if (data && data->contended_since) {
        uint32_t class = class_of_object(jni, object);
        if (class)
            add_contention(class, data->contended_trace, (uint64_t)(now - data->contended_since));
        data->contended_since = 0;
        monitors_end_await(jni, data);
    }
    vm_in_agent = false;
}

/* ---- waits to be notified, as they happen */

static void write_wait(JNIEnv *jni, jthread thread, jobject object, const char *what, const char *unit, jlong time)
{
    uint32_t class = class_of_object(jni, object), number = thread_of(jni, thread);
    if (!class || (number && thread_at(number)->is_agent))
        return;
    out_lock();
    out_format(out_main(), "%s: MONITOR ", what);
    text_put(name_text(class_at(class)->signature));
    out_format(out_main(), ", %s=%lld, ", unit, (long long)time);
    text_put_thread(number);
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
    struct thread_data *data = threads_data(thread);
    if (data) {
        data->waits_since = vm_now();
        begin_await(jni, data, object, AWAITS_NOTIFICATION, thread_is_virtual(jni, thread));
    }
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
    struct thread_data *data = threads_data(thread);
    if (data && data->waits_since) {
        write_wait(jni, thread, object, "WAITED", "time_waited", (vm_now() - data->waits_since) / 1000000);
        data->waits_since = 0;
        monitors_end_await(jni, data);
    }
    vm_in_agent = false;
}

/* ---- the table */

/* What it holds is forgotten. */
static struct sample_table take_contentions(void)
{
    pthread_mutex_lock(&lock);
    uint32_t count = atomic_load(&contentions.count);
    struct sample_table table = {.rows = calloc((size_t)count + 1, sizeof *table.rows)};
    for (uint32_t i = 1; table.rows && i <= count; i++) {
        struct contention *one = store_at(&contentions, i);
        if (one->entries)
            table.rows[table.count++] = (struct sample_row){one->trace, one->class, one->entries, one->nanoseconds};
        table.total += one->nanoseconds;
        one->entries = one->nanoseconds = 0;
    }
    pthread_mutex_unlock(&lock);
    table.total_shown = table.total / 1000000;
    return table;
}

void monitors_write_times(double cutoff)
{
    struct sample_table table = take_contentions();
    if (!table.rows) {
        say_no_memory("table of monitors");
        return;
    }
    sample_table_finish(&table, cutoff);
    text_table("MONITOR TIME", " ms", "monitor", &table);
    free(table.rows);
}
