/* The record reader alone: whatever the bytes, its events come in order and it ends; and if it takes a dump, the generator's sink
 * writes the same bytes from the events. Measuring a sub-record does not depend on the bytes after it. */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/subrecord.h"
#include "gzip.h"
#include "made_dump.h"
#include "source_file.h"
#include "target.h"

/* ---- Events ---- */

struct watcher {
    struct stage stage;
    enum event_kind last;
    bool in_heap, ended, any;
    uint64_t bytes, sum; /* of bodies */
    uint64_t left;       /* of a body that comes in parts */
};

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
        for (uint64_t i = 0; i < e->body_size; i++, w->bytes++)
            w->sum += e->body[i]; /* all of it can be read */
    w->any = true;
}

static void read_events(int fd, size_t size, bool compressed)
{
    const char *failure = NULL;
    struct source *source = source_file_new(fd, &failure);
    struct watcher w = {.stage = {.take = watch}};
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
        if (!compressed && w.bytes > size)
            fail_target("%llu bytes of bodies in %zu bytes", (unsigned long long)w.bytes, size);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    const uint8_t *bytes = copy_to_guard_page(data, size);

    for (unsigned i = 0; i < 6; i++)
        measure_all(bytes + (size < HEADER_SIZE + RECORD_HEADER_SIZE ? 0 : HEADER_SIZE + RECORD_HEADER_SIZE),
                    size < HEADER_SIZE + RECORD_HEADER_SIZE ? size : size - HEADER_SIZE - RECORD_HEADER_SIZE, i & 1 ? 8 : 4,
                    (enum version)(1 + i / 2));
    if (fd < 0)
        fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        fail_target("no file in memory");
    read_events(fd, size, is_gzip(data, size));
    if (lseek(fd, 0, SEEK_SET) == 0 && !is_gzip(data, size))
        write_again(fd, data, size);
    return 0;
}
