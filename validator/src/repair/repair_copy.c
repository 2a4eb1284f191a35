/* See repair.h. If the length of a record leads to another record or to the end of the dump, that length is used. Otherwise the
 * length that its kind and counts give is tried, or, for a heap dump record, that of its sub-records. If neither leads to a record,
 * bytes are left out: up to the end of the heap dump record if it is known, else up to the next offset from which lengths lead
 * from record to record. A damaged gzip member is like the end of the dump; reading then continues in a later member. */
#include "repair/repair.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/subrecord.h"

enum {
    BUFFER_SIZE = 1 << 20,
    LOOK_AHEAD_MAX = 1 << 22, /* bytes: what follows a longer record is not looked at */
    MEASURE_MAX = 1 << 22,    /* bytes: no CLASS_DUMP is longer */
    PLAUSIBLE_BYTES = 4096,   /* of a heap dump record: enough for a few sub-records */
    SEEN = 32,                /* bytes that show what a record or sub-record is, and its class */
    SERIES = 16               /* records in a row that are not there by chance */
};

/* ---- The copy ---- */

static void flush(struct repair *r)
{
    size_t done = 0;

    while (done < r->buffered && !r->error) {
        ssize_t n = pwrite(r->to, r->buffer + done, r->buffered - done, (off_t)(r->written + done));

        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            r->error = EIO;
        else if (errno != EINTR)
            r->error = errno;
    }
    r->written += r->buffered;
    r->buffered = 0;
}

static uint64_t copied(const struct repair *r)
{
    return r->written + r->buffered;
}

static void put(struct repair *r, const uint8_t *bytes, size_t n)
{
    while (n) {
        size_t room = BUFFER_SIZE - r->buffered, part = n < room ? n : room;

        memcpy(r->buffer + r->buffered, bytes, part);
        r->buffered += part;
        bytes += part;
        n -= part;
        if (r->buffered == BUFFER_SIZE)
            flush(r);
    }
}

/* Removes everything from `position` on. */
static void truncate_copy(struct repair *r, uint64_t position)
{
    if (position >= r->written) {
        r->buffered = (size_t)(position - r->written);
    } else {
        r->written = position;
        r->buffered = 0;
    }
}

static void put_u4(uint8_t *to, uint64_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Changes a number in the copy. */
static void put_number(struct repair *r, uint64_t at, uint64_t number)
{
    uint8_t bytes[4];

    put_u4(bytes, number);
    if (at < r->written) {
        flush(r);
        if (!r->error && pwrite(r->to, bytes, sizeof bytes, (off_t)at) != (ssize_t)sizeof bytes)
            r->error = errno ? errno : EIO;
    } else {
        memcpy(r->buffer + (at - r->written), bytes, sizeof bytes);
    }
}

bool repair_read_copy(struct repair *r, uint64_t offset, uint8_t *to, size_t n)
{
    struct input_source copy = source_of_fd(r->to);
    size_t got = 0, more = 1;

    source_seek(&copy, offset < copy.size ? offset : copy.size);
    while (got < n && more) {
        more = source_read(&copy, to + got, n - got);
        got += more;
    }
    if (copy.error)
        r->error = copy.error;
    return got == n;
}

/* Copies n bytes of the input, or those that are left. Returns how many. */
static uint64_t copy(struct repair *r, uint64_t n)
{
    uint64_t left = n;

    while (left && !r->error) {
        size_t there = input_need(&r->in, 1), part = there < left ? there : (size_t)left;

        if (!there)
            break;
        put(r, r->in.at, part);
        input_advance(&r->in, part);
        left -= part;
    }
    return n - left;
}

/* ---- What is left out ---- */

/* `bytes` of the input, those before its present offset. */
static void leave_out(struct repair *r, enum left_out_kind kind, uint64_t key, uint64_t bytes)
{
    uint64_t index, seen = bytes < SEEN ? bytes : SEEN;

    if (!bytes)
        return;
    if (kind < LEFT_BYTES && damage_is_at(r, r->in.offset - bytes, seen)) {
        kind = LEFT_DAMAGED;
        key = 0;
    }
    damage_note_shift(r, copied(r));
    r->has_changed = true;
    r->asked->left_out += bytes;
    if (!keymap_get(&r->left_index[kind], key, &index)) {
        index = r->left_count;
        if (!memory_grow(&r->memory, (void **)&r->left, &r->left_capacity, r->left_count + 1, sizeof *r->left) ||
            !keymap_put(&r->left_index[kind], key, index))
            return;
        r->left[r->left_count++] = (struct left_out){.kind = kind, .key = key};
    }
    r->left[index].count++;
    r->left[index].bytes += bytes;
}

/* The kind of a sub-record, and its key if its header is complete. */
static enum left_out_kind kind_of(const struct repair *r, struct cursor c, uint64_t *key)
{
    const uint8_t *tag = cursor_take(&c, 1);
    struct CLASS_DUMP class;
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;
    struct PRIMITIVE_ARRAY_DUMP values;

    *key = tag ? *tag : 0;
    if (!tag)
        return LEFT_BYTES;
    if (*tag == SUB_CLASS_DUMP && read_CLASS_DUMP(&c, r->id_size, &class)) {
        *key = class.class_id;
        return LEFT_CLASS;
    }
    if (*tag == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, r->id_size, &instance)) {
        *key = instance.class_id;
        return LEFT_INSTANCE;
    }
    if (*tag == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&c, r->id_size, &objects)) {
        *key = objects.class_id;
        return LEFT_OBJECT_ARRAY;
    }
    if (*tag == SUB_PRIMITIVE_ARRAY_DUMP && read_PRIMITIVE_ARRAY_DUMP(&c, r->id_size, &values)) {
        *key = values.type;
        return LEFT_PRIMITIVE_ARRAY;
    }
    return LEFT_SUBRECORD;
}

/* Whether the next n bytes contain one of the offsets. */
static bool is_unwanted(struct repair *r, uint64_t n)
{
    uint64_t at = r->in.offset;

    while (r->next_offset < r->offset_count && r->offsets[r->next_offset] < at)
        r->next_offset++;
    return r->next_offset < r->offset_count && r->offsets[r->next_offset] - at < n;
}

/* ---- References to missing stack traces ---- */

/* The offset, within the next record, of its stack trace serial number; 0 if it has none. */
static size_t trace_of_record(const struct repair *r)
{
    switch (*r->in.at) {
    case TAG_LOAD_CLASS:
        return RECORD_HEADER_SIZE + OFFSET_OF(LOAD_CLASS, trace_serial, r->id_size);
    case TAG_START_THREAD:
        return RECORD_HEADER_SIZE + OFFSET_OF(START_THREAD, trace_serial, r->id_size);
    default:
        return 0;
    }
}

static size_t trace_of_subrecord(const struct repair *r)
{
    switch (*r->in.at) {
    case SUB_ROOT_THREAD_OBJECT:
        return 1 + OFFSET_OF(ROOT_THREAD_OBJECT, trace_serial, r->id_size);
    case SUB_CLASS_DUMP:
        return 1 + OFFSET_OF(CLASS_DUMP, trace_serial, r->id_size);
    case SUB_INSTANCE_DUMP:
        return 1 + OFFSET_OF(INSTANCE_DUMP, trace_serial, r->id_size);
    case SUB_OBJECT_ARRAY_DUMP:
        return 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, trace_serial, r->id_size);
    case SUB_PRIMITIVE_ARRAY_DUMP:
        return 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, trace_serial, r->id_size);
    default:
        return 0;
    }
}

static bool has_missing_trace(struct repair *r, size_t trace)
{
    return !r->is_first_pass && trace && input_need(&r->in, trace + 4) >= trace + 4 &&
           keymap_get(&r->missing_traces, get_u4(r->in.at + trace), NULL);
}

/* Like is_unwanted(), but ignores an error that is only the missing trace. */
static bool is_unwanted_without_trace(struct repair *r, uint64_t n, size_t trace)
{
    while (is_unwanted(r, n) && r->offsets[r->next_offset] == r->in.offset + trace)
        r->next_offset++;
    return is_unwanted(r, n);
}

/* Sets the stack trace serial number of what was copied to `start` to 0. */
static void clear_trace(struct repair *r, uint64_t start, size_t trace)
{
    put_number(r, start + trace, 0);
    r->asked->traces_cleared++;
    r->has_changed = true;
}

/* ---- Classes that a heap dump lacks ---- */

static bool is_missing_class(const struct repair *r, uint64_t id)
{
    uint64_t heap_dump;

    return keymap_get(&r->missing_classes, id, &heap_dump) && heap_dump == r->heap_dump;
}

/* Whether the class at `field` of the next sub-record is missing, and from now on it is if the previous copy has an error there. */
static bool lacks_class(struct repair *r, uint64_t id, size_t field)
{
    if (keymap_get(&r->undefined_at, r->in.offset + 1 + field, NULL))
        keymap_put(&r->missing_classes, id, r->heap_dump);
    return is_missing_class(r, id);
}

/* Whether the next sub-record, which begins with the bytes of `c`, needs a missing class. */
static bool needs_missing_class(struct repair *r, struct cursor c)
{
    const uint8_t *tag = cursor_take(&c, 1);
    struct CLASS_DUMP class;
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;

    if (r->is_first_pass || !tag)
        return false;
    if (*tag == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, r->id_size, &instance))
        return lacks_class(r, instance.class_id, OFFSET_OF(INSTANCE_DUMP, class_id, r->id_size));
    if (*tag == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&c, r->id_size, &objects))
        return lacks_class(r, objects.class_id, OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, r->id_size));
    if (*tag != SUB_CLASS_DUMP || !read_CLASS_DUMP(&c, r->id_size, &class) ||
        !lacks_class(r, class.super_id, OFFSET_OF(CLASS_DUMP, super_id, r->id_size)))
        return false;
    keymap_put(&r->missing_classes, class.class_id, r->heap_dump);
    return true;
}

/* ---- Headers of records ---- */

static bool is_heap(uint8_t tag)
{
    return tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT;
}

static bool is_record(const struct repair *r, uint8_t tag)
{
    switch (tag) {
#define RECORD(name, tag, since, clause, layout) \
    case tag: \
        return r->version >= since;
#include "format/records.def"
#undef RECORD
    default:
        return false;
    }
}

/* Bytes of the dump from here on; UINT64_MAX if unknown. */
static uint64_t bytes_left(const struct repair *r)
{
    uint64_t size = input_file_size(&r->in);

    return r->in.compressed || !r->in.source.seekable ? UINT64_MAX : size > r->in.offset ? size - r->in.offset : 0;
}

/* Whether a record, or the end of the dump, may follow after `ahead` bytes. With `strictly`, another must follow that record. */
static bool record_follows(struct repair *r, uint64_t ahead, bool strictly)
{
    uint64_t left = bytes_left(r);
    const uint8_t *p;
    size_t there;

    if (left != UINT64_MAX && ahead >= left)
        return ahead == left;
    if (ahead > LOOK_AHEAD_MAX)
        return true;
    there = input_need(&r->in, (size_t)ahead + RECORD_HEADER_SIZE);
    if (there <= ahead)
        return there == ahead;
    p = r->in.at + ahead;
    if (!is_record(r, *p))
        return false;
    if (there < ahead + RECORD_HEADER_SIZE)
        return !strictly;
    if (left != UINT64_MAX && get_u4(p + RECORD_LENGTH_AT) > left - ahead - RECORD_HEADER_SIZE)
        return !strictly && is_heap(*p); /* a truncated one */
    return !strictly || record_follows(r, ahead + RECORD_HEADER_SIZE + get_u4(p + RECORD_LENGTH_AT), false);
}

/* ---- Records outside of heap dumps ---- */

/* The length that the kind and the counts of the record that begins after `ahead` bytes give. False if they give none, or the
 * counts are missing. */
static bool length_by_kind(struct repair *r, uint64_t ahead, uint64_t *length)
{
    size_t want = (size_t)ahead + RECORD_HEADER_SIZE + 64, there = input_need(&r->in, want);
    struct cursor c = {r->in.at + ahead, r->in.at + (there < want ? there : want)};
    uint8_t tag = r->in.at[ahead];
    struct TRACE trace;
    struct ALLOC_SITES sites;
    struct CPU_SAMPLES samples;

    if (!cursor_take(&c, RECORD_HEADER_SIZE))
        return false;
    switch ((enum record_tag)tag) {
    case TAG_UTF8:
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
        return false;
    case TAG_HEAP_DUMP_END:
        *length = 0;
        return true;
    case TAG_TRACE:
        *length = SIZE_OF(TRACE, r->id_size);
        if (!read_TRACE(&c, r->id_size, &trace))
            return false;
        *length += (uint64_t)trace.frames * r->id_size;
        return true;
    case TAG_ALLOC_SITES:
        *length = SIZE_OF(ALLOC_SITES, r->id_size);
        if (!read_ALLOC_SITES(&c, r->id_size, &sites))
            return false;
        *length += (uint64_t)sites.sites * SIZE_OF(SITE, r->id_size);
        return true;
    case TAG_CPU_SAMPLES:
        *length = SIZE_OF(CPU_SAMPLES, r->id_size);
        if (!read_CPU_SAMPLES(&c, r->id_size, &samples))
            return false;
        *length += (uint64_t)samples.traces * SIZE_OF(SAMPLE, r->id_size);
        return true;
#define FIXED(name) \
    case TAG_##name: \
        *length = SIZE_OF(name, r->id_size); \
        return true;
        FIXED(LOAD_CLASS)
        FIXED(UNLOAD_CLASS)
        FIXED(FRAME)
        FIXED(HEAP_SUMMARY)
        FIXED(START_THREAD)
        FIXED(END_THREAD)
        FIXED(CONTROL_SETTINGS)
#undef FIXED
    }
    return false;
}

/* Whether the header of a heap dump record after `ahead` bytes is one: sub-records follow it, and a record follows its end. With
 * `strictly`, that end is not too far away to be seen. */
static bool begins_heap(struct repair *r, uint64_t ahead, bool strictly)
{
    uint64_t length = get_u4(r->in.at + ahead + RECORD_LENGTH_AT), body = ahead + RECORD_HEADER_SIZE, end = body + length;
    size_t want = (size_t)body + PLAUSIBLE_BYTES, there = input_need(&r->in, want);

    if (there <= body || !length ||
        !plausible_subrecords(r->in.at + body, (there < want ? there : want) - (size_t)body, length, r->id_size, r->version))
        return false;
    if (end <= LOOK_AHEAD_MAX && input_need(&r->in, (size_t)end) >= end)
        return record_follows(r, end, true);
    return !strictly;
}

/* Whether records begin after `ahead` bytes: their lengths lead from one to the next, and fit their kinds. */
static bool begins_records(struct repair *r, uint64_t ahead, bool strictly)
{
    uint64_t length, own;
    uint8_t tag = 0;

    for (int seen = 0; seen < SERIES; seen++) {
        size_t there = input_need(&r->in, (size_t)ahead + RECORD_HEADER_SIZE);

        if (there < ahead + RECORD_HEADER_SIZE)
            return there == ahead && tag == TAG_HEAP_DUMP_END; /* the end of the dump */
        tag = r->in.at[ahead];
        if (!is_record(r, tag))
            return false;
        if (is_heap(tag))
            return begins_heap(r, ahead, strictly);
        length = get_u4(r->in.at + ahead + RECORD_LENGTH_AT);
        if (tag == TAG_UTF8 ? length < r->id_size : !length_by_kind(r, ahead, &own) || own != length)
            return false;
        ahead += RECORD_HEADER_SIZE + length;
        if (ahead > LOOK_AHEAD_MAX)
            return false;
    }
    return true;
}

static bool is_header(struct repair *r)
{
    static const char magic[] = "JAVA PROFILE 1.0.";
    size_t n = input_need(&r->in, HEADER_SIZE);
    const uint8_t *p = r->in.at;

    return n >= HEADER_SIZE && memcmp(p, magic, sizeof magic - 1) == 0 && p[sizeof magic - 1] >= '1' &&
           p[sizeof magic - 1] <= '3' && !p[sizeof magic] &&
           (get_u4(p + HEADER_STRING_SIZE) == 4 || get_u4(p + HEADER_STRING_SIZE) == 8);
}

/* Leaves out the next byte, and bytes up to the next record, or to the header of another dump. Every offset is tried, because no
 * length leads there. */
static void leave_out_to_record(struct repair *r, enum left_out_kind kind, uint8_t tag)
{
    uint64_t start = r->in.offset;

    do
        input_skip(&r->in, 1);
    while (input_need(&r->in, 1) > 0 && !r->memory.exhausted && !begins_records(r, 0, true) && !is_header(r));
    leave_out(r, kind, tag, r->in.offset - start);
}

static void drop_record(struct repair *r, uint8_t tag, uint64_t size)
{
    uint64_t there = input_skip(&r->in, size);

    leave_out(r, is_record(r, tag) ? LEFT_RECORD : LEFT_BYTES, is_record(r, tag) ? tag : 0, there);
}

/* Copies a record with a body of `length` bytes, which replaces the stated length, and skips the rest of its `span` bytes. */
static void copy_record(struct repair *r, uint64_t stated, uint64_t length, uint64_t span)
{
    uint64_t start = copied(r), size = RECORD_HEADER_SIZE + length, there;
    size_t trace = trace_of_record(r);
    bool is_cleared = has_missing_trace(r, trace);
    uint8_t tag = *r->in.at;

    if (r->takes_names && !damage_is_at(r, r->in.offset, size)) {
        size_t want = size < NAMES_RECORD_BYTES ? (size_t)size : NAMES_RECORD_BYTES, have = input_need(&r->in, want);

        names_add_record(&r->names, (struct cursor){r->in.at, r->in.at + (have < want ? have : want)});
    }
    there = copy(r, size);
    if (there < size) {
        truncate_copy(r, start);
        leave_out(r, LEFT_RECORD, tag, there);
        return;
    }
    if (is_cleared)
        clear_trace(r, start, trace);
    if (length != stated) {
        put_number(r, start + RECORD_LENGTH_AT, length);
        r->asked->lengths_mended++;
    }
    if (span > size)
        leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, span - size));
}

/* Whether the next record uses what an earlier copy lacked. That copy had valid lengths. */
static bool uses_missing(struct repair *r, uint64_t span)
{
    return !r->is_first_pass && *r->in.at != TAG_UTF8 && span <= LOOK_AHEAD_MAX && input_need(&r->in, (size_t)span) >= span &&
           missing_in_record(r, (struct cursor){r->in.at, r->in.at + span});
}

/* `ends_heap`: a HEAP_DUMP_END here ends a series of segments, whatever follows it. */
static void repair_record(struct repair *r, bool ends_heap)
{
    uint8_t tag = *r->in.at;
    uint64_t stated = get_u4(r->in.at + RECORD_LENGTH_AT), span = RECORD_HEADER_SIZE + stated, own = stated;
    bool is_known = is_record(r, tag), has_own = is_known && length_by_kind(r, 0, &own);
    r->record_end = r->in.offset + span;
    if (uses_missing(r, span)) {
        drop_record(r, tag, span);
        return;
    }
    bool is_whole = tag == TAG_UTF8 ? stated >= r->id_size : !has_own || own <= stated;
    bool leads_on = record_follows(r, span, false) || (ends_heap && tag == TAG_HEAP_DUMP_END && !stated);

    if (has_missing_trace(r, trace_of_record(r)) ? is_unwanted_without_trace(r, span, trace_of_record(r))
                                                 : is_unwanted(r, span))
        drop_record(r, tag, span);
    else if (leads_on && is_known && is_whole)
        copy_record(r, stated, has_own ? own : stated, span);
    else if (leads_on)
        drop_record(r, tag, span);
    else if (has_own && own != stated && record_follows(r, RECORD_HEADER_SIZE + own, false))
        copy_record(r, stated, own, RECORD_HEADER_SIZE + own);
    else if (is_known && bytes_left(r) < span)
        leave_out_to_record(r, LEFT_RECORD, tag); /* truncated, or its length is wrong */
    else
        leave_out_to_record(r, LEFT_BYTES, 0);
}

/* ---- Heap dump records ---- */

struct heap {
    uint64_t start; /* of the record in the copy */
    uint64_t end;   /* of the record in the input; UINT64_MAX if its length is wrong, so that it ends after its sub-records */
};

/* Copies a sub-record whose size was measured. */
static void copy_subrecord(struct repair *r, uint64_t size)
{
    size_t want = 1 + SIZE_OF(CLASS_DUMP, r->id_size), there = input_need(&r->in, want);
    struct cursor c = {r->in.at, r->in.at + (there < want ? there : want)};
    size_t trace = trace_of_subrecord(r);
    uint64_t key, start = copied(r), copied_bytes;
    enum left_out_kind kind = kind_of(r, c, &key);
    bool is_cleared = has_missing_trace(r, trace), is_bad = needs_missing_class(r, c);

    if (!r->is_first_pass && (kind == LEFT_CLASS || kind == LEFT_SUBRECORD) && input_need(&r->in, (size_t)size) >= size)
        is_bad |= missing_in_subrecord(r, r->in.at);
    if (is_bad || (is_cleared ? is_unwanted_without_trace(r, size, trace) : is_unwanted(r, size))) {
        leave_out(r, kind, key, input_skip(&r->in, size));
        return;
    }
    copied_bytes = copy(r, size);
    if (copied_bytes < size) {
        truncate_copy(r, start);
        leave_out(r, kind, key, copied_bytes);
    } else if (is_cleared) {
        clear_trace(r, start, trace);
    }
}

/* Drops the last sub-record, which the end of the dump truncates. */
static void drop_tail(struct repair *r)
{
    size_t want = 1 + SIZE_OF(CLASS_DUMP, r->id_size), there = input_need(&r->in, want);
    struct cursor c = {r->in.at, r->in.at + (there < want ? there : want)};
    uint64_t key, skipped;
    enum left_out_kind kind = kind_of(r, c, &key);

    skipped = input_skip(&r->in, UINT64_MAX);
    leave_out(r, kind, key, skipped);
}

/* Where no sub-record can be measured, the heap dump record ends: at its stated end if a record follows there, else here. */
static void end_unmeasured(struct repair *r, struct heap *h, enum measured result)
{
    uint64_t at = r->in.offset, left = h->end == UINT64_MAX ? UINT64_MAX : h->end - at;

    if (result == MEASURE_MORE && input_need(&r->in, MEASURE_MAX) < MEASURE_MAX) { /* the dump ends */
        drop_tail(r);
        return;
    }
    if (left != UINT64_MAX && (bytes_left(r) == UINT64_MAX || left < bytes_left(r)) && record_follows(r, left, false)) {
        leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, left));
        return;
    }
    if (!record_follows(r, 0, true))
        leave_out_to_record(r, LEFT_BYTES, 0);
}

/* Whether sub-records follow the stated end of a heap dump record, so that its length is wrong. */
static bool goes_past_end(struct repair *r, struct heap *h)
{
    size_t there;

    if (record_follows(r, 0, false))
        return false;
    there = input_need(&r->in, PLAUSIBLE_BYTES);
    if (!there ||
        !plausible_subrecords(r->in.at, there < PLAUSIBLE_BYTES ? there : PLAUSIBLE_BYTES, UINT64_MAX, r->id_size, r->version))
        return false;
    h->end = UINT64_MAX;
    return true;
}

static bool measure_next(struct repair *r, struct measure *m, enum measured *result)
{
    for (size_t want = 64;; want *= 4) {
        size_t there = input_need(&r->in, want);

        *result = measure_subrecord(r->in.at, there, r->id_size, r->version, m);
        if (*result != MEASURE_MORE || there < want || want >= MEASURE_MAX)
            return *result == MEASURED;
    }
}

/* The bytes from here on up to the end of the heap dump record, and after them `next` bytes of the body of the following one. */
static uint8_t *join(struct repair *r, uint64_t left, size_t next)
{
    uint8_t *joined = memory_get(&r->memory, (size_t)left + next);

    if (joined) {
        memcpy(joined, r->in.at, (size_t)left);
        memcpy(joined + left, r->in.at + left + RECORD_HEADER_SIZE, next);
    }
    return joined;
}

/* The size of the next sub-record if the next record, a segment, goes on with it: the start of the segment is no chain of
 * sub-records, but its bytes after the rest of the sub-record are. Else 0. */
static uint64_t size_across(struct repair *r, uint64_t left)
{
    uint64_t body = left + RECORD_HEADER_SIZE, length, rest;
    enum measured result = MEASURE_MORE;
    struct measure m;
    size_t next;
    uint8_t *joined;

    if (body > LOOK_AHEAD_MAX || input_need(&r->in, (size_t)body + 1) <= body || r->in.at[left] != TAG_HEAP_DUMP_SEGMENT)
        return 0;
    length = get_u4(r->in.at + left + RECORD_LENGTH_AT);
    next = input_need(&r->in, (size_t)body + PLAUSIBLE_BYTES) - (size_t)body;
    next = length < next ? (size_t)length : next;
    joined = join(r, left, next);
    if (joined)
        result = measure_subrecord(joined, (size_t)left + next, r->id_size, r->version, &m);
    memory_put(&r->memory, joined, (size_t)left + next);
    if (result != MEASURED || m.size <= left || m.size - left > length || m.size + RECORD_HEADER_SIZE > LOOK_AHEAD_MAX ||
        plausible_subrecords(r->in.at + body, next, length, r->id_size, r->version))
        return 0;
    rest = m.size - left;
    next = input_need(&r->in, (size_t)(body + rest) + PLAUSIBLE_BYTES);
    if (next < body + rest)
        return 0;
    next -= (size_t)(body + rest);
    return plausible_subrecords(r->in.at + body + rest, next, length - rest, r->id_size, r->version) ? m.size : 0;
}

/* Copies a sub-record that the next segment goes on with. The rest of that segment then belongs to the present one. */
static bool join_segments(struct repair *r, struct heap *h)
{
    uint64_t left = h->end - r->in.offset, size = size_across(r, left), length;

    if (!size)
        return false;
    length = get_u4(r->in.at + left + RECORD_LENGTH_AT);
    copy(r, left);
    input_skip(&r->in, RECORD_HEADER_SIZE);
    h->end = r->record_end = r->in.offset + length;
    copy(r, size - left);
    r->asked->joined++;
    return true;
}

/* Copies the sub-records of a heap dump record. */
static void copy_subrecords(struct repair *r, struct heap *h)
{
    while (!r->error && !r->memory.exhausted) {
        enum measured result;
        struct measure m;

        if (r->in.offset == h->end && !goes_past_end(r, h))
            return;
        if (!input_need(&r->in, 1))
            return;
        if (h->end == UINT64_MAX && record_follows(r, 0, true))
            return;
        if (!measure_next(r, &m, &result)) {
            if (h->end != UINT64_MAX && join_segments(r, h))
                continue;
            end_unmeasured(r, h, result);
            return;
        } else if (h->end != UINT64_MAX && m.size > h->end - r->in.offset) {
            if (join_segments(r, h))
                continue;
            /* It crosses the end of its record: one of the two sizes is wrong. */
            if (record_follows(r, h->end - r->in.offset, true)) {
                leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, h->end - r->in.offset));
                return;
            }
            h->end = UINT64_MAX;
        } else {
            copy_subrecord(r, m.size);
        }
    }
}

static void repair_heap(struct repair *r, bool *is_open)
{
    uint64_t length = get_u4(r->in.at + RECORD_LENGTH_AT), body, before = r->asked->left_out;
    struct heap h = {.start = copied(r), .end = r->in.offset + RECORD_HEADER_SIZE + length};
    uint8_t tag = *r->in.at;

    r->record_end = h.end;
    if (is_unwanted(r, RECORD_HEADER_SIZE)) {
        drop_record(r, tag, RECORD_HEADER_SIZE + length);
        return;
    }
    if (bytes_left(r) != UINT64_MAX && RECORD_HEADER_SIZE + length > bytes_left(r))
        h.end = UINT64_MAX; /* truncated, or its length is wrong */
    copy(r, RECORD_HEADER_SIZE);
    copy_subrecords(r, &h);
    body = copied(r) - h.start - RECORD_HEADER_SIZE;
    if (!body && r->asked->left_out > before) {
        truncate_copy(r, h.start); /* all of it was left out */
        return;
    }
    if (body > UINT32_MAX) {
        snprintf(r->asked->failure, sizeof r->asked->failure, "a heap dump record of more than 4 GiB cannot state its length");
        r->error = EFBIG;
        return;
    }
    if (body != length) {
        put_number(r, h.start + RECORD_LENGTH_AT, body);
        r->asked->lengths_mended++;
    }
    if (tag == TAG_HEAP_DUMP_SEGMENT) /* a HEAP_DUMP within a series does not end it */
        *is_open = true;
}

/* ---- The header ---- */

static bool copy_header(struct repair *r)
{
    if (!is_header(r))
        return false;
    r->id_size = get_u4(r->in.at + HEADER_STRING_SIZE);
    r->version = (enum version)(r->in.at[HEADER_STRING_SIZE - 2] - '0');
    if (r->takes_names && r->has_names)
        names_clear(&r->names);
    if (r->takes_names)
        names_init(&r->names, &r->memory, &r->key, r->id_size);
    r->has_names = true;
    copy(r, HEADER_SIZE);
    return true;
}

/* ---- Damaged gzip members ---- */

/* The stream continues after missing bytes. Goes to the next record; false if there is none up to the end of the stream. */
static bool go_to_record(struct repair *r)
{
    uint64_t ahead = r->record_end - r->in.offset;

    if (r->record_end >= r->in.offset && ahead <= LOOK_AHEAD_MAX && begins_records(r, ahead, false))
        leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, ahead));
    else if (!begins_records(r, 0, false)) /* HotSpot begins each segment with a member */
        leave_out_to_record(r, LEFT_BYTES, 0);
    return input_need(&r->in, 1) > 0;
}

static void note_gap(struct repair *r, const struct gzip_resumption *gap)
{
    uint64_t lost = gap->size > gap->made ? gap->size - gap->made : 0;

    if (gap->size == GZIP_SIZE_UNKNOWN) {
        r->asked->gzip_unknown++;
        r->record_end = 0;
        return;
    }
    r->lost += lost;
    leave_out(r, LEFT_GZIP_MEMBER, gap->damaged, lost);
    r->record_end += gap->made; /* invalid data may have given more bytes than there were */
    r->record_end -= r->record_end < gap->size ? r->record_end : gap->size;
}

/* At the end of the stream: if it is only that of the bytes before a damaged gzip member, goes to the next record after it. */
static bool resume(struct repair *r)
{
    struct gzip_resumption gap;

    while (!r->error && !r->memory.exhausted && input_resume(&r->in, &gap)) {
        r->asked->gzip_resumed++;
        note_gap(r, &gap);
        if (go_to_record(r))
            return true;
    }
    r->asked->gzip_ended_early |= input_ended_by_fault(&r->in);
    return false;
}

/* ---- The whole ---- */

/* Two dumps are not one heap: what follows the header of another dump is left out. */
static void leave_out_other_dump(struct repair *r)
{
    r->asked->other_dump = r->in.offset;
    leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, UINT64_MAX));
}

static void copy_next_record(struct repair *r, bool *is_open)
{
    uint64_t before = copied(r);
    uint8_t tag = *r->in.at;

    if (is_heap(tag) && is_record(r, tag)) {
        r->heap_dump += !*is_open;
        repair_heap(r, is_open);
        return;
    }
    repair_record(r, *is_open);
    if (tag == TAG_HEAP_DUMP_END && copied(r) > before)
        *is_open = false;
}

bool repair_copy(struct repair *r)
{
    bool is_open = false; /* a series of segments */

    r->written = r->buffered = 0;
    r->next_offset = r->record_end = r->heap_dump = 0;
    r->has_changed = false;
    damage_begin_pass(r);
    if (!copy_header(r)) {
        snprintf(r->asked->failure, sizeof r->asked->failure, "the header of the dump is not valid, so nothing can be read");
        return false;
    }
    while (!r->error && !r->memory.exhausted && (input_need(&r->in, 1) > 0 || resume(r))) {
        if (r->asked->on_progress)
            r->asked->on_progress(r->asked->context, input_file_position(&r->in), input_file_size(&r->in));
        if (is_header(r)) {
            leave_out_other_dump(r);
            break;
        }
        if (input_need(&r->in, RECORD_HEADER_SIZE) < RECORD_HEADER_SIZE)
            leave_out_to_record(r, LEFT_BYTES, 0);
        else
            copy_next_record(r, &is_open);
        damage_note_shift(r, copied(r));
    }
    damage_end_pass(r);
    if (is_open && r->is_first_pass) {
        put(r, (const uint8_t[RECORD_HEADER_SIZE]){TAG_HEAP_DUMP_END}, RECORD_HEADER_SIZE);
        r->asked->is_ended = true;
    }
    flush(r);
    if (!r->error && ftruncate(r->to, (off_t)r->written) != 0)
        r->error = errno;
    return !r->error && !r->in.error && !r->memory.exhausted;
}
