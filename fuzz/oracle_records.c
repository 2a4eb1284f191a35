#include "oracle_records.h"

/* ---- SPEC.md 2.5: strings ---------------------------------------------------------------------------------------------- */

/* The size of the character at the start of a text, in standard or modified UTF-8; 0 if there is none. */
static uint64_t character_size(const uint8_t *text, uint64_t size)
{
    uint64_t length = text[0] < 0x80             ? 1
                      : (text[0] & 0xe0) == 0xc0 ? 2
                      : (text[0] & 0xf0) == 0xe0 ? 3
                      : (text[0] & 0xf8) == 0xf0 ? 4
                                                 : 0;
    if (length == 0 || length > size)
        return 0;
    if (length == 1)
        return 1;
    uint32_t value = text[0] & (0x7fu >> length);
    for (uint64_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    if (value == 0 && length == 2)
        return length; /* C0 80, the NUL of class files */
    bool longer_than_needed = value < (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
    return longer_than_needed || value > 0x10ffff ? 0 : length;
}

static bool check_encoding(struct oracle *o, uint64_t at, uint64_t size)
{
    while (size) {
        uint64_t character = character_size(o->d->bytes + at, size);
        if (character == 0) {
            report(o, "STR-005", at);
            return false;
        }
        at += character;
        size -= character;
    }
    return true;
}

/* ---- SPEC.md 4: top-level records, each from its body on; the length of the body precedes it --------------------------- */

/* 4.1 */
static void read_utf8(struct oracle *o, uint64_t at)
{
    uint64_t text_at = at + o->d->id_size, length = u4(o->d, at - 4);
    struct string *string = append(&o->strings, sizeof *string);
    *string = (struct string){.id = id(o->d, at), .at = at, .text = o->d->bytes + text_at, .size = length - o->d->id_size};
    define(&o->string_ids, 0, string->id, at, o->strings.count - 1);
    if (string->id == 0)
        report(o, "STR-002", at);
    if (check_encoding(o, text_at, string->size) && string->size != 0 && u1(o->d, text_at + string->size - 1) == 0)
        report(o, "STR-009", text_at + string->size - 1);
}

/* 4.2 */
static void read_load_class(struct oracle *o, uint64_t at)
{
    uint64_t serial_at = at, id_at = serial_at + 4, trace_at = id_at + o->d->id_size, name_at = trace_at + 4;
    struct loaded_class *loaded = append(&o->loaded_classes, sizeof *loaded);
    *loaded = (struct loaded_class){.serial = u4(o->d, serial_at),
                                    .serial_at = serial_at,
                                    .id = id(o->d, id_at),
                                    .id_at = id_at,
                                    .name = id(o->d, name_at),
                                    .name_at = name_at};
    define(&o->class_serials, 0, loaded->serial, serial_at, o->loaded_classes.count - 1);
    if (loaded->serial == 0)
        report(o, "CLS-002", serial_at);
    if (loaded->id == 0)
        report(o, "CLS-005", id_at);
    else
        define(&o->class_ids, 0, loaded->id, id_at, o->loaded_classes.count - 1);
    note_trace(o, trace_at, TRACE_MAY_BE_LOST);
    note_name(o, name_at);
}

/* 4.3. The gravest role that a class serial has; an unload is also noted apart. */
enum class_role { ROLE_OF_FRAME, ROLE_OF_SITE, ROLE_OF_UNLOAD };

static void read_unload_class(struct oracle *o, uint64_t at)
{
    note_use(&o->class_serial_uses, 0, u4(o->d, at), ROLE_OF_UNLOAD, at, "CLS-007");
    note_use(&o->unloads, 0, u4(o->d, at), ROLE_OF_UNLOAD, at, "CLS-007");
}

/* 4.4 */
static void read_frame(struct oracle *o, uint64_t at)
{
    uint64_t method_at = at + o->d->id_size, signature_at = method_at + o->d->id_size, source_at = signature_at + o->d->id_size;
    uint64_t class_at = source_at + o->d->id_size, line_at = class_at + 4;
    struct frame *frame = append(&o->frames, sizeof *frame);
    *frame = (struct frame){.id = id(o->d, at), .at = at, .body = o->d->bytes + at};
    define(&o->frame_ids, 0, frame->id, at, o->frames.count - 1);
    note_name(o, method_at);
    note_name(o, signature_at);
    note_name_or_0(o, source_at);
    if (u4(o->d, class_at) == 0)
        report(o, "STK-005", class_at);
    else
        note_use(&o->class_serial_uses, 0, u4(o->d, class_at), ROLE_OF_FRAME, class_at, "STK-006");
    if (i4(o->d, line_at) < -3)
        report(o, "STK-004", line_at);
}

/* 4.5 */
static void read_trace(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + 4, count_at = thread_at + 4, frames_at = count_at + 4;
    struct trace *trace = append(&o->traces, sizeof *trace);
    *trace = (struct trace){.serial = u4(o->d, at),
                            .at = at,
                            .frame_count = u4(o->d, count_at),
                            .frames_at = frames_at,
                            .body = o->d->bytes + at,
                            .size = u4(o->d, at - 4)};
    define(&o->trace_serials, 0, trace->serial, at, o->traces.count - 1);
    if (u4(o->d, thread_at) != 0)
        note_use(&o->trace_thread_uses, 0, u4(o->d, thread_at), 0, thread_at, "STK-011");
    for (uint64_t i = 0; i < trace->frame_count; i++) {
        uint64_t frame_at = frames_at + i * o->d->id_size;
        note_use(&o->frame_uses, 0, id(o->d, frame_at), 0, frame_at, "STK-010");
    }
}

/* 4.6. The sum of the 4 bytes at `offset` of each site. */
static uint64_t sum_of_sites(const struct oracle *o, uint64_t sites_at, uint64_t sites, uint64_t offset)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < sites; i++)
        sum += u4(o->d, sites_at + i * SITE_SIZE + offset);
    return sum;
}

static void check_live(struct oracle *o, uint64_t live_at, uint64_t allocated)
{
    if (u4(o->d, live_at) > allocated)
        report(o, "PRF-011", live_at);
}

static void read_alloc_sites(struct oracle *o, uint64_t at)
{
    uint64_t flags_at = at, live_bytes_at = at + 6, live_instances_at = at + 10, allocated_bytes_at = at + 14;
    uint64_t allocated_instances_at = at + 22, count_at = at + 30, sites_at = at + 34;
    uint64_t sites = u4(o->d, count_at);
    if (u2(o->d, flags_at) & ~(uint64_t)7)
        report(o, "PRF-004", flags_at);
    if (sum_of_sites(o, sites_at, sites, 9) > u4(o->d, live_bytes_at))
        report(o, "PRF-005", live_bytes_at);
    if (sum_of_sites(o, sites_at, sites, 13) > u4(o->d, live_instances_at))
        report(o, "PRF-005", live_instances_at);
    if (sum_of_sites(o, sites_at, sites, 17) > u8(o->d, allocated_bytes_at))
        report(o, "PRF-005", allocated_bytes_at);
    if (sum_of_sites(o, sites_at, sites, 21) > u8(o->d, allocated_instances_at))
        report(o, "PRF-005", allocated_instances_at);
    check_live(o, live_bytes_at, u8(o->d, allocated_bytes_at));
    check_live(o, live_instances_at, u8(o->d, allocated_instances_at));

    for (uint64_t i = 0; i < sites; i++) {
        uint64_t array_at = sites_at + i * SITE_SIZE, class_at = array_at + 1, trace_at = array_at + 5;
        if (u1(o->d, array_at) != 0 && size_of_type(o->d, u1(o->d, array_at)) == 0)
            report(o, "PRF-002", array_at);
        if (u4(o->d, class_at) != 0)
            note_use(&o->class_serial_uses, 0, u4(o->d, class_at), ROLE_OF_SITE, class_at, "PRF-003");
        note_trace(o, trace_at, TRACE_IS_NEEDED);
        check_live(o, array_at + 9, u4(o->d, array_at + 17));
        check_live(o, array_at + 13, u4(o->d, array_at + 21));
    }
}

/* 4.7 */
static void read_heap_summary(struct oracle *o, uint64_t at)
{
    check_live(o, at, u8(o->d, at + 8));
    check_live(o, at + 4, u8(o->d, at + 16));
}

/* 4.8 */
static void read_start_thread(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + 4 + o->d->id_size, name_at = trace_at + 4, group_at = name_at + o->d->id_size;
    uint64_t parent_at = group_at + o->d->id_size;
    ADD(&o->thread_events, struct thread_event, .start = true, .serial = u4(o->d, at), .at = at);
    if (u4(o->d, at) == 0)
        report(o, "THR-003", at);
    note_trace(o, trace_at, TRACE_MAY_BE_LOST);
    note_name(o, name_at);
    note_name_or_0(o, group_at);
    note_name_or_0(o, parent_at);
}

/* 4.9 */
static void read_end_thread(struct oracle *o, uint64_t at)
{
    ADD(&o->thread_events, struct thread_event, .start = false, .serial = u4(o->d, at), .at = at);
}

/* 4.10 */
static void read_cpu_samples(struct oracle *o, uint64_t at)
{
    uint64_t count_at = at + 4, samples_at = count_at + 4, sum = 0;
    for (uint64_t i = 0; i < u4(o->d, count_at); i++) {
        sum += u4(o->d, samples_at + 8 * i);
        note_trace(o, samples_at + 8 * i + 4, TRACE_IS_NEEDED);
    }
    if (sum > u4(o->d, at))
        report(o, "PRF-008", at);
}

/* 4.11 */
static void read_control_settings(struct oracle *o, uint64_t at)
{
    if (u4(o->d, at) & ~(uint64_t)3)
        report(o, "PRF-010", at);
}

/* How each record is read. */
void (*const read_record[256])(struct oracle *o, uint64_t at) = {
    [UTF8] = read_utf8,
    [LOAD_CLASS] = read_load_class,
    [UNLOAD_CLASS] = read_unload_class,
    [FRAME] = read_frame,
    [TRACE] = read_trace,
    [ALLOC_SITES] = read_alloc_sites,
    [START_THREAD] = read_start_thread,
    [END_THREAD] = read_end_thread,
    [CPU_SAMPLES] = read_cpu_samples,
    [CONTROL_SETTINGS] = read_control_settings,
    [HEAP_SUMMARY] = read_heap_summary,
};
