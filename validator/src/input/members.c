/* See members.h. The file is divided into pieces, and pieces have places in turn. A thread takes the next piece when the piece that
 * had its place before is no longer wanted. */
#include "input/members.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/sizes.h"
#include "base/workers.h"
#include "input/gzip_header.h"

enum {
    MEMBERS_MOST = USUAL_OR_SMALL(64, 2), /* of a piece; others are not inflated ahead */
    OUTPUT_RATIO = USUAL_OR_SMALL(8, 2),  /* room for what a piece becomes */
    FAILED_VISITS = 2,                    /* how often trials that fail may visit each byte of a piece: see struct place */
    HEADER_SIZE = 10,
    HEADER_MOST = 256,          /* with a comment, as HotSpot writes it */
    FLAGS_LEFT = FHCRC | FEXTRA /* members with these are left to gunzip.c */
};

enum place_state { PLACE_FREE, PLACE_BUSY, PLACE_DONE };

struct place {
    enum place_state state; /* with `piece`, under the lock */
    uint64_t piece;
    /* Of the thread, and, when done, of the reader. */
    uint8_t *input, *output;
    uint64_t at;       /* of `input` in the file */
    size_t input_size; /* bytes that are there */
    size_t output_size;
    /* Bytes that trials that fail may still read and write, so that bytes that look like many members cannot cost more than their
     * number. The trial that exhausts it is the last one in this piece. */
    uint64_t budget;
    struct member members[MEMBERS_MOST];
    size_t count;
    struct inflate_state state_of_data;
};

struct members {
    struct memory *memory;
    struct input_source source; /* a copy: that of the reader changes */
    struct workers *workers;
    uint64_t from;
    size_t piece_size, input_capacity, output_capacity;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t wanted; /* the piece of the last member that was asked for; under the lock */
    uint64_t next;   /* the piece to be taken next; under the lock */
    uint64_t piece_count;
    atomic_bool stopping; /* set under the lock; a thread reads it between trials */
    unsigned place_count;
    struct place places[];
};

/* ---- A member ---- */

/* The bytes from an offset of the file on, of which `wanted` must be there; NULL if they are not. *n of them are there. */
static const uint8_t *input_at(struct members *m, struct place *p, uint64_t offset, size_t wanted, size_t *n)
{
    size_t from = (size_t)(offset - p->at);

    if (from + wanted > p->input_size && from + wanted <= m->input_capacity)
        p->input_size +=
            source_read_at(&m->source, p->at + p->input_size, p->input + p->input_size, m->input_capacity - p->input_size);
    *n = from < p->input_size ? p->input_size - from : 0;
    return *n >= wanted ? p->input + from : NULL;
}

static bool looks_like_header(const uint8_t *p)
{
    return is_gzip_sign(p) && !(p[3] & FLAGS_LEFT);
}

/* The size of the header at an offset; 0 if there is none, or one that is left to gunzip.c. */
static size_t header_size(struct members *m, struct place *p, uint64_t offset)
{
    size_t n, size = HEADER_SIZE;
    const uint8_t *header = input_at(m, p, offset, HEADER_SIZE, &n), *end;

    if (!header || !looks_like_header(header))
        return 0;
    if (n < HEADER_MOST)
        header = input_at(m, p, offset, HEADER_SIZE, &n);
    for (unsigned texts = (header[3] & FNAME ? 1U : 0) + (header[3] & FCOMMENT ? 1U : 0); texts; texts--) {
        end = size < n ? memchr(header + size, 0, n - size < HEADER_MOST ? n - size : HEADER_MOST) : NULL;
        if (!end)
            return 0;
        size = (size_t)(end - header) + 1;
    }
    return size;
}

static void spend(struct place *p, uint64_t bytes)
{
    p->budget -= bytes < p->budget ? bytes : p->budget;
}

/* Inflates the data at an offset of the file. Returns the offset after it; 0 if that cannot be done here. */
static uint64_t inflate_data(struct members *m, struct place *p, uint64_t data, size_t *made)
{
    struct inflate_state *state = &p->state_of_data;
    size_t n;
    const uint8_t *from = input_at(m, p, data, 1, &n);

    isal_inflate_init(state);
    state->next_out = p->output + p->output_size;
    state->avail_out = (uint32_t)(m->output_capacity - p->output_size);
    while (from) {
        uint32_t room = state->avail_out;
        int result;

        state->next_in = (uint8_t *)from; /* not written to */
        state->avail_in = (uint32_t)n;
        result = isal_inflate(state);
        spend(p, n - state->avail_in + room - state->avail_out);
        if (result < 0)
            return 0;
        data += n - state->avail_in;
        if (state->block_state == ISAL_BLOCK_FINISH)
            break;
        if (state->avail_in || !state->avail_out)
            return 0;
        from = input_at(m, p, data, 1, &n);
    }
    if (!from)
        return 0;
    *made = (size_t)(state->next_out - (p->output + p->output_size));
    return data - (uint64_t)(state->read_in_length / 8); /* whole bytes that were taken but not used */
}

/* Inflates the member at an offset, if it is valid. Returns the offset after it; 0 if it is not. */
static uint64_t inflate_member(struct members *m, struct place *p, uint64_t offset)
{
    struct member *member = &p->members[p->count];
    size_t header = header_size(m, p, offset), made = 0, n;
    uint64_t budget = p->budget, end;
    const uint8_t *trailer;

    if (!header || p->count == MEMBERS_MOST)
        return 0;
    end = inflate_data(m, p, offset + header, &made);
    trailer = end ? input_at(m, p, end, TRAILER_SIZE, &n) : NULL;
    if (!trailer)
        return 0;
    *member = (struct member){offset, offset + header, end, p->output + p->output_size, made, get_u32_little(trailer)};
    if (crc32_gzip_refl(0, member->bytes, made) != member->crc || get_u32_little(trailer + 4) != (uint32_t)made)
        return 0;
    p->output_size += made;
    p->count++;
    p->budget = budget;
    return end + TRAILER_SIZE;
}

/* ---- A piece ---- */

/* The first offset from `at` on, and before `end`, that looks like a header; `end` if there is none. */
static uint64_t find_header(struct members *m, struct place *p, uint64_t at, uint64_t end)
{
    while (at < end) {
        size_t n;
        const uint8_t *from = input_at(m, p, at, HEADER_SIZE, &n), *found;

        if (!from)
            return end;
        if (n > end - at)
            n = (size_t)(end - at);
        found = memchr(from, 0x1f, n);
        if (!found)
            return end;
        at += (uint64_t)(found - from);
        if (!input_at(m, p, at, HEADER_SIZE, &n))
            return end;
        if (looks_like_header(found))
            return at;
        at++;
    }
    return end;
}

/* Inflates the members that begin in a piece, until its budget is exhausted. A member that follows a valid one does begin there. */
static void do_piece(struct members *m, struct place *p)
{
    uint64_t at = p->piece * m->piece_size, end = at + m->piece_size;

    if (at < m->from)
        at = m->from;
    p->at = at;
    p->input_size = p->output_size = p->count = 0;
    p->budget = FAILED_VISITS * (uint64_t)m->piece_size;
    while (p->budget && !m->stopping && (at = find_header(m, p, at, end)) < end) {
        uint64_t next = inflate_member(m, p, at);

        at = next ? next : at + 1;
    }
}

static void do_pieces(void *context, unsigned number)
{
    struct members *m = context;

    (void)number;
    pthread_mutex_lock(&m->lock);
    while (!m->stopping && m->next < m->piece_count) {
        struct place *p = &m->places[m->next % m->place_count];

        if (m->next >= m->wanted + m->place_count || p->state == PLACE_BUSY) {
            pthread_cond_wait(&m->changed, &m->lock);
            continue;
        }
        p->piece = m->next++;
        p->state = PLACE_BUSY;
        pthread_mutex_unlock(&m->lock);
        do_piece(m, p);
        pthread_mutex_lock(&m->lock);
        p->state = PLACE_DONE;
        pthread_cond_broadcast(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
}

/* ---- The reader ---- */

static const struct member *find_in_place(const struct place *p, uint64_t offset)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->members[i].offset == offset)
            return &p->members[i];
    return NULL;
}

const struct member *members_find(struct members *m, uint64_t offset)
{
    uint64_t piece = offset / m->piece_size;
    struct place *p = &m->places[piece % m->place_count];
    bool is_done;

    pthread_mutex_lock(&m->lock);
    if (piece > m->wanted) {
        m->wanted = piece;
        pthread_cond_broadcast(&m->changed);
    }
    if (m->next <= piece)
        m->next = piece + 1; /* what no thread has begun, the reader does itself */
    while (p->piece == piece && p->state == PLACE_BUSY)
        pthread_cond_wait(&m->changed, &m->lock);
    is_done = p->piece == piece && p->state == PLACE_DONE;
    pthread_mutex_unlock(&m->lock);
    return is_done ? find_in_place(p, offset) : NULL;
}

/* ---- The beginning and the end ---- */

static size_t size_for(unsigned places)
{
    return sizeof(struct members) + places * sizeof(struct place);
}

static bool prepare_places(struct members *m)
{
    for (unsigned i = 0; i < m->place_count; i++) {
        struct place *p = &m->places[i];

        p->input = memory_try(m->memory, m->input_capacity);
        p->output = memory_try(m->memory, m->output_capacity);
        if (!p->input || !p->output)
            return false;
    }
    return true;
}

struct members *members_start(struct memory *memory, const struct input_source *source, uint64_t from, size_t piece,
                              unsigned threads)
{
    unsigned places = threads + 2;
    struct members *m = memory_try(memory, size_for(places));

    if (!m)
        return NULL;
    memset(m, 0, size_for(places));
    m->memory = memory;
    m->source = *source;
    m->from = from;
    m->piece_size = piece;
    m->input_capacity = 2 * piece + HEADER_MOST;
    m->output_capacity = OUTPUT_RATIO * piece;
    m->wanted = m->next = from / piece;
    m->piece_count = source->size / piece + 1;
    m->place_count = places;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->workers = prepare_places(m) ? workers_start(memory, threads) : NULL;
    if (!m->workers) {
        members_stop(m);
        return NULL;
    }
    workers_begin(m->workers, do_pieces, m);
    return m;
}

void members_stop(struct members *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stopping = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    workers_stop(m->workers, m->memory);
    for (unsigned i = 0; i < m->place_count; i++) {
        memory_put(m->memory, m->places[i].input, m->input_capacity);
        memory_put(m->memory, m->places[i].output, m->output_capacity);
    }
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    memory_put(m->memory, m, size_for(m->place_count));
}
