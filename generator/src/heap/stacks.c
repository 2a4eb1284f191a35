/* Threads and their stacks: which methods run, and what their local variables hold. Each frame is a function of its number. */
#include "heap/heap_data.h"

#include <string.h>

static const char *const methods[] = {"accept",  "apply", "build",  "call",    "close",  "compute", "create",  "decode",
                                      "doRun",   "drain", "encode", "execute", "fetch",  "flush",   "forEach", "get",
                                      "handle",  "init",  "invoke", "load",    "lookup", "next",    "parse",   "poll",
                                      "process", "put",   "read",   "resolve", "scan",   "submit",  "visit",   "write"};
static const char *const signatures[] = {"()V",
                                         "(I)V",
                                         "()I",
                                         "(Ljava/lang/Object;)V",
                                         "(Ljava/lang/Object;)Ljava/lang/Object;",
                                         "(Ljava/lang/String;)V",
                                         "(Ljava/lang/String;I)Z",
                                         "()Ljava/lang/Object;"};
enum {
    METHODS = sizeof methods / sizeof *methods,
    SIGNATURES = sizeof signatures / sizeof *signatures,
    LINE_OF_RUN = 833,
    LINE_OF_ENTER = 316,
    LINE_OF_VIRTUAL_RUN = 460,
    LINE_OF_YIELD = 365,
    LINES = 1500
};

static uint32_t text(struct parts *p, const char *text)
{
    return names_text(&p->names, text, strlen(text));
}

/* Consecutive numbers, after the existing ones. */
static uint32_t row(struct parts *p, const char *const *texts, size_t count)
{
    uint32_t first = p->names.count;

    for (size_t i = 0; i < count; i++)
        names_add(&p->names, NAME_TEXT, texts[i], (uint32_t)strlen(texts[i]), 1);
    return first;
}

void stacks_prepare_names(struct model *m)
{
    struct parts *p = (struct parts *)m;
    struct stack_places *places = &p->places;
    const struct program *program = &p->program;
    uint64_t platform = program->virtual_threads ? program->first_carrier : m->options.threads;
    uint32_t others = 0;

    places->methods = row(p, methods, METHODS);
    places->signatures = row(p, signatures, SIGNATURES);
    places->no_arguments = places->signatures;
    places->run = text(p, "run");
    places->wait = text(p, "wait");
    places->group = places->main = text(p, "main");
    places->thread_source = text(p, "Thread.java");
    places->object_source = text(p, "Object.java");
    places->idle_threads = (uint32_t)idle_threads(m);
    for (uint32_t i = 0; i < places->idle_threads; i++)
        places->idle_names[i] = text(p, m->options.idle->threads[i]);
    if (!places->idle_threads)
        places->idle_names[places->idle_threads++] = places->main;
    if (platform > places->idle_threads)
        others = (uint32_t)platform - places->idle_threads;
    places->thread_names = string_add(m, NAME_NUMBERED, "worker-", 1, others);
    if (!program->virtual_threads)
        return;
    places->carrier_names = string_add(m, NAME_NUMBERED, "ForkJoinPool-1-worker-", 1, program->carriers);
    places->virtual_names = string_add(m, NAME_NUMBERED, "virtual-", 1, program->virtual_threads);
    places->enter = text(p, "enter");
    places->yield = text(p, "yield0");
    places->continuation_source = text(p, "Continuation.java");
    places->virtual_source = text(p, "VirtualThread.java");
}

void stacks_prepare(struct model *m)
{
    struct stack_places *places = &((struct parts *)m)->places;

    /* The last classes: those of the shape. */
    for (uint32_t i = m->class_count; i-- > 0 && places->class_count < STACK_CLASSES_MOST;)
        if (!m->classes[i].element && !m->classes[i].interface)
            places->classes[places->class_count++] = i;
    places->sources = MODEL_NONE;
    for (uint32_t i = 0; i < places->class_count; i++) {
        uint32_t source = string_add(m, NAME_SOURCE, NULL, m->classes[places->classes[i]].name, 1);

        if (i == 0)
            places->sources = source;
    }
}

uint32_t model_thread_name(const struct model *m, uint64_t thread)
{
    const struct stack_places *places = &parts_of(m)->places;

    if (thread < places->idle_threads)
        return places->idle_names[thread];
    if (thread_kind(m, thread) != THREAD_PLATFORM)
        return (thread_kind(m, thread) == THREAD_CARRIER ? places->carrier_names : places->virtual_names) +
               (uint32_t)thread_rank(m, thread);
    return places->thread_names + (uint32_t)(thread - places->idle_threads);
}

uint32_t model_thread_group_name(const struct model *m)
{
    return parts_of(m)->places.group;
}

/* How a virtual thread began, and how it was parked. */
static bool virtual_frame(const struct model *m, uint64_t thread, uint64_t depth, struct model_frame *frame)
{
    const struct stack_places *places = &parts_of(m)->places;
    const struct program *program = &parts_of(m)->program;
    uint64_t outer = m->options.stack_depth - 1 - depth;
    uint32_t continuation, no_arguments = places->no_arguments;

    if (thread_kind(m, thread) != THREAD_VIRTUAL)
        return false;
    continuation = m->classes[program->continuation].super;
    if (outer == 0)
        *frame = (struct model_frame){places->enter, no_arguments, places->continuation_source, continuation, LINE_OF_ENTER};
    else if (outer == 1)
        *frame = (struct model_frame){places->run, no_arguments, places->virtual_source, program->classes[THREAD_VIRTUAL],
                                      LINE_OF_VIRTUAL_RUN};
    else if (depth == 0 && !is_mounted(m, thread_rank(m, thread)))
        *frame = (struct model_frame){places->yield, no_arguments, places->continuation_source, continuation, LINE_OF_YIELD};
    else
        return false;
    return true;
}

void model_frame(const struct model *m, uint64_t thread, uint64_t depth, struct model_frame *frame)
{
    const struct stack_places *places = &parts_of(m)->places;
    uint64_t bits = mix_of(key_of(m), thread, depth << 8 | 10);
    uint32_t place = (uint32_t)below(bits, places->class_count);

    if (virtual_frame(m, thread, depth, frame))
        return;
    if (depth + 1 == m->options.stack_depth)
        *frame = (struct model_frame){places->run, places->no_arguments, places->thread_source, CORE_THREAD, LINE_OF_RUN};
    else if (depth == 0 && thread % 2 && thread_kind(m, thread) == THREAD_PLATFORM)
        *frame =
            (struct model_frame){places->wait, places->no_arguments, places->object_source, CORE_OBJECT, MODEL_LINE_NATIVE};
    else
        *frame = (struct model_frame){.method = places->methods + (uint32_t)(bits % METHODS),
                                      .signature = places->signatures + (uint32_t)(bits / METHODS % SIGNATURES),
                                      .source = places->sources + place,
                                      .class = places->classes[place],
                                      .line = (int32_t)(bits / METHODS / SIGNATURES % LINES) + 1};
}

/* The outermost frame of the first thread holds the first object of the shape. */
uint64_t model_local(const struct model *m, uint64_t thread, uint64_t depth)
{
    uint64_t bits = mix_of(key_of(m), thread, depth << 8 | 11);

    if (shape_count(m) == 0)
        return MODEL_NULL;
    if (thread == 0 && depth + 1 == m->options.stack_depth)
        return shape_first(m);
    return bits % 16 == 0 ? MODEL_NULL : shape_first(m) + below(bits, shape_count(m));
}
