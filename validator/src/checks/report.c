/* Reports a finding: counts it, and if it is kept, writes its path and texts with names resolved. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "checks/checker.h"
#include "format/class_name.h"

enum { TEXT_SIZE = 1024 };

const char *show_class_after(const struct file *file, uint64_t class_id, char *to, size_t size)
{
    enum { PARENTHESES = 3 }; /* " (" and ")" */
    const struct class *class = classes_find(&file->classes, class_id);

    to[0] = to[2] = '\0';
    if (class && class->named) {
        strings_show(&file->strings, class->name, to + 2, size - PARENTHESES);
        show_class_name(to + 2, size - PARENTHESES);
    }
    if (to[2]) {
        memcpy(to, " (", 2);
        strcat(to, ")");
    }
    return to;
}

const char *show_class_dump(const struct file *file, uint64_t class_id, char *to, size_t size)
{
    size_t n = (size_t)snprintf(to, size, "CLASS_DUMP 0x%" PRIx64, class_id);

    show_class_after(file, class_id, to + n, size - n);
    return to;
}

/* Writes the present sub-record as "INSTANCE_DUMP 0x7ff0a8 (java.lang.String)". */
static void show_subrecord(const struct checker *ck, char *to, size_t size)
{
    const uint8_t *p = ck->position->sub;
    unsigned tag = p[0];
    const char *name = hprof_subrecord_name(p[0]);
    uint64_t id, class_id = 0;
    char class_name[NAME_SIZE];

    if (!name) {
        snprintf(to, size, "sub-record 0x%02x", tag);
        return;
    }
    if (tag == SUB_HEAP_DUMP_INFO || ck->position->sub_size < 1 + (size_t)ck->file->id_size) {
        snprintf(to, size, "%s", name);
        return;
    }
    id = get_id(p + 1, ck->file->id_size);
    if (tag == SUB_CLASS_DUMP)
        class_id = id;
    else if (tag == SUB_INSTANCE_DUMP && ck->position->sub_size >= 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size))
        class_id = get_id(p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, ck->file->id_size), ck->file->id_size);
    else if (tag == SUB_OBJECT_ARRAY_DUMP && ck->position->sub_size >= 1 + SIZE_OF(OBJECT_ARRAY_DUMP, ck->file->id_size))
        class_id = get_id(p + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, ck->file->id_size), ck->file->id_size);
    snprintf(to, size, "%s 0x%" PRIx64 "%s", name, id,
             class_id ? show_class_after(ck->file, class_id, class_name, sizeof class_name) : "");
}

/* Writes the path of a finding: "HEAP_DUMP_SEGMENT #3 > INSTANCE_DUMP 0x7ff0a8 (java.lang.String)". */
static void show_path(const struct checker *ck, uint64_t offset, char *to, size_t size)
{
    const char *record = hprof_record_name(ck->position->record_tag);
    uint64_t number = ck->position->record_number;
    bool is_segment = false;
    int n = 0;

    snprintf(to, size, "%s", ck->file->id_size ? "" : "header");
    if (ck->position->sub) { /* if it waited for its class, the present record is another one; none, if its header was lost */
        number = heap_index_find(&ck->file->heap_index, offset, &is_segment);
        record = is_segment ? "HEAP_DUMP_SEGMENT" : "HEAP_DUMP";
    }
    if (number && record)
        n = snprintf(to, size, "%s #%" PRIu64, record, number);
    else if (number)
        n = snprintf(to, size, "record 0x%02x", ck->position->record_tag);
    if (n && ck->position->sub)
        n += snprintf(to + n, size - (size_t)n, " > ");
    if (ck->position->sub)
        show_subrecord(ck, to + n, size - (size_t)n);
}

static void describe(const struct checker *ck, struct finding *f, const char *path, const char *expected, const char *format,
                     va_list values)
{
    char found[TEXT_SIZE];

    vsnprintf(found, sizeof found, format, values);
    findings_describe(&ck->run->findings, f, path, expected, found);
}

/* ---- Findings ---- */

struct finding *report_shape(const struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t offset,
                             const char *expected, const char *found, ...)
{
    uint64_t at = ck->position->sub ? jumps_offset(&ck->file->jumps, offset) : offset;
    struct finding *f = findings_count(&ck->run->findings, rule, shape, at);
    char path[TEXT_SIZE];
    va_list values;

    if (f) {
        show_path(ck, at, path, sizeof path);
        va_start(values, found);
        describe(ck, f, path, expected, found, values);
        va_end(values);
    }
    return f;
}

struct finding *report_late(const struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t order,
                            const char *path, const char *expected, const char *found, ...)
{
    struct finding *f = findings_count(&ck->run->findings, rule, shape, order);
    va_list values;

    if (f) {
        va_start(values, found);
        describe(ck, f, path, expected, found, values);
        va_end(values);
    }
    return f;
}

struct finding *report_within(const struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t offset,
                              const char *within, const char *expected, const char *found, ...)
{
    uint64_t at = jumps_offset(&ck->file->jumps, offset);
    struct finding *f = findings_count(&ck->run->findings, rule, shape, at);
    char path[TEXT_SIZE];
    uint64_t number;
    bool is_segment;
    va_list values;

    if (f) {
        number = heap_index_find(&ck->file->heap_index, at, &is_segment);
        if (number)
            snprintf(path, sizeof path, "%s #%" PRIu64 " > %s", is_segment ? "HEAP_DUMP_SEGMENT" : "HEAP_DUMP", number, within);
        va_start(values, found);
        describe(ck, f, number ? path : within, expected, found, values);
        va_end(values);
    }
    return f;
}
