/* way.h: where a chain leads on. What each item counts is computed here, by the tables of RULES.md M.2 ("The way"), from what was
 * written; so is where a chain breaks off. Bytes that begin no item lie around it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chains.h"
#include "engine/way.h"

enum {
    DRAWS = 4000,
    TO_END = 32,       /* bits of a chain of sub-records that ends with its record or the dump, or where records begin */
    OUT_OF_SIGHT = 64, /* of one of either kind */
    RECORDS = 96,      /* of a chain of records */
    END_OF_DUMP = 32,  /* that the end of the dump gives */
    JUNK_MOST = 40
};

/* ---- Where a chain leads on ---- */

enum ending { WITH_RECORD, UNSEEN, BROKEN, WITH_DUMP, ENDINGS };

static struct known known_by_4, known_by_8;

/* A chain in `b`, the last bytes of which may be cut off, and how it ends. */
struct drawn {
    struct known *known;
    struct bytes b;
    struct chain chain;
    struct sight sight;
    struct search search;
};

static void end_draw(struct drawn *d)
{
    free(d->b.at);
}

static void begin_without_junk(struct drawn *d, unsigned id_size)
{
    *d = (struct drawn){.search.end = UINT64_MAX};
    d->known = id_size == 8 ? &known_by_8 : &known_by_4;
}

static void begin_draw_of(struct drawn *d, unsigned id_size)
{
    begin_without_junk(d, id_size);
    if (heads())
        put_junk(&d->b, below(JUNK_MOST));
    else
        for (size_t zeros = below(JUNK_MOST); zeros--;)
            put(&d->b, 1, 0);
}

static void begin_draw(struct drawn *d)
{
    begin_draw_of(d, heads() ? 8 : 4);
}

static void see(struct drawn *d, bool ended)
{
    d->b.at = realloc(d->b.at, d->b.size); /* what is read after the sight is an error */
    assert_non_null(d->b.at);
    d->sight = (struct sight){d->b.at, d->b.size, ended, d->known->file.id_size, V102};
    d->search.sight = &d->sight;
    d->search.file = &d->known->file;
}

/* All that is in sight is tried. */
static bool is_found(const struct drawn *d, enum way_kind kind, uint64_t at)
{
    const struct way way = find_way(&d->search, 0, d->b.size);

    return way.kind == kind && way.at == (kind == WAY_NONE ? d->b.size : at) && !way.in_dump;
}

static void assert_found(const struct drawn *d, enum way_kind kind, uint64_t at)
{
    assert_true(is_found(d, kind, at));
}

static void a_chain_of_sub_records_leads_on_by_its_bits_and_its_end(void **state)
{
    static const unsigned wanted[] = {TO_END, OUT_OF_SIGHT, CHAIN, TO_END};
    unsigned found[ENDINGS] = {0}, all[ENDINGS] = {0};

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        enum ending ending = (enum ending)below(ENDINGS);
        const struct item *last;
        struct drawn d;
        unsigned bits;
        bool leads_on;

        begin_draw(&d);
        put_chain(&d.b, d.known, 1 + below(7), &d.chain);
        last = &d.chain.items[d.chain.count - 1];
        bits = all_bits(&d.chain);
        if (ending == WITH_RECORD || heads())
            d.search.end = d.b.size + (ending == WITH_RECORD ? 0 : 1000);
        if (ending == BROKEN || (ending == WITH_RECORD && heads()))
            put_junk(&d.b, 1 + below(JUNK_MOST));
        if (ending == UNSEEN && heads()) { /* how long the last one is */
            d.b.size = last->at + 1 + below(4);
            bits -= last->bits;
        }
        see(&d, ending != UNSEEN);
        leads_on = bits >= wanted[ending];
        assert_found(&d, leads_on ? WAY_SUBRECORD : WAY_NONE, d.chain.items[0].at);
        found[ending] += leads_on;
        all[ending]++;
        end_draw(&d);
    }
    for (unsigned i = 0; i < ENDINGS; i++)
        assert_in_range(found[i], 1, all[i] - 1);
}

static void a_chain_of_records_leads_on_by_its_bits_and_its_end(void **state)
{
    static const unsigned wanted[] = {RECORDS, OUT_OF_SIGHT, RECORDS, RECORDS - END_OF_DUMP};
    unsigned found[ENDINGS] = {0}, all[ENDINGS] = {0};

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        enum ending ending = (enum ending)below(ENDINGS);
        struct drawn d;
        bool leads_on;

        begin_draw(&d);
        put_records(&d.b, d.known, 1 + below(5), &d.chain);
        leads_on = all_bits(&d.chain) >= wanted[ending];
        if (ending == WITH_RECORD) { /* within a heap dump record none is sought */
            d.search.end = d.b.size;
            leads_on = false;
        }
        if (ending == BROKEN)
            put_junk(&d.b, RECORD_HEADER_SIZE + below(JUNK_MOST));
        see(&d, ending != UNSEEN);
        assert_found(&d, leads_on ? WAY_RECORD : WAY_NONE, d.chain.items[0].at);
        if (ending != WITH_RECORD)
            assert_int_equal(records_begin(&d.search, DRAWS), leads_on && !d.chain.items[0].at);
        found[ending] += leads_on;
        all[ending]++;
        end_draw(&d);
    }
    assert_int_equal(found[WITH_RECORD], 0);
    for (unsigned i = UNSEEN; i < ENDINGS; i++)
        assert_in_range(found[i], 1, all[i] - 1);
}

/* The end of the heap dump record is not known. */
static void sub_records_of_few_bits_lead_on_where_records_begin(void **state)
{
    unsigned found[3] = {0}, chance = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        enum way_kind expected;
        struct drawn d;
        struct chain records;
        unsigned bits;

        begin_draw(&d);
        put_chain(&d.b, d.known, 1 + below(3), &d.chain);
        put_records(&d.b, d.known, below(5), &records);
        see(&d, true);
        bits = all_bits(&records);
        expected = all_bits(&d.chain) >= (records.count ? CHAIN : TO_END) ? WAY_SUBRECORD
                   : !bits || bits + END_OF_DUMP < RECORDS                ? WAY_NONE
                   : all_bits(&d.chain) >= TO_END                         ? WAY_SUBRECORD
                                                                          : WAY_RECORD;
        chance += !is_found(&d, expected, expected == WAY_RECORD ? records.items[0].at : d.chain.items[0].at);
        found[expected]++;
        end_draw(&d);
    }
    assert_in_range(chance, 0, DRAWS / 100); /* twelve bits are one in 4,096, at each offset */
    for (unsigned i = 0; i < 3; i++)
        assert_true(found[i]);
}

/* The bits of the items that begin before an offset. */
static unsigned bits_before(const struct chain *c, uint64_t at)
{
    unsigned bits = 0;

    for (size_t i = 0; i < c->count && c->items[i].at < at; i++)
        bits += c->items[i].bits;
    return bits;
}

static void a_chain_leads_past_an_offset_with_an_item_that_begins_there_or_later(void **state)
{
    unsigned found = 0, doubted = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        struct drawn d;
        const struct item *last;
        bool leads_on;

        begin_draw(&d);
        put_chain(&d.b, d.known, 5 + below(8), &d.chain);
        last = &d.chain.items[d.chain.count - 1];
        put_junk(&d.b, JUNK_MOST);
        see(&d, true);
        d.search.end = d.b.size + 1000;
        d.search.past = 1 + last->at + below(30) - 20;
        d.search.is_doubt = heads();
        leads_on = all_bits(&d.chain) >= CHAIN && d.search.past <= last->at &&
                   (!d.search.is_doubt || bits_before(&d.chain, d.search.past) >= CHAIN);
        assert_found(&d, leads_on ? WAY_SUBRECORD : WAY_NONE, d.chain.items[0].at);
        found += leads_on;
        doubted += leads_on && d.search.is_doubt;
        end_draw(&d);
    }
    assert_in_range(found, DRAWS / 10, DRAWS - DRAWS / 10);
    assert_true(doubted);
}

static void an_item_that_cannot_be_right_breaks_a_chain(void **state)
{
    unsigned found = 0, chance = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        struct drawn d;
        const struct item *wrong;
        bool leads_on;

        begin_draw(&d);
        put_long_chain(&d.b, d.known, &d.chain);
        see(&d, heads());
        do
            wrong = &d.chain.items[below((uint32_t)d.chain.count)];
        while (d.b.at[wrong->at] == SUB_ROOT_THREAD_OBJECT);      /* a thread may have no object yet */
        put_at(d.b.at + wrong->at + 1, d.known->file.id_size, 0); /* its ID */
        leads_on = bits_before(&d.chain, wrong->at) >= CHAIN;
        d.search.end = d.b.size + 1000;
        chance += leads_on != is_found(&d, WAY_SUBRECORD, d.chain.items[0].at);
        found += leads_on;
        end_draw(&d);
    }
    assert_in_range(chance, 0, DRAWS / 100);
    assert_in_range(found, DRAWS / 50, DRAWS);
}

/* ---- What else there is ---- */

static void a_record_may_be_of_the_time_of_one_before_or_134_seconds_later(void **state)
{
    const uint32_t most = 1 << 27;

    (void)state;
    assert_true(is_time_after(0, 0));
    assert_false(is_time_after(1, 0));
    for (unsigned i = 0; i < 200; i++) {
        uint32_t before = 1 + (uint32_t)throw_dice() % (UINT32_MAX - 1);

        assert_true(is_time_after(before, before));
        assert_true(is_time_after(before + most - 1, before));
        assert_false(is_time_after(before + most, before));
        assert_false(is_time_after(before - 1, before));
    }
}

static void records_of_another_time_are_none(void **state)
{
    const uint32_t most = 1 << 27;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        const uint32_t times[] = {1 + below(1000), 2 * most + below(1000)};
        const uint32_t some[] = {times[0],        times[0] + most - 1,
                                 times[0] + most, times[0] - 1,
                                 times[1],        times[1] + most - 1,
                                 times[1] + most, times[1] - 1,
                                 most + most / 2, 0};
        const bool right[] = {true, true, false, false, true, true, false, false, false, false};
        const unsigned which = below(sizeof right);
        struct drawn d;

        begin_draw(&d);
        d.search.times = (const uint32_t(*)[2]) & times;
        do
            put_small_record(&d.b, d.known, some[which]);
        while (d.b.size < 400);
        see(&d, false);
        assert_int_equal(find_way(&d.search, 0, d.b.size).kind, right[which] ? WAY_RECORD : WAY_NONE);
        end_draw(&d);
    }
}

/* Of less than 64 KiB, and without a zero byte among the first 64 after its ID. */
static void a_string_may_be_text(void **state)
{
    enum { LONGEST = 1 << 16 };

    (void)state;
    for (unsigned i = 0; i < DRAWS / 8; i++) {
        const bool is_long = !below(4), has_zero = heads();
        size_t body, size, zero;
        struct drawn d;
        bool is_text;

        begin_draw(&d);
        for (unsigned j = 0; j < 8; j++) { /* too few bits without the last one */
            body = open_record(&d.b, TAG_UTF8);
            size = d.known->file.id_size + (j < 7 ? 0 : is_long ? LONGEST - 2 * JUNK_MOST + below(4 * JUNK_MOST) : below(100));
            put_junk(&d.b, size);
            close_record(&d.b, body);
        }
        zero = d.known->file.id_size + below(100);
        is_text = size < LONGEST && !(has_zero && zero < size);
        if (has_zero && zero < size)
            d.b.at[body + zero] = 0;
        see(&d, false);
        assert_found(&d, is_text ? WAY_RECORD : WAY_NONE, (size_t)(body - 9 - 7 * (9 + d.known->file.id_size)));
        end_draw(&d);
    }
}

/* It has a chain of 96 bits, or of 128 if its end is in sight and no record follows; where it crosses the end of the dump, of 32
 * bits up to there, and the time of the one before. */
static void a_heap_dump_record_begins_with_a_chain(void **state)
{
    unsigned found = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        const uint32_t times[] = {1000, 2000};
        enum { FOLLOWED, DAMAGED, CUT, NONE_FOLLOWS } how = below(4);
        const bool is_time_before = heads();
        const unsigned tag = heads() ? TAG_HEAP_DUMP : TAG_HEAP_DUMP_SEGMENT;
        struct drawn d;
        size_t body;
        bool leads_on;
        unsigned bits;

        begin_draw(&d);
        d.search.times = (const uint32_t(*)[2]) & times;
        body = open_record(&d.b, tag);
        put_at(d.b.at + body - 8, 4, is_time_before ? times[below(2)] : 1500);
        put_chain(&d.b, d.known, 1 + below(6), &d.chain);
        bits = all_bits(&d.chain);
        if (how == DAMAGED)
            put_junk(&d.b, 200);
        close_record(&d.b, body);
        if (how == CUT)
            put_at(d.b.at + body - 4, 4, d.b.size - body + 100);
        else if (how == NONE_FOLLOWS)
            put_junk(&d.b, 200);
        else
            put_small_record(&d.b, d.known, 1000);
        see(&d, true);
        /* a chain that ends with the record leads on with fewer bits; one that breaks off before has to have all of them */
        leads_on = how == FOLLOWED       ? bits >= TO_END
                   : how == DAMAGED      ? bits >= RECORDS
                   : how == NONE_FOLLOWS ? bits >= CHAIN
                                         : bits >= TO_END && is_time_before;
        if (bits >= CHAIN && !leads_on)
            assert_found(&d, WAY_SUBRECORD, body);
        d.sight.at += body - RECORD_HEADER_SIZE;
        d.sight.size -= body - RECORD_HEADER_SIZE;
        assert_int_equal(records_begin(&d.search, DRAWS), leads_on);
        found += leads_on;
        end_draw(&d);
    }
    assert_in_range(found, DRAWS / 10, DRAWS - DRAWS / 10);
}

static void the_header_of_another_dump_is_a_record(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 8; i++) {
        const bool is_whole = heads();
        struct drawn d;
        size_t at;

        begin_draw(&d);
        at = d.b.size;
        put_header(&d.b);
        d.b.size -= is_whole ? 0 : 1 + below(30);
        see(&d, heads());
        assert_found(&d, is_whole ? WAY_RECORD : WAY_NONE, at);
        end_draw(&d);
    }
}

/* The last bytes before an object may look like a root; so it is left out. */
static void a_root_before_an_object_is_left_out(void **state)
{
    unsigned chance = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        struct drawn d;
        const bool are_two = heads();
        size_t object, first;

        begin_draw(&d);
        first = d.b.size;
        put_root(&d.b, d.known);
        if (are_two)
            put_root(&d.b, d.known);
        object = d.b.size;
        put_long_chain(&d.b, d.known, &d.chain);
        see(&d, true);
        chance += !is_found(&d, WAY_SUBRECORD, are_two ? first : object);
        end_draw(&d);
    }
    assert_in_range(chance, 0, DRAWS / 100);
}

/* ROOT_JNI_GLOBAL has two IDs. If the last byte of the first one is its tag, roots of wrong IDs lie between the right ones. They
 * begin before them here, and end before what follows. */
static void a_row_of_wrong_roots_leads_less_far(void **state)
{
    const unsigned rows = 12;
    unsigned chance = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS / 8; i++) {
        struct drawn d;
        size_t right;

        begin_draw_of(&d, 8);
        put(&d.b, 1, 0x01);
        put(&d.b, 8, id_of_object(d.known));
        right = d.b.size;
        for (unsigned root = 0; root < rows; root++) {
            put(&d.b, 1, 0x01);
            put(&d.b, 8, (id_of_object(d.known) & ~UINT64_C(0xff)) | 0x01);
            put(&d.b, 8, id_of_object(d.known));
        }
        put_chain(&d.b, d.known, 6, &d.chain);
        put_junk(&d.b, JUNK_MOST);
        see(&d, true);
        d.search.end = d.b.size + 1000;
        chance += !is_found(&d, WAY_SUBRECORD, right);
        end_draw(&d);
    }
    assert_in_range(chance, 0, DRAWS / 8 / 10); /* the last wrong root may lead on by chance */
}

/* The records of a whole dump. */
static void put_dump(struct bytes *b, const struct known *k, bool with_header)
{
    struct chain chain;
    size_t body;

    if (with_header)
        put_header(b);
    put_small_record(b, k, 0);
    put_small_record(b, k, 0);
    put_small_record(b, k, 0);
    body = open_record(b, TAG_HEAP_DUMP_SEGMENT);
    put_long_chain(b, k, &chain);
    close_record(b, body);
    close_record(b, open_record(b, TAG_HEAP_DUMP_END));
}

/* Its chains and records are perfect. It is passed over from its header on, or from its last sub-records on. */
static void the_dump_in_an_array_is_passed_over(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 4; i++) {
        const bool with_header = heads(), has_ended = heads();
        struct drawn d;
        struct chain inner;

        begin_draw(&d);
        if (with_header) {
            put_dump(&d.b, d.known, true);
        } else {
            put_long_chain(&d.b, d.known, &inner);
            close_record(&d.b, open_record(&d.b, TAG_HEAP_DUMP_END));
            for (unsigned j = 0; j < 4; j++)
                put_small_record(&d.b, d.known, 0);
        }
        put_junk(&d.b, below(JUNK_MOST)); /* what else is in the array */
        put_long_chain(&d.b, d.known, &d.chain);
        d.search.end = d.b.size;
        if (!has_ended) /* records follow the heap dump record */
            for (unsigned j = 0; j < 8; j++)
                put_small_record(&d.b, d.known, 0);
        see(&d, has_ended);
        assert_found(&d, WAY_SUBRECORD, d.chain.items[0].at);
        end_draw(&d);
    }
}

/* Records, the last of which is not of a heap dump. */
static void put_records_beside(struct bytes *b, const struct known *k)
{
    size_t at;

    do {
        at = b->size;
        put_small_record(b, k, 0);
    } while (b->at[at] == TAG_HEAP_DUMP_END);
}

/* Two files were joined, and the heap dump record in which the first one was cut ends between records of the second one by chance.
 * If one of them is of the heap dump of the second one, that may be all of an array. */
static void a_dump_that_goes_on_after_the_heap_dump_record_is_another_one(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 4; i++) {
        const bool goes_on = heads();
        struct drawn d;
        size_t header;

        begin_draw(&d);
        header = d.b.size;
        if (goes_on) {
            put_header(&d.b);
            put_records_beside(&d.b, d.known);
        } else {
            put_dump(&d.b, d.known, true);
        }
        d.search.end = d.b.size;
        put(&d.b, 1, TAG_UTF8);
        put_junk(&d.b, below(JUNK_MOST));
        see(&d, heads());
        if (goes_on) {
            assert_found(&d, WAY_RECORD, header);
        } else {
            struct way way = find_way(&d.search, 0, d.b.size);

            assert_int_equal(way.kind, WAY_NONE);
            assert_true(way.in_dump && way.at == d.search.end);
        }
        end_draw(&d);
    }
}

/* The same search again, where the sight had ended in the dump: it begins at one of its records. */
static void a_search_goes_on_in_a_dump_in_an_array(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 4; i++) {
        struct drawn d;
        struct way way;
        size_t from;

        begin_draw(&d);
        from = d.b.size;
        put_dump(&d.b, d.known, false);
        put_junk(&d.b, below(JUNK_MOST));
        put_long_chain(&d.b, d.known, &d.chain);
        d.search.end = d.b.size;
        see(&d, true);
        d.search.in_dump = true;
        way = find_way(&d.search, from, d.b.size);
        assert_int_equal(way.kind, WAY_SUBRECORD);
        assert_int_equal(way.at, d.chain.items[0].at);
        end_draw(&d);
    }
}

/* A record of it, or its next header, is out of sight: there the search goes on. */
static void a_dump_in_an_array_that_goes_on_out_of_sight_is_sought_there(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 4; i++) {
        const bool within_record = heads();
        struct drawn d;
        struct way way;
        size_t from, next;

        begin_draw(&d);
        from = d.b.size;
        put_dump(&d.b, d.known, heads());
        next = d.b.size;
        if (within_record) {
            put_at(d.b.at + next - 4, 4, 500); /* of HEAP_DUMP_END, so that a record is 500 bytes long */
            next += 500;
        } else {
            put_small_record(&d.b, d.known, 0);
            d.b.size = next + 1 + below(8);
        }
        d.search.end = next + 10000;
        see(&d, false);
        d.search.in_dump = d.b.at[from] != 'J'; /* at a record, or before the header */
        way = find_way(&d.search, from, d.b.size);
        assert_int_equal(way.kind, WAY_NONE);
        assert_true(way.in_dump);
        assert_int_equal(way.at, next);
        end_draw(&d);
    }
}

/* ---- The other questions ---- */

static void a_start_leads_exactly_to_an_offset(void **state)
{
    unsigned chance = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        struct drawn d;
        size_t from, to, first = 0;
        unsigned bits = 0;

        begin_draw(&d);
        put_junk(&d.b, 1);
        put_chain(&d.b, d.known, 1 + below(6), &d.chain);
        to = d.b.size;
        put_junk(&d.b, JUNK_MOST);
        see(&d, heads());
        from = below((uint32_t)to);
        for (size_t item = d.chain.count; item-- && d.chain.items[item].at >= from;) {
            bits += d.chain.items[item].bits;
            first = bits >= TO_END ? d.chain.items[item].at : first;
        }
        chance += find_start(&d.search, from, to, to) != first; /* 0 is no start, and is an answer */
        assert_int_equal(find_start(&d.search, from, to, to + 1 + below(JUNK_MOST - 1)), 0);
        end_draw(&d);
    }
    assert_in_range(chance, 0, DRAWS / 50);
}

static void sub_records_begin_before_an_offset(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 4; i++) {
        struct drawn d;
        size_t at, items = 0;
        unsigned bits = 0;

        begin_draw(&d);
        put_long_chain(&d.b, d.known, &d.chain);
        see(&d, false);
        at = d.chain.items[0].at;
        while (bits < CHAIN)
            bits += d.chain.items[items++].bits;
        assert_true(subrecords_begin(&d.search, at + 1, DRAWS));
        assert_false(subrecords_begin(&d.search, at, DRAWS));
        assert_false(subrecords_begin(&d.search, at + 1, items - 2)); /* a class takes more than one step */
        end_draw(&d);
    }
}

static void a_chain_reaches_to_where_it_breaks_off(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        const bool is_broken = heads();
        struct drawn d;

        begin_without_junk(&d, heads() ? 8 : 4);
        put_chain(&d.b, d.known, 1 + below(16), &d.chain);
        if (is_broken)
            put_junk(&d.b, JUNK_MOST);
        see(&d, true);
        d.search.end = is_broken ? d.b.size + 100 : d.b.size;
        assert_int_equal(reach_of_subrecords(&d.search, DRAWS), all_bits(&d.chain) < (is_broken ? CHAIN : TO_END) ? 0
                                                                : is_broken ? d.chain.items[d.chain.count - 1].end
                                                                            : UINT64_MAX);
        assert_int_equal(
            reach_of_subrecords(&(struct search){.sight = &(struct sight){.at = d.b.at}, .file = &d.known->file}, 9), 0);
        end_draw(&d);
    }
}

static void no_more_items_are_looked_at_than_allowed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 8; i++) {
        struct drawn d;
        unsigned records = 0, bits = 0;

        begin_without_junk(&d, 8);
        for (; bits < RECORDS; records++)
            bits += put_small_record(&d.b, d.known, 0);
        see(&d, false);
        assert_true(records_begin(&d.search, records));
        assert_false(records_begin(&d.search, records - 1));
        end_draw(&d);
    }
}

static int learn_both(void **state)
{
    (void)state;
    shake_dice();
    learn(&known_by_4, 4, true, true);
    learn(&known_by_8, 8, true, true);
    return 0;
}

static int forget_both(void **state)
{
    (void)state;
    forget(&known_by_4);
    forget(&known_by_8);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_sub_records_leads_on_by_its_bits_and_its_end),
        cmocka_unit_test(a_chain_of_records_leads_on_by_its_bits_and_its_end),
        cmocka_unit_test(sub_records_of_few_bits_lead_on_where_records_begin),
        cmocka_unit_test(a_chain_leads_past_an_offset_with_an_item_that_begins_there_or_later),
        cmocka_unit_test(an_item_that_cannot_be_right_breaks_a_chain),
        cmocka_unit_test(a_record_may_be_of_the_time_of_one_before_or_134_seconds_later),
        cmocka_unit_test(records_of_another_time_are_none),
        cmocka_unit_test(a_string_may_be_text),
        cmocka_unit_test(a_heap_dump_record_begins_with_a_chain),
        cmocka_unit_test(the_header_of_another_dump_is_a_record),
        cmocka_unit_test(a_root_before_an_object_is_left_out),
        cmocka_unit_test(a_row_of_wrong_roots_leads_less_far),
        cmocka_unit_test(the_dump_in_an_array_is_passed_over),
        cmocka_unit_test(a_dump_that_goes_on_after_the_heap_dump_record_is_another_one),
        cmocka_unit_test(a_search_goes_on_in_a_dump_in_an_array),
        cmocka_unit_test(a_dump_in_an_array_that_goes_on_out_of_sight_is_sought_there),
        cmocka_unit_test(a_start_leads_exactly_to_an_offset),
        cmocka_unit_test(sub_records_begin_before_an_offset),
        cmocka_unit_test(a_chain_reaches_to_where_it_breaks_off),
        cmocka_unit_test(no_more_items_are_looked_at_than_allowed),
    };

    return cmocka_run_group_tests(tests, learn_both, forget_both);
}
