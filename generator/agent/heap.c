#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "classes.h"
#include "output.h"
#include "stacks.h"
#include "store.h"
#include "tags.h"
#include "threads.h"
#include "vm.h"
#include "writer.h"

struct walk {
    struct bits referenced, opened; /* by the numbers of objects */
    struct arrays arrays;

    /* The object whose references come now. */
    uint64_t open_number;
    jlong open_tag;
    struct class *open_class;  /* of an object; NULL if none is open, or a class is */
    struct class *open_mirror; /* a class that is open */
    struct buffer values;
    struct array open_array;

    struct class *class_class;   /* java.lang.Class */
    struct class *virtual_class; /* java.lang.VirtualThread, or NULL */
    struct bits started;         /* the instances of it that were, by their numbers */
    uint64_t self;               /* the number of the thread that dumps: its local references are those of the agent */
    uint64_t references;         /* global ones */
    uint64_t reopened;
    uint64_t lost; /* by a lack of memory */
};

/* ---- the object that is open */

static void close_object(struct walk *w)
{
    if (w->open_class) {
        struct heap_object object = {.number = w->open_number,
                                     .class = w->open_class,
                                     .trace = site_trace(w->open_tag),
                                     .size = (uint64_t)w->open_class->object_size,
                                     .values = w->values.data,
                                     .value_bytes = w->values.size};
        if (w->open_class->kind == CLASS_OBJECT_ARRAY) {
            object.length = w->open_array.length;
            object.size = w->open_array.size;
        }
        writer->heap_object(&object);
    }
    w->open_class = w->open_mirror = NULL;
    w->open_number = 0;
}

static void make_values(struct walk *w, uint64_t size)
{
    w->values.size = 0;
    uint8_t *values = buffer_extend(&w->values, (size_t)size);
    if (values)
        memset(values, 0, (size_t)size);
    else
        w->lost += size != 0;
}

static void open_mirror(struct walk *w, struct class *class)
{
    w->open_mirror = class;
    if (!class->values)
        class->values = calloc(1, sizeof *class->values);
    if (class->values && !class->values->statics && class->static_bytes)
        class->values->statics = calloc(1, class->static_bytes);
}

/* False if the object is not to be written (any more). */
static bool open_object(struct walk *w, jlong class_tag, jlong tag)
{
    if (tag_number(tag) == w->open_number)
        return true;
    close_object(w);
    if (!tag_number(tag))
        return false;
    struct class *class = class_of_tag(tag);
    if (!class && bits_set(&w->opened, tag_number(tag))) {
        w->reopened++;
        return false;
    }
    w->open_number = tag_number(tag);
    w->open_tag = tag;
    if (class) {
        open_mirror(w, class);
        return true;
    }
    w->open_class = class_of_tag(class_tag);
    if (!w->open_class)
        return false;
    if (w->open_class->kind == CLASS_OBJECT_ARRAY) {
        w->open_array = arrays_take(&w->arrays, w->open_number);
        make_values(w, w->open_array.length * tags_id_size());
    } else {
        make_values(w, w->open_class->kind == CLASS_INSTANCES ? w->open_class->total_bytes : 0);
    }
    return true;
}

/* ---- what is referenced */

/* The number of a class object: of a class that is dumped, or of a primitive type. */
static uint64_t refer_to_class(jlong tag)
{
    const struct class *class = class_of_tag(tag);
    return class && (class->is_dumped || class->kind == CLASS_PRIMITIVE) ? tag_number(tag) : 0;
}

/* The number of an object that is in the dump. 0 for one that is not: a class that was loaded after the list of classes was made,
   an instance of it, the class object of a class that the VM has archived and nobody loaded, or a virtual thread that was not
   started. */
static uint64_t refer(struct walk *w, jlong class_tag, jlong size, jlong *tag, jint length)
{
    struct class *class = class_of_tag(class_tag);
    if (!class || !class->is_dumped || !class->is_laid_out)
        return 0;
    if (class == w->class_class)
        return refer_to_class(*tag);
    if (class == w->virtual_class && !bits_has(&w->started, tag_number(*tag)))
        return 0;
    if (!tag_number(*tag))
        *tag |= (jlong)tags_next_number();
    uint64_t number = tag_number(*tag);
    if (bits_set(&w->referenced, number))
        return number;
    if (class->kind == CLASS_OBJECT_ARRAY)
        w->lost += !arrays_add(&w->arrays, (struct array){number, (uint64_t)length, (uint64_t)size});
    else if (class->kind == CLASS_INSTANCES && !class->object_size)
        class->object_size = size;
    return number;
}

/* ---- values */

static void store_value(uint8_t *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

/* The place of a field's value, by the index that JVM TI gives it: after the fields of all superinterfaces come those of the
   superclasses, from Object down, and those of the class itself. */
static uint8_t *field_place(struct walk *w, jint jvmti_index, enum type *type)
{
    struct class *class = w->open_mirror ? w->open_mirror : w->open_class;
    int64_t index = class ? (int64_t)jvmti_index - class->interface_fields : -1;
    if (index < 0)
        return NULL;
    uint32_t below = 0; /* bytes of the classes below the one that has the field */
    const struct class *owner = class;
    while (owner && index < owner->inherited_fields) {
        below += owner->own_bytes;
        owner = owner->super ? class_at(owner->super) : NULL;
    }
    index -= owner ? owner->inherited_fields : 0;
    if (!owner || index >= owner->field_count || (w->open_mirror && owner != w->open_mirror))
        return NULL;
    const struct field *field = &owner->fields[index];
    if (field->is_static != (w->open_mirror != NULL))
        return NULL;
    *type = field->type;
    if (field->is_static)
        return class->values && class->values->statics ? class->values->statics + field->offset : NULL;
    uint64_t offset = below + field->offset;
    return offset + type_size(field->type) <= w->values.size ? w->values.data + offset : NULL;
}

static void store_reference(struct walk *w, jint index, uint64_t number)
{
    enum type type = TYPE_OBJECT;
    uint8_t *at = field_place(w, index, &type);
    if (at && type == TYPE_OBJECT)
        store_value(at, tags_id(number), tags_id_size());
}

static void store_element(struct walk *w, jint index, uint64_t number)
{
    uint64_t offset = (uint64_t)index * tags_id_size();
    if (index >= 0 && offset + tags_id_size() <= w->values.size)
        store_value(w->values.data + offset, tags_id(number), tags_id_size());
}

static void add_constant(struct walk *w, jint index, uint64_t number)
{
    struct class_values *values = w->open_mirror ? w->open_mirror->values : NULL;
    if (!values || !number || index < 0 || index > UINT16_MAX || values->constant_count == UINT16_MAX)
        return;
    struct constant *constants =
        array_with_room(values->constants, values->constant_count, &values->constant_room, sizeof *constants);
    if (!constants)
        return;
    values->constants = constants;
    values->constants[values->constant_count++] = (struct constant){(uint32_t)index, number};
}

/* ---- roots */

/* The frame of the dumped stack, if it is still the same; else none. */
static int32_t frame_number(const struct thread *thread, jint depth, jmethodID method)
{
    const struct trace *trace = trace_at(thread->trace);
    if (depth < 0 || (uint32_t)depth >= trace->depth || frame_at(trace->frames[depth])->id != method)
        return -1;
    return depth;
}

/* A root of a stack. Of a thread that is not in the dump, as of a virtual one, only the object is known. */
static struct heap_root stack_root(enum root kind, uint64_t number, jlong thread_tag, jint depth, jmethodID method)
{
    uint32_t thread = thread_by_number(tag_number(thread_tag));
    if (!thread || !thread_at(thread)->trace)
        return (struct heap_root){.kind = ROOT_UNKNOWN, .number = number};
    return (struct heap_root){.kind = kind,
                              .number = number,
                              .thread = thread_serial(thread),
                              .frame = frame_number(thread_at(thread), depth, method)};
}

static void thread_roots(uint64_t number)
{
    uint32_t thread = thread_by_number(number);
    if (!thread || !thread_at(thread)->trace) {
        struct heap_root unknown = {.kind = ROOT_UNKNOWN, .number = number};
        writer->heap_root(&unknown);
        return;
    }
    struct heap_root root = {.kind = ROOT_THREAD_OBJECT, .number = number, .thread = thread_serial(thread)};
    root.trace = thread_at(thread)->trace;
    writer->heap_root(&root);
    root.kind = ROOT_THREAD_BLOCK;
    writer->heap_root(&root);
}

static void write_root(struct walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t number,
                       jlong tag)
{
    struct heap_root root = {.kind = ROOT_UNKNOWN, .number = number, .trace = EMPTY_TRACE};
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
        root.kind = ROOT_JNI_GLOBAL;
        root.reference = ++w->references;
        root.trace = site_trace(tag);
        break;
    case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
        root.kind = tag_is_class(tag) ? ROOT_STICKY_CLASS : ROOT_UNKNOWN;
        root.class = tag_index(tag);
        break;
    case JVMTI_HEAP_REFERENCE_MONITOR:
        root.kind = ROOT_MONITOR_USED;
        break;
    case JVMTI_HEAP_REFERENCE_THREAD:
        thread_roots(number);
        return;
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
        root = stack_root(ROOT_JAVA_FRAME, number, info->stack_local.thread_tag, info->stack_local.depth,
                          info->stack_local.method);
        break;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
        if (tag_number(info->jni_local.thread_tag) == w->self)
            return;
        root = stack_root(ROOT_JNI_LOCAL, number, info->jni_local.thread_tag, info->jni_local.depth, info->jni_local.method);
        break;
    default:
        break;
    }
    writer->heap_root(&root);
}

/* ---- callbacks: the VM is stopped, nothing may call it */

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
                                 jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag, jint length,
                                 void *context)
{
    struct walk *w = context;
    uint64_t number = refer(w, class_tag, size, tag, length);
    jint visit = number ? JVMTI_VISIT_OBJECTS : 0;
    if (!referrer_tag) {
        if (number)
            write_root(w, kind, info, number, *tag);
        return visit;
    }
    if (!open_object(w, referrer_class_tag, *referrer_tag))
        return visit;
    struct class_values *values = w->open_mirror ? w->open_mirror->values : NULL;
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_FIELD:
    case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
        store_reference(w, info->field.index, number);
        break;
    case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
        store_element(w, info->array.index, number);
        break;
    case JVMTI_HEAP_REFERENCE_SIGNERS:
        if (values)
            values->signers = number;
        break;
    case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
        if (values)
            values->domain = number;
        break;
    case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
        add_constant(w, info->constant_pool.index, number);
        break;
    default: /* class, superclass and interfaces are known without */
        break;
    }
    return visit;
}

static uint64_t primitive_bits(jvalue value, jvmtiPrimitiveType type)
{
    uint32_t narrow;
    uint64_t wide;
    switch (type) {
    case JVMTI_PRIMITIVE_TYPE_BOOLEAN:
        return value.z != 0;
    case JVMTI_PRIMITIVE_TYPE_BYTE:
        return (uint8_t)value.b;
    case JVMTI_PRIMITIVE_TYPE_CHAR:
        return value.c;
    case JVMTI_PRIMITIVE_TYPE_SHORT:
        return (uint16_t)value.s;
    case JVMTI_PRIMITIVE_TYPE_INT:
        return (uint32_t)value.i;
    case JVMTI_PRIMITIVE_TYPE_FLOAT:
        memcpy(&narrow, &value.f, sizeof narrow);
        return narrow;
    case JVMTI_PRIMITIVE_TYPE_LONG:
        return (uint64_t)value.j;
    case JVMTI_PRIMITIVE_TYPE_DOUBLE:
        memcpy(&wide, &value.d, sizeof wide);
        return wide;
    }
    return 0;
}

static jint JNICALL on_primitive_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
                                       jlong *tag, jvalue value, jvmtiPrimitiveType value_type, void *context)
{
    (void)kind;
    struct walk *w = context;
    enum type type = TYPE_OBJECT;
    uint8_t *at = open_object(w, class_tag, *tag) ? field_place(w, info->field.index, &type) : NULL;
    if (at && type != TYPE_OBJECT)
        store_value(at, primitive_bits(value, value_type), type_size(type));
    return 0;
}

static jint JNICALL on_primitive_array(jlong class_tag, jlong size, jlong *tag, jint length, jvmtiPrimitiveType type,
                                       const void *elements, void *context)
{
    (void)type;
    struct walk *w = context;
    if (!open_object(w, class_tag, *tag) || !w->open_class || w->open_class->kind != CLASS_PRIMITIVE_ARRAY)
        return 0;
    unsigned width = type_size(w->open_class->element);
    uint64_t bytes = options.primarrays ? (uint64_t)length * width : 0;
    w->values.size = 0;
    uint8_t *to = bytes ? buffer_extend(&w->values, (size_t)bytes) : NULL;
    const uint8_t *from = elements;
    if (to && w->open_class->element == TYPE_BOOLEAN)
        for (uint64_t i = 0; i < bytes; i++)
            to[i] = from[i] != 0;
    else if (to && width == 1)
        memcpy(to, from, (size_t)bytes);
    else if (to)
        for (uint64_t i = 0; i < bytes; i++)
            to[i] = from[i - i % width + (width - 1 - i % width)];
    w->lost += bytes && !to;
    struct heap_object object = {.number = w->open_number,
                                 .class = w->open_class,
                                 .trace = site_trace(w->open_tag),
                                 .size = (uint64_t)size,
                                 .length = to || !options.primarrays ? bytes / width : 0,
                                 .values = w->values.data,
                                 .value_bytes = w->values.size};
    writer->heap_object(&object);
    w->open_class = NULL; /* written */
    return 0;
}

/* ---- before and after the walk */

/* The loader of a class that is not linked need not be in the dump. */
static void write_classes(const struct walk *w)
{
    uint32_t count = class_count();
    for (uint32_t i = 1; i <= count; i++) {
        struct class *class = class_at(i);
        if (class->kind == CLASS_PRIMITIVE || !class->is_dumped)
            continue;
        uint64_t loader = bits_has(&w->referenced, class->loader) ? class->loader : 0;
        writer->heap_class(i, class->values, loader, class->site ? site_at(class->site)->trace : EMPTY_TRACE);
    }
}

/* int.class and the like are instances of Class, of which JVM TI shows no fields. */
static void write_primitive_mirrors(const struct walk *w, struct buffer *values)
{
    uint32_t count = class_count();
    for (uint32_t i = 1; w->class_class && i <= count; i++) {
        const struct class *class = class_at(i);
        if (class->kind != CLASS_PRIMITIVE)
            continue;
        struct heap_object object = {.number = class->number,
                                     .class = w->class_class,
                                     .trace = EMPTY_TRACE,
                                     .size = (uint64_t)w->class_class->object_size,
                                     .values = values->data,
                                     .value_bytes = w->class_class->total_bytes};
        writer->heap_object(&object);
    }
}

static void walk_heap(struct walk *w)
{
    uint32_t number = class_of(class_of_classes());
    w->class_class = number ? class_at(number) : NULL;
    jlong size = 0;
    if (w->class_class && vm_ok((*ti)->GetObjectSize(ti, class_of_classes(), &size), "GetObjectSize"))
        w->class_class->object_size = size;
    jvmtiHeapCallbacks callbacks = {.heap_reference_callback = on_reference,
                                    .array_primitive_value_callback = on_primitive_array};
    if (options.primfields)
        callbacks.primitive_field_callback = on_primitive_field;
    number = threads_find_started(&w->started);
    w->virtual_class = number ? class_at(number) : NULL;
    tags_lock();
    vm_ok((*ti)->FollowReferences(ti, 0, NULL, NULL, &callbacks, w), "FollowReferences");
    tags_unlock();
    close_object(w);
    make_values(w, w->class_class ? w->class_class->total_bytes : 0);
    write_primitive_mirrors(w, &w->values);
}

void heap_dump(JNIEnv *env)
{
    struct walk w = {0};
    jthread self = NULL;
    if (vm_ok((*ti)->GetCurrentThread(ti, &self), "GetCurrentThread"))
        w.self = tags_number_of(self);
    jint count = 0;
    jclass *classes = classes_find_all(&count);
    classes_lay_out(env, classes, count);
    threads_take_traces(env);
    writer->traces();
    if (writer->heap_begin()) {
        classes_begin_dump(classes, count);
        walk_heap(&w);
        write_classes(&w);
        writer->heap_end();
    }
    classes_end_dump();
    vm_free(classes);
    if (w.reopened)
        say("HPROF: the VM named the references of %llu objects in several parts: the dump has the first ones",
            (unsigned long long)w.reopened);
    if (w.lost)
        say("HPROF ERROR: no memory for %llu objects of the heap dump: they are incomplete", (unsigned long long)w.lost);
    bits_free(&w.referenced);
    bits_free(&w.opened);
    bits_free(&w.started);
    free(w.arrays.slots);
    free(w.values.data);
}
