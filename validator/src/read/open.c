/* Opening and closing a dump. */
#include <string.h>

#include "base/versioned.h"
#include "engine/validate.h"
#include "format/header.h"
#include "read/reader.h"

/* ---- The check ---- */

/* The check of the caller, whose callbacks get the caller's context. */
struct checking {
    struct shared_dump *dump;
    struct hprof_options options;
};

static int note_size(void *context, const struct hprof_summary *summary)
{
    struct checking *checking = context;

    checking->dump->size = summary->bytes;
    return checking->options.on_summary ? checking->options.on_summary(checking->options.context, summary) : 0;
}

static int pass_finding(void *context, const struct hprof_finding *finding)
{
    struct checking *checking = context;

    return checking->options.on_finding(checking->options.context, finding);
}

static int pass_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct checking *checking = context;

    return checking->options.on_progress(checking->options.context, bytes, total);
}

/* Finds out where reading cannot go on by lengths alone. */
static enum hprof_status find_damage(struct hprof_reader *r, const struct hprof_read_options *asked)
{
    struct shared_dump *d = r->dump;
    const struct hprof_allocator allocator = memory_allocator(&d->memory);
    struct checking checking = {.dump = d};
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    options.max_errors = 1;
    if (asked->check && take_versioned(&options, sizeof options, asked->check))
        return (enum hprof_status) - reader_fail(r, HPROF_USAGE, not_initialised);
    checking.options = options;
    options.threads = asked->threads;
    options.max_memory = 0;
    options.allocator = &allocator;
    options.on_summary = note_size;
    options.on_finding = options.on_finding ? pass_finding : NULL;
    options.on_progress = options.on_progress ? pass_progress : NULL;
    options.context = &checking;
    if (asked->count_within && (d->counted = memory_get(&d->memory, sizeof *d->counted)) != NULL)
        counted_init(d->counted, &d->memory, &d->key, asked->count_within, sizes_for(options.testing).counted);
    d->memory.lock = &d->memory_lock;
    status = validate_and_count(d->source, &options, &d->jumps, d->counted);
    d->memory.lock = NULL;
    if (d->counted)
        counted_end(d->counted);
    if (status == HPROF_STOPPED)
        return (enum hprof_status) - reader_fail(r, HPROF_STOPPED, "a callback ended the check");
    if (status == HPROF_LIMIT)
        memory_exhaust(&d->memory);
    if (d->memory.exhausted)
        return (enum hprof_status) - reader_check(r);
    if (status == HPROF_IO)
        return (enum hprof_status) - reader_fail(r, HPROF_IO, "the dump could not be read while it was checked");
    return HPROF_VALID;
}

/* ---- Opening ---- */

static bool read_dump_header(struct hprof_reader *r)
{
    struct shared_dump *d = r->dump;
    const uint8_t *p;

    if (input_need(&r->in, HEADER_SIZE) < HEADER_SIZE)
        return false;
    p = r->in.at;
    if (!parse_header(p, &d->format, &d->id_size))
        return false;
    d->header = (struct hprof_header){.struct_size = sizeof d->header,
                                      .version = version_name(d->format),
                                      .id_size = d->id_size,
                                      .timestamp = get_u8(p + HEADER_STRING_SIZE + 4),
                                      .compressed = r->in.compressed,
                                      .can_seek = r->in.source.seekable};
    return true;
}

static bool open_input(struct hprof_reader *r)
{
    r->is_open = true;
    r->next = (struct reading){.at = HEADER_SIZE};
    if (!input_open(&r->in, r->dump->source, 0, &usual_sizes, &r->dump->memory, NULL, NULL))
        return false;
    input_allow_going_back(&r->in);
    return true;
}

static enum hprof_status open_dump(struct hprof_reader *r, const struct hprof_read_options *options)
{
    struct shared_dump *d = r->dump;

    if (!open_input(r) || !read_dump_header(r)) {
        const char *why = r->in.at == r->in.end ? "the file is empty, without a header"
                                                : "no heap dump: the file does not begin with a valid header";

        return (enum hprof_status) - (reader_check(r) ? reader_check(r) : reader_fail(r, HPROF_INVALID, why));
    }
    keymap_init(&d->strings, &d->memory, &d->key, d->id_size, sizeof(uint64_t));
    keymap_init(&d->classes, &d->memory, &d->key, d->id_size, sizeof(uint64_t));
    return r->in.source.seekable && !options->unchecked ? find_damage(r, options) : HPROF_VALID;
}

static struct hprof_reader *make_reader(struct shared_dump *d)
{
    struct hprof_reader *r = memory_get_zeroed(&d->own, sizeof *r);

    if (r)
        r->dump = d;
    return r;
}

static enum hprof_status open_source(struct input_source source, const struct hprof_read_options *asked,
                                     struct hprof_reader **reader)
{
    struct hprof_read_options options = {0};
    struct memory own;
    struct shared_dump *d;

    *reader = NULL;
    if (asked && take_versioned(&options, sizeof options, asked))
        return HPROF_USAGE;
    if ((options.allocator && (!options.allocator->allocate || !options.allocator->release)) ||
        options.count_within & (options.count_within - 1))
        return HPROF_USAGE;
    memory_init(&own, options.allocator, 0);
    d = memory_get_zeroed(&own, sizeof *d);
    if (!d)
        return HPROF_LIMIT;
    d->own = own;
    memory_init(&d->memory, options.allocator, options.max_memory);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->memory_lock, NULL);
    d->key = hash_key_draw();
    d->source = source;
    d->size = UINT64_MAX;
    d->readers = 1;
    arena_init(&d->arena, &d->memory);
    jumps_init(&d->jumps, &d->memory);
    *reader = make_reader(d);
    if (!*reader) {
        memory_put(&own, d, sizeof *d);
        return HPROF_LIMIT;
    }
    return open_dump(*reader, &options);
}

enum hprof_status hprof_open_fd(int fd, const struct hprof_read_options *options, struct hprof_reader **reader)
{
    return reader ? open_source(source_of_fd(fd), options, reader) : HPROF_USAGE;
}

enum hprof_status hprof_open_memory(const void *bytes, size_t size, const struct hprof_read_options *options,
                                    struct hprof_reader **reader)
{
    if (!reader)
        return HPROF_USAGE;
    *reader = NULL;
    return !bytes && size ? HPROF_USAGE : open_source(source_of_memory(bytes ? bytes : "", size, false), options, reader);
}

enum hprof_status hprof_open_source(const struct hprof_source *source, const struct hprof_read_options *options,
                                    struct hprof_reader **reader)
{
    struct input_source callbacks;

    if (!reader)
        return HPROF_USAGE;
    *reader = NULL;
    return source_of_callbacks(source, &callbacks) ? HPROF_USAGE : open_source(callbacks, options, reader);
}

int hprof_read_header(const struct hprof_reader *r, struct hprof_header *header)
{
    return r && r->dump->header.struct_size ? give_versioned(header, &r->dump->header, sizeof r->dump->header) : 0;
}

/* ---- Clones and closing ---- */

/* The memory of the dump is shared by threads from the first clone on. */
enum hprof_status hprof_clone(struct hprof_reader *r, struct hprof_reader **clone)
{
    struct shared_dump *d = r->dump;
    struct hprof_reader *made;

    *clone = NULL;
    if (reader_ready(r))
        return (enum hprof_status) - reader_ready(r);
    if (!r->in.source.seekable)
        return (enum hprof_status) - reader_fail(r, HPROF_USAGE, "this source can be read only once");
    pthread_mutex_lock(&d->lock);
    d->memory.lock = d->own.lock = &d->memory_lock;
    made = make_reader(d);
    d->readers += made != NULL;
    pthread_mutex_unlock(&d->lock);
    if (!made)
        return (enum hprof_status) - reader_fail(r, HPROF_LIMIT, "memory ran out");
    *clone = made;
    return open_input(made) ? HPROF_VALID : (enum hprof_status) - reader_check(made);
}

void hprof_close(struct hprof_reader *r)
{
    struct shared_dump *d = r ? r->dump : NULL;
    struct memory own;
    unsigned left;

    if (!r)
        return;
    if (r->is_open)
        input_close(&r->in);
    drop_joined(r);
    pthread_mutex_lock(&d->lock);
    memory_put(&d->own, r, sizeof *r);
    left = --d->readers;
    pthread_mutex_unlock(&d->lock);
    if (left)
        return;
    if (d->header.struct_size) {
        keymap_clear(&d->strings);
        keymap_clear(&d->classes);
    }
    d->memory.lock = NULL;
    index_clear(d);
    memory_put(&d->memory, d->by_number, d->class_capacity * sizeof *d->by_number);
    jumps_clear(&d->jumps);
    if (d->counted)
        counted_clear(d->counted);
    memory_put(&d->memory, d->counted, sizeof *d->counted);
    arena_clear(&d->arena);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->memory_lock);
    own = d->own;
    own.lock = NULL;
    memory_put(&own, d, sizeof *d);
}
