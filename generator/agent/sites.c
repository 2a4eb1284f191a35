#include "sites.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "buffers.h"
#include "classes.h"
#include "output.h"
#include "stacks.h"
#include "store.h"
#include "tags.h"
#include "threads.h"
#include "vm.h"

static struct store sites = {.size = sizeof(struct site)};
static struct map by_place;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* not held while the VM is called: it is taken in walks of the heap */
static atomic_bool is_running, is_paused;

struct site *site_at(uint32_t number)
{
    return store_at(&sites, number);
}

static bool is_site(uint32_t number, const void *key)
{
    const struct site *site = site_at(number), *other = key;
    return site->class == other->class && site->trace == other->trace && site->size == other->size;
}

static uint32_t site_of(uint32_t class, uint32_t trace, uint64_t size)
{
    struct site key = {.class = class, .trace = trace, .size = size};
    uint64_t hash = hash_number(hash_number(class, trace), size);
    uint32_t number = map_find(&by_place, hash, is_site, &key);
    if (number)
        return number;
    pthread_mutex_lock(&lock);
    number = map_find(&by_place, hash, is_site, &key);
    if (!number && atomic_load(&sites.count) < TAG_INDEX_MOST && (number = store_add(&sites, &key)) != 0 &&
        !map_add(&by_place, hash, number))
        number = 0;
    pthread_mutex_unlock(&lock);
    return number;
}

uint32_t site_trace(jlong tag)
{
    const struct class *class = class_of_tag(tag);
    uint32_t site = class ? class->site : tag_is_class(tag) ? 0 : tag_index(tag);
    return site ? site_at(site)->trace : EMPTY_TRACE;
}

/* A weak reference to a class object, by which it is known again without its tag. */
static void remember(JNIEnv *env, struct class *class, jclass mirror)
{
    if (atomic_load(&class->mirror))
        return;
    jweak none = NULL, fresh = vm_weak(env, mirror);
    if (!atomic_compare_exchange_strong(&class->mirror, &none, fresh))
        (*env)->DeleteWeakGlobalRef(env, fresh);
}

/* Nearly always the last site of its trace: to ask for the tag of a class takes a lock of the VM that all threads share. */
static uint32_t site_here(JNIEnv *env, uint32_t thread_serial, jclass mirror, uint64_t size)
{
    uint32_t trace = trace_here(env, NULL, thread_serial);
    _Atomic uint32_t *last = &trace_at(trace)->site;
    uint32_t site = atomic_load_explicit(last, memory_order_acquire);
    if (site && site_at(site)->size == size && (*env)->IsSameObject(env, mirror, class_at(site_at(site)->class)->mirror))
        return site;
    uint32_t class = class_of(mirror);
    if (!class || !(site = site_of(class, trace, size)))
        return 0;
    remember(env, class_at(class), mirror);
    atomic_store_explicit(last, site, memory_order_release);
    return site;
}

void JNICALL sites_on_allocation(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass mirror, jlong size)
{
    (void)env;
    bool *in_agent = &vm_in_agent;
    if (*in_agent || !atomic_load_explicit(&is_running, memory_order_relaxed) ||
        atomic_load_explicit(&is_paused, memory_order_relaxed))
        return;
    *in_agent = true;
    uint32_t site = site_here(jni, threads_trace_serial(jni, thread), mirror, (uint64_t)size);
    if (site) {
        atomic_fetch_add_explicit(&site_at(site)->allocated, 1, memory_order_relaxed);
        (*ti)->SetTag(ti, object, tag_make(false, site, 0));
    }
    *in_agent = false;
}

static jint JNICALL take_old(jlong class_tag, jlong size, jlong *tag, jint length, void *context)
{
    (void)length;
    (void)context;
    struct class *known = class_of_tag(*tag);
    if ((known ? known->site : tag_index(*tag)) || !class_of_tag(class_tag))
        return 0;
    uint32_t site = site_of(tag_index(class_tag), EMPTY_TRACE, (uint64_t)size);
    if (site) {
        atomic_fetch_add_explicit(&site_at(site)->allocated, 1, memory_order_relaxed);
        if (known)
            known->site = site;
        else
            *tag = tag_make(false, site, tag_number(*tag));
    }
    return 0;
}

/* While the agent is loaded there is no thread yet whose first sample is far away. */
void sites_prepare(void)
{
    vm_ok((*ti)->SetHeapSamplingInterval(ti, (jint)options.sample), "SetHeapSamplingInterval");
    if (!options.sample)
        buffers_show_all();
}

/* A collection takes the buffers from which threads allocate: the VM would say nothing of objects from those that it has given
   out before. Estimates can do without these objects, and the collection would shrink the heap, which costs more than samples. */
void sites_start(void)
{
    atomic_store(&is_running, true);
    vm_ok((*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL), "SampledObjectAlloc");
    if (options.sample)
        return;
    vm_ok((*ti)->ForceGarbageCollection(ti), "ForceGarbageCollection");
    static const jvmtiHeapCallbacks callbacks = {.heap_iteration_callback = take_old};
    tags_lock();
    vm_ok((*ti)->IterateThroughHeap(ti, 0, NULL, &callbacks, NULL), "IterateThroughHeap");
    tags_unlock();
}

void sites_pause(bool paused)
{
    atomic_store(&is_paused, paused);
}

void sites_forget(void)
{
    out_lock();
    uint32_t count = atomic_load(&sites.count);
    for (uint32_t i = 1; i <= count; i++) {
        struct site *site = site_at(i);
        site->forgotten = atomic_load(&site->allocated);
    }
    out_unlock();
}

/* ---- the table */

/* How many objects one sampled object represents: each byte is sampled with the same chance. */
static double weight(uint64_t size)
{
    return options.sample ? 1 / (1 - exp(-(double)size / (double)options.sample)) : 1;
}

static bool is_row(uint32_t number, const void *key)
{
    const struct site_row *const *rows = key;
    return rows[0][number - 1].class == rows[1]->class && rows[0][number - 1].trace == rows[1]->trace;
}

static void add_counts(struct site_row *row, uint64_t size, uint64_t live, uint64_t allocated)
{
    double times = weight(size);
    uint64_t objects = (uint64_t)((double)live * times + 0.5), all = (uint64_t)((double)allocated * times + 0.5);
    if (!options.sample) {
        objects = live;
        all = allocated;
    }
    row->live += objects;
    row->live_bytes += objects * size;
    row->allocated += all;
    row->allocated_bytes += all * size;
}

static int by_live(const void *a, const void *b)
{
    const struct site_row *x = a, *y = b;
    if (x->live_bytes != y->live_bytes)
        return x->live_bytes < y->live_bytes ? 1 : -1;
    return x->trace != y->trace ? (x->trace < y->trace ? -1 : 1) : x->class < y->class ? -1 : 1;
}

static int by_allocated(const void *a, const void *b)
{
    const struct site_row *x = a, *y = b;
    if (x->allocated_bytes != y->allocated_bytes)
        return x->allocated_bytes < y->allocated_bytes ? 1 : -1;
    return by_live(a, b);
}

static jint JNICALL count_live(jlong class_tag, jlong size, jlong *tag, jint length, void *context)
{
    (void)class_tag;
    (void)size;
    (void)length;
    (void)context;
    const struct class *class = class_of_tag(*tag);
    uint32_t site = class ? class->site : tag_index(*tag);
    if (site)
        site_at(site)->live++;
    return 0;
}

/* Not by ObjectFree: VMs of 17 to 25 that are asked for this event may hang at their end. */
static void count_all_live(uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++)
        site_at(i)->live = 0;
    static const jvmtiHeapCallbacks callbacks = {.heap_iteration_callback = count_live};
    tags_lock();
    vm_ok((*ti)->IterateThroughHeap(ti, JVMTI_HEAP_FILTER_UNTAGGED, NULL, &callbacks, NULL), "IterateThroughHeap");
    tags_unlock();
}

/* The counts of one site go to its row. */
static void add_site(struct site_table *table, struct map *map, uint32_t number, bool only_changed)
{
    struct site *site = site_at(number);
    uint64_t allocated = atomic_load(&site->allocated), since = allocated - site->forgotten;
    uint64_t live = site->live < allocated ? site->live : allocated;
    add_counts(&table->total, site->size, live, allocated);
    live = live < since ? live : since; /* what was forgotten and still lives is counted in the totals alone */
    bool changed = site->shown_allocated != allocated || site->shown_live != live;
    if (!since || (only_changed && !changed))
        return;
    site->shown_allocated = allocated;
    site->shown_live = live;
    struct site_row key = {.class = site->class, .trace = site->trace};
    const struct site_row *const rows[] = {table->rows, &key};
    uint64_t hash = hash_number(site->class, site->trace);
    uint32_t row = map_find(map, hash, is_row, rows);
    if (!row) {
        row = ++table->count;
        table->rows[row - 1] = key;
        map_add(map, hash, row);
    }
    add_counts(&table->rows[row - 1], site->size, live, since);
}

struct site_table sites_table(unsigned flags, double cutoff)
{
    uint32_t count = atomic_load(&sites.count);
    struct site_table table = {.rows = calloc((size_t)count + 1, sizeof *table.rows)};
    struct map map = {.used = 0};
    if (!table.rows)
        return table;
    count_all_live(count);
    for (uint32_t i = 1; i <= count; i++)
        add_site(&table, &map, i, flags & SITES_INCREMENTAL);
    map_free(&map);
    bool allocated = flags & SITES_BY_ALLOCATED;
    qsort(table.rows, table.count, sizeof *table.rows, allocated ? by_allocated : by_live);
    double total = (double)(allocated ? table.total.allocated_bytes : table.total.live_bytes);
    uint32_t kept = 0;
    while (kept < table.count) {
        const struct site_row *row = &table.rows[kept];
        double share = (double)(allocated ? row->allocated_bytes : row->live_bytes) / (total > 0 ? total : 1);
        if (share < cutoff)
            break;
        kept++;
    }
    table.count = kept;
    return table;
}
