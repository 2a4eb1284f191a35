/* See input.h. Blocks are read straight into one buffer; what a reader left of the last block is moved to its front first,
 * so bytes are copied only where a block ends within something. */
#include "input/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "input/gunzip.h"
#include "input/read_ahead.h"
#include "input/transfer.h"

enum {
    INFLATERS_MOST = 8,      /* then checking takes longer than inflating */
    AFTER_SEEK = 16 << 10,   /* bytes */
    ALIGNMENT = 64,          /* of blocks in memory */
    FILE_ALIGNMENT = 1 << 12 /* of positions in the file that are sought: blocks then begin at pages of the cache */
};

/* Nothing of the dump is in memory; `offset` is what comes next. */
static void empty_window(struct input *in, uint64_t offset)
{
    in->first = in->at = in->end = in->buffer;
    in->history_size = 0;
    in->offset = offset;
    in->ended = false;
}

static size_t window_size(const struct input *in)
{
    return (size_t)(in->end - in->at);
}

/* The bytes before `at` are about to leave the buffer. */
static void keep_history(struct input *in)
{
    size_t n = (size_t)(in->at - in->first), most = 2 * INPUT_HISTORY;
    const uint8_t *from = in->first;
    void *history = in->history;

    if (!in->may_go_back || !n)
        return;
    if (n > INPUT_HISTORY) {
        from += n - INPUT_HISTORY;
        n = INPUT_HISTORY;
    }
    if (in->history_size + n > most) {
        memmove(in->history, in->history + in->history_size - (INPUT_HISTORY - n), INPUT_HISTORY - n);
        in->history_size = INPUT_HISTORY - n;
    }
    if (!memory_grow(in->memory, &history, &in->history_capacity, in->history_size + n, 1))
        return;
    in->history = history;
    memcpy(in->history + in->history_size, from, n);
    in->history_size += n;
}

static bool grow_buffer(struct input *in, size_t capacity)
{
    size_t rest = window_size(in);
    uint8_t *larger = memory_get(in->memory, capacity);

    if (!larger)
        return false;
    keep_history(in);
    memcpy(larger, in->at, rest);
    memory_put(in->memory, in->buffer, in->capacity);
    in->buffer = larger;
    in->capacity = capacity;
    in->first = in->at = larger;
    in->end = larger + rest;
    return true;
}

/* Room for a block after what is in memory. The buffer grows to its usual size when it was filled; beyond that only when it is half
 * full of bytes that the reader wants together, so it is never larger than four times what has come. */
static bool make_room(struct input *in)
{
    size_t usual = in->block + in->sizes.tail_room;

    if (in->capacity < usual && in->end == in->buffer + in->capacity)
        return grow_buffer(in, usual);
    if (window_size(in) <= in->capacity / 2)
        return true;
    if (in->capacity > SIZE_MAX / 2) {
        in->memory->exhausted = true;
        return false;
    }
    return grow_buffer(in, 2 * in->capacity);
}

/* Returns where the next block goes: a multiple of ALIGNMENT, because copying a page from the page cache to a few bytes after the
 * start of a page takes several times as long. But no more bytes are moved than are read, where there is room. */
static uint8_t *move_rest_to_front(struct input *in)
{
    size_t rest = window_size(in), room = (size_t)(in->buffer + in->capacity - in->end);
    uint8_t *front = in->buffer + (ALIGNMENT - ((uintptr_t)in->buffer + rest) % ALIGNMENT) % ALIGNMENT;

    if (rest > in->next && room >= in->next)
        return in->buffer + in->capacity - room;
    keep_history(in);
    if (in->at != front)
        memmove(front, in->at, rest);
    in->first = in->at = front;
    in->end = front + rest;
    return front + rest;
}

void input_allow_threads(struct input *in, unsigned threads)
{
    in->may_read_ahead = threads && in->buffer && (in->compressed || !in->source.seekable);
    in->threads = threads < INFLATERS_MOST ? threads : INFLATERS_MOST;
    in->blocks_alone = in->sizes.blocks_alone;
}

/* A small dump is not worth a thread, nor are the few bytes that are read after each of many seeks. */
static void start_thread_when_due(struct input *in)
{
    if (!in->may_read_ahead || in->ahead || in->blocks_alone--)
        return;
    in->ahead = read_ahead_start(in->memory, &in->source, in->gunzip, in->block, in->threads);
    in->may_read_ahead = in->ahead;
}

static void stop_thread(struct input *in)
{
    if (!in->ahead)
        return;
    read_ahead_stop(in->ahead);
    in->ahead = NULL;
    in->blocks_alone = in->sizes.blocks_alone;
}

static size_t read_block(struct input *in, uint8_t *to, size_t room)
{
    size_t got;

    if (in->ahead) {
        got = read_ahead_take(in->ahead, to, room);
        in->error = read_ahead_state(in->ahead).error;
        return got;
    }
    if (in->gunzip)
        while ((got = gunzip_read(in->gunzip, to, room)) == 0 && !gunzip_ended(in->gunzip))
            ;
    else
        got = source_read(&in->source, to, room);
    in->error = in->source.error;
    return got;
}

/* What follows the last member is of the file, though not of the dump: its size is reported, and its writer not cut off. */
static void read_rest(struct input *in, uint8_t *to, size_t room)
{
    stop_thread(in);
    while (source_read(&in->source, to, room) > 0)
        ;
    in->error = in->source.error;
}

/* More bytes after those in memory; false when there are none. */
static bool read_more(struct input *in)
{
    size_t room, got;
    uint8_t *to;

    if (in->ended || !make_room(in))
        return false;
    to = move_rest_to_front(in);
    start_thread_when_due(in);
    room = (size_t)(in->buffer + in->capacity - to);
    if (room > in->next)
        room = in->next;
    if (in->next < in->block)
        in->next = 4 * in->next < in->block ? 4 * in->next : in->block;
    got = read_block(in, to, room);
    in->end += got;
    in->ended = got == 0;
    if (in->ended && in->gunzip && !in->source.seekable && !in->may_resume)
        read_rest(in, to, room);
    return got > 0;
}

void input_allow_resume(struct input *in)
{
    in->may_resume = true;
    if (in->gunzip)
        gunzip_allow_resume(in->gunzip);
}

bool input_resume(struct input *in, struct gzip_resumption *resumption)
{
    if (!in->gunzip || !in->ended || window_size(in) > 0)
        return false;
    stop_thread(in);
    in->ended = !gunzip_resume(in->gunzip, resumption);
    in->error = in->source.error;
    if (in->ended && !in->source.seekable)
        read_rest(in, in->buffer, in->capacity);
    return !in->ended;
}

bool input_ended_by_fault(const struct input *in)
{
    return in->gunzip && gunzip_ended_by_fault(in->gunzip);
}

size_t input_fill(struct input *in, size_t wanted)
{
    while (window_size(in) < wanted && read_more(in))
        ;
    return window_size(in);
}

static bool begins_like_gzip(const uint8_t *bytes, uint64_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static void release_sample(struct input *in)
{
    memory_put(in->memory, in->sample, in->sample_capacity);
    in->sample = NULL;
    in->sample_capacity = 0;
}

/* Appends what follows the first n bytes to the sample, up to `most` bytes. Returns how many there are then; 0 without memory. */
static size_t fill_sample(struct input *in, size_t n, size_t most)
{
    struct input_source ahead = in->source;
    size_t first = n, more = 1, room;
    void *sample = in->sample;

    while (n < most && more) {
        if (n == in->sample_capacity && !memory_grow(in->memory, &sample, &in->sample_capacity, n + 1, 1))
            return 0;
        in->sample = sample;
        room = (in->sample_capacity < most ? in->sample_capacity : most) - n;
        more = source_read(in->source.seekable ? &ahead : &in->source, in->sample + n, room);
        n += more;
    }
    if (!in->source.seekable) {
        source_read_again(&in->source, in->sample + first, n - first);
    } else if (ahead.error) {
        in->source.error = ahead.error;
        in->source.ended = true;
    }
    return n;
}

/* What a transfer may have done to the compressed file, of which the first read is in the window. */
static void look_for_transfer(struct input *in)
{
    size_t most = in->sizes.text_sample, n = window_size(in) < most ? window_size(in) : most;

    in->sample = memory_get(in->memory, n);
    if (!in->sample)
        return;
    in->sample_capacity = n;
    memcpy(in->sample, in->at, n);
    n = fill_sample(in, n, most);
    in->transfer = transfer_of(in->sample, n);
    if (in->source.seekable)
        release_sample(in);
}

bool input_inflate(struct input *in, gzip_listener *on_fault, void *context)
{
    if (in->gunzip || !in->buffer || in->offset)
        return false;
    in->packed = in->at;
    in->packed_end = in->end;
    in->gunzip = gunzip_open(&in->source, in->at, window_size(in), in->block, &in->sizes, in->memory, on_fault, context);
    empty_window(in, 0);
    in->compressed = true;
    in->ended = !in->gunzip;
    return in->gunzip;
}

bool input_open(struct input *in, struct input_source source, size_t block, const struct sizes *sizes, struct memory *memory,
                gzip_listener *on_fault, void *context)
{
    *in = (struct input){.memory = memory, .sizes = *sizes, .source = source, .ended = true, .error = source.error};
    if (!block && source.bytes && source.seekable && !begins_like_gzip(source.bytes, source.byte_count)) {
        in->first = in->at = source.bytes;
        in->end = in->at + source.byte_count;
        return true;
    }
    in->block = in->next = block ? block : INPUT_BLOCK;
    in->capacity = in->block < sizes->first_buffer ? in->block + sizes->tail_room : sizes->first_buffer;
    in->buffer = memory_get(memory, in->capacity);
    if (!in->buffer || in->error)
        return false;
    empty_window(in, 0);

    input_need(in, 2);
    if (begins_like_gzip(in->at, window_size(in))) {
        look_for_transfer(in);
        (void)input_inflate(in, on_fault, context); /* memory may run out */
    }
    return in->error == 0 && !memory->exhausted;
}

void input_leave_compressed(struct input *in)
{
    if (!in->gunzip)
        return;
    gunzip_close(in->gunzip, in->memory);
    in->gunzip = NULL;
    in->compressed = false;
    in->first = in->at = in->packed;
    in->end = in->packed_end;
}

void input_close(struct input *in)
{
    stop_thread(in);
    gunzip_close(in->gunzip, in->memory);
    memory_put(in->memory, in->buffer, in->capacity);
    memory_put(in->memory, in->history, in->history_capacity);
    release_sample(in);
    in->history = NULL;
    in->history_capacity = 0;
    in->gunzip = NULL;
    in->buffer = NULL;
    in->first = in->at = in->end = NULL;
}

/* Of n bytes of a plain file that follow the window, which is empty, passes over all but the last ones. These are read, so
 * that a file which became shorter is noticed. */
static void seek_over(struct input *in, uint64_t n)
{
    uint64_t position = in->source.position, left, target;

    left = in->source.size > position ? in->source.size - position : 0;
    if (n > left)
        n = left;
    if (n <= in->block)
        return;
    target = (position + n - 1) / FILE_ALIGNMENT * FILE_ALIGNMENT;
    if (target > position) {
        source_seek(&in->source, target);
        empty_window(in, target);
        in->next = in->block < AFTER_SEEK ? in->block : AFTER_SEEK;
    }
}

uint64_t input_skip(struct input *in, uint64_t n)
{
    uint64_t from = in->offset, rest = n;

    for (;;) {
        size_t here = window_size(in);

        if (rest <= here) {
            input_advance(in, (size_t)rest);
            return n;
        }
        input_advance(in, here);
        rest = n - (in->offset - from);
        if (in->source.seekable && !in->compressed && !in->ended) {
            seek_over(in, rest);
            rest = n - (in->offset - from);
        }
        if (!read_more(in))
            return in->offset - from;
    }
}

bool input_seek(struct input *in, uint64_t offset)
{
    uint64_t first_offset = in->offset - (uint64_t)(in->at - in->first), from;

    if (!in->source.seekable || in->error)
        return false;
    if (offset >= first_offset && offset - first_offset <= (uint64_t)(in->end - in->first)) {
        in->at = in->first + (offset - first_offset);
        in->offset = offset;
        return true;
    }
    if (!in->buffer) {
        input_advance(in, window_size(in));
        return false;
    }
    stop_thread(in);
    if (in->gunzip) {
        from = gunzip_rewind(in->gunzip, offset);
    } else {
        from = offset < in->source.size ? offset : in->source.size;
        source_seek(&in->source, from);
    }
    empty_window(in, from);
    return input_skip(in, offset - from) == offset - from;
}

void input_allow_going_back(struct input *in)
{
    in->may_go_back = !in->source.seekable || in->compressed;
}

/* Puts the last n bytes of the history before the window. */
static bool take_history(struct input *in, size_t n)
{
    size_t there = (size_t)(in->end - in->first), at = (size_t)(in->at - in->first), capacity = in->capacity;
    uint8_t *buffer = in->buffer;

    if (n + there > capacity) {
        capacity = n + there + in->block;
        buffer = memory_get(in->memory, capacity);
    }
    if (!buffer)
        return false;
    memmove(buffer + n, in->first, there);
    memcpy(buffer, in->history + in->history_size - n, n);
    if (buffer != in->buffer)
        memory_put(in->memory, in->buffer, in->capacity);
    in->buffer = buffer;
    in->capacity = capacity;
    in->history_size -= n;
    in->first = buffer;
    in->at = buffer + n + at;
    in->end = buffer + n + there;
    return true;
}

bool input_go_back(struct input *in, uint64_t offset)
{
    size_t back = (size_t)(in->offset - offset), there = (size_t)(in->at - in->first);

    if (!input_can_go_back(in, offset) || in->error)
        return false;
    if (back > there && (back - there > in->history_size || !take_history(in, back - there))) {
        in->may_go_back = true; /* a file keeps what it would read again from the first time on */
        return input_can_go_anywhere(in) && input_seek(in, offset);
    }
    in->at -= back;
    in->offset = offset;
    return true;
}

void input_go_on_at(struct input *in, uint64_t offset)
{
    if (offset - in->offset <= window_size(in)) {
        input_advance(in, (size_t)(offset - in->offset));
    } else if (in->compressed || !in->source.seekable) {
        input_skip(in, offset - in->offset);
    } else {
        source_seek(&in->source, offset);
        empty_window(in, offset);
    }
}

void input_keep(struct input *in, uint64_t offset)
{
    if (in->gunzip && !in->ahead)
        gunzip_keep(in->gunzip, offset);
}

uint64_t input_member_start(const struct input *in)
{
    if (in->ahead)
        return read_ahead_state(in->ahead).member_start;
    return in->gunzip ? gunzip_member_start(in->gunzip) : 0;
}

uint64_t input_file_position(const struct input *in)
{
    if (in->ahead)
        return read_ahead_state(in->ahead).position;
    return in->buffer ? in->source.position : in->offset;
}

uint64_t input_file_size(const struct input *in)
{
    return in->source.size;
}

void input_stop(struct input *in, int error)
{
    stop_thread(in);
    in->source.ended = in->ended = true;
    in->source.error = in->error = error;
    in->end = in->at;
}

void input_reason(const struct input *in, char *to, size_t size)
{
    if (in->error == ESTALE)
        snprintf(to, size, "the file became shorter while it was read");
    else if (strerror_r(in->error, to, size) != 0)
        snprintf(to, size, "error %d", in->error);
}
