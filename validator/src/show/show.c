/* See show.h. Lengths lead to what is shown. If they fail on the way, or near what is shown, the dump is checked, and its records
 * are found again by the jumps of the check. */
#include "show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/versioned.h"
#include "engine/validate.h"
#include "format/header.h"

enum {
    SHOW_BLOCK = 1 << 15, /* bytes read at once: most of the dump is skipped */
    AROUND_MAX = 1000
};

/* ---- The items ---- */

/* The heap dump record that contains the items which follow. */
static void open_heap(struct show *s, uint64_t at, uint64_t shown)
{
    struct item heap = {.kind = ITEM_HEAP, .offset = at};
    struct cursor c = show_bytes(s, at, RECORD_HEADER_SIZE);

    if (at == shown)
        heap.why_open = "goes on";
    else if (cursor_left(&c) < RECORD_HEADER_SIZE || !is_heap_dump_record(*c.at))
        heap.why_open = "its header is lost";
    else
        heap.length = walk_header(c.at).length;
    show_item(s, &heap);
}

/* Shows the items, and opens and closes heap dump records between them as in a complete text. */
static void show_items(struct show *s, const struct item *items, size_t count)
{
    uint64_t open = 0, shown = 0;

    for (size_t i = 0; i < count && !s->memory.exhausted && !s->stopped; i++) {
        if (open && items[i].heap != open) {
            show_heap_end(s);
            open = 0;
        }
        if (items[i].heap && !open) {
            open_heap(s, items[i].heap, shown);
            shown = items[i].heap;
        } else if (items[i].kind == ITEM_HEAP) {
            shown = items[i].offset;
            if (i + 1 < count && items[i + 1].heap == shown) {
                show_item(s, &items[i]);
                open = shown;
                continue;
            }
        }
        open = items[i].heap;
        show_item(s, &items[i]);
        if (items[i].kind == ITEM_HEAP)
            show_heap_end(s);
    }
    if (open)
        show_heap_end(s);
}

/* ---- Failures ---- */

static const char no_memory[] = "memory ran out";

static enum hprof_status fail(struct show *s, enum hprof_status status, const char *sentence)
{
    snprintf(s->failure, sizeof s->failure, "%s", sentence);
    return status;
}

static enum hprof_status fail_beyond_end(struct show *s)
{
    char sentence[HPROF_FAILURE_SIZE];

    if (s->in.compressed)
        return fail(
            s, HPROF_USAGE,
            "the offset is beyond the end of the dump, whose bytes are counted after decompression; offsets of the rules "
            "GZ are of the compressed file");
    snprintf(sentence, sizeof sentence, "the offset is beyond the end of the dump, which has %" PRIu64 " bytes",
             input_file_size(&s->in));
    return fail(s, HPROF_USAGE, sentence);
}

static void ignore_fault(void *context, const struct gzip_finding *finding)
{
    (void)context; /* --show shows what can be inflated; the validator reports faults */
    (void)finding;
}

static bool read_dump_header(struct show *s)
{
    return input_need(&s->in, HEADER_SIZE) >= HEADER_SIZE && parse_header(s->in.at, &s->replay.version, &s->replay.id_size);
}

/* ---- The check ---- */

static int on_summary(void *context, const struct hprof_summary *summary)
{
    struct show *s = context;

    s->size = summary->bytes;
    if (*summary->failure)
        snprintf(s->failure, sizeof s->failure, "%s", summary->failure);
    return 0;
}

/* Asks the check how it reads the dump: all that steps over damage does so by the same decisions. */
static enum hprof_status ask_check(struct show *s)
{
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    options.allocator = s->asked.allocator;
    options.on_summary = on_summary;
    options.context = s;
    status = validate_with_jumps(s->source, &options, &s->jumps, WANT_REFERENCES | WANT_LOST);
    s->is_checked = true;
    if (status == HPROF_LIMIT && !s->failure[0])
        return fail(s, status, no_memory);
    return status == HPROF_INVALID ? HPROF_VALID : status;
}

/* ---- Around the offset ---- */

struct room {
    struct found found;
    struct item *items;
    uint64_t *ids;
};

/* Finds the items around the offset. Their number is 0 if the dump has no such offset. */
static size_t find_items(struct show *s, struct room *room)
{
    struct found *f = &room->found;
    struct cursor c;
    size_t count;

    *f = (struct found){.recent = f->recent, .capacity = f->capacity};
    show_find(s, f);
    c = show_bytes(s, s->asked.offset, 1);
    if (s->in.error || s->memory.exhausted || !cursor_left(&c))
        return 0;
    count = show_collect(s, f, room->items);
    show_find_classes(s, f->heap_start, room->items, count, room->ids);
    return count;
}

static void begin_names(struct show *s)
{
    names_init(&s->names, &s->memory, &s->key, s->replay.id_size);
    keymap_init(&s->classes, &s->memory, &s->key, s->replay.id_size, sizeof(uint64_t));
    arena_init(&s->copies, &s->memory);
}

static void end_names(struct show *s)
{
    names_clear(&s->names);
    keymap_clear(&s->classes);
    arena_clear(&s->copies);
}

static enum hprof_status show_around(struct show *s, struct room *room)
{
    uint64_t offset = s->asked.offset;
    size_t count = find_items(s, room);

    for (size_t i = 0; i < count && !s->is_checked; i++)
        s->is_damaged |= show_is_of_wrong_size(s, &room->items[i]); /* others may begin within it */
    if (count && s->is_damaged) {
        enum hprof_status status = ask_check(s);

        if (status != HPROF_VALID)
            return status;
        end_names(s);
        begin_names(s);
        count = find_items(s, room);
    }
    if (!count && !s->in.error && !s->memory.exhausted)
        return fail_beyond_end(s);
    show_items(s, room->items, count);
    for (size_t i = 0; i < count; i++)
        if (room->items[i].why[0] && item_has(&room->items[i], offset))
            return fail(s, HPROF_INVALID, room->items[i].why);
    return HPROF_VALID;
}

static enum hprof_status show_dump(struct show *s)
{
    struct room room = {.found.capacity = (size_t)s->asked.around + 1};
    size_t most = 2 * (size_t)s->asked.around + 1, recent = room.found.capacity * sizeof *room.found.recent;
    enum hprof_status status = HPROF_LIMIT;

    room.found.recent = memory_get_zeroed(&s->memory, recent);
    room.items = memory_get(&s->memory, most * sizeof *room.items);
    room.ids = memory_get(&s->memory, most * sizeof *room.ids);
    if (room.found.recent && room.items && room.ids) {
        jumps_init(&s->jumps, &s->memory);
        s->replay.in = &s->in;
        s->replay.jumps = &s->jumps;
        begin_names(s);
        status = show_around(s, &room);
        end_names(s);
        jumps_clear(&s->jumps);
    }
    memory_put(&s->memory, room.found.recent, recent);
    memory_put(&s->memory, room.items, most * sizeof *room.items);
    memory_put(&s->memory, room.ids, most * sizeof *room.ids);
    return status;
}

/* What follows a header that is not valid cannot be read. */
static enum hprof_status show_bad_header(struct show *s)
{
    struct item header = {.kind = ITEM_DAMAGE, .size = input_need(&s->in, HEADER_SIZE), .why = "not a valid header"};

    if (header.size > HEADER_SIZE)
        header.size = HEADER_SIZE;
    if (!header.size)
        return fail(s, HPROF_INVALID, "not a heap dump: the file is empty");
    if (s->asked.offset >= header.size)
        return fail(s, HPROF_INVALID, "not a heap dump: the file does not begin with a valid header");
    show_item(s, &header);
    return fail(s, HPROF_INVALID, header.why);
}

static enum hprof_status show_input(struct show *s, bool is_open)
{
    enum hprof_status status = HPROF_VALID;
    char reason[100];

    if (is_open && !input_can_reread(&s->in))
        return fail(s, HPROF_USAGE, "only a regular file can be shown, because it is read from arbitrary offsets");
    if (is_open && !read_dump_header(s)) {
        if (!s->in.error)
            return show_bad_header(s);
    } else if (is_open) {
        status = show_dump(s);
    }
    if (s->in.error) {
        input_reason(&s->in, reason, sizeof reason);
        return fail(s, HPROF_IO, reason);
    }
    if (s->stopped)
        return fail(s, HPROF_STOPPED, "stopped by the caller");
    return s->memory.exhausted ? fail(s, HPROF_LIMIT, no_memory) : status;
}

static enum hprof_status end_with(struct hprof_show_result *result, enum hprof_status status, const char *reason)
{
    struct hprof_show_result own = {0};

    snprintf(own.failure, sizeof own.failure, "%s", reason);
    give_versioned(result, &own, sizeof own);
    return status;
}

static enum hprof_status show_source(struct input_source source, const char *unusable, const struct hprof_show *asked,
                                     struct hprof_show_result *result)
{
    struct hprof_show options;
    const char *reason = asked ? take_versioned(&options, sizeof options, asked) : "it is not said what to show";
    struct memory own;
    struct show *s;
    enum hprof_status status;
    bool is_open;

    if (!reason)
        reason = unusable;
    if (reason)
        return end_with(result, HPROF_USAGE, reason);
    memory_init(&own, options.allocator, 0);
    s = memory_get_zeroed(&own, sizeof *s);
    if (!s)
        return end_with(result, HPROF_LIMIT, no_memory);
    s->asked = options;
    s->source = source;
    s->key = hash_key_draw();
    memory_init(&s->memory, options.allocator, 0);
    if (s->asked.around > AROUND_MAX)
        s->asked.around = AROUND_MAX;
    is_open = input_open(&s->in, source, SHOW_BLOCK, &usual_sizes, &s->memory, ignore_fault, s);
    status = show_input(s, is_open);
    input_close(&s->in);
    end_with(result, status, s->failure); /* "" if nothing failed */
    memory_put(&own, s, sizeof *s);
    return status;
}

enum hprof_status hprof_show_fd(int fd, const struct hprof_show *show, struct hprof_show_result *result)
{
    return show_source(source_of_fd(fd), NULL, show, result);
}

enum hprof_status hprof_show_source(const struct hprof_source *source, const struct hprof_show *show,
                                    struct hprof_show_result *result)
{
    struct input_source callbacks;
    const char *reason = source_of_callbacks(source, &callbacks);

    return show_source(callbacks, reason, show, result);
}
