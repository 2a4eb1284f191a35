#include "samples.h"

#include <stdlib.h>
#include <time.h>

#include "stacks.h"
#include "threads.h"
#include "vm.h"

enum { BATCH = 256 };

static atomic_bool is_started, is_paused;

static bool is_runnable(jthread object)
{
    jint state = 0;
    return (*ti)->GetThreadState(ti, object, &state) == JVMTI_ERROR_NONE && state & JVMTI_THREAD_STATE_RUNNABLE;
}

static void count(JNIEnv *env, const jvmtiStackInfo *stack, uint32_t serial)
{
    if (!stack->frame_count || !(stack->state & JVMTI_THREAD_STATE_RUNNABLE))
        return;
    uint32_t method = method_of(env, stack->frame_buffer[0].method);
    if (method && method_at(method)->is_waiting)
        return;
    atomic_fetch_add(&trace_at(trace_of(env, serial, stack->frame_buffer, stack->frame_count))->samples, 1);
}

/* All stacks of a batch are of one moment. */
static void sample(JNIEnv *env, jthread *objects, const uint32_t *serials, jint size)
{
    jint depth = stacks_depth() ? (jint)stacks_depth() : 1; /* with depth=0 a thread without frames is still none that runs */
    jvmtiStackInfo *stacks = NULL;
    if (size && vm_ok((*ti)->GetThreadListStackTraces(ti, size, objects, depth, &stacks), "GetThreadListStackTraces"))
        for (jint i = 0; i < size; i++)
            count(env, &stacks[i], serials[i]);
    vm_free(stacks);
    for (jint i = 0; i < size; i++)
        (*env)->DeleteLocalRef(env, objects[i]);
}

static void sample_all(JNIEnv *env)
{
    jthread objects[BATCH];
    uint32_t serials[BATCH];
    jint size = 0;
    uint32_t count, *living = threads_living(&count);
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = thread_at(living[i]);
        if (thread->is_agent || atomic_load(&thread->is_unsampled))
            continue;
        jthread object = thread_running(env, thread);
        if (!object)
            continue;
        if (!is_runnable(object)) {
            (*env)->DeleteLocalRef(env, object);
            continue;
        }
        objects[size] = object;
        serials[size++] = thread_serial(living[i]);
        if (size == BATCH) {
            sample(env, objects, serials, size);
            size = 0;
        }
    }
    sample(env, objects, serials, size);
    free(living);
}

static void JNICALL run(jvmtiEnv *env, JNIEnv *jni, void *context)
{
    (void)env;
    (void)context;
    vm_in_agent = true;
    int64_t interval = (int64_t)options.interval * 1000000, next = vm_now() + interval;
    while (atomic_load(&vm_live)) {
        int64_t left = next - vm_now();
        if (left > 0) {
            struct timespec pause = {left / 1000000000, left % 1000000000};
            nanosleep(&pause, NULL);
            continue;
        }
        next = next + interval > vm_now() ? next + interval : vm_now() + interval; /* what was missed is not made up */
        if (!atomic_load(&is_paused) && (*jni)->EnsureLocalCapacity(jni, BATCH + 16) == 0)
            sample_all(jni);
    }
}

void samples_start(JNIEnv *env)
{
    if (!atomic_exchange(&is_started, true))
        vm_start_thread(env, "HPROF cpu sampling thread", run);
}

void samples_pause(bool paused)
{
    atomic_store(&is_paused, paused);
}

void samples_forget(void)
{
    uint32_t traces = trace_count();
    for (uint32_t i = 1; i <= traces; i++)
        atomic_store(&trace_at(i)->samples, 0);
}

static int by_weight(const void *a, const void *b)
{
    const struct sample_row *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->trace != y->trace ? (x->trace < y->trace ? -1 : 1) : x->class < y->class ? -1 : 1;
}

void sample_table_finish(struct sample_table *table, double cutoff)
{
    qsort(table->rows, table->count, sizeof *table->rows, by_weight);
    uint32_t kept = 0;
    while (kept < table->count && (double)table->rows[kept].weight >= cutoff * (double)table->total)
        kept++;
    table->count = kept;
}

struct sample_table samples_table(double cutoff, bool forget)
{
    uint32_t traces = trace_count();
    struct sample_table table = {.rows = calloc((size_t)traces + 1, sizeof *table.rows)};
    for (uint32_t i = 1; table.rows && i <= traces; i++) {
        _Atomic uint64_t *counted = &trace_at(i)->samples;
        uint64_t samples = forget ? atomic_exchange(counted, 0) : atomic_load(counted);
        if (samples)
            table.rows[table.count++] = (struct sample_row){.trace = i, .count = samples, .weight = samples};
        table.total += samples;
    }
    table.total_shown = table.total;
    sample_table_finish(&table, cutoff);
    return table;
}
