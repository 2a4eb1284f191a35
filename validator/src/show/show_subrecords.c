/* See writer.h. Writes sub-records. */
#include <inttypes.h>
#include <string.h>

#include "show/writer.h"

enum { CLASS_DUMP_MAX = 1 << 22 };

static void add_id_part(struct writer *w, const uint8_t *p, unsigned type)
{
    (void)type;
    add_text_value(w, p, TYPE_OBJECT);
}

static void end_subrecord(struct writer *w)
{
    end_line(w, 1, w->item->offset, w->item->size);
}

static void write_ROOT_OBJECT(struct writer *w, const struct ROOT_OBJECT *r)
{
    add_text_id(w, r->object_id);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_JNI_GLOBAL(struct writer *w, const struct ROOT_JNI_GLOBAL *r)
{
    add_text_id(w, r->object_id);
    add_text(w, " reference 0x%" PRIx64, r->reference_id);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_FRAME(struct writer *w, const struct ROOT_FRAME *r)
{
    add_text_id(w, r->object_id);
    add_text(w, " thread %" PRIu32 " frame %" PRId32, r->thread_serial, r->frame);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_THREAD(struct writer *w, const struct ROOT_THREAD *r)
{
    add_text_id(w, r->object_id);
    add_text(w, " thread %" PRIu32, r->thread_serial);
    note_object(w, r->object_id);
    end_subrecord(w);
}

static void write_ROOT_THREAD_OBJECT(struct writer *w, const struct ROOT_THREAD_OBJECT *r)
{
    add_text_id(w, r->object_id);
    add_text(w, " thread %" PRIu32 " trace %" PRIu32, r->thread_serial, r->trace_serial);
    end_subrecord(w);
}

static void write_ROOT_JNI_MONITOR(struct writer *w, const struct ROOT_JNI_MONITOR *r)
{
    add_text_id(w, r->object_id);
    add_text(w, " thread %" PRIu32 " depth %" PRIu32, r->thread_serial, r->depth);
    end_subrecord(w);
}

static void write_HEAP_DUMP_INFO(struct writer *w, const struct HEAP_DUMP_INFO *r)
{
    add_text(w, " heap %" PRIu32 " name 0x%" PRIx64, r->heap, r->name);
    note_string(w, r->name);
    end_subrecord(w);
}

static void write_PRIMITIVE_ARRAY_NODATA(struct writer *w, const struct PRIMITIVE_ARRAY_NODATA *r)
{
    add_text_id(w, r->object_id);
    add_text(w, " type %s elements %" PRIu32, show_type_name(r->type), r->elements);
    end_subrecord(w);
}

/* Writes a count of entries only if it contains the offset, since the notation of corpus/ has no counts. */
static void write_count(struct writer *w, uint64_t offset, unsigned count, const char *of)
{
    uint64_t target = w->show->asked.offset;

    if (target < offset || target >= offset + 2)
        return;
    add_remark(w, "%u %s", count, of);
    end_line(w, 2, offset, 2);
}

static bool write_entries(struct writer *w, struct cursor *c, const uint8_t *first, bool is_static)
{
    unsigned id_size = w->show->replay.id_size;
    size_t head = is_static ? SIZE_OF(STATIC_FIELD, id_size) : SIZE_OF(CONSTANT, id_size);
    const uint8_t *count = cursor_take(c, 2);
    struct parts parts = {0};

    if (count)
        write_count(w, w->item->offset + (uint64_t)(count - first), get_u2(count), is_static ? "static fields" : "constants");
    for (unsigned i = 0; count && i < get_u2(count); i++) {
        const uint8_t *entry = cursor_take(c, head);
        unsigned type = entry ? get_u1(entry + head - 1) : 0;
        const uint8_t *value = entry ? cursor_take(c, type_size(type, id_size)) : NULL;

        if (!value)
            return false;
        if (is_static) {
            add_text(w, "static 0x%" PRIx64 " %s", get_id(entry, id_size), show_type_name(type));
            note_string(w, get_id(entry, id_size));
        } else {
            add_text(w, "constant %u %s", get_u2(entry), show_type_name(type));
        }
        add_text_value(w, value, type);
        end_part(w, &parts, i, w->item->offset + (uint64_t)(entry - first), (uint64_t)(c->at - entry));
    }
    end_hidden(w, &parts, 2);
    return count != NULL;
}

static void write_class_dump(struct writer *w)
{
    unsigned id_size = w->show->replay.id_size;
    size_t most = w->item->size < CLASS_DUMP_MAX ? (size_t)w->item->size : CLASS_DUMP_MAX;
    struct cursor c = show_bytes(w->show, w->item->offset, most);
    const uint8_t *first = c.at, *count;
    struct parts parts = {0};
    struct CLASS_DUMP r;

    if (!cursor_take(&c, 1) || !read_CLASS_DUMP(&c, id_size, &r))
        return;
    add_text_id(w, r.class_id);
    add_text(w, " trace %" PRIu32 " super", r.trace_serial);
    add_text_id(w, r.super_id);
    add_text(w, " loader");
    add_text_id(w, r.loader_id);
    if (r.signers_id || r.domain_id) {
        add_text(w, " signers");
        add_text_id(w, r.signers_id);
        add_text(w, " domain");
        add_text_id(w, r.domain_id);
    }
    if (r.reserved1 || r.reserved2)
        add_text(w, " reserved1 0x%" PRIx64 " reserved2 0x%" PRIx64, r.reserved1, r.reserved2);
    add_text(w, " instance-size %" PRIu32 " {", r.instance_size);
    note_class(w, r.class_id);
    if (r.super_id) {
        add_remark(w, " extends");
        note_class(w, r.super_id);
    }
    end_line(w, 1, w->item->offset, (uint64_t)(c.at - first));
    if (!write_entries(w, &c, first, false) || !write_entries(w, &c, first, true) || !(count = cursor_take(&c, 2)))
        return;
    write_count(w, w->item->offset + (uint64_t)(count - first), get_u2(count), "fields");
    for (unsigned i = 0; i < get_u2(count); i++) {
        const uint8_t *entry = c.at;
        struct INSTANCE_FIELD field;

        if (!read_INSTANCE_FIELD(&c, id_size, &field))
            return;
        add_text(w, "field 0x%" PRIx64 " %s", field.name, show_type_name(field.type));
        note_string(w, field.name);
        end_part(w, &parts, i, w->item->offset + (uint64_t)(entry - first), (uint64_t)(c.at - entry));
    }
    end_hidden(w, &parts, 2);
    close_bracket(w, 1, "}");
}

/* Writes the first bytes of a range that belongs to no field. */
static void write_raw(struct writer *w, uint64_t from, uint64_t end)
{
    enum { BYTES_MAX = 32 };
    struct cursor c = show_bytes(w->show, from, end - from < BYTES_MAX ? (size_t)(end - from) : BYTES_MAX);

    for (size_t i = 0; c.at < c.end; i++)
        add_text(w, "%s%02x", i ? "" : "raw 0x", *c.at++);
    end_line(w, 2, from, end - from);
}

/* The instance fields of a class, and its superclass; an empty cursor if its CLASS_DUMP was not found. */
static struct cursor fields_of(const struct show *s, uint64_t class_id, uint64_t *super_id)
{
    uint64_t copy;
    const uint8_t *p;
    struct cursor c = {NULL, NULL};

    *super_id = 0;
    if (!keymap_get(&s->classes, class_id, &copy))
        return c;
    p = (const uint8_t *)(uintptr_t)copy;
    *super_id = get_id(p + 1 + OFFSET_OF(CLASS_DUMP, super_id, s->replay.id_size), s->replay.id_size);
    p += 1 + SIZE_OF(CLASS_DUMP, s->replay.id_size);
    /* Only measured class dumps are kept, so all entries are complete. */
    for (int is_static = 0; is_static < 2; is_static++) {
        size_t head = is_static ? SIZE_OF(STATIC_FIELD, s->replay.id_size) : SIZE_OF(CONSTANT, s->replay.id_size);
        unsigned count = get_u2(p);

        for (p += 2; count; count--)
            p += head + type_size(get_u1(p + head - 1), s->replay.id_size);
    }
    c.at = p + 2;
    c.end = c.at + (size_t)get_u2(p) * SIZE_OF(INSTANCE_FIELD, s->replay.id_size);
    return c;
}

bool show_is_of_wrong_size(struct show *s, const struct item *item)
{
    enum { DEPTH_MAX = 1 << 12 };
    const unsigned id_size = s->replay.id_size;
    uint64_t size = 1 + SIZE_OF(INSTANCE_DUMP, id_size), class_id;
    struct cursor c = show_bytes(s, item->offset + 1, (size_t)size - 1);
    struct INSTANCE_DUMP r;

    if (item->tag != SUB_INSTANCE_DUMP || item->kind != ITEM_SUBRECORD || !read_INSTANCE_DUMP(&c, id_size, &r))
        return false;
    class_id = r.class_id;
    for (unsigned depth = 0; class_id && depth < DEPTH_MAX; depth++) {
        struct cursor fields = fields_of(s, class_id, &class_id);
        struct INSTANCE_FIELD field;

        if (!fields.at)
            return false; /* its CLASS_DUMP was not found */
        while (read_INSTANCE_FIELD(&fields, id_size, &field))
            size += type_size(field.type, id_size);
    }
    return size != item->size;
}

static void write_INSTANCE_DUMP(struct writer *w, const struct INSTANCE_DUMP *r)
{
    enum { DEPTH_MAX = 1 << 12, VALUES_MAX = 1 << 20 };
    struct show *s = w->show;
    uint64_t at = w->item->offset + 1 + SIZE_OF(INSTANCE_DUMP, s->replay.id_size), end = w->item->offset + w->item->size,
             index = 0, class_id = r->class_id;
    struct parts parts = {0};
    struct cursor values;

    add_text_id(w, r->object_id);
    add_text(w, " trace %" PRIu32 " class", r->trace_serial);
    add_text_id(w, r->class_id);
    add_text(w, " [%s", at < end ? "" : " ]");
    note_class(w, r->class_id);
    if (end - at != r->bytes)
        add_remark(w, "%sa length of %" PRIu32 " bytes", w->remark_size ? ", " : "", r->bytes);
    end_line(w, 1, w->item->offset, at - w->item->offset);
    if (at >= end)
        return;
    values = show_bytes(s, at, end - at < VALUES_MAX ? (size_t)(end - at) : VALUES_MAX);
    for (unsigned depth = 0; class_id && depth < DEPTH_MAX && at < end; depth++) {
        struct cursor fields = fields_of(s, class_id, &class_id);
        struct INSTANCE_FIELD field;

        while (read_INSTANCE_FIELD(&fields, s->replay.id_size, &field)) {
            unsigned size = type_size(field.type, s->replay.id_size);
            const uint8_t *value = size ? cursor_take(&values, size) : NULL;

            if (!value) {
                class_id = 0;
                break;
            }
            add_text(w, "%s", show_type_name(field.type));
            note_string(w, field.name);
            add_text_value(w, value, field.type);
            end_part(w, &parts, index++, at, size);
            at += size;
        }
    }
    end_hidden(w, &parts, 2);
    if (at < end) {
        add_remark(w, "%" PRIu64 " bytes of unknown fields", end - at);
        write_raw(w, at, end);
    }
    close_bracket(w, 1, "]");
}

static void write_OBJECT_ARRAY_DUMP(struct writer *w, const struct OBJECT_ARRAY_DUMP *r)
{
    uint64_t from = w->item->offset + 1 + SIZE_OF(OBJECT_ARRAY_DUMP, w->show->replay.id_size);
    struct parts parts = {from, r->elements, 4, w->show->replay.id_size, 0};

    add_text_id(w, r->object_id);
    add_text(w, " trace %" PRIu32 " class", r->trace_serial);
    add_text_id(w, r->class_id);
    add_text(w, " [%s", r->elements ? "" : " ]");
    note_class(w, r->class_id);
    add_remark(w, "%s%" PRIu32 " element%s", w->remark_size ? ", " : "", r->elements, r->elements == 1 ? "" : "s");
    end_line(w, 1, w->item->offset, from - w->item->offset);
    if (!r->elements)
        return;
    show_parts(w, &parts, add_id_part, 0);
    close_bracket(w, 1, "]");
}

static void write_PRIMITIVE_ARRAY_DUMP(struct writer *w, const struct PRIMITIVE_ARRAY_DUMP *r)
{
    uint64_t from = w->item->offset + 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, w->show->replay.id_size);
    unsigned size = type_size(r->type, 0);
    struct parts parts = {from, r->elements, size > 4 ? 4 : 16 / size, size, 0};

    add_text_id(w, r->object_id);
    add_text(w, " trace %" PRIu32 " type %s [%s", r->trace_serial, show_type_name(r->type), r->elements ? "" : " ]");
    add_remark(w, "%" PRIu32 " element%s", r->elements, r->elements == 1 ? "" : "s");
    end_line(w, 1, w->item->offset, from - w->item->offset);
    if (!r->elements)
        return;
    show_parts(w, &parts, add_text_value, r->type);
    close_bracket(w, 1, "]");
}

void show_subrecord(struct writer *w)
{
    struct show *s = w->show;
    struct cursor c = show_bytes(s, w->item->offset, 1 + SIZE_OF(CLASS_DUMP, s->replay.id_size));
    const uint8_t *start = cursor_take(&c, 1);
    uint8_t tag;

    if (!start) /* a read failed, or memory ran out */
        return;
    tag = *start;
    add_text_word(w, hprof_subrecord_name(tag));
    switch ((enum subrecord_tag)tag) {
    case SUB_CLASS_DUMP:
        write_class_dump(w);
        break;
#define WRITE(sub, layout) \
    case SUB_##sub: { \
        struct layout r; \
        if (read_##layout(&c, s->replay.id_size, &r)) \
            write_##layout(w, &r); \
        break; \
    }
        WRITE(INSTANCE_DUMP, INSTANCE_DUMP)
        WRITE(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP)
        WRITE(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP)
        WRITE(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL)
        WRITE(ROOT_JNI_LOCAL, ROOT_FRAME)
        WRITE(ROOT_JAVA_FRAME, ROOT_FRAME)
        WRITE(ROOT_NATIVE_STACK, ROOT_THREAD)
        WRITE(ROOT_STICKY_CLASS, ROOT_OBJECT)
        WRITE(ROOT_THREAD_BLOCK, ROOT_THREAD)
        WRITE(ROOT_MONITOR_USED, ROOT_OBJECT)
        WRITE(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT)
        WRITE(ROOT_UNKNOWN, ROOT_OBJECT)
        WRITE(HEAP_DUMP_INFO, HEAP_DUMP_INFO)
        WRITE(ROOT_INTERNED_STRING, ROOT_OBJECT)
        WRITE(ROOT_FINALIZING, ROOT_OBJECT)
        WRITE(ROOT_DEBUGGER, ROOT_OBJECT)
        WRITE(ROOT_REFERENCE_CLEANUP, ROOT_OBJECT)
        WRITE(ROOT_VM_INTERNAL, ROOT_OBJECT)
        WRITE(ROOT_JNI_MONITOR, ROOT_JNI_MONITOR)
        WRITE(ROOT_UNREACHABLE, ROOT_OBJECT)
        WRITE(PRIMITIVE_ARRAY_NODATA, PRIMITIVE_ARRAY_NODATA)
#undef WRITE
    }
}
