/* See trace_data.h. */
#include "input/trace_data.h"

#include <string.h>

enum {
    WINDOW = 1 << 15, /* bytes that may be copied from */
    BLOCK = 1 << 14,  /* bytes that are read at once */
    BITS_MOST = 15,   /* of a code */
    LENGTH_CODES = 19,
    LITERALS = 288,
    LITERALS_MOST = 286, /* those that may occur */
    DISTANCES = 32,
    DISTANCES_MOST = 30,
    END_OF_BLOCK = 256,
    EXPLAINED = 4096, /* bytes after unknown ones where a failure may be due to these: most sub-records are shorter */
    GAP = 16          /* known bytes between unknown ones that are not worth a stretch of their own: no sub-record is in them */
};

/* A Huffman code: how many codes have each length, and what they mean, in the order of the codes. */
struct code {
    uint16_t counts[BITS_MOST + 1], meanings[LITERALS];
};

struct tracer {
    const struct traced_data *asked;
    struct input_source source; /* at what follows `bytes` */
    size_t at, end;
    uint32_t bits; /* that were taken from `bytes`, the next one lowest */
    unsigned bit_count;
    bool failed; /* the data is not valid, or ended */

    uint64_t output;
    size_t failures_passed;
    bool is_damaged;       /* nothing that is made is known, up to the next block */
    uint64_t damaged_from; /* the last time */
    bool any_unknown;      /* the last unknown bytes, not yet handed over: */
    uint64_t unknown_from, unknown_to;

    struct code literals, distances;
    bool is_unknown[WINDOW]; /* by the offset of the output */
    uint8_t bytes[BLOCK];
};

/* ---- The output: each byte is known or not ---- */

static void hand_over(struct tracer *t)
{
    if (t->any_unknown)
        t->asked->on_unknown(t->asked->context, t->unknown_from, t->unknown_to);
    t->any_unknown = false;
}

static void note_unknown(struct tracer *t, uint64_t from, uint64_t to)
{
    if (!t->any_unknown || from > t->unknown_to + GAP) {
        hand_over(t);
        t->unknown_from = from;
    }
    t->any_unknown = true;
    t->unknown_to = to;
}

static bool is_explained(const struct tracer *t)
{
    return t->any_unknown && t->output <= t->unknown_to + EXPLAINED;
}

/* Some sub-records may look right before one does not. */
static void begin_damage(struct tracer *t)
{
    uint64_t from = t->output > TRACE_DOUBTED ? t->output - TRACE_DOUBTED : 0;

    t->is_damaged = true;
    t->damaged_from = t->output;
    for (uint64_t at = from; at < t->output; at++)
        t->is_unknown[at % WINDOW] = true;
    if (from < t->output)
        note_unknown(t, from, t->output);
}

static void pass_failures(struct tracer *t)
{
    const struct traced_data *asked = t->asked;

    while (t->failures_passed < asked->failure_count && asked->failures[t->failures_passed] <= t->output) {
        t->failures_passed++;
        if (!t->is_damaged && !is_explained(t))
            begin_damage(t);
    }
}

static void put(struct tracer *t, bool is_unknown)
{
    pass_failures(t);
    is_unknown |= t->is_damaged;
    t->is_unknown[t->output % WINDOW] = is_unknown;
    if (is_unknown)
        note_unknown(t, t->output, t->output + 1);
    t->output++;
}

/* The header of a block shows that the codes before it ended where they did when they were written. */
static void end_damage(struct tracer *t)
{
    if (!t->is_damaged || t->output == t->damaged_from)
        return;
    t->is_damaged = false;
    if (!t->asked->keeps_size)
        memset(t->is_unknown, true, sizeof t->is_unknown); /* the same distance leads elsewhere now */
}

/* ---- Bits ---- */

static bool take_byte(struct tracer *t, uint8_t *byte)
{
    if (t->at == t->end) {
        t->end = source_read(&t->source, t->bytes, sizeof t->bytes);
        t->at = 0;
    }
    t->failed |= t->at == t->end;
    if (t->failed)
        return false;
    *byte = t->bytes[t->at++];
    return true;
}

static uint32_t take_bits(struct tracer *t, unsigned n)
{
    uint32_t value;
    uint8_t byte;

    while (t->bit_count < n && take_byte(t, &byte)) {
        t->bits |= (uint32_t)byte << t->bit_count;
        t->bit_count += 8;
    }
    if (t->failed)
        return 0;
    value = t->bits & ((UINT32_C(1) << n) - 1);
    t->bits >>= n;
    t->bit_count -= n;
    return value;
}

/* ---- Codes: RFC 1951, 3.2.2 ---- */

enum fit { COMPLETE, INCOMPLETE, OVERFULL };

static enum fit make_code(struct code *code, const uint8_t *lengths, size_t n)
{
    uint16_t starts[BITS_MOST + 1] = {0};
    int32_t left = 1;

    memset(code->counts, 0, sizeof code->counts);
    for (size_t i = 0; i < n; i++)
        code->counts[lengths[i]]++;
    code->counts[0] = 0;
    for (unsigned bits = 1; bits <= BITS_MOST; bits++) {
        left = 2 * left - code->counts[bits];
        if (left < 0)
            return OVERFULL;
        starts[bits] = (uint16_t)(starts[bits - 1] + code->counts[bits - 1]);
    }
    for (size_t i = 0; i < n; i++)
        if (lengths[i])
            code->meanings[starts[lengths[i]]++] = (uint16_t)i;
    return left ? INCOMPLETE : COMPLETE;
}

/* Of all codes of a length, the first one is twice the code after the last one that is shorter by a bit. */
static unsigned take_code(struct tracer *t, const struct code *code)
{
    uint32_t word = 0, first = 0, shorter = 0;

    for (unsigned bits = 1; bits <= BITS_MOST; bits++) {
        word = 2 * word + take_bits(t, 1);
        if (t->failed)
            return 0;
        if (word - first < code->counts[bits])
            return code->meanings[shorter + word - first];
        shorter += code->counts[bits];
        first = 2 * (first + code->counts[bits]);
    }
    t->failed = true;
    return 0;
}

/* ---- Blocks: RFC 1951, 3.2.3 to 3.2.7 ---- */

static void copy(struct tracer *t, unsigned length, uint32_t distance)
{
    t->failed |= distance > t->output;
    while (length-- && !t->failed && t->output < t->asked->size)
        put(t, t->is_unknown[(t->output - distance) % WINDOW]);
}

static void trace_stored(struct tracer *t)
{
    uint32_t length, complement;
    uint8_t byte;

    take_bits(t, t->bit_count % 8);
    length = take_bits(t, 16);
    complement = take_bits(t, 16);
    t->failed |= length != (~complement & UINT16_MAX);
    if (!t->failed)
        end_damage(t);
    while (length-- && !t->failed && t->output < t->asked->size)
        if (t->bit_count)
            take_bits(t, 8), put(t, false);
        else if (take_byte(t, &byte))
            put(t, false);
}

static unsigned take_length(struct tracer *t, unsigned meaning)
{
    enum { FIRST = 257, FIRST_WITH_BITS = 265, LAST = 285, LEAST = 3, MOST = 258 };
    unsigned extra = meaning < FIRST_WITH_BITS ? 0 : (meaning - FIRST_WITH_BITS) / 4 + 1;

    if (meaning < FIRST_WITH_BITS)
        return LEAST + meaning - FIRST;
    if (meaning == LAST)
        return MOST;
    return LEAST + ((4 + (meaning - FIRST_WITH_BITS) % 4) << extra) + take_bits(t, extra);
}

static uint32_t take_distance(struct tracer *t)
{
    enum { FIRST_WITH_BITS = 4 };
    unsigned meaning = take_code(t, &t->distances), extra = meaning < FIRST_WITH_BITS ? 0 : meaning / 2 - 1;

    t->failed |= meaning >= DISTANCES_MOST;
    if (t->failed)
        return 1;
    return meaning < FIRST_WITH_BITS ? meaning + 1 : 1 + ((2 + meaning % 2) << extra) + take_bits(t, extra);
}

static void trace_codes(struct tracer *t)
{
    while (!t->failed && t->output < t->asked->size) {
        unsigned meaning = take_code(t, &t->literals), length;

        if (t->failed || meaning == END_OF_BLOCK)
            return;
        if (meaning < END_OF_BLOCK) {
            put(t, false);
            continue;
        }
        t->failed |= meaning >= LITERALS_MOST;
        if (t->failed)
            return;
        length = take_length(t, meaning);
        copy(t, length, take_distance(t));
    }
}

/* A header of this kind is often met by chance: it has three bits. */
static void trace_fixed(struct tracer *t)
{
    uint8_t lengths[LITERALS];

    for (unsigned i = 0; i < LITERALS; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&t->literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    make_code(&t->distances, lengths, DISTANCES);
    trace_codes(t);
}

/* The lengths of the codes of a block. */
static bool take_lengths(struct tracer *t, const struct code *code, uint8_t *lengths, size_t n)
{
    enum { REPEAT = 16, ZEROS = 17 };
    size_t i = 0;

    while (i < n && !t->failed) {
        unsigned meaning = take_code(t, code);
        uint32_t times = meaning < REPEAT    ? 1
                         : meaning == REPEAT ? 3 + take_bits(t, 2)
                         : meaning == ZEROS  ? 3 + take_bits(t, 3)
                                             : 11 + take_bits(t, 7);
        uint8_t length = meaning < REPEAT ? (uint8_t)meaning : 0;

        if ((meaning == REPEAT && !i) || times > n - i)
            return false;
        if (meaning == REPEAT)
            length = lengths[i - 1];
        memset(lengths + i, length, times);
        i += times;
    }
    return !t->failed;
}

static void trace_dynamic(struct tracer *t)
{
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint32_t literals = 257 + take_bits(t, 5), distances = 1 + take_bits(t, 5), n = 4 + take_bits(t, 4), used = 0;
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    struct code code;
    enum fit fit[3];

    for (uint32_t i = 0; i < n; i++)
        lengths[order[i]] = (uint8_t)take_bits(t, 3);
    fit[0] = make_code(&code, lengths, LENGTH_CODES);
    t->failed |= fit[0] == OVERFULL || literals > LITERALS_MOST;
    if (t->failed || !take_lengths(t, &code, lengths, literals + distances)) {
        t->failed = true;
        return;
    }
    fit[1] = make_code(&t->literals, lengths, literals);
    fit[2] = make_code(&t->distances, lengths + literals, distances);
    for (uint32_t i = 0; i < distances; i++)
        used += lengths[literals + i] > 0;
    t->failed |= fit[1] == OVERFULL || fit[2] == OVERFULL;
    if (!t->failed && fit[0] == COMPLETE && fit[1] == COMPLETE && (fit[2] == COMPLETE || used <= 1) && lengths[END_OF_BLOCK])
        end_damage(t);
    trace_codes(t);
}

int trace_data(const struct traced_data *asked, struct memory *memory)
{
    struct tracer *t = memory_get_zeroed(memory, sizeof *t);
    bool is_last = false;
    int error;

    if (!t)
        return 0;
    t->asked = asked;
    t->source = *asked->source;
    source_seek(&t->source, asked->offset);
    while (!is_last && !t->failed && t->output < asked->size) {
        is_last = take_bits(t, 1);
        switch (take_bits(t, 2)) {
        case 0:
            trace_stored(t);
            break;
        case 1:
            trace_fixed(t);
            break;
        case 2:
            trace_dynamic(t);
            break;
        default:
            t->failed = true;
        }
    }
    pass_failures(t);
    if (asked->is_invalid && !t->is_damaged)
        begin_damage(t);
    if (t->output < asked->size) /* made of data that is not valid here */
        note_unknown(t, t->is_damaged ? t->damaged_from : t->output, asked->size);
    hand_over(t);
    error = t->source.error;
    memory_put(memory, t, sizeof *t);
    return error;
}
