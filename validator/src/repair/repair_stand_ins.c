/* See repair.h. Stand-ins for names, classes, threads and stack traces that the copy lacks: objects are kept whose class is lost,
 * and roots whose thread is. They are all that a repair ever invents, and their names say so. repair_survey.c finds out what is
 * missing. */
#include "repair/repair_survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool stand_ins_fit(enum rule rule)
{
    switch ((int)rule) {
    case RULE_STR_006:
    case RULE_STK_006:
    case RULE_STK_010:
    case RULE_STK_012:
    case RULE_CLS_008:
    case RULE_CLS_010:
    case RULE_OBJ_002:
    case RULE_OBJ_003:
    case RULE_ROOT_003:
        return true;
    default:
        return false;
    }
}

static const char *const array_names[] = {
    [TYPE_BOOLEAN] = "boolean[]", "char[]", "float[]", "double[]", "byte[]", "short[]", "int[]", "long[]"};

struct arrays_found {
    const struct repair *r;
    unsigned types;
};

static void find_array_class(void *context, uint64_t class_id, uint64_t name)
{
    struct arrays_found *found = context;
    char text[NAME_ROOM];

    (void)name;
    if (!keymap_get(&found->r->dumped_classes, class_id, NULL) || !names_class(&found->r->names, class_id, text))
        return;
    for (unsigned type = TYPE_BOOLEAN; type <= TYPE_LONG; type++)
        if (strcmp(text, array_names[type]) == 0)
            found->types |= 1U << type;
}

/* Readers look the classes of primitive arrays up by name. */
static bool lacks_array_class(const struct repair *r)
{
    struct arrays_found found = {r, 0};

    if (!r->array_types || !r->has_names)
        return false;
    keymap_each(&r->names.classes, find_array_class, &found);
    return (r->array_types & ~found.types) != 0;
}

bool stand_ins_are_missing(const struct repair *r)
{
    return threads_are_missing(r) || lacks_array_class(r);
}

void stand_ins_clear(struct repair *r)
{
    struct stand_ins *s = &r->stand_ins;

    memory_put(&r->memory, s->definitions, s->definitions_capacity);
    memory_put(&r->memory, s->subrecords, s->subrecords_capacity);
    memory_put(&r->memory, s->dumps, s->dump_capacity * sizeof *s->dumps);
    *s = (struct stand_ins){.rounds = s->rounds};
}

/* ---- Making them ---- */

/* Bytes that are appended field by field. */
struct bytes {
    struct memory *memory;
    uint8_t **at;
    size_t *size, *capacity;
    unsigned id_size;
};

static void put_bytes(struct bytes *b, const void *bytes, size_t n)
{
    if (memory_grow(b->memory, (void **)b->at, b->capacity, *b->size + n, 1)) {
        memcpy(*b->at + *b->size, bytes, n);
        *b->size += n;
    }
}

static void put_int(struct bytes *b, uint64_t number, unsigned width)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < width; i++)
        bytes[i] = (uint8_t)(number >> (8 * (width - 1 - i)));
    put_bytes(b, bytes, width);
}

static void put_id(struct bytes *b, uint64_t id)
{
    put_int(b, id, b->id_size);
}

static void put_header(struct bytes *b, const struct survey *v, uint8_t tag, uint64_t length)
{
    put_int(b, tag, 1);
    put_int(b, v->time, 4);
    put_int(b, length, 4);
}

static struct bytes definitions_of(struct repair *r)
{
    struct stand_ins *s = &r->stand_ins;

    return (struct bytes){&r->memory, &s->definitions, &s->definitions_size, &s->definitions_capacity, r->id_size};
}

static void make_string(struct survey *v, uint64_t id, const char *text)
{
    struct bytes b = definitions_of(v->r);
    size_t size = strlen(text);

    put_header(&b, v, TAG_UTF8, v->r->id_size + size);
    put_id(&b, id);
    put_bytes(&b, text, size);
}

/* The ID of a string that no record names. */
static uint64_t make_new_string(struct survey *v, const char *text)
{
    do
        v->last_string++;
    while (keymap_get(&v->strings, v->last_string, NULL) || keymap_get(&v->named, v->last_string, NULL));
    make_string(v, v->last_string, text);
    return v->last_string;
}

static bool is_object_class(const struct survey *v, const struct seen_class *c)
{
    return c->id == v->object_class && v->is_object_new;
}

static void name_class(const struct survey *v, const struct seen_class *c, char *to, size_t size)
{
    char dot = v->r->version == V103 ? '.' : '/';

    if (is_object_class(v, c))
        snprintf(to, size, "java%clang%cObject", dot, dot);
    else if (c->array_type && dot == '.')
        snprintf(to, size, "%s", array_names[c->array_type]);
    else if (c->array_type)
        snprintf(to, size, "[%c", "ZCFDBSIJ"[c->array_type - TYPE_BOOLEAN]);
    else if (is_of_arrays(c) && dot == '.')
        snprintf(to, size, "unknown.Class_0x%" PRIx64 "[]", c->id);
    else
        snprintf(to, size, "%sunknown%cClass_0x%" PRIx64 "%s", is_of_arrays(c) ? "[L" : "", dot, c->id,
                 is_of_arrays(c) ? ";" : "");
}

static void put_load_class(struct survey *v, uint32_t serial, uint64_t class_id, const char *name)
{
    struct bytes b = definitions_of(v->r);
    uint64_t string = make_new_string(v, name);

    put_header(&b, v, TAG_LOAD_CLASS, SIZE_OF(LOAD_CLASS, v->r->id_size));
    put_int(&b, serial, 4);
    put_id(&b, class_id);
    put_int(&b, 0, 4);
    put_id(&b, string);
    v->r->result.stand_in_names++;
    v->r->result.stand_in_loads++;
}

/* The serial number of a class that no record names. */
static uint32_t new_serial(struct survey *v)
{
    do
        v->last_serial++;
    while (!v->last_serial || keymap_get(&v->serials, v->last_serial, NULL));
    return v->last_serial;
}

static void make_load_class(struct survey *v, struct seen_class *c)
{
    char name[48];

    name_class(v, c, name, sizeof name);
    put_load_class(v, new_serial(v), c->id, name);
    c->is_loaded = true;
    if (!c->is_counted)
        v->r->result.stand_in_objects += c->instances + c->arrays;
    c->is_counted = true;
}

/* A name of a missing string: of the class that is loaded with it, or of anything else. */
static void make_missing_string(struct survey *v, const struct named *n)
{
    char text[48];
    const struct seen_class *c;

    if (keymap_get(&v->strings, n->id, NULL))
        return;
    c = n->kind == NAMED_CLASS ? survey_class(v, n->class_id) : NULL;
    if (c)
        name_class(v, c, text, sizeof text);
    else if (n->kind == NAMED_SIGNATURE)
        snprintf(text, sizeof text, "()V");
    else
        snprintf(text, sizeof text, "unknown_0x%" PRIx64, n->id);
    make_string(v, n->id, text);
    v->r->result.stand_in_names++;
}

static const char *class_of_frames(const struct survey *v)
{
    return v->r->version == V103 ? "unknown.Class" : "unknown/Class";
}

static void make_frame(struct survey *v, uint64_t id)
{
    const unsigned i = v->r->id_size;
    struct bytes b = definitions_of(v->r);

    if (!v->frame_class) {
        v->frame_method = make_new_string(v, "unknown");
        v->frame_signature = make_new_string(v, "()V");
        v->frame_class = new_serial(v);
        put_load_class(v, v->frame_class, survey_new_class(v), class_of_frames(v));
    }
    put_header(&b, v, TAG_FRAME, SIZE_OF(FRAME, i));
    put_id(&b, id);
    put_id(&b, v->frame_method);
    put_id(&b, v->frame_signature);
    put_id(&b, 0);
    put_int(&b, v->frame_class, 4);
    put_int(&b, 0, 4);
}

/* The frame of all stand-ins for stack traces. */
static uint64_t frame_of_traces(struct survey *v)
{
    if (v->frame)
        return v->frame;
    do
        v->frame++;
    while (keymap_get(&v->frames, v->frame, NULL));
    make_frame(v, v->frame);
    return v->frame;
}

/* Frames that stack traces name. */
static void make_missing_frames(struct survey *v)
{
    for (size_t i = 0; i < v->named_frames.count && v->frames_left; i++) {
        uint64_t is_defined = 0;

        keymap_get(&v->frames, v->named_frames.at[i], &is_defined);
        if (is_defined)
            continue;
        make_frame(v, v->named_frames.at[i]);
        v->r->result.stand_in_frames++;
        v->frames_left--;
    }
}

/* Classes that frames name. Which of those without a LOAD_CLASS they were is not known. */
static void make_missing_serials(struct survey *v)
{
    for (size_t i = 0; i < v->named_serials.count; i++) {
        uint64_t is_defined = 0, class_id;

        keymap_get(&v->serials, v->named_serials.at[i], &is_defined);
        if (is_defined || !(class_id = survey_new_class(v)))
            continue;
        put_load_class(v, (uint32_t)v->named_serials.at[i], class_id, class_of_frames(v));
    }
}

/* With the frames that roots name. */
static void make_trace(struct survey *v, uint32_t serial)
{
    struct bytes b = definitions_of(v->r);
    uint64_t thread = 0, depth = 0, frame;

    if (keymap_get(&v->thread_traces, serial, &thread))
        keymap_get(&v->depths, thread, &depth);
    if (depth > v->frames_left)
        depth = 0;
    v->frames_left -= depth;
    frame = depth ? frame_of_traces(v) : 0;
    put_header(&b, v, TAG_TRACE, SIZE_OF(TRACE, v->r->id_size) + depth * v->r->id_size);
    put_int(&b, serial, 4);
    put_int(&b, thread, 4);
    put_int(&b, depth, 4);
    for (uint64_t i = 0; i < depth; i++)
        put_id(&b, frame);
    v->r->result.stand_in_traces++;
}

/* The name of the n-th field of any stand-in. */
static uint64_t field_name(struct survey *v, size_t n)
{
    char text[24];

    if (n < v->field_name_count)
        return v->field_names[n];
    snprintf(text, sizeof text, "unknown%zu", n);
    if (!memory_grow(&v->r->memory, (void **)&v->field_names, &v->field_name_capacity, n + 1, sizeof *v->field_names))
        return 0;
    return v->field_names[v->field_name_count++] = make_new_string(v, text);
}

/* Where the sub-records of the present heap dump are made. */
static struct bytes subrecords_of(struct repair *r)
{
    struct stand_ins *s = &r->stand_ins;

    return (struct bytes){&r->memory, &s->subrecords, &s->subrecords_size, &s->subrecords_capacity, r->id_size};
}

void survey_make_thread(struct survey *v, uint32_t serial)
{
    struct bytes b = subrecords_of(v->r);
    uint64_t trace = 0;

    if (v->traces_agree && !v->traces_differ)
        keymap_get(&v->traces_of_threads, serial, &trace);
    put_int(&b, SUB_ROOT_THREAD_OBJECT, 1);
    put_id(&b, 0);
    put_int(&b, serial, 4);
    put_int(&b, trace, 4);
    v->r->result.stand_in_threads++;
}

bool survey_make_class(struct survey *v, const struct seen_class *c, uint64_t super, uint64_t inherited, uint64_t own)
{
    struct bytes b = subrecords_of(v->r);
    size_t longs = (size_t)(own / 8), fields = longs + (size_t)(own % 8);

    if (fields > UINT16_MAX || fields > v->fields_left)
        return false;
    v->fields_left -= fields;
    put_int(&b, SUB_CLASS_DUMP, 1);
    put_id(&b, c->id);
    put_int(&b, 0, 4);
    put_id(&b, super);
    for (int i = 0; i < 5; i++) /* loader, signers, protection domain, reserved */
        put_id(&b, 0);
    put_int(&b, inherited + own, 4);
    put_int(&b, 0, 2);
    put_int(&b, 0, 2);
    put_int(&b, fields, 2);
    for (size_t i = 0; i < fields; i++) {
        put_id(&b, field_name(v, i));
        put_int(&b, i < longs ? TYPE_LONG : TYPE_BYTE, 1);
    }
    v->r->result.stand_in_classes++;
    return true;
}

void survey_make_definitions(struct survey *v)
{
    for (size_t i = 0; i < v->class_count; i++)
        if (v->classes[i].is_dumped && !v->classes[i].is_loaded)
            make_load_class(v, &v->classes[i]);
    for (size_t i = 0; i < v->name_count; i++)
        make_missing_string(v, &v->names[i]);
    make_missing_serials(v);
    make_missing_frames(v);
    for (size_t i = 0; i < v->trace_count; i++)
        if (!keymap_get(&v->traces, v->trace_serials[i], NULL))
            make_trace(v, v->trace_serials[i]);
}

/* ---- Putting them into the copy ---- */

void stand_ins_put_definitions(struct repair *r)
{
    struct stand_ins *s = &r->stand_ins;

    copy_put(r, s->definitions + s->definitions_put, s->definitions_size - s->definitions_put);
    s->definitions_put = s->definitions_size;
    damage_note_shift(r, copy_size(r));
}

static const struct stand_ins_of_dump *take_subrecords(struct repair *r)
{
    struct stand_ins *s = &r->stand_ins;

    while (s->next_dump < s->dump_count && s->dumps[s->next_dump].heap_dump < r->heap_dump)
        s->next_dump++;
    return s->next_dump < s->dump_count && s->dumps[s->next_dump].heap_dump == r->heap_dump ? &s->dumps[s->next_dump++] : NULL;
}

void stand_ins_put_segment(struct repair *r)
{
    const struct stand_ins_of_dump *d = take_subrecords(r);
    uint8_t header[RECORD_HEADER_SIZE] = {TAG_HEAP_DUMP_SEGMENT};

    if (!d)
        return;
    memcpy(header + RECORD_TIME_AT, r->in.at + RECORD_TIME_AT, 4);
    for (int i = 0; i < 4; i++)
        header[RECORD_LENGTH_AT + i] = (uint8_t)(d->size >> (24 - 8 * i));
    copy_put(r, header, sizeof header);
    copy_put(r, r->stand_ins.subrecords + d->from, d->size);
    damage_note_shift(r, copy_size(r));
}

bool stand_ins_put_subrecords(struct repair *r)
{
    const struct stand_ins_of_dump *d = take_subrecords(r);

    if (!d || d->size > UINT32_MAX - r->heap.length)
        return false;
    copy_put(r, r->stand_ins.subrecords + d->from, d->size);
    damage_note_shift(r, copy_size(r));
    return true;
}
