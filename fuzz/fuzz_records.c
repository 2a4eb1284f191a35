/* The record reader: whatever the bytes, its events come in order and end; each begins where the one before it ended, and the last
 * one ends where the input does. If the reader takes a dump, the generator's sink writes the same bytes from the events.
 * Measuring a sub-record does not depend on the bytes after it.
 * Recovery: whatever the bytes, it reads only those in sight, and with fewer in sight it excludes nothing that more allow. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sizes.h"
#include "engine/recovery.h"
#include "format/subrecord.h"
#include "gzip.h"
#include "made_dump.h"
#include "memory_file.h"
#include "stream/encode.h"
#include "stream/source_file.h"
#include "target.h"

/* ---- Events ---- */

struct watcher {
    struct stage stage;
    enum event_kind last;
    bool in_heap, ended, any;
    uint64_t sum;  /* of the bytes of bodies */
    uint64_t left; /* of a body that comes in parts */
    uint64_t most; /* the size of the input; UINT64_MAX if it is compressed */
    uint64_t at;   /* the offset of the next event */
};

/* An event begins where the one before it ends; the end of a heap dump record and that of the dump take no bytes. */
static void follow_offset(struct watcher *w, const struct event *e)
{
    uint64_t size = fixed_part_size(e, w->stage.id_size) + (e->body ? e->body_size : 0);

    if ((size == 0) != (e->kind == EVENT_CLOSE || e->kind == EVENT_END))
        fail_target("an event of %llu bytes at %llu", (unsigned long long)size, (unsigned long long)w->at);
    w->at += size;
    if (w->at > w->most)
        fail_target("an event up to %llu of %llu bytes", (unsigned long long)w->at, (unsigned long long)w->most);
}

static void watch(struct stage *stage, struct event *e)
{
    struct watcher *w = (struct watcher *)stage;

    if (w->ended)
        fail_target("an event after the last one");
    if (w->any == (e->kind == EVENT_HEADER))
        fail_target("the header is not the first event");
    if (w->left && e->kind != EVENT_PART)
        fail_target("%llu bytes of a body did not come", (unsigned long long)w->left);
    switch (e->kind) {
    case EVENT_OPEN:
    case EVENT_RECORD:
        if (w->in_heap)
            fail_target("a record within a heap dump record");
        w->in_heap = e->kind == EVENT_OPEN;
        break;
    case EVENT_SUBRECORD:
    case EVENT_BATCH:
        if (!w->in_heap)
            fail_target("a sub-record outside heap dump records");
        break;
    case EVENT_CLOSE:
        if (!w->in_heap)
            fail_target("the end of a heap dump record that did not begin");
        w->in_heap = false;
        break;
    case EVENT_PART:
        if (e->body_size > w->left)
            fail_target("a part of %llu bytes of %llu", (unsigned long long)e->body_size, (unsigned long long)w->left);
        w->left -= e->body_size;
        break;
    case EVENT_END:
        if (w->in_heap)
            fail_target("the end within a heap dump record");
        w->ended = true;
        break;
    case EVENT_HEADER:
    case EVENT_RAW:
        break;
    }
    if ((e->kind == EVENT_RECORD || e->kind == EVENT_SUBRECORD) && !e->body)
        w->left = e->body_size;
    if (e->body)
        for (uint64_t i = 0; i < e->body_size; i++)
            w->sum += e->body[i]; /* all of it can be read */
    follow_offset(w, e);
    w->any = true;
}

static void read_events(int fd, size_t size, bool compressed)
{
    const char *failure = NULL;
    struct source *source = source_file_new(fd, &failure);
    struct watcher w = {.stage = {.take = watch}, .most = compressed ? UINT64_MAX : size};
    bool stop = false;

    if (!source) {
        if (!failure)
            fail_target("a source is refused without a sentence");
        return;
    }
    w.stage.id_size = source->id_size;
    if (source->run(source, &w.stage, &stop)) {
        if (!w.ended)
            fail_target("the source ended without an END");
        if (!compressed && w.at != size)
            fail_target("the events take %llu bytes of %zu", (unsigned long long)w.at, size);
    } else if (!source->failure) {
        fail_target("the source failed without a sentence");
    }
    source->free(source);
}

static void write_again(int fd, const uint8_t *data, size_t size)
{
    static struct made_dump dump;
    static struct generated generated;
    struct generate_request request = {.from = fd, .how = {.count = 1}, .census = true};

    if (make_dump(&request, &dump, &generated) == GENERATED && (dump.size != size || memcmp(dump.at, data, size) != 0))
        fail_target("%zu bytes are written from the events of %zu, or others", dump.size, size);
    generated_free(&generated);
    memset(&generated, 0, sizeof generated);
}

/* ---- Sub-records ---- */

static void measure_all(const uint8_t *bytes, size_t size, unsigned id_size, enum version version)
{
    for (size_t at = 0; at < size;) {
        struct measure whole = {0}, part = {0};
        enum measured result = measure_subrecord(bytes + at, size - at, id_size, version, &whole);
        size_t fewer = size - at < 32 ? (size - at) / 2 : 32;
        enum measured with_fewer = measure_subrecord(bytes + at, fewer, id_size, version, &part);

        if (with_fewer != MEASURE_MORE && (with_fewer != result || (result == MEASURED && part.size != whole.size) ||
                                           (result == MEASURE_TYPE && part.bad_at != whole.bad_at)))
            fail_target("a sub-record at %zu is measured otherwise with %zu bytes", at, fewer);
        if (result == MEASURE_TYPE && whole.bad_at >= size - at)
            fail_target("a bad type %llu bytes on, of %zu", (unsigned long long)whole.bad_at, size - at);
        if (result == MEASURED && whole.size == 0)
            fail_target("a sub-record of no bytes at %zu", at);
        if (result != MEASURED || whole.size > size - at)
            return;
        at += (size_t)whole.size;
    }
}

/* ---- Recovery ---- */

enum { LENGTH_AT = 5, MOST_RECORDS = 64 };

static struct sight sight_from(const struct sight *s, size_t at, size_t size, bool ended)
{
    return (struct sight){s->at + at, size, ended, s->id_size, s->version};
}

/* What follows an offset: more bytes in sight can only exclude more, and so do more records. */
static void look_ahead(const struct sight *s, size_t at, uint64_t left)
{
    struct sight half = sight_from(s, 0, at + (s->size - at) / 2, false);

    for (unsigned count = 1; count < 4; count++) {
        if (records_follow(s, at, count) && !records_follow(&half, at, count))
            fail_target("%u records follow %zu only with more in sight", count, at);
        if (records_follow(s, at, count + 1) && !records_follow(s, at, count))
            fail_target("%u records follow %zu, but not %u", count + 1, at, count);
    }
    if (subrecords_follow(s, at, left) && !subrecords_follow(&half, at, left))
        fail_target("sub-records follow %zu only with more in sight", at);
}

static void resume_record(const struct sight *s, size_t at)
{
    struct sight body = sight_from(s, at + RECORD_HEADER_SIZE, s->size - at - RECORD_HEADER_SIZE, s->ended);
    uint64_t least, declared = get_u4(s->at + at + LENGTH_AT), right = right_length(s->at[at], &body, &least);
    unsigned defined = definitions_of_tag(s->at[at]);

    if (right < least)
        fail_target("the right length at %zu is less than the least", at);
    if (right != LENGTH_ANY && defined & ~definitions_of_length(right, s->id_size))
        fail_target("a record of the right length at %zu defines nothing of its kind", at);
    switch (resume_after_record(&body, declared, right)) {
    case RESUME_AT_DECLARED:
        if (declared > body.size)
            fail_target("checking resumes out of sight after %zu", at);
        break;
    case RESUME_AT_RIGHT:
        if (right > body.size)
            fail_target("checking resumes out of sight after %zu", at);
        break;
    case RESUME_UNSEEN:
        if (declared <= body.size || body.ended)
            fail_target("the end of the record at %zu is in sight", at);
        break;
    case RESUME_NOWHERE:
        if (declared <= body.size && records_follow(&body, declared, 1))
            fail_target("a record follows the one at %zu", at);
        break;
    }
}

/* As if the class of an instance gave it each size up to some more than its own. */
static void resume_instance(const struct sight *s, size_t at, uint64_t left)
{
    struct sight from = sight_from(s, at, s->size - at, s->ended);
    struct measure m = {0};

    if (!subrecord_follows(&from) || measure_subrecord(from.at, from.size, s->id_size, s->version, &m) != MEASURED)
        return;
    for (uint64_t by_class = 1; by_class < 24; by_class++)
        if (resume_by_class(&from, m.size, by_class, left) && (by_class >= left || by_class > from.size))
            fail_target("checking resumes beyond the record at %zu", at);
}

/* Records by their lengths, as far as these lead. */
static void recover_all(const struct sight *s)
{
    size_t at = 0;

    for (int i = 0; i < MOST_RECORDS && s->size - at >= RECORD_HEADER_SIZE; i++) {
        uint64_t length = get_u4(s->at + at + LENGTH_AT), left = s->size - at - RECORD_HEADER_SIZE;

        look_ahead(s, at, s->size - at);
        look_ahead(s, at + RECORD_HEADER_SIZE, length);
        resume_record(s, at);
        resume_instance(s, at + RECORD_HEADER_SIZE, length);
        if (length > left)
            return;
        at += RECORD_HEADER_SIZE + (size_t)length;
    }
}

static void recover(const uint8_t *bytes, size_t size)
{
    if (size < HEADER_SIZE)
        return;
    for (unsigned i = 0; i < 12; i++) {
        size_t n = size - HEADER_SIZE < usual_sizes.sight ? size - HEADER_SIZE : usual_sizes.sight;
        struct sight s = {bytes + HEADER_SIZE, n, i & 1, i & 2 ? 8 : 4, (enum version)(1 + i / 4)};

        if (n == size - HEADER_SIZE) /* else the guard page is not directly after it */
            recover_all(&s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    const uint8_t *bytes = copy_to_guard_page(data, size);

    for (unsigned i = 0; i < 6; i++)
        measure_all(bytes + (size < HEADER_SIZE + RECORD_HEADER_SIZE ? 0 : HEADER_SIZE + RECORD_HEADER_SIZE),
                    size < HEADER_SIZE + RECORD_HEADER_SIZE ? size : size - HEADER_SIZE - RECORD_HEADER_SIZE, i & 1 ? 8 : 4,
                    (enum version)(1 + i / 2));
    recover(bytes, size);
    fill_memory_file(&fd, data, size);
    read_events(fd, size, is_gzip(data, size));
    if (lseek(fd, 0, SEEK_SET) == 0 && !is_gzip(data, size))
        write_again(fd, data, size);
    return 0;
}
