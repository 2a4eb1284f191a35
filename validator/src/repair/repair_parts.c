/* See repair.h. A VM of JDK 22 or later that is killed while it dumps leaves FILE, FILE.p0, FILE.p1, ...: FILE has the records
 * before the heap dump, each part has segments, and FILE takes over one part after the other. Each file is read for itself, so that
 * what is truncated at its end takes no bytes of the next one. */
#include "repair/repair_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/header.h"

static enum hprof_status refuse(struct repair *r, size_t part, const char *why)
{
    r->result.refused_part = part + 1;
    snprintf(r->result.failure, sizeof r->result.failure, "%s", why);
    return HPROF_INVALID;
}

static bool open_part(struct repair *r, size_t i)
{
    input_close(&r->in);
    if (lseek(r->asked.parts[i], 0, SEEK_SET) < 0 && errno != ESPIPE)
        return false;
    return repair_open(r, source_of_fd(r->asked.parts[i]));
}

/* ---- What FILE has of a part ---- */

enum { PREFIX = 4096 };

/* Passes the bytes of the part, which is the input, that the file of the copy has from an offset on. Returns how many. */
static uint64_t pass_same(struct repair *r, uint64_t at)
{
    const uint64_t from = at;
    uint8_t bytes[PREFIX];
    size_t n = sizeof bytes, same = n;

    while (at < r->written && same == n) {
        size_t there = input_need(&r->in, sizeof bytes);

        n = r->written - at < sizeof bytes ? (size_t)(r->written - at) : sizeof bytes;
        n = there < n ? there : n;
        if (!n || !copy_read(r, at, bytes, n))
            break;
        for (same = 0; same < n && bytes[same] == r->in.at[same];)
            same++;
        input_advance(&r->in, same);
        at += same;
    }
    return at - from;
}

/* What FILE has, from an offset on, of the part that is the input. */
enum overlap {
    OVERLAP_NONE,
    OVERLAP_REST, /* its rest is the beginning of the part, perhaps damaged at its end */
    OVERLAP_ALL   /* the whole part, and more follows */
};

static enum overlap find_overlap(struct repair *r, uint64_t at)
{
    uint64_t rest = r->written - at, same = pass_same(r, at);

    if (same == rest)
        return OVERLAP_REST;
    if (!input_need(&r->in, 1))
        return OVERLAP_ALL;
    return same >= PREFIX && same + input_skip(&r->in, UINT64_MAX) >= rest ? OVERLAP_REST : OVERLAP_NONE;
}

/* A part whose beginning is sought in FILE. */
struct sought {
    enum overlap overlap;
    uint64_t from;   /* where FILE has it, */
    uint64_t passed; /* and how many bytes of it were compared there */
    uint64_t budget; /* of bytes that are compared in vain: a dump may be made of records that begin alike */
    size_t size;     /* of what is compared first; 0: the part is sought no more */
    uint8_t prefix[PREFIX];
};

/* Bytes of FILE, in the buffer of the copy. */
struct view {
    uint64_t at;
    size_t size;
};

/* At least n bytes of FILE from an offset on; NULL if they cannot be read. */
static const uint8_t *see(struct repair *r, struct view *v, uint64_t at, size_t n)
{
    if (at + n > v->at + v->size) {
        v->at = at;
        v->size = r->written - at < COPY_BUFFER ? (size_t)(r->written - at) : COPY_BUFFER;
        if (!copy_read(r, at, r->buffer, v->size)) {
            v->size = 0;
            return NULL;
        }
    }
    return r->buffer + (at - v->at);
}

/* Bytes were compared in vain. */
static void charge(struct sought *s, uint64_t compared)
{
    if (compared > s->budget)
        s->size = 0;
    else
        s->budget -= compared;
}

/* Whether a part may begin at an offset of FILE, by its first bytes. */
static bool may_begin_at(struct repair *r, struct view *v, uint64_t at, struct sought *s)
{
    size_t n = r->written - at < s->size ? (size_t)(r->written - at) : s->size, same = 0;
    const uint8_t *there = see(r, v, at, RECORD_HEADER_SIZE);

    if (!s->size || !there || memcmp(there, s->prefix, RECORD_HEADER_SIZE) != 0 || !(there = see(r, v, at, n)))
        return false;
    while (same < n && there[same] == s->prefix[same])
        same++;
    if (same < n)
        charge(s, same);
    return same == n;
}

static void seek_at(struct repair *r, size_t part, uint64_t at, struct sought *s)
{
    uint64_t rest = r->written - at;

    if (open_part(r, part) && (s->overlap = find_overlap(r, at)) != OVERLAP_NONE) {
        s->from = at;
        s->passed = r->in.offset;
        s->size = 0;
    } else if (rest > s->budget) {
        s->size = 0;
    } else {
        charge(s, r->in.offset < rest ? r->in.offset : rest);
    }
}

/* Finds the beginnings of the parts in FILE, up to the first one of which it has the beginning alone. Parts are appended at the end
 * of a record. */
static void find_beginnings(struct repair *r, struct sought *parts)
{
    bool may_begin[UINT8_MAX + 1] = {false};
    size_t count = r->asked.part_count;
    uint64_t at = HEADER_SIZE, next;
    struct view v = {0};
    const uint8_t *here;

    for (size_t i = 0; i < count && !r->error; i++) {
        size_t there = open_part(r, i) ? input_need(&r->in, PREFIX) : 0;

        if (there <= RECORD_HEADER_SIZE)
            continue;
        parts[i].size = there < PREFIX ? there : PREFIX;
        parts[i].budget = r->written;
        memcpy(parts[i].prefix, r->in.at, parts[i].size);
        may_begin[*parts[i].prefix] = true;
    }
    for (; count && at + RECORD_HEADER_SIZE <= r->written && !r->error; at = next) {
        here = see(r, &v, at, RECORD_HEADER_SIZE);
        if (!here)
            break;
        next = at + RECORD_HEADER_SIZE + (uint64_t)get_u4(here + RECORD_LENGTH_AT);
        if (!may_begin[*here])
            continue;
        for (size_t i = 0; i < count && !r->error; i++) {
            if (may_begin_at(r, &v, at, &parts[i]))
                seek_at(r, i, at, &parts[i]);
            if (parts[i].overlap == OVERLAP_REST)
                count = i;
        }
    }
}

/* The first part of which FILE has the beginning alone is cut off: it is joined. Parts after it are not in FILE. */
static void cut_beginning(struct repair *r, const struct sought *parts)
{
    for (size_t i = 0; i < r->asked.part_count && !r->error; i++) {
        r->are_in_file[i] = parts[i].overlap == OVERLAP_ALL;
        if (r->are_in_file[i])
            r->result.overlap += parts[i].passed;
        if (parts[i].overlap != OVERLAP_REST)
            continue;
        r->result.overlap += r->written - parts[i].from;
        r->written = parts[i].from;
        if (ftruncate(r->to, (off_t)r->written) != 0)
            r->error = errno;
        break;
    }
}

bool parts_cut_overlap(struct repair *r)
{
    const struct hprof_repair_result before = r->result;
    const size_t damaged = r->damage.part_count, size = r->asked.part_count * sizeof(struct sought);
    struct sought *parts = memory_get_zeroed(&r->memory, size);

    r->are_in_file = memory_get_zeroed(&r->memory, r->asked.part_count * sizeof *r->are_in_file);
    if (parts && r->are_in_file) {
        find_beginnings(r, parts);
        r->result = before; /* faults of gzip are counted when the part is joined */
        r->damage.part_count = damaged;
        cut_beginning(r, parts);
    }
    memory_put(&r->memory, parts, size);
    return !r->error && !r->memory.exhausted;
}

/* ---- Joining ---- */

static bool is_dump(struct repair *r)
{
    return input_need(&r->in, HEADER_MAGIC_SIZE) >= HEADER_MAGIC_SIZE && is_header_magic(r->in.at);
}

/* A part with the header of the dump before it, as it is read. */
struct headed_part {
    int part;
    uint8_t header[HEADER_SIZE];
};

static int64_t read_headed(void *context, uint64_t offset, void *to, size_t size)
{
    const struct headed_part *p = context;
    ssize_t n;

    if (offset < HEADER_SIZE) {
        if (size > HEADER_SIZE - offset)
            size = (size_t)(HEADER_SIZE - offset);
        memcpy(to, p->header + offset, size);
        return (int64_t)size;
    }
    do
        n = pread(p->part, to, size, (off_t)(offset - HEADER_SIZE));
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* The part is the input, and no gzip file. */
static bool read_part_where_it_is(struct headed_part *p, const struct repair *r, struct input_source *source)
{
    struct hprof_source callbacks = {
        .struct_size = sizeof callbacks, .read_at = read_headed, .size = HEADER_SIZE + r->in.source.size, .context = p};

    return !r->in.compressed && r->in.source.seekable && !source_of_callbacks(&callbacks, source);
}

/* Puts the part, which is the input, after the copy, as it is read then. */
static bool spool_part(struct repair *r, const struct headed_part *p)
{
    size_t first_offset = r->offset_count, damaged = r->damage.part_count;

    copy_put(r, p->header, sizeof p->header);
    if (!repair_spool(r))
        return false;
    if (ftruncate(r->to, (off_t)r->written) != 0) { /* an earlier part was there, perhaps a longer one */
        r->error = errno;
        return false;
    }
    for (size_t i = damaged; i < r->damage.part_count; i++) {
        r->damage.parts[i].from += HEADER_SIZE;
        r->damage.parts[i].to += HEADER_SIZE;
    }
    if (r->offset_count > first_offset)
        memmove(r->offsets, r->offsets + first_offset, (r->offset_count - first_offset) * sizeof *r->offsets);
    r->offset_count -= first_offset;
    return true;
}

static enum hprof_status join(struct repair *r, size_t i)
{
    struct headed_part headed = {.part = r->asked.parts[i]};
    struct input_source from;
    enum hprof_status status;

    copy_flush(r);
    r->offset_count = 0;
    if (!open_part(r, i))
        return repair_failure(r);
    if (is_dump(r))
        return refuse(r, i, "has a header: it is a dump of its own, not a part of another");
    r->base = copy_size(r);
    r->damage.settled = r->damage.part_count;
    if (!copy_read(r, 0, headed.header, sizeof headed.header))
        return repair_failure(r);
    if (!read_part_where_it_is(&headed, r, &from)) {
        input_allow_resume(&r->in);
        if (!spool_part(r, &headed) || lseek(r->to, (off_t)r->base, SEEK_SET) < 0)
            return repair_failure(r);
        from = source_of_fd(r->to);
    }
    status = repair_follow(r, from);
    if (status == HPROF_VALID) {
        r->written = r->base; /* the bytes after it, if there are any, are the input now */
        if (!repair_copy_part(r))
            status = repair_failure(r);
        r->result.bytes_in += r->in.offset - HEADER_SIZE;
    }
    lseek(r->to, 0, SEEK_SET);
    r->base = 0;
    return status;
}

enum hprof_status parts_join(struct repair *r)
{
    enum hprof_status status = HPROF_VALID;

    r->ends = memory_get(&r->memory, (r->asked.part_count + 1) * sizeof *r->ends);
    if (!r->ends)
        return repair_failure(r);
    r->ends[r->file_count++] = copy_size(r);
    r->has_all_classes = r->heap_dump > 0;
    for (size_t i = 0; i < r->asked.part_count && status == HPROF_VALID; i++) {
        if (!r->are_in_file[i])
            status = join(r, i);
        r->result.parts_joined++;
        r->ends[r->file_count++] = copy_size(r);
    }
    r->damage.settled = 0;
    r->offset_count = 0;
    return status;
}

/* ---- Parts of another dump ---- */

#define WITHOUT_PARTS "; to repair FILE alone, move its parts elsewhere"

static size_t file_of(const struct repair *r, uint64_t offset)
{
    size_t i = 0;

    while (i + 1 < r->file_count && offset >= r->ends[i])
        i++;
    return i;
}

/* Whether the sub-records at two offsets, of their tags, have the same bytes. */
static bool are_same(struct repair *r, uint64_t a, uint64_t b)
{
    enum { HEAD = 64 };
    uint8_t bytes[2][PREFIX];
    struct measure m = {0};
    size_t n = copy_read_some(r, a, bytes[0], HEAD); /* at the end of the copy there are fewer */
    uint64_t left;

    if (!n || !copy_read_some(r, b, bytes[1], HEAD))
        return true;
    if (*bytes[0] != *bytes[1])
        return false;
    while (measure_subrecord(bytes[0], n, r->id_size, r->version, &m) == MEASURE_MORE) {
        if (n >= HEAD + 1 || (n = copy_read_some(r, a, bytes[0], PREFIX)) <= HEAD)
            return true; /* a long CLASS_DUMP */
    }
    for (left = m.size; left; left -= n, a += n, b += n) {
        n = left < PREFIX ? (size_t)left : PREFIX;
        if (!copy_read(r, a, bytes[0], n) || !copy_read(r, b, bytes[1], n) || memcmp(bytes[0], bytes[1], n) != 0)
            return r->error != 0;
    }
    return true;
}

void parts_note_unloaded(struct repair *r, enum rule rule, uint64_t offset)
{
    enum { LEAST = 8 }; /* fewer may be lost in damage of FILE */
    uint8_t id[8];
    size_t file = r->file_count && offset != HPROF_NO_OFFSET ? file_of(r, offset) : 0;

    if (!file || !r->has_all_classes || r->result.refused_part ||
        (rule != RULE_CLS_008 && rule != RULE_OBJ_002 && rule != RULE_OBJ_003) || !copy_read(r, offset, id, r->id_size) ||
        keymap_get(&r->names.classes, get_id(id, r->id_size), NULL))
        return;
    if (++r->unloaded_classes > LEAST && r->unloaded_classes > r->names.classes.count / 2)
        refuse(r, file - 1, "belongs to another dump: most of its classes are not loaded in FILE" WITHOUT_PARTS);
}

void parts_note_duplicate(struct repair *r, enum rule rule, uint64_t offset, uint64_t earlier)
{
    size_t file;

    if (!r->file_count || r->result.refused_part || (rule != RULE_OBJ_004 && rule != RULE_OBJ_005 && rule != RULE_CLS_009) ||
        earlier == HPROF_NO_OFFSET)
        return;
    file = file_of(r, offset);
    if (file == file_of(r, earlier) || !offset || !earlier || are_same(r, offset - 1, earlier - 1))
        return;
    refuse(r, file - 1, "belongs to another dump: it has an object of FILE with other content" WITHOUT_PARTS);
}
