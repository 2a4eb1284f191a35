/* See repair_survey.h. */
#include "repair/repair_survey.h"

#include <string.h>

#include "format/tags.h"

/* Strings that matter. */
enum text_kind { TEXT_OTHER, TEXT_OBJECT, TEXT_ARRAY /* and the element type */ };

/* ---- Names and stack traces ---- */

static void name(struct survey *v, uint64_t id, enum named_kind kind, uint64_t class_id)
{
    if (!id || keymap_get(&v->strings, id, NULL) || !keymap_add(&v->named, id, 0, &(uint64_t){0}))
        return;
    if (memory_grow(&v->r->memory, (void **)&v->names, &v->name_capacity, v->name_count + 1, sizeof *v->names))
        v->names[v->name_count++] = (struct named){id, class_id, kind};
}

static void add_number(struct survey *v, struct named_numbers *to, uint64_t number)
{
    if (memory_grow(&v->r->memory, (void **)&to->at, &to->capacity, to->count + 1, sizeof *to->at))
        to->at[to->count++] = number;
}

/* A number that a record defines may be named before. */
static void name_number(struct survey *v, struct keymap *seen, struct named_numbers *named, uint64_t number)
{
    if (number && keymap_add(seen, number, 0, &(uint64_t){0}))
        add_number(v, named, number);
}

static void use_trace(struct survey *v, uint32_t serial)
{
    if (serial == v->last_trace)
        return;
    v->last_trace = serial;
    if (!serial || keymap_get(&v->traces, serial, NULL) || !keymap_add(&v->used_traces, serial, 0, &(uint64_t){0}))
        return;
    if (memory_grow(&v->r->memory, (void **)&v->trace_serials, &v->trace_capacity, v->trace_count + 1,
                    sizeof *v->trace_serials))
        v->trace_serials[v->trace_count++] = serial;
}

static bool is_text(struct cursor c, const char *text)
{
    size_t n = strlen(text);

    return (size_t)(c.end - c.at) == n && memcmp(c.at, text, n) == 0;
}

static uint64_t kind_of_string(struct cursor c)
{
    static const char *const java[] = {"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"};
    static const char *const words[] = {"boolean[]", "char[]", "float[]", "double[]", "byte[]", "short[]", "int[]", "long[]"};

    if (is_text(c, "java/lang/Object") || is_text(c, "java.lang.Object"))
        return TEXT_OBJECT;
    for (unsigned i = 0; i < 8; i++)
        if (is_text(c, java[i]) || is_text(c, words[i]))
            return (uint64_t)TEXT_ARRAY + (uint64_t)TYPE_BOOLEAN + i;
    return TEXT_OTHER;
}

static void read_load_class(struct survey *v, const struct LOAD_CLASS *load)
{
    struct seen_class *c = survey_find_class(v, load->class_id);
    uint64_t kind = TEXT_OTHER;

    keymap_put(&v->serials, load->class_serial, 1);
    use_trace(v, load->trace_serial);
    name(v, load->name, NAMED_CLASS, load->class_id);
    keymap_get(&v->strings, load->name, &kind);
    if (c)
        c->is_loaded = true;
    if (kind == TEXT_OBJECT && !v->object_class)
        v->object_class = load->class_id;
    else if (kind > TEXT_ARRAY && !v->array_classes[kind - TEXT_ARRAY])
        v->array_classes[kind - TEXT_ARRAY] = load->class_id;
}

/* `c` are the first bytes of the record, `size` is its size. */
static void read_record(struct survey *v, struct cursor c, uint64_t size)
{
    const uint8_t *tag = cursor_take(&c, RECORD_HEADER_SIZE);
    const unsigned i = v->r->id_size;
    struct LOAD_CLASS load;
    struct FRAME frame;
    struct TRACE trace;
    struct START_THREAD start;
    struct UTF8 string;
    uint64_t other;

    if (*tag == TAG_UTF8 && read_UTF8(&c, i, &string))
        keymap_put(&v->strings, string.id, size < 64 ? kind_of_string(c) : TEXT_OTHER);
    else if (*tag == TAG_LOAD_CLASS && read_LOAD_CLASS(&c, i, &load))
        read_load_class(v, &load);
    else if (*tag == TAG_FRAME && read_FRAME(&c, i, &frame)) {
        name(v, frame.method, NAMED_OTHER, 0);
        name(v, frame.signature, NAMED_SIGNATURE, 0);
        name(v, frame.source, NAMED_OTHER, 0);
        name_number(v, &v->serials, &v->named_serials, frame.class_serial);
        keymap_put(&v->frames, frame.id, 1);
    } else if (*tag == TAG_TRACE && read_TRACE(&c, i, &trace)) {
        keymap_put(&v->traces, trace.trace_serial, 0);
        if (trace.thread_serial && !keymap_add(&v->traces_of_threads, trace.thread_serial, trace.trace_serial, &other))
            keymap_put(&v->traces_of_threads, trace.thread_serial, other == trace.trace_serial ? other : 0);
        for (const uint8_t *id; trace.frames-- && (id = cursor_take(&c, i));)
            name_number(v, &v->frames, &v->named_frames, get_id(id, i));
    } else if (*tag == TAG_START_THREAD && read_START_THREAD(&c, i, &start)) {
        use_trace(v, start.trace_serial);
        keymap_add(&v->thread_traces, start.trace_serial, start.thread_serial, &(uint64_t){0});
        name(v, start.name, NAMED_OTHER, 0);
        name(v, start.group, NAMED_OTHER, 0);
        name(v, start.parent_group, NAMED_OTHER, 0);
    }
}

/* ---- Sub-records ---- */

static void read_class(struct survey *v, struct cursor c)
{
    const unsigned i = v->r->id_size;
    struct CLASS_DUMP dump;
    struct seen_class *class, *super;
    const uint8_t *p;
    struct entry e;
    uint64_t own = 0;

    if (!read_CLASS_DUMP(&c, i, &dump))
        return;
    use_trace(v, dump.trace_serial);
    p = c.at;
    for (uint16_t n = read_count(&p); n; n--)
        read_entry(&p, SIZE_OF(CONSTANT, i), i, &e);
    for (uint16_t n = read_count(&p); n; n--) {
        read_entry(&p, SIZE_OF(STATIC_FIELD, i), i, &e);
        name(v, get_id(e.head, i), NAMED_OTHER, 0);
    }
    for (uint16_t n = read_count(&p); n; n--, p += SIZE_OF(INSTANCE_FIELD, i)) {
        name(v, get_id(p, i), NAMED_OTHER, 0);
        own += type_size(p[i], i);
    }
    super = survey_touch_class(v, dump.super_id);
    if (super) {
        super->is_used = true;
        super->subclasses++;
    }
    class = survey_touch_class(v, dump.class_id);
    if (!class || class->is_here)
        return;
    class->at = v->r->in.offset;
    class->super = dump.super_id;
    class->own = own;
    class->declared = dump.instance_size;
    class->is_here = class->is_dumped = true;
}

static void read_object(struct survey *v, struct cursor c)
{
    const unsigned i = v->r->id_size;
    const uint8_t *tag = cursor_take(&c, 1);
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;
    struct PRIMITIVE_ARRAY_DUMP values;
    struct seen_class *class;

    if (*tag == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, i, &instance)) {
        survey_note_id(v, instance.object_id);
        use_trace(v, instance.trace_serial);
        class = survey_touch_class(v, instance.class_id);
        if (class) {
            vote(&class->size, instance.bytes, 1);
            class->is_used = class->has_instances = true;
            class->instances++;
        }
    } else if (*tag == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&c, i, &objects)) {
        survey_note_id(v, objects.object_id);
        use_trace(v, objects.trace_serial);
        class = survey_touch_class(v, objects.class_id);
        if (class) {
            class->is_used = true;
            class->arrays++;
        }
    } else if (*tag == SUB_PRIMITIVE_ARRAY_DUMP && read_PRIMITIVE_ARRAY_DUMP(&c, i, &values)) {
        survey_note_id(v, values.object_id);
        use_trace(v, values.trace_serial);
        v->array_types |= 1U << values.type;
        v->primitive_arrays[values.type]++;
    }
}

/* The present heap dump has a root of this thread. */
static void use_thread(struct survey *v, uint32_t serial)
{
    uint64_t used_in = 0, defined_in = 0;

    if (!serial || (keymap_get(&v->threads, serial, &defined_in) && defined_in == v->r->heap_dump) ||
        (keymap_get(&v->rooted_threads, serial, &used_in) && used_in == v->r->heap_dump))
        return;
    keymap_put(&v->rooted_threads, serial, v->r->heap_dump);
    add_number(v, &v->dump_threads, serial);
}

/* The stack trace of a thread has at least the frames that roots name. */
static void read_root(struct survey *v, struct cursor c)
{
    const unsigned i = v->r->id_size;
    const uint8_t *tag = cursor_take(&c, 1);
    struct ROOT_THREAD_OBJECT thread;
    struct ROOT_FRAME root;
    uint64_t depth = 0, trace;

    if (is_root_of_thread(*tag) && (size_t)(c.end - c.at) >= i + 4)
        use_thread(v, get_u4(c.at + i));
    if (*tag == SUB_ROOT_THREAD_OBJECT && read_ROOT_THREAD_OBJECT(&c, i, &thread)) {
        use_trace(v, thread.trace_serial);
        keymap_put(&v->thread_traces, thread.trace_serial, thread.thread_serial);
        keymap_put(&v->threads, thread.thread_serial, v->r->heap_dump);
        if (thread.object_id && keymap_get(&v->traces_of_threads, thread.thread_serial, &trace) && trace) {
            v->traces_agree |= trace == thread.trace_serial;
            v->traces_differ |= trace != thread.trace_serial;
        }
    } else if ((*tag == SUB_ROOT_JAVA_FRAME || *tag == SUB_ROOT_JNI_LOCAL) && read_ROOT_FRAME(&c, i, &root) &&
               root.frame >= 0 && root.frame < SURVEY_DEPTH_MOST) {
        keymap_get(&v->depths, root.thread_serial, &depth);
        if ((uint64_t)root.frame >= depth)
            keymap_put(&v->depths, root.thread_serial, (uint64_t)root.frame + 1);
    }
}

/* ---- Reading the copy ---- */

static struct cursor next_bytes(struct input *in, size_t most)
{
    size_t n = input_need(in, most);

    return (struct cursor){in->at, in->at + (n < most ? n : most)};
}

/* Objects in memory. */
static void read_objects(struct survey *v, uint64_t end)
{
    struct input *in = &v->r->in;
    const uint64_t left = end - in->offset;
    const uint8_t *p = in->at, *until = left < (size_t)(in->end - p) ? p + left : in->end;

    for (struct measure m; is_whole_object(p, until, v->r->id_size, &m); p += m.size)
        read_object(v, (struct cursor){p, p + m.size});
    input_advance(in, (size_t)(p - in->at));
}

static bool read_heap(struct survey *v, uint64_t end)
{
    struct repair *r = v->r;
    struct measure m;

    while (r->in.offset < end && input_need(&r->in, 1)) {
        read_objects(v, end);
        if (r->in.offset == end)
            break;
        if (!repair_measure_next(r, &m))
            return false;
        if (*r->in.at == SUB_CLASS_DUMP && input_need(&r->in, (size_t)m.size) >= m.size)
            read_class(v, (struct cursor){r->in.at + 1, r->in.at + m.size});
        else if (*r->in.at >= SUB_INSTANCE_DUMP && *r->in.at <= SUB_PRIMITIVE_ARRAY_DUMP)
            read_object(v, next_bytes(&r->in, 64));
        else
            read_root(v, next_bytes(&r->in, 64));
        input_skip(&r->in, m.size);
    }
    return true;
}

/* The next pass leaves them out: the heap dump lacks them. Whether there are any. */
static bool lose_classes_left_out(struct survey *v)
{
    bool are_some = false;

    for (size_t i = 0; i < v->touched_count; i++) {
        struct seen_class *c = &v->classes[v->touched[i]];

        are_some |= c->is_left_out;
        c->is_here &= !c->is_left_out;
        c->is_dumped &= !c->is_left_out;
        c->is_resolved = false;
        c->chain = 0;
    }
    return are_some;
}

static void end_heap_dump(struct survey *v)
{
    if (!v->only_doubts || (doubt_classes(v) && lose_classes_left_out(v)))
        survey_end_heap_dump(v);
    v->touched_count = v->dump_threads.count = 0;
    v->array_types = 0;
}

static bool read_copy(struct survey *v)
{
    struct repair *r = v->r;
    bool is_series = false;

    r->heap_dump = 0;
    input_skip(&r->in, HEADER_SIZE);
    while (!r->memory.exhausted && input_need(&r->in, RECORD_HEADER_SIZE) >= RECORD_HEADER_SIZE) {
        uint8_t tag = *r->in.at;
        uint64_t length = get_u4(r->in.at + RECORD_LENGTH_AT), most;

        if (!r->in.offset || r->in.offset == HEADER_SIZE)
            v->time = get_u4(r->in.at + RECORD_TIME_AT);
        if (is_heap_dump_record(tag)) {
            if (!is_series && r->heap_dump)
                end_heap_dump(v);
            r->heap_dump += !is_series;
            is_series |= tag == TAG_HEAP_DUMP_SEGMENT;
            input_skip(&r->in, RECORD_HEADER_SIZE);
            if (!read_heap(v, r->in.offset + length))
                return true; /* the next check says what is wrong here */
            continue;
        }
        is_series &= tag != TAG_HEAP_DUMP_END;
        most = tag == TAG_TRACE ? LONGEST_SEEN : 64;
        read_record(v, next_bytes(&r->in, RECORD_HEADER_SIZE + (size_t)(length < most ? length : most)),
                    RECORD_HEADER_SIZE + length);
        input_skip(&r->in, RECORD_HEADER_SIZE + length);
    }
    if (r->heap_dump)
        end_heap_dump(v);
    return !r->in.error && !r->memory.exhausted;
}

/* Reads the copy, which is the input, and then makes what it lacks. */
static bool survey(struct repair *r, bool only_doubts)
{
    enum { FIELDS_LEAST = 1 << 12, BYTES_FOR_A_FIELD = 16 };
    struct survey v = {.r = r,
                       .only_doubts = only_doubts,
                       .frames_left = SURVEY_FRAMES_MOST,
                       .fields_left = FIELDS_LEAST + r->written / BYTES_FOR_A_FIELD};
    struct keymap *maps[] = {&v.class_index, &v.strings,       &v.named,  &v.serials,           &v.traces,  &v.used_traces,
                             &v.depths,      &v.thread_traces, &v.frames, &v.traces_of_threads, &v.threads, &v.rooted_threads};
    bool is_read;

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        keymap_init(maps[i], &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    is_read = read_copy(&v);
    if (is_read && !only_doubts)
        misfits_decide(&v);
    if (is_read && (!only_doubts || r->stand_ins.dump_count))
        survey_make_definitions(&v);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        keymap_clear(maps[i]);
    memory_put(&r->memory, v.classes, v.class_capacity * sizeof *v.classes);
    memory_put(&r->memory, v.touched, v.touched_capacity * sizeof *v.touched);
    memory_put(&r->memory, v.names, v.name_capacity * sizeof *v.names);
    memory_put(&r->memory, v.named_serials.at, v.named_serials.capacity * sizeof *v.named_serials.at);
    memory_put(&r->memory, v.named_frames.at, v.named_frames.capacity * sizeof *v.named_frames.at);
    memory_put(&r->memory, v.dump_threads.at, v.dump_threads.capacity * sizeof *v.dump_threads.at);
    memory_put(&r->memory, v.trace_serials, v.trace_capacity * sizeof *v.trace_serials);
    memory_put(&r->memory, v.field_names, v.field_name_capacity * sizeof *v.field_names);
    return is_read && !r->memory.exhausted;
}

bool stand_ins_make(struct repair *r)
{
    stand_ins_clear(r);
    r->stand_ins.rounds++;
    return survey(r, false);
}

bool doubt_find_classes(struct repair *r)
{
    stand_ins_clear(r);
    return survey(r, true);
}
