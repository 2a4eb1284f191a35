/* Text of A in B: each run of six printable characters or more in a char[] or byte[] of A, or in a string of A that is no name, is
 * sought in the strings of B that are no names of A, and in the arrays of B that are not constant. Bytes are text in both coders of
 * java.lang.String: Latin-1, and UTF-16 in either order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "redacted.h"

enum {
    TAG_UTF8 = 0x01,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    TYPE_CHAR = 5,
    TYPE_BYTE = 8,
    LEAST = 6,          /* characters */
    SEPARATOR = 0xffff, /* is no character */
    HEAP_TEXT_MOST = 1 << 26,
    STEPS_MOST = 1 << 30,
    PIECE = 1 << 20,
    SHOWN = 60
};

enum coder { LATIN1, UTF16_BIG, UTF16_LITTLE, MODIFIED_UTF8 };

/* Characters of UTF-16. */
struct units {
    uint16_t *at;
    size_t count, capacity;
};

struct texts {
    struct redaction *redaction;
    const struct names *names; /* of A */
    struct units b;            /* all texts of B with separators between */
    struct origin {
        size_t first; /* in `b` */
        uint64_t offset;
    } * origins;
    size_t origin_count, origin_capacity;
    uint32_t *heads, *nexts; /* by the hash of six characters: their last position in `b`, from 1; and the one before that */
    size_t head_count;       /* a power of two */
    uint64_t steps;
    struct units now; /* the text of A */
    uint64_t *known;  /* digests of the texts of the names of A, sorted */
    size_t known_count, known_capacity;
    const char *failure; /* NULL for a failure of a reader */
    unsigned failed_side;
    bool has_failed;
};

static bool fail(struct texts *t, const char *failure)
{
    t->failure = failure;
    t->has_failed = true;
    return false;
}

static void add_unit(struct texts *t, struct units *to, uint32_t unit)
{
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 1024;
        uint16_t *grown = realloc(to->at, capacity * sizeof *grown);

        if (grown == NULL) {
            fail(t, "out of memory");
            return;
        }
        to->at = grown;
        to->capacity = capacity;
    }
    to->at[to->count++] = (uint16_t)unit;
}

/* ---- Decoding ---------------------------------------------------------------------------------------------------- */

/* What is no modified UTF-8 is taken byte by byte. */
static size_t decode_utf8(const uint8_t *p, size_t left, uint32_t *unit)
{
    if (p[0] >= 0xe0 && p[0] < 0xf0 && left >= 3) {
        *unit = (uint32_t)(p[0] & 15) << 12 | (uint32_t)(p[1] & 63) << 6 | (p[2] & 63);
        return 3;
    }
    if (p[0] >= 0xc0 && p[0] < 0xe0 && left >= 2) {
        *unit = (uint32_t)(p[0] & 31) << 6 | (p[1] & 63);
        return 2;
    }
    *unit = p[0];
    return 1;
}

static void decode(struct texts *t, struct units *to, const uint8_t *p, size_t size, enum coder coder)
{
    size_t used;

    for (size_t i = 0; i < size && !t->has_failed; i += used) {
        uint32_t unit = p[i];

        used = coder == LATIN1 ? 1 : 2;
        if (coder == MODIFIED_UTF8)
            used = decode_utf8(p + i, size - i, &unit);
        else if (coder != LATIN1 && i + 1 < size)
            unit = coder == UTF16_BIG ? (uint32_t)p[i] << 8 | p[i + 1] : (uint32_t)p[i + 1] << 8 | p[i];
        add_unit(t, to, unit == SEPARATOR ? 0 : unit);
    }
}

/* The bytes of the body of the last item from `at` on, or the first of them: no more than PIECE, and no part of a character.
 * 0 at the end, or if that failed. */
static size_t next_piece(struct texts *t, unsigned side, const struct hprof_item *item, uint64_t at, const uint8_t **bytes)
{
    const uint64_t left = item->body - at;
    int64_t n =
        left == 0 ? 0 : hprof_body(t->redaction->diff->sides[side].reader, at, left < PIECE ? (size_t)left : PIECE, bytes);
    size_t size = n > 0 ? (size_t)n : 0;

    if (left > 0 && size == 0) {
        t->failed_side = side;
        fail(t, NULL);
    }
    if (size == left || size <= 4)
        return size;
    if (item->kind == HPROF_ITEM_SUBRECORD)
        return size & ~(size_t)1;
    for (unsigned i = 1; i <= 3; i++)
        if ((*bytes)[size - i] >= 0xc0)
            return size - i;
    return size;
}

/* ---- The names of A ---------------------------------------------------------------------------------------------- */

static uint64_t digest_of(struct texts *t, unsigned side, const struct hprof_item *item)
{
    uint64_t h = 14695981039346656037U;
    const uint8_t *p;
    size_t size;

    for (uint64_t at = 0; (size = next_piece(t, side, item, at, &p)) > 0; at += size)
        for (size_t i = 0; i < size; i++)
            h = (h ^ p[i]) * 1099511628211U;
    return h ^ item->body;
}

static int compare_digests(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

    return one < other ? -1 : one > other;
}

static void know(struct texts *t, uint64_t digest)
{
    if (t->known_count == t->known_capacity) {
        size_t capacity = t->known_capacity ? 2 * t->known_capacity : 1024;
        uint64_t *grown = realloc(t->known, capacity * sizeof *grown);

        if (grown == NULL) {
            fail(t, "out of memory");
            return;
        }
        t->known = grown;
        t->known_capacity = capacity;
    }
    t->known[t->known_count++] = digest;
}

static bool is_known(const struct texts *t, uint64_t digest)
{
    return t->known_count > 0 && bsearch(&digest, t->known, t->known_count, sizeof digest, compare_digests) != NULL;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

typedef void visit_item(struct texts *t, const struct hprof_item *item);

/* Visits strings, char[] and byte[]. */
static bool walk(struct texts *t, unsigned side, visit_item *visit)
{
    struct hprof_reader *reader = t->redaction->diff->sides[side].reader;
    struct hprof_item item;
    int result = hprof_seek(reader, NULL);

    hprof_item_init(&item);
    while (result == 1 && !t->has_failed && (result = hprof_next(reader, &item)) == 1) {
        bool is_string = item.kind == HPROF_ITEM_RECORD && item.tag == TAG_UTF8;
        bool is_array = item.kind == HPROF_ITEM_SUBRECORD && item.tag == SUB_PRIMITIVE_ARRAY_DUMP &&
                        (item.element_type == TYPE_CHAR || item.element_type == TYPE_BYTE);

        if (is_string || is_array)
            visit(t, &item);
    }
    if (result < 0 && !t->has_failed) {
        t->failed_side = side;
        fail(t, NULL);
    }
    return !t->has_failed;
}

static void see_name(struct texts *t, const struct hprof_item *item)
{
    if (item->kind == HPROF_ITEM_RECORD && names_have(t->names, item->id))
        know(t, digest_of(t, 0, item));
}

/* ---- B ----------------------------------------------------------------------------------------------------------- */

static void begin_text(struct texts *t, uint64_t offset)
{
    if (t->origin_count == t->origin_capacity) {
        size_t capacity = t->origin_capacity ? 2 * t->origin_capacity : 256;
        struct origin *grown = realloc(t->origins, capacity * sizeof *grown);

        if (grown == NULL) {
            fail(t, "out of memory");
            return;
        }
        t->origins = grown;
        t->origin_capacity = capacity;
    }
    add_unit(t, &t->b, SEPARATOR);
    t->origins[t->origin_count++] = (struct origin){t->b.count, offset};
}

static bool is_constant(struct texts *t, const struct hprof_item *item)
{
    const uint64_t constant = t->redaction->constants[item->element_type];
    const size_t width = item->element_type == TYPE_CHAR ? 2 : 1;
    const uint8_t *bytes;
    size_t size;

    for (uint64_t at = 0; (size = next_piece(t, 1, item, at, &bytes)) > 0; at += size)
        for (size_t i = 0; i + width <= size; i += width)
            if ((width == 2 ? (uint64_t)bytes[i] << 8 | bytes[i + 1] : bytes[i]) != constant)
                return false;
    return true;
}

static void add_text(struct texts *t, const struct hprof_item *item, enum coder coder)
{
    const uint8_t *bytes;
    size_t size;

    if (t->has_failed)
        return;
    begin_text(t, item->offset);
    for (uint64_t at = 0; !t->has_failed && (size = next_piece(t, 1, item, at, &bytes)) > 0; at += size) {
        decode(t, &t->b, bytes, size, coder);
        if (t->b.count > HEAP_TEXT_MOST)
            fail(t, "B has more text than can be searched: its values are not constant");
    }
}

static void see_text_of_b(struct texts *t, const struct hprof_item *item)
{
    if (item->kind == HPROF_ITEM_RECORD) {
        if (!is_known(t, digest_of(t, 1, item)))
            add_text(t, item, MODIFIED_UTF8);
    } else if (!is_constant(t, item)) {
        add_text(t, item, item->element_type == TYPE_CHAR ? UTF16_BIG : LATIN1);
        if (item->element_type == TYPE_BYTE) {
            add_text(t, item, UTF16_BIG);
            add_text(t, item, UTF16_LITTLE);
        }
    }
}

static size_t hash_of(const struct texts *t, const uint16_t *units)
{
    uint64_t h = 0;

    for (unsigned i = 0; i < LEAST; i++)
        h = (h ^ units[i]) * 0x9e3779b97f4a7c15U;
    return (size_t)(h ^ h >> 32) & (t->head_count - 1);
}

static bool index_b(struct texts *t)
{
    t->head_count = 1024;
    while (t->head_count < t->b.count)
        t->head_count *= 2;
    t->heads = calloc(t->head_count, sizeof *t->heads);
    t->nexts = calloc(t->b.count + 1, sizeof *t->nexts);
    if (t->heads == NULL || t->nexts == NULL)
        return fail(t, "out of memory");
    for (size_t i = 0; i + LEAST <= t->b.count; i++) {
        size_t head = hash_of(t, t->b.at + i);

        t->nexts[i] = t->heads[head];
        t->heads[head] = (uint32_t)i + 1;
    }
    return true;
}

/* ---- A ----------------------------------------------------------------------------------------------------------- */

static void found(struct texts *t, const uint16_t *run, size_t size, size_t position)
{
    size_t low = 0, high = t->origin_count, used = 0;
    char text[PART_SIZE], shown[4 * SHOWN + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->origins[middle].first <= position)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < size && i < SHOWN; i++) {
        uint16_t c = run[i];

        if (c < 0x80) {
            shown[used++] = (char)c;
        } else if (c < 0x800) {
            shown[used++] = (char)(0xc0 | c >> 6);
            shown[used++] = (char)(0x80 | (c & 0x3f));
        } else {
            shown[used++] = (char)(0xe0 | c >> 12);
            shown[used++] = (char)(0x80 | (c >> 6 & 0x3f));
            shown[used++] = (char)(0x80 | (c & 0x3f));
        }
    }
    shown[used] = '\0';
    snprintf(text, sizeof text, "\"%s\"%s", shown, size > SHOWN ? "..." : "");
    add_leak(t->redaction, LEAK_TEXT, t->origins[low - 1].offset, text);
}

/* Seeks a run of printable characters of A. */
static void seek_run(struct texts *t, const uint16_t *run, size_t size)
{
    for (uint32_t at = t->heads[hash_of(t, run)]; at != 0; at = t->nexts[at - 1]) {
        const size_t position = at - 1;

        if (++t->steps > STEPS_MOST) {
            fail(t, "the texts of A and B are too much alike to be searched");
            return;
        }
        if (position + size <= t->b.count && memcmp(t->b.at + position, run, size * sizeof *run) == 0) {
            found(t, run, size, position);
            return;
        }
    }
}

static bool is_printable(uint16_t unit)
{
    return unit >= 0x20 && unit != 0x7f && (unit < 0x80 || unit > 0x9f) && unit < 0xfffe;
}

static void seek_text(struct texts *t, const uint8_t *bytes, size_t size, enum coder coder)
{
    size_t first = 0;

    if (t->has_failed)
        return;
    t->now.count = 0;
    decode(t, &t->now, bytes, size, coder);
    for (size_t i = 0; i <= t->now.count && !t->has_failed; i++) {
        if (i < t->now.count && is_printable(t->now.at[i]))
            continue;
        if (i - first >= LEAST)
            seek_run(t, t->now.at + first, i - first);
        first = i + 1;
    }
}

/* Text that is longer than a piece is sought piece by piece. */
static void see_text_of_a(struct texts *t, const struct hprof_item *item)
{
    const uint8_t *bytes;
    size_t size;

    if (item->kind == HPROF_ITEM_RECORD && names_have(t->names, item->id))
        return;
    for (uint64_t at = 0; !t->has_failed && (size = next_piece(t, 0, item, at, &bytes)) > 0; at += size) {
        if (item->kind == HPROF_ITEM_RECORD) {
            seek_text(t, bytes, size, MODIFIED_UTF8);
        } else if (item->element_type == TYPE_CHAR) {
            seek_text(t, bytes, size, UTF16_BIG);
        } else {
            seek_text(t, bytes, size, LATIN1);
            seek_text(t, bytes, size, UTF16_BIG);
            seek_text(t, bytes, size, UTF16_LITTLE);
        }
    }
}

bool texts_check(struct redaction *r, const struct names names[SIDES])
{
    struct texts t = {.redaction = r, .names = &names[0]};

    if (walk(&t, 0, see_name) && t.known_count > 1)
        qsort(t.known, t.known_count, sizeof *t.known, compare_digests);
    if (!t.has_failed && walk(&t, 1, see_text_of_b) && t.b.count > 0 && index_b(&t))
        walk(&t, 0, see_text_of_a);
    if (t.has_failed)
        snprintf(r->failure, sizeof r->failure, "%.200s",
                 t.failure != NULL ? t.failure : hprof_failure(r->diff->sides[t.failed_side].reader));
    free(t.b.at);
    free(t.origins);
    free(t.heads);
    free(t.nexts);
    free(t.now.at);
    free(t.known);
    return !t.has_failed;
}
