#include "oracle_subrecords.h"

/* ---- SPEC.md 6.2: roots. A sub-record is read from its fields on; its tag precedes them. ------------------------------- */

static void read_root(struct oracle *o, uint64_t at)
{
    enum object_role role = u1(o->d, at - 1) == ROOT_STICKY_CLASS ? ROLE_STICKY_CLASS : ROLE_ROOT;
    if (id(o->d, at) == 0)
        report(o, "ROOT-001", at);
    else
        note_use(&o->object_uses, o->heap, id(o->d, at), (int)role, at, "REF-001");
    if (role == ROLE_STICKY_CLASS && id(o->d, at) != 0)
        note_use(&o->kind_uses[KIND_STICKY_CLASS], o->heap, id(o->d, at), 0, at, NULL);
}

static void read_thread_root(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + o->d->id_size, serial = u4(o->d, thread_at);
    read_root(o, at);
    note_use(&o->root_thread_uses, o->heap, serial, 0, thread_at, serial ? "ROOT-003" : "ROOT-004");
}

static void read_frame_root(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + o->d->id_size, frame_at = thread_at + 4;
    read_thread_root(o, at);
    if (i4(o->d, frame_at) < -1)
        report(o, "ROOT-006", frame_at);
    ADD(&o->frame_roots, struct frame_root, .heap = o->heap, .thread = u4(o->d, thread_at), .frame = i4(o->d, frame_at),
        .frame_at = frame_at);
}

static void read_thread_object(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + o->d->id_size, trace_at = thread_at + 4;
    if (id(o->d, at) != 0) {
        read_root(o, at);
        note_use(&o->kind_uses[KIND_THREAD], o->heap, id(o->d, at), 0, at, NULL);
    }
    if (u4(o->d, thread_at) == 0)
        report(o, "ROOT-007", thread_at);
    else
        ADD(&o->thread_roots, struct thread_root, .heap = o->heap, .serial = u4(o->d, thread_at), .at = thread_at,
            .trace = u4(o->d, trace_at));
    note_trace(o, trace_at, u4(o->d, trace_at) == 0xffffffff ? TRACE_IS_MINUS_1 : TRACE_IS_NEEDED);
}

/* ---- SPEC.md 6.3: CLASS_DUMP ------------------------------------------------------------------------------------------- */

/* 6.4.1 and 6.4.2: an object or a class is defined. */
static void define_object(struct oracle *o, uint64_t at, bool is_class)
{
    ADD(&o->objects, struct object, .heap = o->heap, .id = id(o->d, at), .at = at, .is_class = is_class);
    if (id(o->d, at) == 0)
        report(o, "OBJ-001", at);
    else
        define(&o->object_ids, o->heap, id(o->d, at), at, o->objects.count - 1);
}

static void read_instance_fields(struct oracle *o, struct class_dump *class)
{
    uint64_t field_size = o->d->id_size + 1, untyped_at = 0;
    for (uint64_t i = 0; i < class->field_count && !class->untyped; i++) {
        uint64_t type_at = class->fields_at + i * field_size + o->d->id_size;
        class->own_size += size_of_type(o->d, u1(o->d, type_at));
        class->untyped = size_of_type(o->d, u1(o->d, type_at)) == 0;
        untyped_at = type_at;
    }
    if (class->untyped) {
        report(o, "CLS-016", untyped_at);
        return;
    }
    for (uint64_t i = 0; i < class->field_count; i++)
        note_name(o, class->fields_at + i * field_size);
}

static void read_class_dump(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, super_at = trace_at + 4, loader_at = super_at + o->d->id_size;
    uint64_t signers_at = loader_at + o->d->id_size, domain_at = signers_at + o->d->id_size;
    uint64_t reserved1_at = domain_at + o->d->id_size, reserved2_at = reserved1_at + o->d->id_size;
    uint64_t size_at = reserved2_at + o->d->id_size, constants_at = size_at + 4;
    struct class_dump *class = append(&o->class_dumps, sizeof *class);
    *class = (struct class_dump){.heap = o->heap,
                                 .id = id(o->d, at),
                                 .at = at,
                                 .super_id = id(o->d, super_at),
                                 .super_at = super_at,
                                 .instance_size = u4(o->d, size_at),
                                 .instance_size_at = size_at};
    define_object(o, at, true);
    if (class->id != 0)
        define(&o->dumped_class_ids, o->heap, class->id, at, o->class_dumps.count - 1);
    note_trace(o, trace_at, TRACE_IS_NEEDED);
    if (class->super_id != 0)
        note_use(&o->object_uses, o->heap, class->super_id, ROLE_SUPERCLASS, super_at, "CLS-010");
    note_reference(o, o->heap, loader_at);
    if (id(o->d, loader_at) != 0)
        note_use(&o->kind_uses[KIND_LOADER], o->heap, id(o->d, loader_at), 0, loader_at, NULL);
    note_reference(o, o->heap, signers_at);
    note_reference(o, o->heap, domain_at);
    if (id(o->d, reserved1_at) != 0)
        report(o, "CLS-013", reserved1_at);
    else if (id(o->d, reserved2_at) != 0)
        report(o, "CLS-013", reserved2_at);

    uint64_t constants = u2(o->d, constants_at), next = constants_at + 2;
    for (uint64_t i = 0; i < constants; i++) { /* u2 index, u1 type, value */
        uint64_t type = u1(o->d, next + 2);
        note_value(o, o->heap, type, next + 3);
        next += 3 + size_of_type(o->d, type);
    }
    uint64_t statics = u2(o->d, next);
    next += 2;
    for (uint64_t i = 0; i < statics; i++) { /* ID name, u1 type, value */
        uint64_t type = u1(o->d, next + o->d->id_size);
        note_name(o, next);
        note_value(o, o->heap, type, next + o->d->id_size + 1);
        next += o->d->id_size + 1 + size_of_type(o->d, type);
    }
    class->field_count = u2(o->d, next);
    class->fields_at = next + 2;
    read_instance_fields(o, class);
}

/* ---- SPEC.md 6.4 to 6.8: objects --------------------------------------------------------------------------------------- */

/* 6.5 */
static void read_instance(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, class_at = trace_at + 4, bytes_at = class_at + o->d->id_size;
    define_object(o, at, false);
    note_trace(o, trace_at, TRACE_IS_NEEDED);
    note_use(&o->object_uses, o->heap, id(o->d, class_at), ROLE_CLASS, class_at, "OBJ-002");
    ADD(&o->instances, struct instance, .heap = o->heap, .tag_at = at - 1, .id = id(o->d, at), .class_id = id(o->d, class_at),
        .bytes = u4(o->d, bytes_at), .bytes_at = bytes_at, .values_at = bytes_at + 4);
}

/* 6.6 */
static void read_object_array(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, count_at = trace_at + 4, class_at = count_at + 4;
    define_object(o, at, false);
    note_trace(o, trace_at, TRACE_IS_NEEDED);
    note_use(&o->object_uses, o->heap, id(o->d, class_at), ROLE_ARRAY_CLASS, class_at, "OBJ-003");
    ADD(&o->object_arrays, struct array, .heap = o->heap, .class_id = id(o->d, class_at), .class_at = class_at);
    o->report->references += u4(o->d, count_at);
    for (uint64_t i = 0; i < u4(o->d, count_at); i++)
        if (id(o->d, class_at + (i + 1) * o->d->id_size) != id(o->d, at)) /* by itself alone an array is not named */
            note_reference(o, o->heap, class_at + (i + 1) * o->d->id_size);
}

/* 6.7 and, without elements, 6.8 */
static void read_primitive_array(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, count_at = trace_at + 4, type_at = count_at + 4;
    bool elements = u1(o->d, at - 1) == PRIMITIVE_ARRAY_DUMP;
    define_object(o, at, false);
    note_trace(o, trace_at, TRACE_IS_NEEDED);
    if (!is_primitive(o->d, u1(o->d, type_at))) /* without elements: nothing depends on it */
        report(o, "OBJ-008", type_at);
    if (!elements || u1(o->d, type_at) != TYPE_BOOLEAN)
        return;
    for (uint64_t i = 0; i < u4(o->d, count_at); i++)
        if (u1(o->d, type_at + 1 + i) > 1) {
            report(o, "OBJ-009", type_at + 1 + i);
            return;
        }
}

static void read_heap_dump_info(struct oracle *o, uint64_t at)
{
    note_name(o, at + 4);
}

void (*const read_subrecord[256])(struct oracle *o, uint64_t at) = {
    [ROOT_UNKNOWN] = read_root,
    [ROOT_JNI_GLOBAL] = read_root,
    [ROOT_JNI_LOCAL] = read_frame_root,
    [ROOT_JAVA_FRAME] = read_frame_root,
    [ROOT_NATIVE_STACK] = read_thread_root,
    [ROOT_STICKY_CLASS] = read_root,
    [ROOT_THREAD_BLOCK] = read_thread_root,
    [ROOT_MONITOR_USED] = read_root,
    [ROOT_THREAD_OBJECT] = read_thread_object,
    [CLASS_DUMP] = read_class_dump,
    [INSTANCE_DUMP] = read_instance,
    [OBJECT_ARRAY_DUMP] = read_object_array,
    [PRIMITIVE_ARRAY_DUMP] = read_primitive_array,
    [ROOT_INTERNED_STRING] = read_root,
    [ROOT_FINALIZING] = read_root,
    [ROOT_DEBUGGER] = read_root,
    [ROOT_REFERENCE_CLEANUP] = read_root,
    [ROOT_VM_INTERNAL] = read_root,
    [ROOT_JNI_MONITOR] = read_thread_root,
    [ROOT_UNREACHABLE] = read_root,
    [PRIMITIVE_ARRAY_NODATA] = read_primitive_array,
    [HEAP_DUMP_INFO] = read_heap_dump_info,
};
