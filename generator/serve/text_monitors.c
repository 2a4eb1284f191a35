/* See text.h. Who owns and awaits monitors, from the roots of the dump. */
#include <inttypes.h>
#include <string.h>

#include "text_parts.h"

/* The root of a thread, not of one that is only ending; false for other sub-records. */
static bool read_thread(const uint8_t *p, uint64_t size, struct ROOT_THREAD_OBJECT *root)
{
    struct cursor c = {.at = p + 1, .end = p + size};

    return p[0] == SUB_ROOT_THREAD_OBJECT && read_ROOT_THREAD_OBJECT(&c, ID_SIZE, root) && root->object_id;
}

static bool waits(const struct text *t, const struct ROOT_THREAD_OBJECT *root)
{
    static const char wait[] = "wait";
    struct FRAME frame;
    uint64_t at;

    return t->monitors.first && root->thread_serial != t->monitors.owner &&
           read_frame(t, first_frame(t, root->trace_serial), &frame) && keymap_get(&t->maps[STRINGS], frame.method, &at) &&
           get_u4(t->dump + at + RECORD_LENGTH_AT) == ID_SIZE + sizeof wait - 1 &&
           memcmp(t->dump + at + RECORD_HEADER_SIZE + ID_SIZE, wait, sizeof wait - 1) == 0;
}

static bool find_owner(struct text *t, const uint8_t *p, uint64_t size)
{
    struct ROOT_THREAD_OBJECT root;

    if (!t->monitors.owner && read_thread(p, size, &root))
        t->monitors.owner = root.thread_serial;
    if (!t->monitors.first && p[0] == SUB_ROOT_MONITOR_USED && keymap_get(&t->maps[OBJECTS], get_u4(p + 1), NULL))
        t->monitors.first = get_u4(p + 1);
    return true;
}

static bool find_entering(struct text *t, const uint8_t *p, uint64_t size)
{
    struct ROOT_THREAD_OBJECT root;

    if (t->monitors.enters || !t->monitors.first || !read_thread(p, size, &root) || root.thread_serial == t->monitors.owner ||
        waits(t, &root))
        return true;
    t->monitors.enters = root.thread_serial;
    t->monitors.trace = root.trace_serial;
    return true;
}

static void find_monitors(struct text *t)
{
    if (t->monitors.owner)
        return;
    walk_dump(t, find_owner);
    walk_dump(t, find_entering);
}

/* ---- The class of a monitor ---- */

static bool find_sought(struct text *t, const uint8_t *p, uint64_t size)
{
    (void)size;
    if (p[0] == SUB_INSTANCE_DUMP || p[0] == SUB_OBJECT_ARRAY_DUMP || p[0] == SUB_PRIMITIVE_ARRAY_DUMP ||
        p[0] == SUB_CLASS_DUMP)
        t->monitors.found = get_u4(p + 1) == t->monitors.sought ? p : NULL;
    return !t->monitors.found;
}

/* Its name, or its signature. */
static void write_class_of(struct text *t, uint32_t object, bool is_name)
{
    struct cursor c;
    struct INSTANCE_DUMP instance = {0};
    struct OBJECT_ARRAY_DUMP array = {0};
    struct PRIMITIVE_ARRAY_DUMP primitive = {0};

    t->monitors.sought = object;
    t->monitors.found = NULL;
    walk_dump(t, find_sought);
    if (!t->monitors.found)
        return;
    c = (struct cursor){.at = t->monitors.found + 1, .end = t->dump + t->size};
    switch (*t->monitors.found) {
    case SUB_INSTANCE_DUMP:
        read_INSTANCE_DUMP(&c, ID_SIZE, &instance);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        read_OBJECT_ARRAY_DUMP(&c, ID_SIZE, &array);
        instance.class_id = array.class_id;
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        read_PRIMITIVE_ARRAY_DUMP(&c, ID_SIZE, &primitive);
        if (is_name)
            write_format(t, "%s[]", primitive_name(primitive.type));
        else
            write_format(t, "[%c", "ZCFDBSIJ"[primitive.type - TYPE_BOOLEAN]);
        return;
    default: /* a class */
        write_format(t, is_name ? "java.lang.Class" : "Ljava/lang/Class;");
        return;
    }
    if (is_name)
        write_class(t, &t->maps[NAMES], instance.class_id);
    else
        write_signature(t, instance.class_id);
}

/* ---- Lines ---- */

static bool write_wait(struct text *t, const uint8_t *p, uint64_t size)
{
    struct ROOT_THREAD_OBJECT root;

    if (!read_thread(p, size, &root) || !waits(t, &root))
        return true;
    write_format(t, "WAIT: MONITOR ");
    write_class_of(t, t->monitors.first, false);
    write_format(t, ", timeout=0, thread %" PRIu32 "\n", (uint32_t)root.thread_serial);
    return true;
}

void text_waits(struct text *t)
{
    find_monitors(t);
    walk_dump(t, write_wait);
    flush(t);
}

static bool write_state(struct text *t, const uint8_t *p, uint64_t size)
{
    struct ROOT_THREAD_OBJECT root;

    if (read_thread(p, size, &root))
        write_format(t, "    THREAD %" PRIu32 ", trace %" PRIu32 ", status: %s\n", root.thread_serial, root.trace_serial,
                     root.thread_serial == t->monitors.enters ? "MW"
                     : waits(t, &root)                        ? "CW"
                                                              : "R");
    return true;
}

static bool write_waiting(struct text *t, const uint8_t *p, uint64_t size)
{
    struct ROOT_THREAD_OBJECT root;

    if (!read_thread(p, size, &root) || !waits(t, &root))
        return true;
    write_format(t, "%s thread %" PRIu32, t->monitors.listed++ ? "," : "", root.thread_serial);
    return true;
}

static bool write_monitor(struct text *t, const uint8_t *p, uint64_t size)
{
    bool is_first = p[0] == SUB_ROOT_MONITOR_USED && get_u4(p + 1) == t->monitors.first;

    (void)size;
    if (p[0] != SUB_ROOT_MONITOR_USED || !keymap_get(&t->maps[OBJECTS], get_u4(p + 1), NULL))
        return true;
    write_format(t, "    MONITOR ");
    write_class_of(t, get_u4(p + 1), false);
    write_format(t, "\n\towner: thread %" PRIu32 ", entry count: 1\n\twaiting to enter:", t->monitors.owner);
    if (is_first && t->monitors.enters)
        write_format(t, " thread %" PRIu32, t->monitors.enters);
    write_format(t, "\n\twaiting to be notified:");
    t->monitors.listed = 0;
    if (is_first)
        walk_dump(t, write_waiting);
    write_format(t, "\n");
    return true;
}

void text_monitors(struct text *t)
{
    find_monitors(t);
    write_format(t, "MONITOR DUMP BEGIN\n");
    walk_dump(t, write_state);
    walk_dump(t, write_monitor);
    write_format(t, "MONITOR DUMP END\n");
    flush(t);
}

void text_monitor_times(struct text *t, uint32_t spins)
{
    uint64_t milliseconds = (uint64_t)spins * SPIN_INTERVALS * INTERVAL;

    find_monitors(t);
    write_format(t, "MONITOR TIME BEGIN (total = %" PRIu64 " ms) ", t->monitors.enters ? milliseconds : 0);
    write_date(t);
    if (spins && t->monitors.enters) {
        write_format(t, "rank   self  accum   count trace monitor\n   1 100.00%% 100.00%% %7" PRIu32 " %" PRIu32 " ", spins,
                     t->monitors.trace);
        write_class_of(t, t->monitors.first, true);
        write_format(t, " (Java)\n");
    }
    write_format(t, "MONITOR TIME END\n");
    flush(t);
}
