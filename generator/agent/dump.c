#include "dump.h"

#include <stdlib.h>

#include "classes.h"
#include "control.h"
#include "heap.h"
#include "monitors.h"
#include "output.h"
#include "samples.h"
#include "sites.h"
#include "times.h"
#include "vm.h"
#include "writer.h"

static void progress(const char *text)
{
    if (options.verbose)
        say_part(text);
}

void dump_sites(unsigned flags, double cutoff)
{
    out_lock();
    jint count = 0;
    vm_free(classes_find_all(&count)); /* for the records of those that were unloaded */
    struct site_table table = sites_table(flags, cutoff);
    if (table.rows)
        writer->sites(&table, flags, cutoff);
    else
        say_no_memory("table of sites");
    free(table.rows);
    out_unlock();
}

void dump_summary(void)
{
    out_lock();
    struct site_table table = sites_table(0, 0);
    if (table.rows)
        writer->summary(&table.total);
    else
        say_no_memory("summary of the heap");
    free(table.rows);
    out_unlock();
}

void dump_traces(void)
{
    out_lock();
    writer->traces();
    out_flush(out_main());
    out_unlock();
}

static void write_samples(double cutoff, bool forget)
{
    out_lock();
    struct sample_table table = samples_table(cutoff, forget);
    if (table.rows)
        writer->samples(&table);
    else
        say_no_memory("table of samples");
    free(table.rows);
    out_unlock();
}

void dump_samples(double cutoff)
{
    write_samples(cutoff, false);
}

void dump_heap(JNIEnv *env)
{
    out_lock();
    heap_dump(env);
    out_unlock();
}

static void dump_monitors(JNIEnv *env)
{
    progress(" contended monitor usage ...");
    if (control_can_dump_monitors())
        monitors_dump(env);
    monitors_write_times(options.cutoff);
}

static void dump_cpu(void)
{
    if (options.samples) {
        progress(" CPU usage by sampling running threads ...");
        write_samples(options.cutoff, true);
    }
    switch (options.times) {
    case TIMES_OFF:
        break;
    case TIMES_OF_METHODS:
        progress(" CPU usage by timing methods ...");
        times_write(options.cutoff);
        break;
    case TIMES_OLD:
        progress(" CPU usage in old prof format ...");
        times_write_old();
        break;
    }
}

void dump_all(JNIEnv *env)
{
    if (!vm_push_references(env))
        return;
    bool before = vm_in_agent;
    vm_in_agent = true;
    out_lock();
    progress("Dumping");
    if (options.monitor)
        dump_monitors(env);
    if (options.heap & HEAP_DUMP) {
        progress(" Java heap ...");
        heap_dump(env);
    }
    if (options.heap & HEAP_SITES) {
        progress(" allocation sites ...");
        dump_sites(0, options.cutoff);
    }
    dump_cpu();
    progress(" done.\n");
    out_flush(out_main());
    out_unlock();
    vm_in_agent = before;
    (*env)->PopLocalFrame(env, NULL);
}
