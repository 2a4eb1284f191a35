/* Roots (SPEC.md 6.2, 7.2). */
#include <inttypes.h>

#include "checks/checker.h"
#include "checks/heap.h"

/* A root that names a frame, checked when all stack traces are known. It takes about 9 bytes: the offset is stored as a
 * difference, in as few bytes as it needs. */
struct frame_root {
    uint64_t offset; /* of the frame number */
    uint32_t serial; /* of the thread; after the end of the heap dump, of its stack trace */
    uint32_t frame;
    bool is_java_frame; /* a ROOT_JAVA_FRAME or a ROOT_JNI_LOCAL */
};

static void note_frame_root(struct byte_log *log, uint64_t *last, const struct frame_root *root)
{
    byte_log_append_number(log, root->offset - *last);
    byte_log_append(log, &root->serial, sizeof root->serial);
    byte_log_append_number(log, (uint64_t)root->frame << 1 | root->is_java_frame);
    *last = root->offset;
}

/* Reads the next root; *root must be the one before, or zeroed. */
static void next_frame_root(const struct byte_log *log, uint64_t *next, struct frame_root *root)
{
    uint64_t frame;

    root->offset += byte_log_read_number(log, next);
    byte_log_read(log, *next, &root->serial, sizeof root->serial);
    *next += sizeof root->serial;
    frame = byte_log_read_number(log, next);
    root->frame = (uint32_t)(frame >> 1);
    root->is_java_frame = frame & 1;
}

/* By role; the roots of Android share OBJECT_AS_OTHER_ROOT. */
static const uint8_t tags[USE_ROLES] = {
    [OBJECT_AS_JNI_GLOBAL] = SUB_ROOT_JNI_GLOBAL,           [OBJECT_AS_JNI_LOCAL] = SUB_ROOT_JNI_LOCAL,
    [OBJECT_AS_JAVA_FRAME] = SUB_ROOT_JAVA_FRAME,           [OBJECT_AS_NATIVE_STACK] = SUB_ROOT_NATIVE_STACK,
    [OBJECT_AS_THREAD_BLOCK] = SUB_ROOT_THREAD_BLOCK,       [OBJECT_AS_MONITOR_USED] = SUB_ROOT_MONITOR_USED,
    [OBJECT_AS_THREAD_OBJECT] = SUB_ROOT_THREAD_OBJECT,     [OBJECT_AS_UNKNOWN_ROOT] = SUB_ROOT_UNKNOWN,
    [OBJECT_AS_INTERNED_STRING] = SUB_ROOT_INTERNED_STRING, [OBJECT_AS_VM_INTERNAL] = SUB_ROOT_VM_INTERNAL,
    [OBJECT_AS_JNI_MONITOR] = SUB_ROOT_JNI_MONITOR,         [OBJECT_AS_STICKY_CLASS] = SUB_ROOT_STICKY_CLASS,
};

static unsigned role_of(unsigned tag)
{
    for (unsigned role = OBJECT_AS_JNI_GLOBAL; role <= OBJECT_AS_STICKY_CLASS; role++)
        if (tags[role] == tag)
            return role;
    return OBJECT_AS_OTHER_ROOT;
}

const char *root_name(unsigned role)
{
    return role == OBJECT_AS_OTHER_ROOT ? "a root of Android" : hprof_subrecord_name(tags[role]);
}

static void check_root_object(struct checker *ck, unsigned tag, uint64_t object_id, uint64_t at)
{
    if (!object_id) {
        report(ck, RULE_ROOT_001, at, "the ID of an object", "0");
        return;
    }
    root_object(ck->heap, tag, object_id);
    if (tag == SUB_ROOT_THREAD_OBJECT || /* what the object is matters, too */
        (tag == SUB_ROOT_STICKY_CLASS && !classes_layout_of(&ck->file->classes, object_id)) ||
        !(id_set_get(&ck->heap->objects, object_id) & ID_DEFINED))
        pending_uses_add(&ck->heap->object_uses, object_id, role_of(tag), at);
}

static void check_root_thread(struct checker *ck, unsigned tag, uint32_t serial, uint64_t at)
{
    if (!keymap_get(&ck->heap->thread_roots, serial, NULL))
        pending_uses_add(&ck->heap->root_thread_uses, serial, role_of(tag), at);
}

static void check_root_frame(struct checker *ck, unsigned tag, uint32_t thread_serial, int32_t frame, uint64_t at)
{
    if (frame < -1) {
        report(ck, RULE_ROOT_006, at, "a frame number of -1 or above", "%" PRId32, frame);
    } else if (frame >= 0) {
        note_frame_root(&ck->heap->frame_roots, &ck->heap->last_frame_root,
                        &(struct frame_root){at, thread_serial, (uint32_t)frame, tag == SUB_ROOT_JAVA_FRAME});
    }
}

/* SPEC.md 6.2.8 ROOT_THREAD_OBJECT */
static void check_thread_object(struct checker *ck, const struct ROOT_THREAD_OBJECT *r, uint64_t at)
{
    if (ck->heap->stretch)
        ck->heap->stretch->has_thread_roots = true;
    if (!r->thread_serial) { /* serial 0 means no thread, so other roots with it do not use this one */
        report(ck, RULE_ROOT_007, at + OFFSET_OF(ROOT_THREAD_OBJECT, thread_serial, ck->file->id_size), "a serial above 0",
               "0");
    } else if (keymap_get(&ck->heap->thread_roots, r->thread_serial, NULL)) {
        struct finding *f = NULL;

        if (!is_subrecord_read_again(ck, at))
            f = report(ck, RULE_ROOT_002, at + OFFSET_OF(ROOT_THREAD_OBJECT, thread_serial, ck->file->id_size),
                       "a thread without a ROOT_THREAD_OBJECT in this heap dump", "thread %" PRIu32, r->thread_serial);
        if (f)
            findings_want_offset(&ck->run->findings, f, WANTED_THREAD_ROOT, r->thread_serial);
    } else {
        keymap_put(&ck->heap->thread_roots, r->thread_serial, r->trace_serial);
    }
    if (r->object_id)
        check_root_object(ck, SUB_ROOT_THREAD_OBJECT, r->object_id, at);
    use_trace(ck, r->trace_serial, r->trace_serial == UINT32_MAX ? TRACE_OF_UNMARKED_ROOT : TRACE_OF_THREAD_ROOT,
              at + OFFSET_OF(ROOT_THREAD_OBJECT, trace_serial, ck->file->id_size));
}

/* Checks any root. Its bytes after the tag are at p, complete, and at the offset `at`. */
void check_root(struct checker *ck, unsigned tag, const uint8_t *p, uint64_t at)
{
    unsigned id = ck->file->id_size;
    uint64_t object_id = get_id(p, id);

    switch (tag) {
    case SUB_ROOT_THREAD_OBJECT: {
        struct cursor c = {p, p + SIZE_OF(ROOT_THREAD_OBJECT, id)};
        struct ROOT_THREAD_OBJECT r;

        if (read_ROOT_THREAD_OBJECT(&c, id, &r))
            check_thread_object(ck, &r, at);
        return;
    }
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_JAVA_FRAME: {
        struct cursor c = {p, p + SIZE_OF(ROOT_FRAME, id)};
        struct ROOT_FRAME r;

        if (read_ROOT_FRAME(&c, id, &r)) {
            check_root_object(ck, tag, object_id, at);
            check_root_thread(ck, tag, r.thread_serial, at + OFFSET_OF(ROOT_FRAME, thread_serial, id));
            check_root_frame(ck, tag, r.thread_serial, r.frame, at + OFFSET_OF(ROOT_FRAME, frame, id));
        }
        return;
    }
    case SUB_ROOT_NATIVE_STACK:
    case SUB_ROOT_THREAD_BLOCK:
    case SUB_ROOT_JNI_MONITOR:
        check_root_thread(ck, tag, get_u4(p + OFFSET_OF(ROOT_THREAD, thread_serial, id)),
                          at + OFFSET_OF(ROOT_THREAD, thread_serial, id));
        break;
    default:
        break;
    }
    check_root_object(ck, tag, object_id, at);
}

/* Keeps a thread for the check of frame numbers: its ROOT_THREAD_OBJECT is known, or reported to be missing. */
static void keep_thread(void *context, uint64_t serial, uint64_t trace_serial)
{
    struct checker *ck = context;
    struct recent_page near = {.page = NO_PAGE};

    (void)trace_serial;
    id_set_define(&ck->file->rooted_threads, &near, id_to_key(serial, sizeof(uint32_t)));
}

static void report_thread_use(void *context, uint64_t serial, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    unsigned role = 0;
    uint64_t offset = uses_first(first, 0, USE_ROLES - 1, &role);

    if (keymap_get(&ck->heap->thread_roots, serial, NULL) || (serial && keymap_get(&ck->file->threads, serial, NULL)))
        return;
    report_within(ck, serial ? RULE_ROOT_003 : RULE_ROOT_004, SHAPE_ANY, offset, root_name(role),
                  "the serial of a thread that a ROOT_THREAD_OBJECT or START_THREAD defines", "%" PRIu32, (uint32_t)serial);
    keep_thread(ck, serial, 0); /* reported, so nothing more is reported for its stack trace */
}

void finish_roots(struct checker *ck)
{
    struct byte_log *log = &ck->heap->frame_roots;
    struct frame_root root = {0};
    uint64_t trace_serial;

    if (!ck->file->losses.heap.part)
        pending_uses_finish(&ck->heap->root_thread_uses, report_thread_use, ck);

    /* Replaces the thread of each root by its stack trace, because threads are known only within the heap dump; the stack
     * trace may still follow. */
    for (uint64_t next = 0; next < log->size && !ck->run->memory.exhausted;) {
        next_frame_root(log, &next, &root);
        byte_log_discard(log, next);
        if (keymap_get(&ck->heap->thread_roots, root.serial, &trace_serial) && trace_serial)
            note_frame_root(&ck->file->frame_roots, &ck->file->last_frame_root,
                            &(struct frame_root){root.offset, (uint32_t)trace_serial, root.frame, root.is_java_frame});
    }
}

void keep_rooted_threads(struct checker *ck)
{
    keymap_each(&ck->heap->thread_roots, keep_thread, ck);
}

void finish_frame_roots(struct checker *ck)
{
    struct frame_root root = {0};
    uint32_t frames;

    for (uint64_t next = 0; next < ck->file->frame_roots.size;) {
        next_frame_root(&ck->file->frame_roots, &next, &root);
        if (trace_depth(ck, root.serial, &frames) && root.frame >= frames)
            report_within(ck, RULE_ROOT_005, frames ? SHAPE_ANY : SHAPE_EMPTY_TRACE, root.offset,
                          root.is_java_frame ? "ROOT_JAVA_FRAME" : "ROOT_JNI_LOCAL",
                          "a frame of the thread's stack trace, or -1",
                          "%" PRIu32 "; stack trace %" PRIu32 " has %" PRIu32 " frames", root.frame, root.serial, frames);
    }
}
