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
    if (other_object) {
        /* Without the class java.lang.Thread, the object is believed to be an instance. */
        insert_mark(v, EVENT_OPEN, TAG_HEAP_DUMP);
        insert_object(v, fresh_id(v, OBJECT));
        again.fields.ROOT_THREAD_OBJECT.object_id = fresh_id(v, OBJECT);
    }
    insert_thread_root(v, fresh_serial(v, THREAD_SERIAL), 0);
    break_at(v, &again, THREAD_AT(v));
    insert(v, &again);
    if (other_object)
        insert_mark(v, EVENT_CLOSE, TAG_HEAP_DUMP);
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

/* ---- What is no instance of the class that it should be one of ---- */

/* Begins a heap dump in which CLASS will be that class, and OBJECT is an array or an instance of another class. The class is not
 * dumped in other heap dumps, whose roots may name anything. */
static void open_heap_dump_with(struct faults *v, const char *name, int is_instance)
{
    struct event object = primitive_array(v, fresh_id(v, OBJECT), TYPE_CHAR, 3), class;

    insert_utf8(v, fresh_id(v, NAME), name);
    insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, NAME), name);
    if (is_instance) {
        insert_utf8(v, fresh_id(v, FIELD), "Broken");
        insert_load_class(v, fresh_serial(v, OTHER_SERIAL), fresh_id(v, OTHER), fresh_id(v, FIELD), "Broken");
        object = instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, OTHER), 0);
    }
    insert_mark(v, EVENT_OPEN, TAG_HEAP_DUMP);
    if (is_instance) {
        class = class_dump(v, fresh_id(v, OTHER), 0, "");
        class.fields.CLASS_DUMP.super_id = 0;
        insert(v, &class);
    }
    insert(v, &object);
}

static void insert_class_with_loader(struct faults *v, uint64_t loader_id)
{
    struct event class = class_dump(v, fresh_id(v, CLASS), 0, "");

    class.fields.CLASS_DUMP.super_id = 0;
    class.fields.CLASS_DUMP.loader_id = loader_id;
    if (loader_id)
        break_at(v, &class, EVENT_OFFSET_OF(EVENT_SUBRECORD, CLASS_DUMP, loader_id, v->id_size));
    insert(v, &class);
}

void cls_023_loader(struct faults *v, struct event *e, int is_instance)
{
    (void)e;
    open_heap_dump_with(v, "java/lang/ClassLoader", is_instance);
    insert_class_with_loader(v, fresh_id(v, OBJECT));
    insert_mark(v, EVENT_CLOSE, TAG_HEAP_DUMP);
}

static void insert_heap_dump_with_root(struct faults *v, const char *name, int is_instance, unsigned tag)
{
    struct event bad = root(tag, fresh_id(v, OBJECT), fresh_serial(v, THREAD_SERIAL), 0);

    open_heap_dump_with(v, name, is_instance);
    insert_class_with_loader(v, 0);
    break_at(v, &bad, OBJECT_AT);
    insert(v, &bad);
    insert_mark(v, EVENT_CLOSE, TAG_HEAP_DUMP);
}

void root_009_object(struct faults *v, struct event *e, int is_instance)
{
    (void)e;
    insert_heap_dump_with_root(v, "java/lang/Thread", is_instance, SUB_ROOT_THREAD_OBJECT);
}

void root_010_object(struct faults *v, struct event *e, int is_instance)
{
    (void)e;
    insert_heap_dump_with_root(v, "java/lang/Class", is_instance, SUB_ROOT_STICKY_CLASS);
}
