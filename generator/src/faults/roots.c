/* SPEC.md 6.2, 7.2: roots. */
#include "faults/fault.h"

enum { OBJECT_AT = 1 };

#define THREAD_AT(v) EVENT_OFFSET_OF(EVENT_SUBRECORD, ROOT_THREAD, thread_serial, (v)->id_size)
#define FRAME_AT(v) EVENT_OFFSET_OF(EVENT_SUBRECORD, ROOT_FRAME, frame, (v)->id_size)

/* A root of any kind, preceded by its thread. */
static void insert_root(struct faults *v, int tag, uint64_t object_id)
{
    uint32_t thread = fresh_serial(v, THREAD_SERIAL);
    struct event e = root((unsigned)tag, object_id, thread, -1);

    if (root_has_thread((unsigned)tag))
        insert_thread_root(v, thread, 0);
    break_at(v, &e, OBJECT_AT);
    insert(v, &e);
}

void root_001_zero(struct faults *v, struct event *e, int tag)
{
    (void)e;
    insert_root(v, tag, 0);
}

void ref_001_root(struct faults *v, struct event *e, int tag)
{
    (void)e;
    insert_root(v, tag, fresh_id(v, MISSING));
}

void root_002_twice(struct faults *v, struct event *e, int other_object)
{
    struct event again = root(SUB_ROOT_THREAD_OBJECT, 0, fresh_serial(v, THREAD_SERIAL), 0);

    (void)e;
    insert_thread_root(v, fresh_serial(v, THREAD_SERIAL), 0);
    if (other_object) {
        insert_object(v, fresh_id(v, OBJECT));
        again.fields.ROOT_THREAD_OBJECT.object_id = fresh_id(v, OBJECT);
    }
    break_at(v, &again, THREAD_AT(v));
    insert(v, &again);
}

/* A root of an inserted object, with a nonexistent thread. */
void root_003_thread(struct faults *v, struct event *e, int tag)
{
    struct event bad =
        root((unsigned)tag, fresh_id(v, OBJECT), rule_at_work(v) == RULE_ROOT_004 ? 0 : fresh_serial(v, THREAD_SERIAL), -1);

    (void)e;
    insert_object(v, fresh_id(v, OBJECT));
    break_at(v, &bad, THREAD_AT(v));
    insert(v, &bad);
}

static void insert_frame_root(struct faults *v, unsigned tag, uint32_t trace, int32_t frame)
{
    struct event bad = root(tag, fresh_id(v, OBJECT), fresh_serial(v, THREAD_SERIAL), frame);

    insert_object(v, fresh_id(v, OBJECT));
    insert_thread_root(v, fresh_serial(v, THREAD_SERIAL), trace);
    break_at(v, &bad, FRAME_AT(v));
    insert(v, &bad);
}

/* The number of frames, which is one more than the highest frame number. */
void root_005_java_frame(struct faults *v, struct event *e, int frames)
{
    (void)e;
    insert_frame_root(v, SUB_ROOT_JAVA_FRAME, fresh_serial(v, TRACE_SERIAL), frames);
}

void root_005_jni_local(struct faults *v, struct event *e, int frames)
{
    (void)e;
    insert_frame_root(v, SUB_ROOT_JNI_LOCAL, fresh_serial(v, TRACE_SERIAL), frames);
}

void root_005_far(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    insert_frame_root(v, SUB_ROOT_JAVA_FRAME, fresh_serial(v, TRACE_SERIAL), INT32_MAX);
}

void root_006_java_frame(struct faults *v, struct event *e, int frame)
{
    (void)e;
    insert_frame_root(v, SUB_ROOT_JAVA_FRAME, 0, frame);
}

void root_006_jni_local(struct faults *v, struct event *e, int frame)
{
    (void)e;
    insert_frame_root(v, SUB_ROOT_JNI_LOCAL, 0, frame);
}

void root_007_zero(struct faults *v, struct event *e, int variant)
{
    struct event thread = root(SUB_ROOT_THREAD_OBJECT, 0, 0, 0);

    (void)e;
    (void)variant;
    break_at(v, &thread, THREAD_AT(v));
    insert(v, &thread);
}

void root_008_class(struct faults *v, struct event *e, int variant)
{
    struct event bad = root(SUB_ROOT_THREAD_OBJECT, fresh_id(v, CLASS), fresh_serial(v, THREAD_SERIAL), 0);

    (void)e;
    (void)variant;
    insert_class(v, fresh_id(v, CLASS), 0, "");
    break_at(v, &bad, OBJECT_AT);
    insert(v, &bad);
}
