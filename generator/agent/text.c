/* format=a: lines for people, which conformance/producers/agent8/TEXT.md describes. */
#include <string.h>
#include <time.h>

#include "control.h"
#include "names.h"
#include "output.h"
#include "tags.h"
#include "text.h"
#include "vm.h"
#include "writer.h"

static struct out *spool; /* of a heap dump, whose first line says how large it is */
static uint64_t dumped_objects, dumped_bytes;

static void put_text(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

/* A line holds a name whole, and no name makes a second line. Parentheses are escaped where they have a meaning. */
static void put_part(struct out *out, const char *name, size_t size, bool escapes_parentheses)
{
    for (const char *end = name + size; name < end;) {
        const char *from = name;
        while (name < end && (unsigned char)*name >= ' ' && !(escapes_parentheses && (*name == '(' || *name == ')')))
            name++;
        out_bytes(out, from, (size_t)(name - from));
        if (name < end) {
            out_format(out, *name == '\n' ? "\\n" : *name == '\t' ? "\\t" : "\\x%02x", (unsigned)*name);
            name++;
        }
    }
}

static void put_name(struct out *out, const char *name)
{
    put_part(out, name, strlen(name), false);
}

static void put_without_parentheses(struct out *out, const char *name)
{
    put_part(out, name, strlen(name), true);
}

void text_put(const char *text)
{
    put_name(out_main(), text);
}

static void put_method(struct out *out, const struct method *method)
{
    put_name(out, method_class(method));
    put_text(out, ".");
    put_name(out, name_text(method->name));
}

void text_put_call(const struct method *method)
{
    struct out *out = out_main();
    put_without_parentheses(out, method_class(method));
    put_text(out, ".");
    put_without_parentheses(out, name_text(method->name));
    const char *descriptor = name_text(method->signature);
    for (size_t size; *descriptor; descriptor += size) {
        bool is_class = *descriptor == 'L';
        size = is_class ? strcspn(descriptor, ";") : 1;
        put_part(out, descriptor, size, is_class);
    }
}

void text_put_thread(uint32_t number)
{
    if (number)
        out_format(out_main(), "thread %u", thread_serial(number));
    else
        out_format(out_main(), "<unknown thread>");
}

static void put_date(struct out *out)
{
    time_t now = time(NULL);
    struct tm fields;
    localtime_r(&now, &fields);
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    out_format(out, "%.3s %.3s %2d %02d:%02d:%02d %d\n", days + 3 * fields.tm_wday, months + 3 * fields.tm_mon, fields.tm_mday,
               fields.tm_hour, fields.tm_min, fields.tm_sec, fields.tm_year + 1900);
}

static void write_start(void)
{
    out_format(out_main(), "JAVA PROFILE 1.0.1, created ");
    put_date(out_main());
    put_text(
        out_main(),
        "\n"
        "THREAD START and THREAD END: a thread with the ID of its object, its number, its name and its group.\n"
        "TRACE: a stack, innermost call first. Other lines name it by its number.\n"
        "HEAP DUMP: the roots, the objects and the classes, with their references. ROOT, OBJ, ARR and CLS begin with an ID;\n"
        "    sz is the size that the VM takes for the object, trace is where it was allocated. Fields that are null, and\n"
        "    values of primitive types, are left out.\n"
        "SITES: which classes were allocated at which trace: what lives, and what was allocated.\n"
        "CPU SAMPLES: how often a running thread was seen at a trace.\n"
        "CPU TIME: calls of a method, in the order of the time that they took without their callees. The code ran\n"
        "    interpreted: shares are not those of compiled code.\n"
        "MONITOR TIME: how long threads waited to enter monitors.\n"
        "MONITOR DUMP: the states of all threads, and who owns and awaits which monitor.\n"
        "\n");
    if (control_is_attached())
        put_text(out_main(),
                 "The agent was loaded into a running VM: objects of before have no trace, and each thread may have allocated\n"
                 "about 512 kB unseen.\n\n");
    put_text(out_main(), "--------\n\n");
    if (options.heap & HEAP_DUMP)
        out_spool();
}

static void write_thread_start(uint32_t number)
{
    struct thread *thread = thread_at(number);
    if (thread->is_agent || thread->is_start_written)
        return;
    thread->is_start_written = true;
    struct out *out = out_main();
    out_format(out, "THREAD START (obj=%" PRIx64 ", id = %u, name=\"", tags_id(thread->number), thread_serial(number));
    put_name(out, name_text(thread->name));
    put_text(out, "\", group=\"");
    put_name(out, name_text(thread->group));
    put_text(out, "\")\n");
}

void text_trace(uint32_t number)
{
    struct trace *trace = trace_at(number);
    if (trace->is_written)
        return;
    trace->is_written = true;
    if (trace->thread)
        write_thread_start(trace->thread - UNKNOWN_THREAD); /* its own event may still wait for the output */
    struct out *out = out_main();
    out_format(out, "TRACE %u:", trace_serial(number));
    if (trace->thread)
        out_format(out, " (thread=%u)", trace->thread);
    put_text(out, trace->depth ? "\n" : "\n\t<empty>\n");
    for (uint32_t i = 0; i < trace->depth; i++) {
        const struct frame *frame = frame_at(trace->frames[i]);
        const struct method *method = method_at(frame->method);
        put_text(out, "\t");
        put_method(out, method);
        put_text(out, "(");
        put_without_parentheses(out, method->source ? name_text(method->source) : "<Unknown Source>");
        if (frame->line >= 0)
            out_format(out, ":%d)\n", frame->line);
        else
            put_text(out, frame->line == LINE_NATIVE ? ":Native method)\n" : ":Unknown line)\n");
    }
}

static void write_traces(void)
{
    uint32_t count = trace_count();
    for (uint32_t i = 1; i <= count; i++)
        text_trace(i);
}

static void write_thread_end(uint32_t number)
{
    struct thread *thread = thread_at(number);
    if (!thread->is_start_written || thread->is_end_written)
        return;
    thread->is_end_written = true;
    out_format(out_main(), "THREAD END (id = %u)\n", thread_serial(number));
}

/* ---- heap dump */

static bool write_heap_begin(void)
{
    dumped_objects = dumped_bytes = 0;
    spool = out_spool();
    return spool != NULL;
}

static void write_root(const struct heap_root *root)
{
    static const struct {
        enum root kind;
        const char *name;
    } kinds[] = {{ROOT_UNKNOWN, "unknown"},           {ROOT_JNI_GLOBAL, "JNI global ref"}, {ROOT_JNI_LOCAL, "JNI local ref"},
                 {ROOT_JAVA_FRAME, "Java stack"},     {ROOT_STICKY_CLASS, "system class"}, {ROOT_THREAD_BLOCK, "thread block"},
                 {ROOT_MONITOR_USED, "busy monitor"}, {ROOT_THREAD_OBJECT, "thread"}};
    const char *name = "unknown";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == root->kind)
            name = kinds[i].name;
    out_format(spool, "ROOT %" PRIx64 " (kind=<%s>", tags_id(root->number), name);
    switch (root->kind) {
    case ROOT_JNI_GLOBAL:
        out_format(spool, ", id=%" PRIx64 ", trace=%u", root->reference, trace_serial(root->trace));
        break;
    case ROOT_JNI_LOCAL:
    case ROOT_JAVA_FRAME:
        out_format(spool, ", thread=%u, frame=%d", root->thread, root->frame);
        break;
    case ROOT_THREAD_BLOCK:
        out_format(spool, ", thread=%u", root->thread);
        break;
    case ROOT_THREAD_OBJECT:
        out_format(spool, ", id=%u, trace=%u", root->thread, trace_serial(root->trace));
        break;
    case ROOT_STICKY_CLASS:
        put_text(spool, ", name=");
        put_name(spool, name_text(class_at(root->class)->name));
        break;
    case ROOT_MONITOR_USED:
    case ROOT_UNKNOWN:
        break;
    }
    put_text(spool, ")\n");
}

static uint64_t read_id(const uint8_t *at)
{
    uint64_t id = 0;
    for (unsigned i = 0; i < tags_id_size(); i++)
        id = id << 8 | at[i];
    return id;
}

static void write_fields(const struct class *class, const uint8_t *values)
{
    for (; class; class = class->super ? class_at(class->super) : NULL) {
        for (uint32_t i = 0; i < class->field_count; i++) {
            const struct field *field = &class->fields[i];
            uint64_t id = field->is_static || field->type != TYPE_OBJECT ? 0 : read_id(values + field->offset);
            if (!id)
                continue;
            put_text(spool, "\t");
            put_name(spool, name_text(field->name));
            out_format(spool, strlen(name_text(field->name)) < 8 ? "\t\t%" PRIx64 "\n" : "\t%" PRIx64 "\n", id);
        }
        values += class->own_bytes;
    }
}

static void write_object(const struct heap_object *object)
{
    const struct class *class = object->class;
    bool is_array = class->kind == CLASS_OBJECT_ARRAY || class->kind == CLASS_PRIMITIVE_ARRAY;
    dumped_objects++;
    dumped_bytes += object->size;
    out_format(spool, "%s %" PRIx64 " (sz=%" PRIu64 ", trace=%u, ", is_array ? "ARR" : "OBJ", tags_id(object->number),
               object->size, trace_serial(object->trace));
    if (is_array)
        out_format(spool, "nelems=%" PRIu64 ", elem type=", object->length);
    else
        put_text(spool, "class=");
    put_name(spool, name_text(class->name));
    if (class->kind == CLASS_PRIMITIVE_ARRAY)
        put_text(spool, ")\n");
    else
        out_format(spool, "@%" PRIx64 ")\n", tags_id(class->number));
    if (class->kind == CLASS_INSTANCES && object->value_bytes)
        write_fields(class, object->values);
    if (class->kind != CLASS_OBJECT_ARRAY)
        return;
    for (uint64_t i = 0; i < object->value_bytes / tags_id_size(); i++) {
        uint64_t id = read_id(object->values + i * tags_id_size());
        if (id)
            out_format(spool, "\t[%" PRIu64 "]\t\t%" PRIx64 "\n", i, id);
    }
}

static void write_reference(const char *what, uint64_t number)
{
    if (number)
        out_format(spool, "\t%s\t\t%" PRIx64 "\n", what, tags_id(number));
}

static void write_class(uint32_t number, const struct class_values *values, uint64_t loader, uint32_t trace)
{
    const struct class *class = class_at(number);
    dumped_objects++;
    out_format(spool, "CLS %" PRIx64 " (name=", tags_id(class->number));
    put_name(spool, name_text(class->name));
    out_format(spool, ", trace=%u)\n", trace_serial(trace));
    write_reference("super", class->super ? class_at(class->super)->number : 0);
    write_reference("loader", loader);
    if (!values)
        return;
    write_reference("signers", values->signers);
    write_reference("domain", values->domain);
    for (uint32_t i = 0; values->statics && i < class->field_count; i++) {
        const struct field *field = &class->fields[i];
        uint64_t id = field->is_static && field->type == TYPE_OBJECT ? read_id(values->statics + field->offset) : 0;
        if (!id)
            continue;
        put_text(spool, "\tstatic ");
        put_name(spool, name_text(field->name));
        out_format(spool, "\t%" PRIx64 "\n", id);
    }
    for (uint32_t i = 0; i < values->constant_count; i++)
        out_format(spool, "\tconstant pool entry %u\t%" PRIx64 "\n", values->constants[i].index,
                   tags_id(values->constants[i].number));
}

static void write_heap_end(void)
{
    write_traces(); /* the program went on until the walk: its objects may have traces that are new */
    out_format(out_main(), "HEAP DUMP BEGIN (%" PRIu64 " objects, %" PRIu64 " bytes) ", dumped_objects, dumped_bytes);
    put_date(out_main());
    out_unspool(out_main());
    put_text(out_main(), "HEAP DUMP END\n");
    out_flush(out_main());
}

/* ---- tables */

/* With a point: the VM has set the locale of the user, in which printf may write a comma. */
static void put_percent(struct out *out, uint64_t part, uint64_t whole)
{
    unsigned hundredths = whole ? (unsigned)(10000.0 * (double)part / (double)whole + 0.5) : 0;
    out_format(out, "%2u.%02u%% ", hundredths / 100, hundredths % 100);
}

static void write_sites(const struct site_table *table, unsigned flags, double cutoff)
{
    (void)cutoff;
    struct out *out = out_main();
    write_traces();
    out_format(out, "SITES BEGIN (ordered by %s bytes) ", flags & SITES_BY_ALLOCATED ? "allocated" : "live");
    put_date(out);
    put_text(out, "          percent          live          alloc'ed  stack class\n"
                  " rank   self  accum     bytes objs     bytes  objs trace name\n");
    uint64_t total = table->total.live_bytes, sum = 0; /* of live bytes, whatever the order */
    for (uint32_t i = 0; i < table->count; i++) {
        const struct site_row *row = &table->rows[i];
        sum += row->live_bytes;
        out_format(out, "%5u ", i + 1);
        put_percent(out, row->live_bytes, total);
        put_percent(out, sum, total);
        out_format(out, "%9" PRIu64 " %4" PRIu64 " %9" PRIu64 " %5" PRIu64 " %u ", row->live_bytes, row->live,
                   row->allocated_bytes, row->allocated, trace_serial(row->trace));
        put_name(out, name_text(class_at(row->class)->name));
        put_text(out, options.sample ? " (estimate)\n" : "\n");
    }
    put_text(out, "SITES END\n");
    out_flush(out);
}

/* The text form has no block for it. */
static void write_summary(const struct site_row *total)
{
    (void)total;
}

static void write_samples(const struct sample_table *table)
{
    text_table("CPU SAMPLES", "", "method", table);
}

static void put_what(struct out *out, const struct sample_row *row)
{
    const struct trace *trace = trace_at(row->trace);
    if (row->class) {
        put_name(out, name_text(class_at(row->class)->name));
        put_text(out, " (Java)");
    } else if (trace->depth) {
        put_method(out, method_at(frame_at(trace->frames[0])->method));
    } else {
        put_text(out, "<empty trace>");
    }
}

void text_table(const char *block, const char *unit, const char *what, const struct sample_table *table)
{
    struct out *out = out_main();
    for (uint32_t i = 0; i < table->count; i++)
        text_trace(table->rows[i].trace);
    out_format(out, "%s BEGIN (total = %" PRIu64 "%s) ", block, table->total_shown, unit);
    put_date(out);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct sample_row *row = &table->rows[i];
        if (i == 0)
            out_format(out, "rank   self  accum   count trace %s\n", what);
        sum += row->weight;
        out_format(out, "%4u ", i + 1);
        put_percent(out, row->weight, table->total);
        put_percent(out, sum, table->total);
        out_format(out, "%7" PRIu64 " %u ", row->count, trace_serial(row->trace));
        put_what(out, row);
        put_text(out, "\n");
    }
    out_format(out, "%s END\n", block);
    out_flush(out);
}

static void class_loaded(uint32_t class)
{
    (void)class;
}

static void thread_started(uint32_t thread)
{
    out_lock();
    write_thread_start(thread);
    out_event();
    out_unlock();
}

static void thread_ended(uint32_t thread)
{
    out_lock();
    write_thread_end(thread);
    out_event();
    out_unlock();
}

const struct writer text_writer = {
    .start = write_start,
    .class_loaded = class_loaded,
    .thread_started = thread_started,
    .thread_ended = thread_ended,
    .traces = write_traces,
    .heap_begin = write_heap_begin,
    .heap_root = write_root,
    .heap_object = write_object,
    .heap_class = write_class,
    .heap_end = write_heap_end,
    .sites = write_sites,
    .summary = write_summary,
    .samples = write_samples,
};
