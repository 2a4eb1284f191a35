/* See repair.h. Records and sub-records are copied by their lengths. Where these fail, the check of the input has decided where
 * reading goes on (r->jumps): what lies between is left out. */
#include "repair/repair.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/subrecord.h"

enum {
    BUFFER_SIZE = 1 << 20,
    LONGEST_SEEN = 1 << 22, /* bytes that are needed together: no CLASS_DUMP is longer */
    SEEN = 32               /* bytes that show what a record or sub-record is, and its class */
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
    r->result.left_out += bytes;
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
    r->result.traces_cleared++;
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
    bool is_here = keymap_get(&r->undefined_at, r->in.offset + 1 + field, NULL);

    if (!id) /* elsewhere 0 is no class */
        return is_here;
    if (is_here)
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

/* ---- Records outside of heap dumps ---- */

/* The length that the kind and the counts of the next record give. False if they give none, or the counts are missing. */
static bool length_by_kind(struct repair *r, uint64_t *length)
{
    size_t want = RECORD_HEADER_SIZE + 64, there = input_need(&r->in, want);
    struct cursor c = {r->in.at, r->in.at + (there < want ? there : want)};
    uint8_t tag = *r->in.at;
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

static bool is_header(struct repair *r)
{
    static const char magic[] = "JAVA PROFILE 1.0.";
    size_t n = input_need(&r->in, HEADER_SIZE);
    const uint8_t *p = r->in.at;

    return n >= HEADER_SIZE && memcmp(p, magic, sizeof magic - 1) == 0 && p[sizeof magic - 1] >= '1' &&
           p[sizeof magic - 1] <= '3' && !p[sizeof magic] &&
           (get_u4(p + HEADER_STRING_SIZE) == 4 || get_u4(p + HEADER_STRING_SIZE) == 8);
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
        r->result.lengths_mended++;
    }
    if (span > size)
        leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, span - size));
}

/* Whether the next record uses what an earlier copy lacked. That copy had valid lengths. */
static bool uses_missing(struct repair *r, uint64_t span)
{
    return !r->is_first_pass && *r->in.at != TAG_UTF8 && span <= LONGEST_SEEN && input_need(&r->in, (size_t)span) >= span &&
           missing_in_record(r, (struct cursor){r->in.at, r->in.at + span});
}

/* `span` are its bytes, with the header, up to where reading goes on. */
static void repair_record(struct repair *r, uint64_t span)
{
    uint8_t tag = *r->in.at;
    uint64_t stated = get_u4(r->in.at + RECORD_LENGTH_AT), own = stated;
    bool is_known = is_record(r, tag), has_own = is_known && length_by_kind(r, &own);
    bool is_whole = tag == TAG_UTF8 ? stated >= r->id_size : !has_own || RECORD_HEADER_SIZE + own <= span;

    if (!is_known || !is_whole || uses_missing(r, span) ||
        (has_missing_trace(r, trace_of_record(r)) ? is_unwanted_without_trace(r, span, trace_of_record(r))
                                                  : is_unwanted(r, span)))
        drop_record(r, tag, span);
    else
        copy_record(r, stated, has_own ? own : stated, span);
}

/* ---- Heap dump records ---- */

/* Copies a sub-record whose size was measured. `bytes` replaces the length of an instance, unless that is UINT64_MAX. */
static void copy_subrecord(struct repair *r, uint64_t size, uint64_t bytes)
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
        return;
    }
    if (is_cleared)
        clear_trace(r, start, trace);
    if (bytes != UINT64_MAX) {
        put_number(r, start + 1 + OFFSET_OF(INSTANCE_DUMP, bytes, r->id_size), bytes);
        r->result.lengths_mended++;
        r->has_changed = true;
    }
}

/* Leaves out the next sub-record; UINT64_MAX for one that the end of the dump truncates. */
static void drop_subrecord(struct repair *r, uint64_t size)
{
    size_t want = 1 + SIZE_OF(CLASS_DUMP, r->id_size), there = input_need(&r->in, want);
    struct cursor c = {r->in.at, r->in.at + (there < want ? there : want)};
    uint64_t key, skipped;
    enum left_out_kind kind = kind_of(r, c, &key);

    skipped = input_skip(&r->in, size);
    leave_out(r, kind, key, skipped);
}

static bool measure_next(struct repair *r, struct measure *m)
{
    for (size_t want = 64;; want *= 4) {
        size_t there = input_need(&r->in, want);
        enum measured result = measure_subrecord(r->in.at, there, r->id_size, r->version, m);

        if (result != MEASURE_MORE || there < want || want >= LONGEST_SEEN)
            return result == MEASURED;
    }
}

/* The heap dump record in the copy takes sub-records from here on, up to an offset of the input. */
static void open_heap(struct repair *r, uint64_t end)
{
    r->heap.is_open = true;
    r->heap.end = end;
}

/* The heap dump record in the copy is complete, as long as no more sub-records are found. */
static void close_heap(struct repair *r)
{
    uint64_t body = copied(r) - r->heap.start - RECORD_HEADER_SIZE;

    if (!r->heap.is_open)
        return;
    r->heap.is_open = false;
    r->heap.copied_until = copied(r);
    if (!body && r->result.left_out > r->heap.left_out) {
        truncate_copy(r, r->heap.start); /* all of it was left out */
        r->heap.copied_until = UINT64_MAX;
        return;
    }
    if (body > UINT32_MAX) {
        snprintf(r->result.failure, sizeof r->result.failure, "a heap dump record of more than 4 GiB cannot state its length");
        r->error = EFBIG;
        return;
    }
    if (body != r->heap.length) {
        put_number(r, r->heap.start + RECORD_LENGTH_AT, body);
        r->result.lengths_mended += !r->heap.is_mended;
        r->heap.is_mended = true;
        r->heap.length = body;
    }
}

static void begin_heap(struct repair *r, uint64_t length)
{
    r->heap = (struct heap_record){.is_open = true, .start = copied(r), .length = length, .left_out = r->result.left_out};
}

static void repair_heap(struct repair *r, bool *is_open)
{
    uint64_t length = get_u4(r->in.at + RECORD_LENGTH_AT);
    uint8_t tag = *r->in.at;

    if (is_unwanted(r, RECORD_HEADER_SIZE)) {
        drop_record(r, tag, RECORD_HEADER_SIZE + length);
        return;
    }
    begin_heap(r, length);
    copy(r, RECORD_HEADER_SIZE);
    r->heap.end = r->in.offset + length;
    if (tag == TAG_HEAP_DUMP_SEGMENT) /* a HEAP_DUMP within a series does not end it */
        *is_open = true;
}

/* ---- Jumps: where the check of the input went on after a failure ---- */

static const struct jump *jump_here(struct repair *r)
{
    while (r->next_jump < r->jump_count && r->jumps[r->next_jump].from < r->in.offset)
        r->next_jump++;
    return r->next_jump < r->jump_count && r->jumps[r->next_jump].from == r->in.offset ? &r->jumps[r->next_jump] : NULL;
}

/* Sub-records follow that belong to no heap dump record by its length. The last one of the copy takes them if nothing follows it
 * there; else they get a record of their own, in place of bytes that were left out. Where those are too few for its header, the
 * first sub-records are left out too. False if there is no room even so. */
static bool reopen_heap(struct repair *r, uint64_t end, bool *is_series)
{
    uint8_t header[RECORD_HEADER_SIZE] = {r->version == V101 ? TAG_HEAP_DUMP : TAG_HEAP_DUMP_SEGMENT};
    struct measure m;

    if (!r->heap.is_open && r->heap.copied_until != copied(r)) {
        while (r->in.offset - copied(r) < RECORD_HEADER_SIZE && r->in.offset < end && !jump_here(r) && measure_next(r, &m))
            drop_subrecord(r, m.size);
        if (r->in.offset - copied(r) < RECORD_HEADER_SIZE)
            return false;
        begin_heap(r, 0);
        r->heap.is_mended = true;
        put(r, header, sizeof header);
        r->result.headers_made++;
        *is_series |= r->version != V101;
    }
    open_heap(r, end);
    return true;
}

/* Copies the part of a sub-record that crosses the end of its segment; the part after it follows in the next segment, whose rest
 * then belongs to the present heap dump record. */
static void copy_part(struct repair *r, const struct jump *jump)
{
    copy(r, jump->to - jump->from);
    r->next_jump++;
    if (r->next_jump == r->jump_count || r->jumps[r->next_jump].part != jump->part + 1) {
        open_heap(r, jump->heap_end > jump->to ? jump->heap_end : jump->to);
        r->result.joined++;
        return;
    }
    while (!r->error && r->in.offset < r->jumps[r->next_jump].from) /* headers, also those of empty segments */
        input_skip(&r->in, RECORD_HEADER_SIZE);
}

static void follow_jump(struct repair *r, const struct jump *jump, bool *is_series)
{
    uint64_t size = jump->to - jump->from, own;

    if (jump->part) {
        copy_part(r, jump);
        return;
    }
    r->next_jump++;
    if (!r->heap.is_open && is_record(r, *r->in.at) && size > RECORD_HEADER_SIZE && jump->to != UINT64_MAX &&
        input_need(&r->in, RECORD_HEADER_SIZE) >= RECORD_HEADER_SIZE && length_by_kind(r, &own) &&
        own == size - RECORD_HEADER_SIZE) {
        repair_record(r, size);
        return;
    }
    leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, jump->to == UINT64_MAX ? UINT64_MAX : size));
    if (jump->to != UINT64_MAX && jump->heap_end > jump->to) {
        if (!reopen_heap(r, jump->heap_end, is_series)) {
            const struct jump *next = r->next_jump < r->jump_count ? &r->jumps[r->next_jump] : NULL;

            leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, next ? next->from - r->in.offset : UINT64_MAX));
        }
    } else {
        close_heap(r);
    }
}

/* Copies the next sub-record, unless reading failed there. */
static void copy_next_subrecord(struct repair *r, bool *is_series)
{
    const struct jump *jump = jump_here(r);
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, r->id_size);
    struct measure m;

    if (jump && jump->failed) {
        follow_jump(r, jump, is_series);
    } else if (jump) { /* an instance whose length is wrong has the size of its class */
        r->next_jump++;
        copy_subrecord(r, jump->to - jump->from, jump->to - jump->from - head);
    } else if (measure_next(r, &m)) {
        copy_subrecord(r, m.size, UINT64_MAX);
    } else {
        drop_subrecord(r, UINT64_MAX);
    }
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

/* ---- The input as it is ---- */

/* At the end of the stream: if it is only that of the bytes before a damaged gzip member, reading goes on in a later member. */
static bool resume(struct repair *r)
{
    struct gzip_resumption gap;

    if (r->error || r->memory.exhausted || !input_resume(&r->in, &gap)) {
        r->result.gzip_ended_early |= input_ended_by_fault(&r->in);
        return false;
    }
    r->result.gzip_resumed++;
    /* What ends after the gap is not what it was. */
    if (copied(r) &&
        memory_grow(&r->memory, (void **)&r->offsets, &r->offset_capacity, r->offset_count + 1, sizeof *r->offsets))
        r->offsets[r->offset_count++] = copied(r) - 1;
    if (gap.size == GZIP_SIZE_UNKNOWN) {
        r->result.gzip_unknown++;
    } else if (gap.size > gap.made) {
        r->lost += gap.size - gap.made;
        leave_out(r, LEFT_GZIP_MEMBER, gap.damaged, gap.size - gap.made);
    }
    return true;
}

bool repair_spool(struct repair *r)
{
    r->written = r->buffered = 0;
    do
        copy(r, UINT64_MAX);
    while (resume(r));
    flush(r);
    return !r->error && !r->in.error && !r->memory.exhausted;
}

/* ---- The whole ---- */

/* Two dumps are not one heap: what follows the header of another dump is left out. */
static void leave_out_other_dump(struct repair *r)
{
    close_heap(r);
    r->result.other_dump = r->in.offset;
    leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, UINT64_MAX));
}

static void copy_next_record(struct repair *r, bool *is_series)
{
    const struct jump *jump = jump_here(r);
    uint64_t before = copied(r);
    uint8_t tag = *r->in.at;

    if (jump && jump->failed) {
        follow_jump(r, jump, is_series);
    } else if (input_need(&r->in, RECORD_HEADER_SIZE) < RECORD_HEADER_SIZE) {
        leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, UINT64_MAX));
    } else if (is_heap(tag) && is_record(r, tag)) {
        r->heap_dump += !*is_series;
        repair_heap(r, is_series);
    } else {
        repair_record(r, RECORD_HEADER_SIZE + (uint64_t)get_u4(r->in.at + RECORD_LENGTH_AT));
        if (tag == TAG_HEAP_DUMP_END && copied(r) > before)
            *is_series = false;
    }
}

static void copy_next(struct repair *r, bool *is_series)
{
    if (r->heap.is_open && r->in.offset < r->heap.end) {
        copy_next_subrecord(r, is_series);
        return;
    }
    close_heap(r);
    if (is_header(r))
        leave_out_other_dump(r);
    else
        copy_next_record(r, is_series);
    damage_note_shift(r, copied(r));
}

bool repair_copy(struct repair *r)
{
    bool is_series = false; /* of segments */

    r->written = r->buffered = 0;
    r->next_offset = r->next_jump = r->heap_dump = 0;
    r->heap = (struct heap_record){.copied_until = UINT64_MAX};
    r->has_changed = false;
    damage_begin_pass(r);
    if (!copy_header(r)) {
        snprintf(r->result.failure, sizeof r->result.failure, "the header of the dump is not valid, so nothing can be read");
        return false;
    }
    while (!r->error && !r->memory.exhausted && repair_goes_on(r) && input_need(&r->in, 1) > 0)
        copy_next(r, &is_series);
    close_heap(r);
    damage_end_pass(r);
    if (is_series && r->is_first_pass) {
        put(r, (const uint8_t[RECORD_HEADER_SIZE]){TAG_HEAP_DUMP_END}, RECORD_HEADER_SIZE);
        r->result.is_ended = true;
    }
    flush(r);
    if (!r->error && ftruncate(r->to, (off_t)r->written) != 0)
        r->error = errno;
    return !r->error && !r->in.error && !r->memory.exhausted;
}
