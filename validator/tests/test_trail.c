/* trail.h: what is left out of that which precedes a failure. The test writes what plain reading passes up to the failure, and
 * where the true sub-records begin, and computes what is left out by RULES.md M.2 ("The way", points 1, 4 and 5). */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "account.h"
#include "dice.h"
#include "engine/check.h"
#include "engine/engine.h"
#include "hprof/testing.h"

enum { DRAWS = 1500 };

/* ---- Marks ---- */

/* As if all were kept. */
static void the_last_marks_are_kept(void **state)
{
    enum { MOST = 40 };

    (void)state;
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        uint64_t all[MOST], at = 1 + below(9), after;
        struct marks marks = {0};
        unsigned count = 0, calls = below(MOST);

        while (calls--) {
            if (!count || heads())
                all[count++] = at += 1 + below(20);
            add_mark(&marks, all[count - 1]); /* again, perhaps */
        }
        assert_int_equal(marks.count, count);
        for (unsigned i = 0; i < count && i < MARKS; i++)
            assert_int_equal(marks.at[(count - 1 - i) % MARKS], all[count - 1 - i]);
        after = at + below(5);
        for (uint64_t most = 0; most <= after + 1; most++) {
            uint64_t expected = after;

            for (unsigned i = count; expected > most && i > 0 && i + LATEST > count; i--)
                expected = all[i - 1];
            assert_int_equal(last_mark(&marks, after, most), expected);
        }
    }
}

/* ---- Heap dumps with a failure ---- */

enum {
    CLASSES = 40,
    FIRST_CLASS = 0x1a404040, /* no byte of an ID, a type or a number is a tag, */
    SHORT = 9,                /* so chains begin where sub-records do */
    FIELDS = 9,
    FIELDS_SIZE = 2 * FIELDS,
    FIRST_NAME = 0x40,
    NEAR = 32,
    CHAIN = 128,
    SUBS_MOST = 256,
    MIB = 1 << 20,
    NONE = UINT_MAX
};

enum kind { INSTANCE, ROOT, OBJECT_ARRAY, PRIMITIVE_ARRAY, PHANTOM, CLASSLESS, CLASS, KINDS };

struct sub {
    enum kind kind;
    size_t at, end;
    unsigned bits;
    unsigned object; /* its number */
};

struct subs {
    struct sub list[SUBS_MOST];
    unsigned count;
};

struct draw {
    struct bytes b;
    unsigned id_size;
    size_t record; /* the heap dump record */
    unsigned objects;
    uint64_t last_root;
    struct subs passed; /* by plain reading, up to the failure */
    struct subs after;  /* what is true, after what is wrong */
    unsigned wrong;     /* the index in `passed` of the sub-record that is too long, or NONE */
    size_t failed_at;
};

static void put_id(struct draw *d, uint64_t id)
{
    put(&d->b, d->id_size, id);
}

/* No byte of it begins anything. */
static void put_junk(struct draw *d, size_t n)
{
    while (n--)
        put(&d->b, 1, 0x80 + below(0x7f));
}

static void put_zeros(struct draw *d, size_t n)
{
    while (n--)
        put(&d->b, 1, 0);
}

static uint64_t id_of_class(void)
{
    return FIRST_CLASS + below(CLASSES);
}

static uint64_t id_of(unsigned object)
{
    enum { MOST = 0x40 };

    assert_true(object < MOST * MOST);
    return 0x1a504040 + object / MOST * 0x100 + object % MOST;
}

static void put_next_id(struct draw *d)
{
    put_id(d, id_of(d->objects++));
}

/* That of no class, and not near one. */
static uint64_t id_of_none(void)
{
    return 0xeeeeeeee - below(100);
}

/* Without the entries. */
static void put_class_head(struct draw *d, uint64_t id, uint64_t super, uint16_t fields)
{
    put(&d->b, 1, SUB_CLASS_DUMP);
    put_id(d, id);
    put(&d->b, 4, 0);
    put_id(d, super);
    put_zeros(d, 5 * d->id_size);
    put(&d->b, 4, FIELDS_SIZE);
    put(&d->b, 4, 0);
    put(&d->b, 2, fields);
}

static void put_array_head(struct draw *d, uint32_t elements, unsigned type)
{
    put(&d->b, 1, SUB_PRIMITIVE_ARRAY_DUMP);
    put_next_id(d);
    put(&d->b, 4, 0);
    put(&d->b, 4, elements);
    put(&d->b, 1, type);
}

static void put_segment(struct draw *d)
{
    close_record(&d->b, d->record);
    d->record = open_record(&d->b, TAG_HEAP_DUMP_SEGMENT);
}

static void begin_heap(struct draw *d, unsigned id_size)
{
    *d = (struct draw){.id_size = id_size, .wrong = NONE};
    put_header(&d->b);
    put_at(d->b.at + 19, 4, id_size);
    for (unsigned i = 0; i < FIELDS; i++) {
        size_t body = open_record(&d->b, TAG_UTF8);

        put_id(d, FIRST_NAME + i);
        put(&d->b, 1, 'A' + i);
        close_record(&d->b, body);
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        size_t body = open_record(&d->b, TAG_LOAD_CLASS);

        put(&d->b, 4, 1 + i);
        put_id(d, FIRST_CLASS + i);
        put(&d->b, 4, 0);
        put_id(d, FIRST_NAME);
        close_record(&d->b, body);
    }
    d->record = open_record(&d->b, TAG_HEAP_DUMP_SEGMENT);
    put_class_head(d, FIRST_CLASS, 0, FIELDS);
    for (unsigned i = 0; i < FIELDS; i++) {
        put_id(d, FIRST_NAME + i);
        put(&d->b, 1, SHORT);
    }
    for (unsigned i = 1; i < CLASSES; i++)
        put_class_head(d, FIRST_CLASS + i, FIRST_CLASS, 0);
    if (heads()) /* the classes do not precede the failure */
        put_segment(d);
}

static void end_heap(struct draw *d)
{
    close_record(&d->b, d->record);
    close_record(&d->b, open_record(&d->b, TAG_HEAP_DUMP_END));
}

static struct sub *add(struct draw *d, struct subs *to, enum kind kind)
{
    static const unsigned bits_of_8[KINDS] = {56, 23, 40, 12, 0, 0, 40}, bits_of_4[KINDS] = {28, 5, 12, 12, 0, 0, 12};
    struct sub *s = &to->list[to->count++];

    assert_true(to->count <= SUBS_MOST);
    *s = (struct sub){kind, d->b.size, 0, d->id_size == 8 ? bits_of_8[kind] : bits_of_4[kind], d->objects};
    return s;
}

static void put_instance_of(struct draw *d, uint64_t class, uint32_t bytes)
{
    put(&d->b, 1, SUB_INSTANCE_DUMP);
    put_next_id(d);
    put(&d->b, 4, 0);
    put_id(d, class);
    put(&d->b, 4, bytes);
}

static void put_sub(struct draw *d, struct subs *to, enum kind kind)
{
    struct sub *s = add(d, to, kind);
    unsigned elements = heads() ? 0 : 9 + below(3) * 7;
    uint64_t id;

    switch (kind) {
    case INSTANCE:
        put_instance_of(d, id_of_class(), FIELDS_SIZE);
        put_junk(d, FIELDS_SIZE);
        break;
    case ROOT:
    case PHANTOM:
        put(&d->b, 1, heads() ? SUB_ROOT_STICKY_CLASS : SUB_ROOT_MONITOR_USED);
        id = kind == ROOT ? id_of_class() : id_of_none();
        put_id(d, id);
        if (id == d->last_root) /* again */
            s->bits = 1;
        d->last_root = id;
        break;
    case OBJECT_ARRAY:
    case CLASSLESS:
        put(&d->b, 1, SUB_OBJECT_ARRAY_DUMP);
        put_next_id(d);
        put(&d->b, 4, 0);
        put(&d->b, 4, elements);
        put_id(d, kind == CLASSLESS ? id_of_none() : id_of_class());
        put_zeros(d, elements * d->id_size);
        break;
    case PRIMITIVE_ARRAY:
        put_array_head(d, elements, SHORT);
        put_junk(d, elements * 2);
        break;
    case CLASS:
    case KINDS:
        break;
    }
    s->end = d->b.size;
}

static enum kind any_kind(bool may_be_wrong)
{
    return (enum kind)below(may_be_wrong ? CLASS : PHANTOM);
}

/* A chain that leads on. */
static void put_chain(struct draw *d, struct subs *to)
{
    unsigned bits = 0;

    for (bool is_first = true; bits < CHAIN; is_first = false) {
        enum kind kind = any_kind(false);

        if (is_first && kind == ROOT) /* it would be left out */
            kind = INSTANCE;
        put_sub(d, to, kind);
        bits += to->list[to->count - 1].bits;
    }
}

/* The size of the elements of an array that is too long, or of the entries of a class. */
static size_t put_wrong_head(struct draw *d, enum kind kind)
{
    const unsigned size = 2U << below(3); /* short, int, long */

    if (kind == CLASS) {
        put_class_head(d, FIRST_CLASS + CLASSES, FIRST_CLASS, 0);
        return d->id_size + 1;
    }
    if (kind == INSTANCE) { /* its class comes later */
        put_instance_of(d, FIRST_CLASS + CLASSES, 0);
        return 1;
    }
    put_array_head(d, 0, size == 2 ? SHORT : size == 4 ? 10 : 11);
    return size;
}

/* A sub-record that is too long takes those after it for its own bytes, up to within an array. Some elements of that look like
 * sub-records. Then reading fails. */
static void put_wrong(struct draw *d, enum kind kind, unsigned others, bool may_be_wrong)
{
    const unsigned fakes = below(12);
    struct sub *s;
    size_t array, head, entry;

    d->wrong = d->passed.count;
    s = add(d, &d->passed, kind);
    entry = put_wrong_head(d, kind);
    head = d->b.size;
    put_junk(d, 1 + below(10)); /* what ends in a tag may look like a root with the bytes after it */
    put_sub(d, &d->after, OBJECT_ARRAY);
    while (others--)
        put_sub(d, &d->after, any_kind(false));
    array = d->b.size;
    add(d, &d->after, PRIMITIVE_ARRAY);
    put_array_head(d, 0, SHORT);
    put_junk(d, entry - (d->b.size - head) % entry);
    s->end = d->b.size;
    put_at(d->b.at + head - (kind == CLASS ? 2 : kind == INSTANCE ? 4 : 5), kind == CLASS ? 2 : 4, (s->end - head) / entry);
    for (unsigned i = 0; i < fakes; i++)
        put_sub(d, &d->passed, any_kind(may_be_wrong));
    d->failed_at = d->b.size;
    put_junk(d, 1 + below(40));
    put_junk(d, (d->b.size - array - d->id_size) % 2);
    put_at(d->b.at + array + 1 + d->id_size + 4, 4, (d->b.size - array - (1 + d->id_size + 9)) / 2);
    d->after.list[d->after.count - 1].end = d->b.size;
}

static void fail_here(struct draw *d, size_t junk)
{
    d->failed_at = d->b.size;
    put_junk(d, junk);
}

/* The index of the first sub-record that is doubted. */
static unsigned first_doubted_of(const struct draw *d)
{
    const struct subs *s = &d->passed;
    unsigned first = s->count > 8 ? s->count - 8 : 0;

    for (unsigned i = first; i < s->count; i++)
        if (s->list[i].kind == INSTANCE && i != d->wrong)
            first = i + 1;
    return first;
}

/* Where a row of phantoms begins that leads to an index. */
static unsigned begin_of_row(const struct subs *s, unsigned index)
{
    for (;;) {
        unsigned i = index;

        while (i && s->list[i - 1].kind == ROOT)
            i--;
        if (!i || s->list[i - 1].kind != PHANTOM || (i < index && s->list[index - 1].at - s->list[i - 1].end >= NEAR))
            return index;
        while (i && s->list[i - 1].kind == PHANTOM)
            i--;
        index = i;
    }
}

/* Where an object of no class begins before an index, with roots after it. */
static unsigned begin_of_classless(const struct subs *s, unsigned index)
{
    unsigned i = index;

    while (i && s->list[i - 1].kind == ROOT)
        i--;
    return i && s->list[i - 1].kind == CLASSLESS && i - 1 + 8 >= s->count ? i - 1 : index;
}

/* What is read, by kind: all up to an index, and from an offset on. */
static void assert_counts(const struct draw *d, unsigned first, size_t to, const struct hprof_summary *sum)
{
    uint64_t counts[KINDS] = {0}, all = 0;

    for (unsigned i = 0; i < first; i++)
        counts[d->passed.list[i].kind]++;
    for (unsigned i = 0; i < d->after.count; i++)
        counts[d->after.list[i].kind] += d->after.list[i].at >= to;
    for (unsigned tag = 0; tag < 256; tag++)
        all += sum->subrecord_counts[tag];
    assert_int_equal(sum->subrecord_counts[SUB_CLASS_DUMP], CLASSES + counts[CLASS]);
    assert_int_equal(sum->subrecord_counts[SUB_INSTANCE_DUMP], counts[INSTANCE]);
    assert_int_equal(sum->subrecord_counts[SUB_OBJECT_ARRAY_DUMP], counts[OBJECT_ARRAY] + counts[CLASSLESS]);
    assert_int_equal(sum->subrecord_counts[SUB_PRIMITIVE_ARRAY_DUMP], counts[PRIMITIVE_ARRAY]);
    for (unsigned kind = 0; kind < KINDS; kind++)
        all -= counts[kind];
    assert_int_equal(all, CLASSES);
}

static void show(const struct draw *d)
{
    static const char letters[] = "IROAPLC";

    for (unsigned i = d->passed.count > 14 ? d->passed.count - 14 : 0; i < d->passed.count; i++)
        printf("%c%s@%zx ", letters[d->passed.list[i].kind], i == d->wrong ? "!" : "", d->passed.list[i].at);
    printf("fails@%zx; then", d->failed_at);
    for (unsigned i = 0; i < d->after.count; i++)
        printf(" %c@%zx", letters[d->after.list[i].kind], d->after.list[i].at);
    printf("\n");
}

/* Checks the dump, and returns a jump; how many there are, too. */
static struct jump jump_of(const struct draw *d, size_t index, size_t *count)
{
    struct hprof_options options;
    struct hprof_summary summary;
    struct memory memory;
    struct engine *e;
    struct jump jump;

    hprof_options_init(&options);
    hprof_summary_init(&summary);
    memory_init(&memory, NULL, 0);
    e = engine_new(&options, &summary, &memory);
    assert_non_null(e);
    engine_read(e, source_of_memory(d->b.at, d->b.size, false));
    jump = jumps_at(&e->file.jumps, index);
    *count = e->file.jumps.list.count;
    engine_delete(e, &memory);
    return jump;
}

/* As a file is read. */
static struct account check_blocks(const struct bytes *b)
{
    const struct hprof_testing testing = {.block = 1 << 12, .first_buffer = 1 << 12};
    struct account a;
    struct hprof_options options = options_for(&a);

    options.testing = &testing;
    account_end(&a, hprof_validate_memory(b->at, b->size, false, &options, NULL));
    return a;
}

/* Checks the dump. All from a sub-record that was passed, or from the failure, up to an offset is left out, and nothing else is;
 * and it makes no difference how the dump is read. */
static void assert_left_out(const struct draw *d, unsigned first, size_t to)
{
    const size_t from = first < d->passed.count ? d->passed.list[first].at : d->failed_at;
    struct account file = check_memory(&d->b, false), stream = check_memory(&d->b, true), blocks = check_blocks(&d->b);
    static const char *const twice[] = {"OBJ-004", "OBJ-005", "CLS-009"};
    size_t count;
    const struct jump jump = jump_of(d, 0, &count);

    if (count != 1 || jump.from != from || jump.to != to) {
        show(d);
        fail_msg("%zu jumps, from 0x%llx to 0x%llx, not 0x%zx to 0x%zx", count, (unsigned long long)jump.from,
                 (unsigned long long)jump.to, from, to);
    }
    assert_int_equal(file.summary.skipped, to - from);
    assert_counts(d, first, to, &file.summary);
    assert_int_equal(file.totals[hprof_rule_find("REC-013")], 1);
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        assert_int_equal(file.totals[hprof_rule_find(twice[i])], 0);
    assert_string_equal(file.without_offsets, stream.without_offsets);
    assert_string_equal(file.all, blocks.all);
    account_free(&file);
    account_free(&stream);
    account_free(&blocks);
}

static void assert_jump(const struct draw *d, size_t index, size_t from, size_t to)
{
    size_t count;
    const struct jump jump = jump_of(d, index, &count);

    assert_int_equal(jump.from, from);
    assert_int_equal(jump.to, to);
}

static void end_draw(struct draw *d)
{
    free(d->b.at);
}

static void what_precedes_a_failure_is_left_out(void **state)
{
    unsigned back = 0, rows = 0, classless = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        static const enum kind too_long[] = {PRIMITIVE_ARRAY, CLASS, INSTANCE};
        unsigned first, row;
        struct draw d;
        size_t to;

        begin_heap(&d, heads() ? 8 : 4);
        for (unsigned n = below(16); n--;)
            put_sub(&d, &d.passed, any_kind(below(4)));
        if (heads())
            put_wrong(&d, too_long[below(3)], below(3), true);
        else
            fail_here(&d, 1 + below(40));
        first = d.passed.count;
        to = d.b.size;
        if (d.wrong != NONE && d.wrong >= first_doubted_of(&d)) {
            first = d.wrong;
            to = d.after.list[0].at;
            back++;
        }
        row = begin_of_row(&d.passed, first);
        rows += row < first;
        first = begin_of_classless(&d.passed, row);
        classless += first < row;
        put_chain(&d, &d.after);
        end_heap(&d);
        assert_left_out(&d, first, to);
        end_draw(&d);
    }
    assert_in_range(back, DRAWS / 10, DRAWS / 2);
    assert_true(rows && classless);
}

static bool is_object(const struct sub *s)
{
    return s->kind == INSTANCE || s->kind == OBJECT_ARRAY || s->kind == PRIMITIVE_ARRAY;
}

/* A class names all objects by its static fields. */
static void put_names(struct draw *d)
{
    const size_t class = d->b.size;
    const struct subs *lists[] = {&d->passed, &d->after};
    unsigned names = 0;

    put_class_head(d, FIRST_CLASS + CLASSES + 1, FIRST_CLASS, 0);
    d->b.size -= 4; /* the numbers of static fields and of fields */
    put(&d->b, 2, 0);
    for (unsigned l = 0; l < 2; l++)
        for (unsigned i = 0; i < lists[l]->count; i++)
            if (is_object(&lists[l]->list[i]) && (l || i <= d->wrong)) {
                put_id(d, FIRST_NAME);
                put(&d->b, 1, 2);
                put_id(d, id_of(lists[l]->list[i].object));
                names++;
            }
    put_at(d->b.at + class + 1 + 7 * d->id_size + 4 + 4 + 2, 2, names);
    put(&d->b, 2, 0);
}

/* What was left out and is not read again. */
static void objects_that_are_left_out_are_missing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        unsigned first, missing = 0;
        struct draw d;
        struct account a;
        size_t to;

        begin_heap(&d, heads() ? 8 : 4);
        for (unsigned n = below(16); n--;)
            put_sub(&d, &d.passed, any_kind(false));
        put_wrong(&d, PRIMITIVE_ARRAY, below(3), false);
        first = d.passed.count;
        to = d.b.size;
        if (d.wrong >= first_doubted_of(&d)) {
            first = d.wrong;
            to = d.after.list[0].at;
        }
        for (unsigned n = 0; n < d.after.count; n++)
            missing += d.after.list[n].at < to && is_object(&d.after.list[n]);
        missing += first == d.wrong;
        put_chain(&d, &d.after);
        put_names(&d);
        end_heap(&d);
        a = check_memory(&d.b, false);
        assert_int_equal(a.summary.missing_objects, missing);
        account_free(&a);
        end_draw(&d);
    }
}

/* A phantom, and roots up to the failure. A root that begins in the next 32 bytes is left out with it, and nothing else is. */
static void roots_near_a_phantom_are_left_out(void **state)
{
    static const unsigned extra[] = {0, 4, 8}; /* bytes after the ID: of a sticky class, a thread block, a frame */
    static const uint8_t tags[] = {SUB_ROOT_STICKY_CLASS, SUB_ROOT_THREAD_BLOCK, SUB_ROOT_JAVA_FRAME};
    unsigned left_out = 0, at_limit = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS / 2; i++) {
        struct draw d;
        unsigned first;
        size_t end;

        begin_heap(&d, heads() ? 8 : 4);
        put_sub(&d, &d.passed, OBJECT_ARRAY);
        first = d.passed.count;
        put_sub(&d, &d.passed, PHANTOM);
        end = d.b.size;
        for (unsigned n = below(6); n--;) {
            const unsigned kind = below(3);
            struct sub *root = add(&d, &d.passed, ROOT);

            put(&d.b, 1, tags[kind]);
            put_id(&d, id_of_class());
            for (unsigned m = extra[kind]; m; m -= 4)
                put(&d.b, 4, 0x40); /* no thread is known */
            root->end = d.b.size;
            at_limit += root->at - end == NEAR;
        }
        if (!below(8)) {
            add(&d, &d.passed, CLASS);
            put_class_head(&d, FIRST_CLASS + CLASSES, FIRST_CLASS, 0);
            d.passed.list[d.passed.count - 1].end = d.b.size;
        }
        fail_here(&d, 1 + below(40));
        if (d.passed.list[d.passed.count - 1].kind == CLASS || d.passed.list[d.passed.count - 1].at >= end + NEAR)
            first = d.passed.count;
        left_out += first < d.passed.count;
        end = d.b.size;
        put_chain(&d, &d.after);
        end_heap(&d);
        assert_left_out(&d, first, end);
        end_draw(&d);
    }
    assert_in_range(left_out, DRAWS / 8, DRAWS / 2 - 20);
    assert_true(at_limit);
}

/* The last object is an instance of the size of its class. It lacks bytes, and takes the first ones of the next sub-records in
 * their place. These are read if they have 32 bits, up to the way. */
static void an_instance_that_lacks_bytes_is_left_out(void **state)
{
    enum { LEAST = 32 };
    unsigned into = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        const struct sub *instance;
        unsigned bits = 0, lacks = 1 + below(FIELDS_SIZE);
        struct draw d;
        size_t begin, way;

        begin_heap(&d, heads() ? 8 : 4);
        for (unsigned n = below(4); n--;)
            put_sub(&d, &d.passed, any_kind(below(4)));
        put_sub(&d, &d.passed, INSTANCE);
        instance = &d.passed.list[d.passed.count - 1];
        begin = d.b.size -= lacks;
        d.last_root = 0;
        do
            put_sub(&d, &d.after,
                    instance->end - d.b.size > 9 ? any_kind(false)
                    : any_kind(false) % 2        ? OBJECT_ARRAY
                                                 : INSTANCE);
        while (d.b.size <= instance->end);
        for (unsigned n = 0; n < d.after.count; n++)
            bits += d.after.list[n].bits;
        d.failed_at = instance->end;
        if (is_subrecord_tag(d.b.at[d.failed_at])) {
            end_draw(&d);
            continue;
        }
        way = d.b.size;
        put_chain(&d, &d.after);
        end_heap(&d);
        if (bits >= LEAST)
            assert_left_out(&d, d.passed.count - 1, begin);
        else
            assert_left_out(&d, d.passed.count, way);
        into += bits >= LEAST;
        end_draw(&d);
    }
    assert_in_range(into, DRAWS / 4, DRAWS - DRAWS / 10);
}

/* A root that lacks bytes takes the first ones of the next sub-record in their place. */
static void a_root_that_lacks_bytes_is_left_out(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DRAWS / 2; i++) {
        struct draw d;
        struct sub *root;
        size_t begin;

        begin_heap(&d, heads() ? 8 : 4);
        for (unsigned n = below(8); n--;)
            put_sub(&d, &d.passed, any_kind(false));
        root = add(&d, &d.passed, ROOT);
        put(&d.b, 1, SUB_ROOT_JNI_GLOBAL);
        put_id(&d, id_of_class());
        put_id(&d, id_of_class());
        root->end = d.b.size;
        begin = d.b.size -= 1 + below(d.id_size);
        put_chain(&d, &d.after);
        end_heap(&d);
        d.failed_at = root->end;
        if (!is_subrecord_tag(d.b.at[d.failed_at]))
            assert_left_out(&d, d.passed.count - 1, begin);
        end_draw(&d);
    }
}

/* Of what precedes the failure, no object or instance is left out that begins 1 MiB before the way. */
static void what_lies_far_before_the_way_is_read(void **state)
{
    static const enum kind kinds[] = {CLASSLESS, PHANTOM, INSTANCE};

    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        const enum kind kind = kinds[i % 3];
        const size_t distance = MIB - 4 + below(8);
        struct draw d;
        size_t at, to;

        begin_heap(&d, 8);
        put_sub(&d, &d.passed, OBJECT_ARRAY);
        put_sub(&d, &d.passed, kind);
        at = d.passed.list[1].at;
        if (kind == INSTANCE) { /* it lacks bytes, so that a large array begins within it */
            d.b.size -= 1 + (3 - distance) % 8;
            to = d.b.size;
            put_sub(&d, &d.after, OBJECT_ARRAY);
            d.failed_at = d.passed.list[1].end;
            d.b.size = to + 25;
            put_at(d.b.at + to + 13, 4, (at + distance - d.b.size) / 8);
            put_zeros(&d, at + distance - d.b.size);
        } else {
            fail_here(&d, at + distance - d.b.size);
            to = d.b.size;
        }
        put_chain(&d, &d.after);
        end_heap(&d);
        if (kind == PHANTOM || distance < MIB)
            assert_left_out(&d, 1, to);
        else
            assert_left_out(&d, 2, at + distance);
        end_draw(&d);
    }
}

/* After a failure, a stream has much of what follows in memory: objects that are read fast. Then one is too long. */
static void a_stream_goes_back_as_far_as_a_file(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        const size_t most = MIB - (16 << 10) + below(128 << 10);
        struct draw d;
        struct account file, stream;

        begin_heap(&d, 8);
        put_chain(&d, &d.passed);
        fail_here(&d, 1 + below(1000));
        for (size_t from = d.b.size; d.b.size - from < most;) {
            const uint32_t elements = below(1000);

            put_array_head(&d, elements, SHORT);
            put_zeros(&d, elements * 2);
        }
        for (unsigned large = heads() ? 0 : below(6); large--;) {
            put_array_head(&d, MIB / 8, SHORT);
            put_zeros(&d, MIB / 4);
        }
        put_wrong(&d, PRIMITIVE_ARRAY, below(5), true);
        put_chain(&d, &d.after);
        end_heap(&d);
        file = check_memory(&d.b, false);
        stream = check_memory(&d.b, true);
        assert_int_equal(file.summary.skipped, stream.summary.skipped);
        assert_string_equal(file.without_offsets, stream.without_offsets);
        account_free(&file);
        account_free(&stream);
        end_draw(&d);
    }
}

/* An array holds a chain whose last array leads past the failure, to sub-records that break off. It is left out if no chain that
 * begins in the first 64 bytes after the failure leads further. */
static void a_chain_directly_after_the_failure_leads_further(void **state)
{
    enum { DIRECTLY = 64 };

    (void)state;
    for (unsigned i = 0; i < DRAWS / 4; i++) {
        const unsigned junk = DIRECTLY - 4 + below(8);
        struct draw d;
        struct subs within = {.count = 0};
        size_t array, inner, there, begin;

        begin_heap(&d, heads() ? 8 : 4);
        put_sub(&d, &d.passed, OBJECT_ARRAY);
        add(&d, &d.passed, PRIMITIVE_ARRAY);
        array = d.b.size;
        put_array_head(&d, 0, SHORT);
        put_junk(&d, 1);
        begin = d.b.size;
        put_chain(&d, &within);
        inner = d.b.size;
        put_array_head(&d, 0, SHORT);
        put_junk(&d, (d.b.size - array - d.id_size) % 2);
        put_at(d.b.at + array + 1 + d.id_size + 4, 4, (d.b.size - array - (1 + d.id_size + 9)) / 2);
        fail_here(&d, junk);
        there = d.b.size;
        put_sub(&d, &d.after, OBJECT_ARRAY);
        array = d.b.size;
        put_array_head(&d, 0, SHORT);
        put_junk(&d, (d.b.size - inner - d.id_size) % 2);
        put_at(d.b.at + inner + 1 + d.id_size + 4, 4, (d.b.size - inner - (1 + d.id_size + 9)) / 2);
        put_sub(&d, &within, INSTANCE);
        put_junk(&d, 1 + (d.b.size + 1 - array - d.id_size) % 2 + 2 * below(10));
        put_junk(&d, (d.b.size - array - d.id_size) % 2);
        put_at(d.b.at + array + 1 + d.id_size + 4, 4, (d.b.size - array - (1 + d.id_size + 9)) / 2);
        add(&d, &d.after, PRIMITIVE_ARRAY);
        put_chain(&d, &d.after);
        end_heap(&d);
        if (junk < DIRECTLY)
            assert_left_out(&d, d.passed.count, there);
        else
            assert_jump(&d, 0, d.passed.list[1].at, begin);
        end_draw(&d);
    }
}

/* A sub-record of 4 KiB or more is too long, and there is other damage in what it takes. That costs itself, unless it is in an
 * array: an array may hold a dump. */
static void damage_within_what_was_too_long_costs_itself(void **state)
{
    enum { WORTH = 1 << 12 };

    (void)state;
    for (unsigned i = 0; i < DRAWS / 4; i++) {
        const bool is_array = !below(4);
        const size_t worth = WORTH - 2 + below(4);
        size_t wrong, first, damage, second, head, entry, array, count;
        struct draw d;

        begin_heap(&d, heads() ? 8 : 4);
        put_sub(&d, &d.passed, OBJECT_ARRAY);
        wrong = d.b.size;
        entry = put_wrong_head(&d, is_array ? PRIMITIVE_ARRAY : CLASS);
        head = d.b.size;
        put_junk(&d, 1);
        first = d.b.size;
        put_chain(&d, &d.after);
        damage = d.b.size;
        put_junk(&d, worth - (d.b.size - wrong));
        second = d.b.size;
        put_chain(&d, &d.after);
        array = d.b.size;
        put_array_head(&d, 0, SHORT);
        put_junk(&d, entry - (d.b.size - head) % entry);
        put_at(d.b.at + head - (is_array ? 5 : 2), is_array ? 4 : 2, (d.b.size - head) / entry);
        put_junk(&d, 2 + (d.b.size - array - d.id_size) % 2);
        put_at(d.b.at + array + 1 + d.id_size + 4, 4, (d.b.size - array - (1 + d.id_size + 9)) / 2);
        put_chain(&d, &d.after);
        end_heap(&d);
        if (is_array || worth < WORTH) {
            assert_jump(&d, 0, wrong, second);
        } else {
            assert_jump(&d, 0, wrong, first);
            assert_jump(&d, 1, damage, second);
        }
        (void)jump_of(&d, 0, &count);
        assert_int_equal(count, is_array || worth < WORTH ? 1 : 2);
        end_draw(&d);
    }
}

/* Some bytes are written again after themselves. The sub-record that crosses the beginning of the second copy goes on in it, and
 * nothing is lost. They are sought by the 32 bytes at the failure, and by those 64 bytes after it. */
static void bytes_that_are_there_twice_are_passed(void **state)
{
    enum { LEAST = 64, PROBE = 32, HEAD = 64 };
    unsigned passed = 0, small = 0;

    (void)state;
    for (unsigned i = 0; i < DRAWS; i++) {
        struct draw d;
        struct bytes whole;
        struct account as_was, file, stream;
        size_t size, from, rest;
        const struct sub *crossing;
        struct jump jump;
        size_t count;

        begin_heap(&d, heads() ? 8 : 4);
        while (d.passed.count < 100) {
            static const enum kind kinds[] = {INSTANCE, INSTANCE, ROOT, PRIMITIVE_ARRAY}; /* few bytes are alike */

            put_sub(&d, &d.passed, kinds[below(4)]);
        }
        whole = d.b;
        d.b = (struct bytes){0};
        crossing = &d.passed.list[20 + below(20)];
        rest = 1 + below(crossing->kind == INSTANCE ? FIELDS_SIZE : d.id_size); /* its size is not in the second copy */
        from = crossing->end - rest;
        size = below(4) ? LEAST - 8 + below(16) : LEAST + below(200);
        if (crossing->kind > ROOT || is_subrecord_tag(whole.at[crossing->end - size])) { /* lengths would lead on */
            free(whole.at);
            continue;
        }
        append(&d.b, whole.at, from);
        append(&d.b, whole.at + from - size, whole.size - (from - size));
        d.failed_at = from + rest;
        end_heap(&d);
        put_at(whole.at + d.record - 4, 4, whole.size - d.record);
        put_at(d.b.at + d.record - 4, 4, whole.size - d.record); /* as the producer wrote it */
        append(&whole, d.b.at + d.b.size - RECORD_HEADER_SIZE, RECORD_HEADER_SIZE);
        as_was = check_memory(&whole, false);
        file = check_memory(&d.b, false);
        stream = check_memory(&d.b, true);
        jump = jump_of(&d, 0, &count);
        if (size >= LEAST && rest + PROBE <= size) {
            assert_int_equal(count, 1);
            assert_int_equal(jump.to - jump.from, size);
            assert_in_range(jump.from, crossing->at, crossing->end); /* bytes after the copies may be alike */
            assert_memory_equal(file.summary.subrecord_counts, as_was.summary.subrecord_counts,
                                sizeof file.summary.subrecord_counts);
            assert_int_equal(file.summary.skipped, size);
            passed++;
        } else if (size < LEAST) {
            assert_true(count != 1 || jump.from != crossing->at || jump.to - jump.from != size);
            small++;
        }
        assert_string_equal(file.without_offsets, stream.without_offsets);
        account_free(&as_was);
        account_free(&file);
        account_free(&stream);
        free(whole.at);
        end_draw(&d);
    }
    assert_true(passed > DRAWS / 10 && small > DRAWS / 20);
}

static int begin(void **state)
{
    (void)state;
    shake_dice();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_marks_are_kept),
        cmocka_unit_test(what_precedes_a_failure_is_left_out),
        cmocka_unit_test(objects_that_are_left_out_are_missing),
        cmocka_unit_test(roots_near_a_phantom_are_left_out),
        cmocka_unit_test(an_instance_that_lacks_bytes_is_left_out),
        cmocka_unit_test(a_root_that_lacks_bytes_is_left_out),
        cmocka_unit_test(what_lies_far_before_the_way_is_read),
        cmocka_unit_test(a_stream_goes_back_as_far_as_a_file),
        cmocka_unit_test(a_chain_directly_after_the_failure_leads_further),
        cmocka_unit_test(bytes_that_are_there_twice_are_passed),
        cmocka_unit_test(damage_within_what_was_too_long_costs_itself),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
