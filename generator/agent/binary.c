/* format=b: HPROF 1.0.1, or 1.0.2 for heaps whose dump might not fit into one record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "names.h"
#include "output.h"
#include "record_tags.h"
#include "store.h"
#include "tags.h"
#include "vm.h"
#include "writer.h"

enum { SEGMENT = 1 << 20, FLAG_ALLOC_TRACES = 1, FLAG_CPU_SAMPLING = 2 };

/* IDs of strings and frames begin elsewhere than those of objects. */
static const uint32_t first_string = 0xa0000000, first_frame = 0x70000000;

static int64_t started; /* nanoseconds */
static bool is_segmented;
static struct buffer body; /* of the record that is being made; of a segment, in a heap dump */
static struct out *spool;  /* of a heap dump that is one record */

/* ---- numbers */

static void put_id(struct buffer *to, uint64_t id)
{
    buffer_put(to, id, tags_id_size());
}

static void put_object(struct buffer *to, uint64_t number)
{
    put_id(to, tags_id(number));
}

static void put_name(struct buffer *to, uint32_t name)
{
    put_id(to, name ? first_string + name : 0);
}

/* ---- records */

static void write_buffer(struct out *out, const struct buffer *buffer)
{
    if (buffer->has_failed)
        out_fail_memory(out);
    out_bytes(out, buffer->data, buffer->size);
}

static void write_head(struct out *out, unsigned tag, uint64_t size)
{
    uint8_t bytes[9];
    struct buffer head = {.data = bytes, .room = sizeof bytes};
    buffer_put(&head, tag, 1);
    buffer_put(&head, (uint64_t)(vm_now() - started) / 1000, 4);
    buffer_put(&head, size, 4);
    write_buffer(out, &head);
}

static void write_record(unsigned tag, struct buffer *record)
{
    write_head(out_main(), tag, record->size);
    write_buffer(out_main(), record);
    free(record->data);
}

static void write_name(uint32_t number)
{
    struct name *name = number ? name_at(number) : NULL;
    if (!name || name->is_written)
        return;
    name->is_written = true;
    struct buffer record = {0};
    put_name(&record, number);
    buffer_put_bytes(&record, name->text, name->size);
    write_record(TAG_UTF8, &record);
}

static void write_class(uint32_t number)
{
    struct class *class = class_at(number);
    if (class->is_load_written || class->kind == CLASS_PRIMITIVE)
        return;
    class->is_load_written = true;
    write_name(class->name);
    struct buffer record = {0};
    buffer_put(&record, class_serial(number), 4);
    put_object(&record, class->number);
    buffer_put(&record, trace_serial(EMPTY_TRACE), 4);
    put_name(&record, class->name);
    write_record(TAG_LOAD_CLASS, &record);
}

static void write_unloads(void)
{
    uint32_t count = class_count();
    for (uint32_t i = 1; i <= count; i++) {
        struct class *class = class_at(i);
        if (!class->is_load_written || class->is_unload_written || !class->is_unloaded)
            continue;
        class->is_unload_written = true;
        struct buffer record = {0};
        buffer_put(&record, class_serial(i), 4);
        write_record(TAG_UNLOAD_CLASS, &record);
    }
}

static void write_frame(uint32_t number)
{
    struct frame *frame = frame_at(number);
    if (frame->is_written)
        return;
    frame->is_written = true;
    const struct method *method = method_at(frame->method);
    write_name(method->name);
    write_name(method->signature);
    write_name(method->source);
    write_class(method->class);
    struct buffer record = {0};
    put_id(&record, first_frame + number);
    put_name(&record, method->name);
    put_name(&record, method->signature);
    put_name(&record, method->source);
    buffer_put(&record, class_serial(method->class), 4);
    buffer_put(&record, (uint32_t)frame->line, 4);
    write_record(TAG_FRAME, &record);
}

static void write_thread_start(uint32_t number)
{
    struct thread *thread = thread_at(number);
    if (thread->is_agent || thread->is_start_written)
        return;
    thread->is_start_written = true;
    write_name(thread->name);
    write_name(thread->group);
    write_name(thread->parent);
    struct buffer record = {0};
    buffer_put(&record, thread_serial(number), 4);
    put_object(&record, thread->number);
    buffer_put(&record, trace_serial(EMPTY_TRACE), 4);
    put_name(&record, thread->name);
    put_name(&record, thread->group);
    put_name(&record, thread->parent);
    write_record(TAG_START_THREAD, &record);
}

static void write_trace(uint32_t number)
{
    struct trace *trace = trace_at(number);
    if (trace->is_written)
        return;
    trace->is_written = true;
    if (trace->thread)
        write_thread_start(trace->thread - UNKNOWN_THREAD); /* its own event may still wait for the output */
    for (uint32_t i = 0; i < trace->depth; i++)
        write_frame(trace->frames[i]);
    struct buffer record = {0};
    buffer_put(&record, trace_serial(number), 4);
    buffer_put(&record, trace->thread, 4);
    buffer_put(&record, trace->depth, 4);
    for (uint32_t i = 0; i < trace->depth; i++)
        put_id(&record, first_frame + trace->frames[i]);
    write_record(TAG_TRACE, &record);
}

static void write_start(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t milliseconds = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    started = vm_now();
    is_segmented = vm_heap_size() >= 2000000000;
    const char *version = is_segmented ? "JAVA PROFILE 1.0.2" : "JAVA PROFILE 1.0.1";
    struct buffer head = {0}, settings = {0};
    buffer_put_bytes(&head, version, strlen(version) + 1);
    buffer_put(&head, tags_id_size(), 4);
    buffer_put(&head, milliseconds, 8);
    write_buffer(out_main(), &head);
    free(head.data);
    buffer_put(&settings, (options.heap ? FLAG_ALLOC_TRACES : 0u) | (options.samples ? FLAG_CPU_SAMPLING : 0u), 4);
    buffer_put(&settings, options.depth, 2);
    write_record(TAG_CONTROL_SETTINGS, &settings);
    write_trace(EMPTY_TRACE);
    if (options.heap & HEAP_DUMP && !is_segmented)
        out_spool();
}

static void write_thread_end(uint32_t number)
{
    struct thread *thread = thread_at(number);
    if (!thread->is_start_written || thread->is_end_written)
        return;
    thread->is_end_written = true;
    struct buffer record = {0};
    buffer_put(&record, thread_serial(number), 4);
    write_record(TAG_END_THREAD, &record);
}

static void write_traces(void)
{
    uint32_t count = trace_count();
    for (uint32_t i = 1; i <= count; i++)
        write_trace(i);
}

/* ---- heap dump */

static void finish_segment(void)
{
    if (!is_segmented) {
        write_buffer(spool, &body);
    } else if (body.size) {
        write_head(out_main(), TAG_HEAP_DUMP_SEGMENT, body.size);
        write_buffer(out_main(), &body);
    }
    body.size = 0;
}

/* Room for a sub-record of `size` bytes, which are then put; large values follow by themselves. */
static void begin_subrecord(uint64_t size)
{
    if (body.size + size > SEGMENT)
        finish_segment();
}

/* What cannot be within a heap dump. The event of a class may still wait for the output in another thread. */
static void write_classes(void)
{
    uint32_t count = class_count();
    for (uint32_t i = 1; i <= count; i++) {
        const struct class *class = class_at(i);
        write_class(i);
        for (uint32_t k = 0; k < class->field_count; k++)
            write_name(class->fields[k].name);
    }
}

static bool write_heap_begin(void)
{
    write_unloads();
    write_classes();
    spool = is_segmented ? NULL : out_spool();
    body.size = 0;
    return is_segmented || spool;
}

static void write_root(const struct heap_root *root)
{
    begin_subrecord(64);
    buffer_put(&body, root->kind, 1);
    put_object(&body, root->number);
    switch (root->kind) {
    case ROOT_JNI_GLOBAL:
        put_id(&body, root->reference);
        break;
    case ROOT_JNI_LOCAL:
    case ROOT_JAVA_FRAME:
        buffer_put(&body, root->thread, 4);
        buffer_put(&body, (uint32_t)root->frame, 4);
        break;
    case ROOT_THREAD_BLOCK:
        buffer_put(&body, root->thread, 4);
        break;
    case ROOT_THREAD_OBJECT:
        buffer_put(&body, root->thread, 4);
        buffer_put(&body, trace_serial(root->trace), 4);
        break;
    case ROOT_STICKY_CLASS:
    case ROOT_MONITOR_USED:
    case ROOT_UNKNOWN:
        break;
    }
}

/* An array has as many elements as a segment can hold, whose length has 4 bytes. */
static struct heap_object cut_to_segment(const struct heap_object *object, unsigned head)
{
    struct heap_object cut = *object;
    if (object->value_bytes > UINT32_MAX - head) {
        uint64_t width = object->value_bytes / object->length;
        cut.length = (UINT32_MAX - head) / width;
        cut.value_bytes = cut.length * width;
        say("HPROF WARNING: an array of %" PRIu64 " elements is cut to %" PRIu64 ": a segment holds less than 4 GiB",
            object->length, cut.length);
    }
    return cut;
}

/* Values that are larger than a segment are not copied once more. */
static void put_values(const struct heap_object *object, uint64_t head)
{
    if (object->value_bytes + head <= SEGMENT) {
        buffer_put_bytes(&body, object->values, object->value_bytes);
        return;
    }
    struct out *to = is_segmented ? out_main() : spool;
    if (is_segmented)
        write_head(to, TAG_HEAP_DUMP_SEGMENT, body.size + object->value_bytes);
    write_buffer(to, &body);
    out_bytes(to, object->values, object->value_bytes);
    body.size = 0;
}

/* The program went on until the walk: a trace may be new. It precedes the record or segment that is being made. */
static void write_object(const struct heap_object *whole)
{
    static const unsigned tags[] = {TAG_INSTANCE_DUMP, TAG_OBJECT_ARRAY_DUMP, TAG_PRIMITIVE_ARRAY_DUMP, TAG_INSTANCE_DUMP};
    const struct class *class = whole->class;
    unsigned tag = tags[class->kind], id = tags_id_size(), head = 1 + id + 4 + 4 + (tag == TAG_PRIMITIVE_ARRAY_DUMP ? 1 : id);
    const struct heap_object cut = cut_to_segment(whole, head), *object = &cut;
    write_trace(object->trace);
    begin_subrecord(head + object->value_bytes);
    buffer_put(&body, tag, 1);
    put_object(&body, object->number);
    buffer_put(&body, trace_serial(object->trace), 4);
    if (tag != TAG_INSTANCE_DUMP)
        buffer_put(&body, object->length, 4);
    if (tag == TAG_PRIMITIVE_ARRAY_DUMP)
        buffer_put(&body, class->element, 1);
    else
        put_object(&body, class->number);
    if (tag == TAG_INSTANCE_DUMP)
        buffer_put(&body, object->value_bytes, 4);
    put_values(object, head);
}

static void put_fields(struct buffer *to, const struct class *class, bool is_static, const uint8_t *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < class->field_count; i++)
        count += class->fields[i].is_static == is_static;
    buffer_put(to, count, 2);
    for (uint32_t i = 0; i < class->field_count; i++) {
        const struct field *field = &class->fields[i];
        if (field->is_static != is_static)
            continue;
        put_name(to, field->name);
        buffer_put(to, field->type, 1);
        if (is_static && values)
            buffer_put_bytes(to, values + field->offset, type_size(field->type));
        else if (is_static)
            buffer_put(to, 0, type_size(field->type));
    }
}

static void write_class_dump(uint32_t number, const struct class_values *values, uint64_t loader, uint32_t trace)
{
    static const struct class_values nothing;
    const struct class *class = class_at(number);
    values = values ? values : &nothing;
    write_trace(trace);
    struct buffer record = {0};
    buffer_put(&record, TAG_CLASS_DUMP, 1);
    put_object(&record, class->number);
    buffer_put(&record, trace_serial(trace), 4);
    put_object(&record, class->super ? class_at(class->super)->number : 0);
    put_object(&record, loader);
    put_object(&record, values->signers);
    put_object(&record, values->domain);
    put_id(&record, 0);
    put_id(&record, 0);
    buffer_put(&record, class->kind == CLASS_INSTANCES ? class->total_bytes : 0, 4);
    buffer_put(&record, values->constant_count, 2);
    for (uint32_t i = 0; i < values->constant_count; i++) {
        buffer_put(&record, values->constants[i].index, 2);
        buffer_put(&record, TYPE_OBJECT, 1);
        put_object(&record, values->constants[i].number);
    }
    put_fields(&record, class, true, values->statics);
    put_fields(&record, class, false, NULL);
    begin_subrecord(record.size);
    buffer_put_bytes(&body, record.data, record.size);
    body.has_failed |= record.has_failed;
    free(record.data);
}

static void write_heap_end(void)
{
    finish_segment();
    if (is_segmented) {
        write_head(out_main(), TAG_HEAP_DUMP_END, 0);
    } else {
        write_head(out_main(), TAG_HEAP_DUMP, out_size(spool));
        out_unspool(out_main());
    }
    free(body.data);
    body = (struct buffer){0};
    out_flush(out_main());
}

/* ---- tables */

static unsigned site_type(const struct class *class)
{
    if (class->kind == CLASS_PRIMITIVE_ARRAY)
        return class->element;
    return class->kind == CLASS_OBJECT_ARRAY ? TYPE_OBJECT : 0;
}

static void write_sites(const struct site_table *table, unsigned flags, double cutoff)
{
    write_unloads();
    for (uint32_t i = 0; i < table->count; i++) {
        write_trace(table->rows[i].trace);
        write_class(table->rows[i].class);
    }
    struct buffer record = {0};
    buffer_put(&record, flags, 2);
    buffer_put_float(&record, cutoff);
    buffer_put_most(&record, table->total.live_bytes);
    buffer_put_most(&record, table->total.live);
    buffer_put(&record, table->total.allocated_bytes, 8);
    buffer_put(&record, table->total.allocated, 8);
    buffer_put(&record, table->count, 4);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct site_row *row = &table->rows[i];
        buffer_put(&record, site_type(class_at(row->class)), 1);
        buffer_put(&record, class_serial(row->class), 4);
        buffer_put(&record, trace_serial(row->trace), 4);
        buffer_put_most(&record, row->live_bytes);
        buffer_put_most(&record, row->live);
        buffer_put_most(&record, row->allocated_bytes);
        buffer_put_most(&record, row->allocated);
    }
    write_record(TAG_ALLOC_SITES, &record);
    out_flush(out_main());
}

static void write_summary(const struct site_row *total)
{
    struct buffer record = {0};
    buffer_put_most(&record, total->live_bytes);
    buffer_put_most(&record, total->live);
    buffer_put(&record, total->allocated_bytes, 8);
    buffer_put(&record, total->allocated, 8);
    write_record(TAG_HEAP_SUMMARY, &record);
    out_flush(out_main());
}

static void write_samples(const struct sample_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        write_trace(table->rows[i].trace);
    struct buffer record = {0};
    buffer_put_most(&record, table->total_shown);
    buffer_put(&record, table->count, 4);
    for (uint32_t i = 0; i < table->count; i++) {
        buffer_put_most(&record, table->rows[i].count);
        buffer_put(&record, trace_serial(table->rows[i].trace), 4);
    }
    write_record(TAG_CPU_SAMPLES, &record);
    out_flush(out_main());
}

/* ---- under the lock of the output */

static void write_event(void (*write)(uint32_t number), uint32_t number)
{
    out_lock();
    write(number);
    out_event();
    out_unlock();
}

static void class_loaded(uint32_t class)
{
    write_event(write_class, class);
}

static void thread_started(uint32_t thread)
{
    write_event(write_thread_start, thread);
}

static void thread_ended(uint32_t thread)
{
    write_event(write_thread_end, thread);
}

const struct writer binary_writer = {
    .start = write_start,
    .class_loaded = class_loaded,
    .thread_started = thread_started,
    .thread_ended = thread_ended,
    .traces = write_traces,
    .heap_begin = write_heap_begin,
    .heap_root = write_root,
    .heap_object = write_object,
    .heap_class = write_class_dump,
    .heap_end = write_heap_end,
    .sites = write_sites,
    .summary = write_summary,
    .samples = write_samples,
};
