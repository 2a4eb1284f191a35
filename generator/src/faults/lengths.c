/* SPEC.md 4: records whose length differs from that of their layout or count. */
#include "faults/fault.h"

enum { ENTRIES = 3 }; /* of a record with a count of entries */

static void insert_class_to_name(struct faults *v)
{
    insert_utf8(v, fresh_id(v, NAME), "Broken");
    insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, NAME), "Broken");
}

/* A valid record of the kind of the rule, preceded by what it refers to. Its count differs by `entries` from the entries that
 * follow. */
static struct event sound_record(struct faults *v, uint32_t entries)
{
    struct event e = event_of(EVENT_RECORD, 0, LAYOUT_ID_NONE);

    switch ((int)rule_at_work(v)) {
    case RULE_STR_001:
        e = RECORD_EVENT(UTF8);
        e.fields.UTF8.id = fresh_id(v, NAME);
        break;
    case RULE_CLS_001:
        insert_utf8(v, fresh_id(v, NAME), "Broken");
        e = RECORD_EVENT(LOAD_CLASS);
        e.fields.LOAD_CLASS = (struct LOAD_CLASS){
            .class_serial = fresh_serial(v, CLASS_SERIAL), .class_id = fresh_id(v, CLASS), .name = fresh_id(v, NAME)};
        e.class_name = "Broken";
        break;
    case RULE_CLS_006:
        insert_class_to_name(v);
        e = RECORD_EVENT(UNLOAD_CLASS);
        e.fields.UNLOAD_CLASS.class_serial = fresh_serial(v, CLASS_SERIAL);
        break;
    case RULE_STK_001:
        insert_class_to_name(v);
        e = RECORD_EVENT(FRAME);
        e.fields.FRAME = (struct FRAME){.id = fresh_id(v, OTHER),
                                        .method = fresh_id(v, NAME),
                                        .signature = fresh_id(v, NAME),
                                        .class_serial = fresh_serial(v, CLASS_SERIAL)};
        break;
    case RULE_STK_007:
        e = RECORD_EVENT(TRACE);
        e.fields.TRACE = (struct TRACE){.trace_serial = fresh_serial(v, TRACE_SERIAL), .frames = ENTRIES + entries};
        break;
    case RULE_THR_001:
        insert_utf8(v, fresh_id(v, NAME), "broken");
        e = RECORD_EVENT(START_THREAD);
        e.fields.START_THREAD = (struct START_THREAD){
            .thread_serial = fresh_serial(v, THREAD_SERIAL), .thread_id = fresh_id(v, OBJECT), .name = fresh_id(v, NAME)};
        break;
    case RULE_THR_002:
        insert_utf8(v, fresh_id(v, NAME), "broken");
        insert_start_thread(v, fresh_serial(v, THREAD_SERIAL), fresh_id(v, NAME));
        e = RECORD_EVENT(END_THREAD);
        e.fields.END_THREAD.thread_serial = fresh_serial(v, THREAD_SERIAL);
        break;
    case RULE_PRF_001:
        e = RECORD_EVENT(ALLOC_SITES);
        e.fields.ALLOC_SITES.sites = ENTRIES + entries;
        break;
    case RULE_PRF_006:
        e = RECORD_EVENT(HEAP_SUMMARY);
        break;
    case RULE_PRF_007:
        e = RECORD_EVENT(CPU_SAMPLES);
        e.fields.CPU_SAMPLES.traces = ENTRIES + entries;
        break;
    case RULE_PRF_009:
        e = RECORD_EVENT(CONTROL_SETTINGS);
        e.fields.CONTROL_SETTINGS.depth = 4;
        break;
    default:
        break;
    }
    return e;
}

/* Bytes of an entry; 0 for a record without entries. */
static size_t entry_size(const struct faults *v, const struct event *e)
{
    switch (e->tag) {
    case TAG_TRACE:
        return v->id_size;
    case TAG_ALLOC_SITES:
        return SIZE_OF(SITE, v->id_size);
    case TAG_CPU_SAMPLES:
        return SIZE_OF(SAMPLE, v->id_size);
    default:
        return 0;
    }
}

/* The record as bytes, with this many bytes too few or too many. Additional bytes are 0. */
static void insert_of_length(struct faults *v, struct event *e, long change, bool empty)
{
    uint8_t fields[FIELDS_MOST];
    size_t entries = entry_size(v, e) * ENTRIES, all = fields_size(e->layout, v->id_size) + entries, head;
    size_t size = empty ? 0 : (size_t)((long)all + change);

    put_fields(fields, e, v->id_size);
    head = all - entries < size ? all - entries : size;
    begin_bytes(v);
    add_bytes(v, fields, head);
    add_zeros(v, size - head);
    e->layout = LAYOUT_ID_NONE;
    end_bytes(v, e);
    break_at(v, e, RECORD_LENGTH_AT);
    insert(v, e);
}

void length_longer(struct faults *v, struct event *e, int bytes)
{
    struct event record = sound_record(v, 0);

    (void)e;
    insert_of_length(v, &record, bytes, false);
}

void length_shorter(struct faults *v, struct event *e, int bytes)
{
    struct event record = sound_record(v, 0);

    (void)e;
    insert_of_length(v, &record, -bytes, false);
}

void length_empty(struct faults *v, struct event *e, int variant)
{
    struct event record = sound_record(v, 0);

    (void)e;
    (void)variant;
    insert_of_length(v, &record, 0, true);
}

/* Only the length field is wrong: it is 0, or leads to a byte 0 of the next record. */
void length_says(struct faults *v, struct event *e, int more)
{
    struct event record = sound_record(v, 0);
    size_t entries = entry_size(v, &record) * ENTRIES;

    (void)e;
    begin_bytes(v);
    add_zeros(v, entries);
    end_bytes(v, &record);
    record.length_stated = true;
    record.length = more ? (uint32_t)(fields_size(record.layout, v->id_size) + entries) + RECORD_LENGTH_AT : 0;
    break_at(v, &record, RECORD_LENGTH_AT);
    insert(v, &record);
    if (more)
        insert_utf8(v, fresh_id(v, FIELD), "after");
}

/* The count is wrong by this much. */
void length_count(struct faults *v, struct event *e, int more)
{
    struct event record = sound_record(v, (uint32_t)more);

    (void)e;
    insert_of_length(v, &record, 0, false);
}

/* The count times the size of an entry, in 32 bits, gives the right length nevertheless. */
void length_count_wraps(struct faults *v, struct event *e, int variant)
{
    struct event record = sound_record(v, 0);
    uint32_t wrap = UINT32_C(1) << (entry_size(v, &record) == 8 ? 29 : 30);

    (void)variant;
    length_count(v, e, (int)wrap);
}

/* The record ends before its count. */
void length_no_count(struct faults *v, struct event *e, int variant)
{
    struct event record = sound_record(v, 0);

    (void)e;
    (void)variant;
    insert_of_length(v, &record, -(long)(ENTRIES * entry_size(v, &record) + 4), false);
}
