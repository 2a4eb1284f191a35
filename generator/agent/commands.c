#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "dump.h"
#include "output.h"
#include "request.h"
#include "samples.h"
#include "sites.h"
#include "stacks.h"
#include "tags.h"
#include "threads.h"
#include "vm.h"
#include "writer.h"

enum { MOST_DATA = 64 }; /* bytes of a command that mean something; further ones are skipped */

/* False at the end of the commands, or if the connection fails. */
static bool receive(uint8_t *to, size_t size)
{
    while (size) {
        ssize_t got = recv(out_socket(), to, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

static bool skip(uint64_t size)
{
    uint8_t skipped[4096];
    while (size) {
        size_t part = size < sizeof skipped ? (size_t)size : sizeof skipped;
        if (!receive(skipped, part))
            return false;
        size -= part;
    }
    return true;
}

static void exit_vm(JNIEnv *env)
{
    jobject runtime = NULL;
    jclass class = NULL;
    if (!vm_runtime(env, &runtime, &class))
        return;
    jmethodID halt = (*env)->GetMethodID(env, class, "halt", "(I)V");
    if (!vm_no_exception(env))
        return;
    options.doe = false;
    (*env)->CallVoidMethod(env, runtime, halt, 0);
}

static void set_sampled(uint64_t id, bool sampled)
{
    uint32_t count, *living = threads_living(&count);
    for (uint32_t i = 0; i < count; i++)
        if (tags_id(thread_at(living[i])->number) == id)
            atomic_store(&thread_at(living[i])->is_unsampled, !sampled);
    free(living);
}

static void control(JNIEnv *env, const struct request *request)
{
    switch (request->control) {
    case CONTROL_TRACES_ON:
    case CONTROL_TRACES_OFF:
        sites_pause(request->control == CONTROL_TRACES_OFF);
        break;
    case CONTROL_SAMPLING_ON:
        if (request->thread)
            set_sampled(request->thread, true);
        else
            samples_pause(false);
        samples_start(env);
        break;
    case CONTROL_SAMPLING_OFF:
        if (request->thread)
            set_sampled(request->thread, false);
        else
            samples_pause(true);
        break;
    case CONTROL_FORGET_SAMPLES:
        samples_forget();
        break;
    case CONTROL_DEPTH:
        stacks_set_depth(request->depth);
        break;
    case CONTROL_FORGET_SITES:
        sites_forget();
        break;
    case CONTROL_NONE:
        break;
    }
}

static void obey(JNIEnv *env, const struct request *request)
{
    switch (request->command) {
    case COMMAND_COLLECT:
        vm_ok((*ti)->ForceGarbageCollection(ti), "ForceGarbageCollection");
        break;
    case COMMAND_HEAP:
        dump_heap(env);
        break;
    case COMMAND_SITES:
        if (request->flags & SITES_COLLECT)
            vm_ok((*ti)->ForceGarbageCollection(ti), "ForceGarbageCollection");
        dump_sites(request->flags, request->cutoff);
        break;
    case COMMAND_SUMMARY:
        dump_summary();
        break;
    case COMMAND_EXIT:
        exit_vm(env);
        break;
    case COMMAND_TRACES:
        dump_traces();
        break;
    case COMMAND_SAMPLES:
        dump_samples(request->cutoff);
        break;
    case COMMAND_CONTROL:
        control(env, request);
        break;
    case COMMAND_END:
        break;
    }
}

static uint32_t number_of(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The last command is one byte. */
static void JNICALL run(jvmtiEnv *env, JNIEnv *jni, void *context)
{
    (void)env;
    (void)context;
    vm_in_agent = true;
    uint8_t head[8], tag, data[MOST_DATA];
    while (receive(&tag, 1) && tag != COMMAND_END && receive(head, sizeof head)) {
        uint32_t size = number_of(head + 4), kept = size < MOST_DATA ? size : MOST_DATA;
        if (!receive(data, kept) || !skip(size - kept))
            break;
        struct request request;
        if (!request_parse(&request, tag, data, kept, tags_id_size())) {
            say("HPROF ERROR: command 0x%02x of the socket is not understood; no more are read", tag);
            break;
        }
        if (!atomic_load(&vm_live) || !vm_push_references(jni))
            break;
        obey(jni, &request);
        (*jni)->PopLocalFrame(jni, NULL);
    }
}

void commands_start(JNIEnv *env)
{
    vm_start_thread(env, "HPROF listener", run);
}
