/* See emitter.h: roots, and the list of roots of the archive of class data sharing. */
#include "producers/emitter.h"

#include "stream/encode.h"

void give_root(struct emitter *em, uint8_t tag, uint64_t object)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);

    e.fields.ROOT_OBJECT.object_id = object;
    give(em->run.to, &e);
}

void give_root_of_nothing(struct emitter *em, uint8_t tag, uint64_t missing)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);

    e.fields.ROOT_OBJECT.object_id = missing;
    quirk(&e, RULE_REF_001, 1);
    give(em->run.to, &e);
}

void give_root_of_thread(struct emitter *em, uint8_t tag, uint64_t object, uint64_t thread)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_THREAD);

    e.fields.ROOT_THREAD.object_id = object;
    e.fields.ROOT_THREAD.thread_serial = thread_serial(em, thread);
    give(em->run.to, &e);
}

static void give_locals(struct emitter *em, uint64_t thread)
{
    uint64_t depth = em->model->options.stack_depth;

    for (uint64_t d = 0; d < depth && !*em->run.stop; d++) {
        uint64_t object = model_local(em->model, thread, d);
        struct event e = SUBRECORD_EVENT(ROOT_JAVA_FRAME, ROOT_FRAME);
        struct model_frame frame;

        if (object == MODEL_NULL)
            continue;
        model_frame(em->model, thread, d, &frame);
        if (frame.line == MODEL_LINE_NATIVE)
            e.tag = SUB_ROOT_JNI_LOCAL;
        else if (em->producer->style.omits_java_frames)
            continue;
        e.fields.ROOT_FRAME = (struct ROOT_FRAME){object_id(em, object), thread_serial(em, thread), (int32_t)d};
        if (em->producer->hooks.on_local)
            em->producer->hooks.on_local(em, &e, thread * depth + d);
        give(em->run.to, &e);
    }
}

void part_threads(struct emitter *em)
{
    for (uint64_t t = 0; t < em->model->options.threads && !*em->run.stop; t++) {
        struct event e = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);
        uint64_t object = object_id(em, model_thread_object(em->model, t));

        e.fields.ROOT_THREAD_OBJECT = (struct ROOT_THREAD_OBJECT){object, thread_serial(em, t), thread_trace(em, t)};
        if (em->producer->hooks.on_thread)
            em->producer->hooks.on_thread(em, &e, t);
        give(em->run.to, &e);
        if (em->producer->style.thread_blocks && object)
            give_root_of_thread(em, SUB_ROOT_THREAD_BLOCK, object, t);
        give_locals(em, t);
    }
}

/* What JNI holds, and the mirrors, which the VM itself holds in the same way. */
void part_globals(struct emitter *em)
{
    uint64_t n = model_global_count(em->model), all = n + em->model->options.mirrors;

    for (uint64_t i = 0; i < all && !*em->run.stop; i++) {
        struct event e = SUBRECORD_EVENT(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL);
        uint64_t object = i < n ? model_global(em->model, i) : model_mirror(em->model, i - n);

        if (object == MODEL_NULL)
            continue;
        e.fields.ROOT_JNI_GLOBAL.object_id = object_id(em, object);
        e.fields.ROOT_JNI_GLOBAL.reference_id = id_of(&em->ids.references, i);
        give(em->run.to, &e);
    }
}

/* ---- The list of roots of the archive of class data sharing ---- */

static uint64_t archive_id(const struct emitter *em)
{
    return missing_id(em, SPARE_IDS - 1);
}

static uint64_t archived_id(const struct emitter *em, uint32_t number)
{
    return object_id(em, em->model->options.objects + SPARE_IDS + number);
}

/* Itself, as 28 writes it, classes, and objects that are not dumped. Nothing else names it. */
void part_archive(struct emitter *em)
{
    enum { CLASSES = 4 };
    struct event e = SUBRECORD_EVENT(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP);
    uint32_t missing = em->counts.archived, n = 1 + CLASSES + missing;

    if (!em->counts.companions)
        return;
    e.fields.OBJECT_ARRAY_DUMP = (struct OBJECT_ARRAY_DUMP){.object_id = archive_id(em),
                                                            .trace_serial = em->traces[CORE_OBJECT_ARRAY],
                                                            .elements = n,
                                                            .class_id = class_id(em, CORE_OBJECT_ARRAY)};
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = i == 0 ? archive_id(em) : i <= CLASSES ? class_id(em, i - 1) : archived_id(em, i - CLASSES - 1);

        put_id(em->room + (size_t)i * em->id_size, id, em->id_size);
    }
    e.body = em->room;
    e.body_size = (uint64_t)n * em->id_size;
    em->hot[CORE_OBJECT_ARRAY].objects++;
    em->hot[CORE_OBJECT_ARRAY].array_bytes += e.body_size;
    quirk(&e, RULE_REF_002, missing);
    give(em->run.to, &e);
}

void part_root_of_archive(struct emitter *em)
{
    struct event e = SUBRECORD_EVENT(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL);

    if (!em->counts.companions)
        return;
    e.fields.ROOT_JNI_GLOBAL.object_id = archive_id(em);
    e.fields.ROOT_JNI_GLOBAL.reference_id = id_of(&em->ids.references, SPARE_IDS + model_global_count(em->model));
    give(em->run.to, &e);
}

/* The classes of the bootstrap loader: only array classes, or only the others. */
static void give_sticky(struct emitter *em, bool arrays)
{
    for (uint32_t c = 0; c < em->model->class_count && !*em->run.stop; c++)
        if (!em->model->classes[c].element == !arrays && model_class_loader(em->model, c) == MODEL_NULL)
            give_root(em, SUB_ROOT_STICKY_CLASS, class_id(em, c));
}

void part_sticky_classes(struct emitter *em)
{
    give_sticky(em, false);
}

void part_sticky_arrays(struct emitter *em)
{
    give_sticky(em, true);
}

void part_monitors(struct emitter *em)
{
    for (unsigned i = 0; i < 2; i++)
        give_root(em, SUB_ROOT_MONITOR_USED, any_object_id(em, 3 + i));
}

void part_unknown_roots(struct emitter *em)
{
    for (unsigned i = 0; i < 4; i++)
        give_root(em, SUB_ROOT_UNKNOWN, any_object_id(em, 5 + i));
}
