/* See candidate.h. */
#include "candidate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"
#include "write_all.h"

enum { BUFFER = 1 << 20, MOST_STEPS = 1 << 16, ORDINAL_DIGITS = 7 };

/* ---- Writing ---- */

struct writer {
    int from, to; /* `to` is -1 until the buffer is full */
    const char *path;
    uint8_t *buffer;
    size_t used;
    uint64_t size, hash;
    bool has_failed;
};

static uint64_t mix(uint64_t hash, const uint8_t *bytes, size_t size)
{
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;

        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (; size > 0; bytes++, size--)
        hash = (hash ^ *bytes ^ 0x100) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static void put_buffer(struct writer *w)
{
    if (w->path == NULL) {
        w->used = 0;
        return;
    }
    if (w->to < 0 && !w->has_failed)
        w->to = open(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (w->used > 0 && !w->has_failed)
        w->has_failed = w->to < 0 || !write_all(w->to, w->buffer, w->used);
    w->used = 0;
}

/* Room for more bytes: at least one. */
static size_t room(struct writer *w)
{
    if (w->used == BUFFER) {
        w->hash = mix(w->hash, w->buffer, w->used);
        put_buffer(w);
    }
    return BUFFER - w->used;
}

static void put(struct writer *w, const uint8_t *bytes, size_t size)
{
    w->size += size;
    while (size > 0) {
        size_t n = room(w) < size ? BUFFER - w->used : size;

        memcpy(w->buffer + w->used, bytes, n);
        w->used += n;
        bytes += n;
        size -= n;
    }
}

static void copy(struct writer *w, uint64_t at, uint64_t size)
{
    w->size += size;
    while (size > 0 && !w->has_failed) {
        size_t want = room(w) < size ? BUFFER - w->used : (size_t)size;
        ssize_t n = pread(w->from, w->buffer + w->used, want, (off_t)at);

        if (n > 0) {
            w->used += (size_t)n;
            at += (uint64_t)n;
            size -= (uint64_t)n;
        } else if (n == 0 || errno != EINTR) {
            errno = n == 0 ? EIO : errno;
            w->has_failed = true;
        }
    }
}

/* ---- Changes ---- */

static bool node_goes(const struct plan *plan, const bool *made, uint32_t node)
{
    return plan->nodes[node].edit != NO_EDIT && made[plan->nodes[node].edit];
}

/* The object that takes the place of one that goes: 0 if references to it are cut, or lead to none that stays. */
static uint64_t heir(const struct plan *plan, const bool *made, uint32_t node)
{
    for (int steps = 0; plan->links == LINKS_MENDED && node != NO_NODE && steps < MOST_STEPS; steps++) {
        if (!node_goes(plan, made, node))
            return plan->nodes[node].id;
        node = plan->nodes[node].next;
    }
    return 0;
}

static bool is_removal(const struct plan *plan, const bool *made, const struct change *change)
{
    if (change->kind == CHANGE_ROOT)
        return node_goes(plan, made, change->value) && heir(plan, made, change->value) == 0;
    return change->kind == CHANGE_REMOVE && made[change->edit];
}

/* How much shorter each record gets. */
static void measure(struct plan *plan, const bool *made)
{
    uint64_t end = 0;
    uint32_t record = NO_RECORD;

    for (size_t i = 0; i < plan->record_count; i++)
        plan->records[i].removed = 0;
    for (size_t i = 0; i < plan->change_count; i++) {
        const struct change *change = &plan->changes[i];
        uint64_t from = change->at > end ? change->at : end;

        if (change->kind == CHANGE_LENGTH)
            record = change->value;
        if (!is_removal(plan, made, change) || change->at + change->size <= from)
            continue;
        if (change->kind == CHANGE_ROOT && record != NO_RECORD)
            plan->records[record].removed += change->at + change->size - from;
        else if (change->kind == CHANGE_REMOVE && change->value != NO_RECORD)
            plan->records[change->value].removed += change->at + change->size - from;
        end = change->at + change->size;
    }
}

static void put_number(struct writer *w, uint64_t number, unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> (8 * (size - 1 - i)));
    put(w, bytes, size);
}

static void put_less(struct writer *w, const struct change *change, uint64_t less)
{
    uint8_t bytes[8];

    if (pread(w->from, bytes, change->size, (off_t)change->at) == (ssize_t)change->size)
        put_number(w, number_at(bytes, (unsigned)change->size) - less, (unsigned)change->size);
    else
        w->has_failed = true;
}

/* Every part of a name becomes x and zeros; the number of the name is in its last digits, so that names remain different. */
static void put_name(struct writer *w, const struct change *change)
{
    uint8_t *text = malloc(change->size);
    uint32_t number = change->value;
    int digits = ORDINAL_DIGITS;

    if (text == NULL || pread(w->from, text, change->size, (off_t)change->at) != (ssize_t)change->size) {
        w->has_failed = true;
    } else {
        for (uint64_t i = change->size; i-- > 0;) {
            if (name_part_stays(text[i]))
                continue;
            if (i == 0 || name_part_stays(text[i - 1])) {
                text[i] = 'x';
            } else {
                text[i] = (uint8_t)('0' + (digits > 0 ? number % 10 : 0));
                number /= 10;
                digits--;
            }
        }
        put(w, text, change->size);
    }
    free(text);
}

static void put_zeros(struct writer *w, uint64_t size)
{
    static const uint8_t zeros[4096];

    for (uint64_t n; size > 0; size -= n) {
        n = size < sizeof zeros ? size : sizeof zeros;
        put(w, zeros, (size_t)n);
    }
}

/* The sum of what the edits that are made take from a number. */
static uint64_t taken_from(const struct plan *plan, const bool *made, size_t *i)
{
    const uint64_t at = plan->changes[*i].at;
    uint64_t sum = 0;

    for (; *i < plan->change_count && plan->changes[*i].at == at && plan->changes[*i].kind == CHANGE_COUNT; ++*i)
        sum += made[plan->changes[*i].edit] ? plan->changes[*i].value : 0;
    --*i;
    return sum;
}

/* Copies up to a change, and writes what is there instead. Returns where the copy goes on. */
static uint64_t put_change(struct writer *w, struct plan *plan, const bool *made, size_t *i, uint64_t from)
{
    const struct change *change = &plan->changes[*i];
    uint64_t less = 0;

    switch (change->kind) {
    case CHANGE_COUNT:
        less = taken_from(plan, made, i);
        break;
    case CHANGE_LENGTH:
        less = plan->records[change->value].removed;
        break;
    case CHANGE_ROOT:
        if (node_goes(plan, made, change->value) && !is_removal(plan, made, change)) {
            copy(w, from, change->at + 1 - from);
            put_number(w, heir(plan, made, change->value), plan->id_size);
            return change->at + 1 + plan->id_size;
        }
        break;
    case CHANGE_LINK:
        if (!node_goes(plan, made, change->value))
            return from;
        copy(w, from, change->at - from);
        put_number(w, heir(plan, made, change->value), plan->id_size);
        return change->at + change->size;
    case CHANGE_ZERO:
    case CHANGE_NAME:
        if (!made[change->edit])
            return from;
        copy(w, from, change->at - from);
        change->kind == CHANGE_ZERO ? put_zeros(w, change->size) : put_name(w, change);
        return change->at + change->size;
    case CHANGE_REMOVE:
        break;
    }
    if (is_removal(plan, made, change)) {
        copy(w, from, change->at - from);
        return change->at + change->size;
    }
    if (less == 0)
        return from;
    copy(w, from, change->at - from);
    put_less(w, change, less);
    return change->at + change->size;
}

static bool is_new(void *context, uint64_t hash)
{
    (void)context;
    (void)hash;
    return false;
}

bool candidate_hash(int base, uint64_t size, uint64_t *hash)
{
    struct plan plan = {.base = base, .base_size = size};
    struct candidate candidate;
    bool done = candidate_write(&plan, NULL, NULL, is_new, NULL, &candidate);

    *hash = candidate.hash;
    return done;
}

bool candidate_write(struct plan *plan, const bool *made, const char *path, bool (*is_failed)(void *context, uint64_t hash),
                     void *context, struct candidate *candidate)
{
    struct writer w = {.from = plan->base, .to = -1, .path = path, .buffer = malloc(BUFFER)};
    uint64_t from = 0;
    int why;

    w.has_failed = w.buffer == NULL;
    measure(plan, made);
    for (size_t i = 0; i < plan->change_count && !w.has_failed; i++) {
        const struct change *change = &plan->changes[i];

        if (change->at >= from)
            from = put_change(&w, plan, made, &i, from);
        else if (is_removal(plan, made, change) && change->at + change->size > from)
            from = change->at + change->size;
    }
    if (!w.has_failed)
        copy(&w, from, plan->base_size - from);
    if (!w.has_failed)
        w.hash = mix(w.hash ^ w.size, w.buffer, w.used);
    *candidate = (struct candidate){.size = w.size, .hash = w.hash};
    candidate->is_known = !w.has_failed && is_failed(context, w.hash);
    if (!candidate->is_known)
        put_buffer(&w);
    why = errno;
    if (w.to >= 0 && close(w.to) != 0) {
        why = errno;
        w.has_failed = true;
    }
    free(w.buffer);
    errno = why;
    return !w.has_failed;
}
