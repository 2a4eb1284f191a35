#include "times.h"

#include <stdlib.h>
#include <time.h>

#include "output.h"
#include "samples.h"
#include "stacks.h"
#include "store.h"
#include "text.h"
#include "threads.h"
#include "vm.h"

struct call {
    jmethodID method;
    uint32_t trace;
    int64_t since; /* of the clock of its thread */
};

/* The calls that a thread is in. */
struct call_stack {
    struct call *calls;
    size_t depth, room;
    int64_t clock; /* nanoseconds of processor time, on whatever carrier */
    int64_t last;  /* the clock of the processor when `clock` was set */
};

static _Thread_local struct call_stack *own, *mounted;

static int64_t processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

static struct call_stack *current_stack(void)
{
    if (mounted)
        return mounted;
    if (!own && (own = calloc(1, sizeof *own)) != NULL)
        own->last = processor_time();
    return own;
}

/* The time since the last event belongs to the innermost call. */
static void settle(struct call_stack *stack)
{
    int64_t now = processor_time(), passed = now - stack->last;
    stack->last = now;
    stack->clock += passed;
    if (stack->depth && options.times == TIMES_OF_METHODS)
        atomic_fetch_add_explicit(&trace_at(stack->calls[stack->depth - 1].trace)->nanoseconds, passed, memory_order_relaxed);
}

static bool push(struct call_stack *stack, jmethodID method)
{
    struct call *calls = array_with_room(stack->calls, stack->depth, &stack->room, sizeof *calls);
    if (!calls)
        return false;
    stack->calls = calls;
    stack->calls[stack->depth++] = (struct call){method, EMPTY_TRACE, stack->clock};
    return true;
}

/* With cpu=old the trace is the method and its caller. */
static uint32_t trace_of_calls(JNIEnv *env, jthread thread, const struct call_stack *stack)
{
    enum { USUAL = 64 };
    jvmtiFrameInfo few[USUAL], *frames = few;
    size_t most = options.times == TIMES_OLD ? 2 : stacks_depth(), depth = stack->depth < most ? stack->depth : most;
    if (!depth)
        return EMPTY_TRACE;
    if (depth > USUAL && !(frames = malloc(depth * sizeof *frames)))
        return EMPTY_TRACE;
    for (size_t i = 0; i < depth; i++)
        frames[i] = (jvmtiFrameInfo){stack->calls[stack->depth - 1 - i].method, LOCATION_UNKNOWN};
    uint32_t serial = options.times == TIMES_OLD ? 0 : threads_trace_serial(env, thread);
    uint32_t trace = trace_of_all(env, serial, frames, (uint32_t)depth);
    if (frames != few)
        free(frames);
    return trace;
}

void JNICALL times_on_entry(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method)
{
    (void)env;
    if (vm_in_agent || !atomic_load_explicit(&vm_live, memory_order_relaxed))
        return;
    vm_in_agent = true;
    struct call_stack *stack = current_stack();
    if (stack) {
        settle(stack);
        if (push(stack, method)) {
            uint32_t trace = trace_of_calls(jni, thread, stack);
            stack->calls[stack->depth - 1].trace = trace;
            atomic_fetch_add_explicit(&trace_at(trace)->calls, 1, memory_order_relaxed);
        }
    }
    vm_in_agent = false;
}

/* Calls that were there before the agent was ready have an exit and no entry. */
void JNICALL times_on_exit(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jboolean by_exception, jvalue value)
{
    (void)env;
    (void)jni;
    (void)thread;
    (void)by_exception;
    (void)value;
    struct call_stack *stack = mounted ? mounted : own;
    if (vm_in_agent || !stack || !atomic_load_explicit(&vm_live, memory_order_relaxed))
        return;
    settle(stack);
    size_t depth = stack->depth;
    while (depth && stack->calls[depth - 1].method != method)
        depth--;
    if (!depth)
        return;
    const struct call *call = &stack->calls[depth - 1];
    if (options.times == TIMES_OLD)
        atomic_fetch_add_explicit(&trace_at(call->trace)->nanoseconds, stack->clock - call->since, memory_order_relaxed);
    stack->depth = depth - 1;
}

void times_mount(jthread thread)
{
    if (!options.times)
        return;
    if (current_stack())
        settle(current_stack());
    mounted = NULL;
    struct thread_data *data = thread ? threads_data(thread) : NULL;
    if (data && !data->calls)
        data->calls = calloc(1, sizeof *data->calls);
    mounted = data ? data->calls : NULL;
    if (current_stack())
        current_stack()->last = processor_time();
}

void times_free(struct call_stack *stack)
{
    if (stack)
        free(stack->calls);
    free(stack);
}

void times_end_thread(void)
{
    times_free(own);
    own = NULL;
}

/* ---- tables */

/* What it holds is forgotten: calls that go on have their time from here on in the next table. */
static struct sample_table take_calls(void)
{
    uint32_t traces = trace_count();
    struct sample_table table = {.rows = calloc((size_t)traces + 1, sizeof *table.rows)};
    for (uint32_t i = 1; table.rows && i <= traces; i++) {
        uint64_t calls = atomic_exchange(&trace_at(i)->calls, 0);
        int64_t nanoseconds = atomic_exchange(&trace_at(i)->nanoseconds, 0);
        uint64_t weight = nanoseconds > 0 ? (uint64_t)nanoseconds : 0;
        if (calls || weight)
            table.rows[table.count++] = (struct sample_row){.trace = i, .count = calls, .weight = weight};
        table.total += weight;
    }
    table.total_shown = table.total / 1000000;
    return table;
}

void times_write(double cutoff)
{
    struct sample_table table = take_calls();
    if (!table.rows) {
        say_no_memory("table of calls");
        return;
    }
    sample_table_finish(&table, cutoff);
    text_table("CPU TIME (ms)", "", "method", &table);
    free(table.rows);
}

static int by_count(const void *a, const void *b)
{
    const struct sample_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->trace < y->trace ? -1 : x->trace > y->trace;
}

static void put_call(const struct trace *trace, uint32_t at, const char *unknown)
{
    if (at >= trace->depth) {
        text_put(unknown);
        return;
    }
    text_put_call(method_at(frame_at(trace->frames[at])->method));
}

void times_write_old(void)
{
    struct sample_table table = take_calls();
    if (!table.rows) {
        say_no_memory("table of calls");
        return;
    }
    qsort(table.rows, table.count, sizeof *table.rows, by_count);
    struct out *out = out_main();
    out_format(out, "count callee caller time\n");
    for (uint32_t i = 0; i < table.count; i++) {
        const struct trace *trace = trace_at(table.rows[i].trace);
        out_format(out, "%" PRIu64 " ", table.rows[i].count);
        put_call(trace, 0, "<unknown callee>");
        out_format(out, " ");
        put_call(trace, 1, "<unknown caller>");
        out_format(out, " %" PRIu64 "\n", table.rows[i].weight / 1000000);
    }
    out_flush(out);
    free(table.rows);
}
