/* SPEC.md 4.1: strings, and the fields that name them. */
#include "faults/fault.h"

/* ---- UTF8 ---- */

enum { ID_AT = RECORD_HEADER_SIZE };

void str_002_zero(struct faults *v, struct event *e, int empty)
{
    struct event zero = RECORD_EVENT(UTF8);

    (void)e;
    zero.body = (const uint8_t *)"zero";
    zero.body_size = empty ? 0 : 4;
    break_at(v, &zero, ID_AT);
    insert(v, &zero);
}

/* Defines the string again, with the same bytes or others. */
void str_003_again(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    give(v->break_.next, e);
    break_at(v, e, ID_AT);
}

void str_004_other(struct faults *v, struct event *e, int variant)
{
    static const char *const texts[] = {"redefined", "defined once more"};
    const char *text = texts[0];

    give(v->break_.next, e);
    if (variant == 0) {
        if (e->body_size == strlen(text) && memcmp(e->body, text, strlen(text)) == 0)
            text = texts[1];
        e->body = (const uint8_t *)text;
        e->body_size = strlen(text);
    } else if (variant == 1) {
        e->body_size = 0;
    } else {
        begin_bytes(v);
        add_bytes(v, e->body, (size_t)e->body_size);
        add_u1(v, '$');
        end_bytes(v, e);
    }
    break_at(v, e, ID_AT);
}

void str_005_encoding(struct faults *v, struct event *e, int variant)
{
    static const struct {
        const char *bytes;
        size_t sound, bad; /* how many */
    } texts[] = {
        {"bad\xff!", 3, 2},
        {"caf\xe9 au lait", 3, 9},
        {"\x80", 0, 1},
        {"bad\xc1\xa1", 3, 2},
        {"bad\xe2\x82", 3, 2},
        {"b\xe2\x82!", 1, 3},
        {"\xff\xfe"
         "b\0",
         0, 4},
        {"\xf4\x90\x80\x80", 0, 4},
        {"\xf8\x88\x80\x80\x80", 0, 5},
    };
    struct event string = RECORD_EVENT(UTF8);

    (void)e;
    string.fields.UTF8.id = fresh_id(v, NAME);
    string.body = (const uint8_t *)texts[variant].bytes;
    string.body_size = texts[variant].sound + texts[variant].bad;
    break_at(v, &string, ID_AT + v->id_size + texts[variant].sound);
    insert(v, &string);
}

void str_009_nul(struct faults *v, struct event *e, int bytes)
{
    static const char text[] = "name";
    struct event string = RECORD_EVENT(UTF8);

    (void)e;
    string.fields.UTF8.id = fresh_id(v, NAME);
    string.body = (const uint8_t *)text + sizeof text - (size_t)bytes;
    string.body_size = (size_t)bytes;
    break_at(v, &string, ID_AT + v->id_size + (uint64_t)bytes - 1);
    insert(v, &string);
}

/* ---- Names: 0, a string that is defined later, an undefined string ---- */

/* The new name; if the string is only late, it is defined after the record. */
static uint64_t bad_name(const struct faults *v)
{
    return rule_at_work(v) == RULE_STR_008 ? 0 : fresh_id(v, NAME);
}

static const char late[] = "late";

static void insert_bad(struct faults *v, struct event *e, uint64_t at)
{
    break_at(v, e, at);
    insert(v, e);
    if (rule_at_work(v) == RULE_STR_007)
        insert_utf8(v, fresh_id(v, NAME), late);
}

enum { OF_METHOD, OF_SIGNATURE, OF_SOURCE };

void name_of_class(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->fields.LOAD_CLASS.name = bad_name(v);
    e->class_name = NULL;
    break_at(v, e, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, name, v->id_size));
}

void name_of_new_class(struct faults *v, struct event *e, int variant)
{
    struct event load = RECORD_EVENT(LOAD_CLASS);

    (void)e;
    (void)variant;
    load.fields.LOAD_CLASS =
        (struct LOAD_CLASS){.class_serial = fresh_serial(v, CLASS_SERIAL), .class_id = fresh_id(v, CLASS), .name = bad_name(v)};
    load.class_name = late;
    insert_bad(v, &load, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, name, v->id_size));
}

static uint64_t set_frame_name(struct faults *v, struct FRAME *r, int field)
{
    switch (field) {
    case OF_METHOD:
        r->method = bad_name(v);
        return EVENT_OFFSET_OF(EVENT_RECORD, FRAME, method, v->id_size);
    case OF_SIGNATURE:
        r->signature = bad_name(v);
        return EVENT_OFFSET_OF(EVENT_RECORD, FRAME, signature, v->id_size);
    default:
        r->source = bad_name(v);
        return EVENT_OFFSET_OF(EVENT_RECORD, FRAME, source, v->id_size);
    }
}

void name_of_frame(struct faults *v, struct event *e, int field)
{
    keep_the_first(v, e);
    break_at(v, e, set_frame_name(v, &e->fields.FRAME, field));
}

void name_of_new_frame(struct faults *v, struct event *e, int field)
{
    struct event frame = RECORD_EVENT(FRAME);

    (void)e;
    insert_utf8(v, fresh_id(v, FIELD), "Broken");
    insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, FIELD), "Broken");
    frame.fields.FRAME = (struct FRAME){.id = fresh_id(v, OTHER),
                                        .method = fresh_id(v, FIELD),
                                        .signature = fresh_id(v, FIELD),
                                        .class_serial = fresh_serial(v, CLASS_SERIAL)};
    insert_bad(v, &frame, set_frame_name(v, &frame.fields.FRAME, field));
}

void name_of_thread(struct faults *v, struct event *e, int field)
{
    struct event start = RECORD_EVENT(START_THREAD);
    struct START_THREAD *r = &start.fields.START_THREAD;

    (void)e;
    insert_utf8(v, fresh_id(v, FIELD), "broken");
    *r = (struct START_THREAD){
        .thread_serial = fresh_serial(v, THREAD_SERIAL), .thread_id = fresh_id(v, OBJECT), .name = fresh_id(v, FIELD)};
    if (field == 0) {
        r->name = bad_name(v);
        insert_bad(v, &start, EVENT_OFFSET_OF(EVENT_RECORD, START_THREAD, name, v->id_size));
    } else if (field == 1) {
        r->group = bad_name(v);
        insert_bad(v, &start, EVENT_OFFSET_OF(EVENT_RECORD, START_THREAD, group, v->id_size));
    } else {
        r->parent_group = bad_name(v);
        insert_bad(v, &start, EVENT_OFFSET_OF(EVENT_RECORD, START_THREAD, parent_group, v->id_size));
    }
}

/* One of the names that are in the body of a CLASS_DUMP. */
static void set_field_name(struct faults *v, struct event *e, size_t at)
{
    put_id(own_body(v, e) + at, bad_name(v), v->id_size);
    break_at(v, e, fixed_part_size(e, v->id_size) + at);
}

void name_of_static(struct faults *v, struct event *e, int variant)
{
    struct class_lists lists;

    (void)variant;
    if (find_lists(v, e, &lists))
        set_field_name(v, e, lists.statics_at);
}

void name_of_field(struct faults *v, struct event *e, int last)
{
    struct class_lists lists;

    if (find_lists(v, e, &lists))
        set_field_name(v, e, lists.fields_at + (last ? (lists.fields - 1) * SIZE_OF(INSTANCE_FIELD, v->id_size) : 0));
}

void name_of_heap(struct faults *v, struct event *e, int variant)
{
    struct event info = SUBRECORD_EVENT(HEAP_DUMP_INFO, HEAP_DUMP_INFO);

    (void)e;
    (void)variant;
    info.fields.HEAP_DUMP_INFO.name = bad_name(v);
    break_at(v, &info, EVENT_OFFSET_OF(EVENT_SUBRECORD, HEAP_DUMP_INFO, name, v->id_size));
    insert(v, &info);
}
