/* gunzip.h, through input.h: each fault of a gzip file is reported once, at its offset, and the bytes before it are read. A
 * file of high compression takes no more memory than another; seeking works in a file of very many members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "input/input.h"
#include "inputs.h"

/* ---- Faults of gzip --------------------------------------------------------------------------------------------- */

struct fault {
    enum gzip_fault fault;
    uint64_t member;
    uint64_t offset;
    const char *expected;
    const char *found;
};

/* Expects these bytes and this fault, read in any blocks, and nothing more when it is read again. */
static void expect_fault_of(const struct bytes *file, bool as_pipe, const char *text, const struct fault *fault)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        struct stream *s = open_source(source_of_memory(file->at, file->size, as_pipe), blocks[i]);

        for (int pass = 0; pass < (as_pipe ? 1 : 2); pass++) {
            expect_all(s, (const uint8_t *)text, strlen(text));
            assert_true(s->in.compressed);
            assert_int_equal(s->findings.count, fault ? 1 : 0);
            assert_int_equal(input_seek(&s->in, strlen(text) + 1), false);
            assert_int_equal(input_seek(&s->in, 0), !as_pipe);
        }
        if (fault) {
            const struct gzip_finding *found = &s->findings.list[0];

            assert_int_equal(found->fault, fault->fault);
            assert_int_equal(found->member, fault->member);
            assert_int_equal(found->offset, fault->offset);
            assert_string_equal(found->expected, fault->expected);
            assert_string_equal(found->found, fault->found);
        }
        close_stream(s);
    }
}

static void expect_fault(const struct bytes *file, const char *text, const struct fault *fault)
{
    expect_fault_of(file, false, text, fault);
    expect_fault_of(file, true, text, fault);
}

/* "one" and "two", a member each; the second has all fields that a header can have. */
struct two_members {
    struct bytes file;
    size_t second;       /* the offset of its header */
    size_t second_extra; /* XLEN */
    size_t second_crc16;
    size_t second_data;
    size_t second_trailer;
};

static struct two_members two_members(void)
{
    static const struct member_options all = {
        .level = 6, .comment = "comment", .name = "name", .extra_size = 4, .header_crc = true};
    struct two_members t = {.file = one_member("one")};

    t.second = t.file.size;
    t.second_extra = t.second + 10;
    t.second_crc16 = t.second_extra + 2 + 4 + sizeof "name" + sizeof "comment";
    t.second_data = t.second_crc16 + 2;
    append_member(&t.file, (const uint8_t *)"two", 3, &all);
    t.second_trailer = t.file.size - 8;
    return t;
}

static void valid_members_have_no_fault(void **state)
{
    struct two_members t = two_members();

    (void)state;
    expect_fault(&t.file, "onetwo", NULL);
    free(t.file.at);
}

static struct bytes copy_of(const struct bytes *b)
{
    struct bytes copy = {0};

    append(&copy, b->at, b->size);
    return copy;
}

/* `file` with one byte changed. */
static void expect_fault_of_byte(const struct bytes *file, size_t at, uint8_t byte, const char *text, const struct fault *fault)
{
    struct bytes changed = copy_of(file);

    changed.at[at] = byte;
    expect_fault(&changed, text, fault);
    free(changed.at);
}

static void a_bad_header_ends_the_stream(void **state)
{
    struct two_members t = two_members();
    uint8_t crc_low = t.file.at[t.second_crc16], crc_high = t.file.at[t.second_crc16 + 1];
    char right[32], wrong[32];

    (void)state;
    expect_fault_of_byte(&t.file, 2, 7, "", &(struct fault){GZIP_HEADER, 1, 2, "compression method 8", "compression method 7"});
    expect_fault_of_byte(&t.file, t.second + 2, 9, "one",
                         &(struct fault){GZIP_HEADER, 2, t.second + 2, "compression method 8", "compression method 9"});
    expect_fault_of_byte(&t.file, 3, 0x20, "", &(struct fault){GZIP_HEADER, 1, 3, "reserved flags of 0", "flags 0x20"});
    expect_fault_of_byte(&t.file, t.second + 3, 0x9e, "one",
                         &(struct fault){GZIP_HEADER, 2, t.second + 3, "reserved flags of 0", "flags 0x9e"});
    snprintf(right, sizeof right, "CRC16 0x%02x%02x", crc_high, crc_low);
    snprintf(wrong, sizeof wrong, "CRC16 0x%02x%02x", crc_high ^ 1, crc_low);
    expect_fault_of_byte(&t.file, t.second_crc16 + 1, crc_high ^ 1, "one",
                         &(struct fault){GZIP_HEADER, 2, t.second_crc16, right, wrong});
    free(t.file.at);
}

static void bad_data_ends_the_stream_after_the_good_data(void **state)
{
    static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    static const struct {
        const char *text;
        size_t size;
        const char *bytes;
        size_t bad; /* the byte that makes it invalid */
        const char *found;
    } cases[] = {
        {"", 1, "\x07", 0, "a block with an invalid header"},     /* block type 3 */
        {"", 2, "\x06\x00", 0, "a block with an invalid header"}, /* not the last one */
        {"abc", 9,
         "\x00\x03\x00\xfc\xff"
         "abc\x07",
         8, "a block with an invalid header"}, /* after a stored block */
        {"", 8,
         "\x01\x03\x00\xfd\xff"
         "abc",
         4, "a block with an invalid header"},                               /* LEN and NLEN */
        {"a", 3, "\x4b\x04\x62", 2, "a copy of bytes before the first one"}, /* fixed: a, copy 3 from 4 back */
        {"", 2, "\x1b\x03", 1, "an invalid code"},                           /* fixed: word of length 286 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct two_members t = two_members();
        struct bytes file = copy_of(&t.file);
        size_t at = file.size + sizeof header;
        char text[20];

        append(&file, header, sizeof header);
        append(&file, cases[i].bytes, cases[i].size);
        append(&file, "12345678", 8);
        snprintf(text, sizeof text, "onetwo%s", cases[i].text);
        expect_fault(&file, text, &(struct fault){GZIP_DATA, 3, at + cases[i].bad, "deflate data", cases[i].found});
        free(file.at);
        free(t.file.at);
    }
}

static void a_bad_trailer_does_not_end_the_stream(void **state)
{
    struct bytes file = one_member("one");
    size_t first = file.size;
    struct fault wrong_crc = {GZIP_CHECKSUM, 1, first - 8, NULL, NULL}, wrong_size = {GZIP_SIZE, 1, first - 4, NULL, NULL};
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)"one", 3);
    char right[32], wrong[32];
    struct bytes two = one_member("two");

    (void)state;
    append(&file, two.at, two.size);
    snprintf(right, sizeof right, "CRC32 0x%08x", (unsigned)crc);
    snprintf(wrong, sizeof wrong, "CRC32 0x%08x", (unsigned)(crc ^ 0x100));
    wrong_crc.expected = right;
    wrong_crc.found = wrong;
    expect_fault_of_byte(&file, first - 7, file.at[first - 7] ^ 1, "onetwo", &wrong_crc);
    wrong_size.expected = "ISIZE 3";
    wrong_size.found = "ISIZE 4";
    expect_fault_of_byte(&file, first - 4, 4, "onetwo", &wrong_size);
    file.at[first - 4] = 4;
    expect_fault_of_byte(&file, first - 7, file.at[first - 7] ^ 1, "onetwo", &wrong_crc);
    free(file.at);
    free(two.at);
}

/* The file ends within data: letters come up to the last complete code word. */
static void expect_truncation_in_data(const struct bytes *file, const struct fault *fault, bool as_pipe)
{
    struct stream *s = open_source(source_of_memory(file->at, file->size, as_pipe), 2);

    input_skip(&s->in, UINT64_MAX);
    assert_int_equal(s->findings.count, 1);
    assert_int_equal(s->findings.list[0].fault, fault->fault);
    assert_int_equal(s->findings.list[0].offset, fault->offset);
    assert_string_equal(s->findings.list[0].found, fault->found);
    close_stream(s);
}

static void every_truncation_is_reported(void **state)
{
    struct two_members t = two_members();
    size_t whole = t.file.size;

    (void)state;
    for (size_t size = 2; size < whole; size++) {
        bool in_second = size > t.second;
        size_t data = in_second ? t.second_data : 10, trailer = in_second ? t.second_trailer : t.second - 8;
        char found[96];
        struct fault fault = {GZIP_TRUNCATED, in_second ? 2 : 1, in_second ? t.second : 0, "a complete member", found};

        snprintf(found, sizeof found, "the end of the file at 0x%zx, within the %s", size,
                 size < data      ? "header"
                 : size < trailer ? "data"
                                  : "trailer");
        if (size == t.second + 1)
            fault = (struct fault){GZIP_TRAILING, 2, t.second, "1f 8b, or the end of the file", "1f, then the end of the file"};
        t.file.size = size;
        if (size == t.second)
            expect_fault(&t.file, "one", NULL);
        else if (size >= data && size < trailer)
            expect_truncation_in_data(&t.file, &fault, true);
        else
            expect_fault(&t.file, size >= t.second_trailer ? "onetwo" : size >= t.second - 8 ? "one" : "", &fault);
    }
    free(t.file.at);
}

/* The bytes from a size of the file on were never written: a sector of zeros or more is there, which nobody inflates. With fewer
 * zeros, and in a pipe, they are data. */
static void zeros_that_end_the_file_are_not_inflated(void **state)
{
    struct two_members t = two_members();
    size_t whole = t.file.size, ends_in_zero = t.second_trailer - 1;

    (void)state;
    assert_int_equal(t.file.at[ends_in_zero], 0); /* the last byte of the data */
    for (size_t size = t.second_data; size < whole; size++) {
        struct bytes file = {0};
        uint8_t zeros[513] = {0};
        char found[96];
        struct fault fault = {GZIP_TRUNCATED, 2, t.second, "a complete member", found};

        size_t written = size;

        append(&file, t.file.at, size);
        append(&file, zeros, 512 + size % 2);
        while (t.file.at[written - 1] == 0)
            written--;
        snprintf(found, sizeof found, "zeros from 0x%zx to the end of the file, within the %s", written,
                 size < ends_in_zero ? "data" : "trailer");
        if (size > t.second_trailer + 4)
            expect_fault(&file, "onetwo",
                         &(struct fault){GZIP_ZEROS, 3, whole, "the end of the file", "zeros to the end of the file"});
        else if (size < ends_in_zero)
            expect_truncation_in_data(&file, &fault, false);
        else
            expect_fault_of(&file, false, "onetwo", &fault);
        free(file.at);
    }
    free(t.file.at);
}

/* A trailer that is there and wrong is no end of what was written. */
static void a_wrong_trailer_before_zeros_is_wrong(void **state)
{
    static const uint8_t zeros[512] = {0};
    struct two_members t = two_members();
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)"two", 3);
    char right[32], wrong[32];

    (void)state;
    append(&t.file, zeros, sizeof zeros);
    snprintf(right, sizeof right, "CRC32 0x%08x", (unsigned)crc);
    for (unsigned byte = 0; byte < 4; byte++) {
        uint32_t bit = UINT32_C(1) << 8 * byte;

        snprintf(wrong, sizeof wrong, "CRC32 0x%08x", (unsigned)(crc ^ bit));
        expect_fault_of_byte(&t.file, t.second_trailer + byte, t.file.at[t.second_trailer + byte] ^ 1, "onetwo",
                             &(struct fault){GZIP_CHECKSUM, 2, t.second_trailer, right, wrong});
    }
    expect_fault_of_byte(&t.file, t.second_trailer + 4, 4, "onetwo",
                         &(struct fault){GZIP_SIZE, 2, t.second_trailer + 4, "ISIZE 3", "ISIZE 4"});
    free(t.file.at);
}

/* The member of no bytes, which ends a file of bgzip: its data ends with the zeros of its trailer. */
static void data_may_end_in_a_zero(void **state)
{
    static const uint8_t empty[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}, zeros[512] = {0};
    struct two_members t = two_members();
    size_t whole = t.file.size;

    (void)state;
    append(&t.file, empty, sizeof empty);
    append(&t.file, zeros, sizeof zeros);
    expect_fault(&t.file, "onetwo",
                 &(struct fault){GZIP_ZEROS, 4, whole + sizeof empty, "the end of the file", "zeros to the end of the file"});
    free(t.file.at);
}

static void bytes_after_the_last_member_are_reported(void **state)
{
    static const struct {
        size_t size;
        size_t zeros; /* before them */
        const char *bytes;
        enum gzip_fault fault;
        const char *found;
    } cases[] = {
        {1, 1, "", GZIP_ZEROS, "zeros to the end of the file"},
        {512, 512, "", GZIP_ZEROS, "zeros to the end of the file"},
        {512, 511, "\x1f", GZIP_TRAILING, "00 00"},
        {2, 1, "\x1f", GZIP_TRAILING, "00 1f"},
        {1, 0, "\x1f", GZIP_TRAILING, "1f, then the end of the file"},
        {2, 0, "\x1f\x1f", GZIP_TRAILING, "1f 1f"},
        {2, 0, "\x8b\x1f", GZIP_TRAILING, "8b 1f"},
        {5, 0, "JAVA ", GZIP_TRAILING, "4a 41"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct two_members t = two_members();
        uint8_t bytes[512] = {0};

        memcpy(bytes + cases[i].zeros, cases[i].bytes, strlen(cases[i].bytes));
        append(&t.file, bytes, cases[i].size);
        expect_fault(&t.file, "onetwo",
                     &(struct fault){cases[i].fault, 3, t.second_trailer + 8,
                                     cases[i].fault == GZIP_ZEROS ? "the end of the file" : "1f 8b, or the end of the file",
                                     cases[i].found});
        free(t.file.at);
    }
}

static void gzip_within_gzip_is_reported_and_not_read(void **state)
{
    static const struct member_options stored = {.level = 0};
    static const uint8_t sizes[] = {0, 1, 2, 30};

    (void)state;
    for (size_t i = 0; i < sizeof sizes; i++) {
        struct bytes inner = one_member("inner"), file = {0};
        struct fault fault = {GZIP_NESTED, sizes[i] < 2 ? 2 : 1, 0, "a dump, compressed once", "1f 8b: gzip within gzip"};

        /* Split so that the first two bytes are in one member or in two; the fault after them is not reported. */
        append_member(&file, inner.at, smaller(sizes[i], inner.size), &stored);
        append_member(&file, inner.at + smaller(sizes[i], inner.size), inner.size - smaller(sizes[i], inner.size), &stored);
        file.at[file.size - 1] ^= 1;
        expect_fault(&file, "", &fault);
        free(file.at);
        free(inner.at);
    }
}

/* Neither the bytes nor the faults of a changed file depend on the size of blocks. */
static void faults_do_not_depend_on_blocks(void **state)
{
    (void)state;
    dice = 12;
    for (int round = 0; round < 300; round++) {
        struct bytes data = random_bytes(below(round % 10 ? 2000 : 150000));
        struct bytes file = compress_in_members(&data, round % 3 ? 700 : 100000);
        struct stream *first = NULL;
        struct bytes text = {0};

        for (uint32_t changes = 1 + below(3); changes > 0; changes--)
            file.at[2 + below((uint32_t)file.size - 2)] ^= (uint8_t)(1 << below(8));
        for (size_t i = file.size > 5000 ? 4 : 0; i < BLOCKS; i++) {
            struct stream *s = open_source(source_of_memory(file.at, file.size, true), blocks[i]);
            size_t at = 0, n;

            while ((n = input_need(&s->in, 1)) > 0) {
                if (!first)
                    append(&text, s->in.at, n);
                assert_true(n <= text.size - at);
                assert_memory_equal(s->in.at, text.at + at, n);
                input_advance(&s->in, n);
                at += n;
            }
            assert_int_equal(at, text.size);
            if (!first) {
                first = s;
                continue;
            }
            assert_memory_equal(&s->findings, &first->findings, sizeof s->findings);
            close_stream(s);
        }
        close_stream(first);
        free(text.at);
        free(data.at);
        free(file.at);
    }
}

/* ---- Hostile files ---------------------------------------------------------------------------------------------- */

static void high_compression_takes_no_more_memory(void **state)
{
    static const struct member_options best = {.level = 9};
    struct bytes zeros = {calloc(1, 64 << 20), 64 << 20, 0}, file = {0};
    struct stream *s = new_stream();

    (void)state;
    append_member(&file, zeros.at, zeros.size, &best);
    append_member(&file, zeros.at, zeros.size, &best);
    assert_true(file.size < 200000);
    assert_true(
        input_open(&s->in, source_of_memory(file.at, file.size, true), 0, &usual_sizes, &s->memory, listen, &s->findings));
    assert_int_equal(input_skip(&s->in, UINT64_MAX), 2 * zeros.size);
    assert_int_equal(s->findings.count, 0);
    assert_true(s->memory.peak < 4 << 20);
    close_stream(s);
    free(zeros.at);
    free(file.at);
}

static void seeking_works_with_very_many_members(void **state)
{
    static const struct member_options stored = {.level = 0};
    struct bytes file = {0}, data = {0};
    struct stream *s;

    (void)state;
    dice = 13;
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t byte = (uint8_t)(i * 7);

        append_member(&file, &byte, i % 3 == 0, &stored);
        append(&data, &byte, i % 3 == 0);
    }
    s = open_source(source_of_memory(file.at, file.size, false), 100);
    expect_all(s, data.at, data.size);
    walk(s, &data, 300);
    close_stream(s);
    free(file.at);
    free(data.at);
}

/* Seeking back into a long member inflates little of it again and gives the same bytes. */
static void a_kept_offset_is_near(void **state)
{
    enum { NEAR = 3 << 16, FIRST = 4 /* smaller blocks take long */ };
    struct bytes data, file = {0};

    (void)state;
    dice = 14;
    data = random_bytes(3 << 20);
    append_random_member(&file, data.at, data.size);
    for (size_t i = FIRST; i < BLOCKS; i++) {
        struct stream *s = open_without_thread(source_of_memory(file.at, file.size, false), blocks[i]);
        size_t kept = 100000 + below(2 << 20), from;

        assert_int_equal(input_skip(&s->in, kept), kept);
        input_keep(&s->in, kept - 9);
        assert_int_equal(input_skip(&s->in, UINT64_MAX), data.size - kept);
        from = (size_t)gunzip_rewind(s->in.gunzip, kept);
        assert_true(from <= kept && from + 2 * blocks[i] + NEAR > kept);
        assert_true(input_seek(&s->in, kept - 9));
        assert_int_equal(input_need(&s->in, SIZE_MAX), data.size - kept + 9);
        assert_memory_equal(s->in.at, data.at + kept - 9, data.size - kept + 9);
        close_stream(s);
    }
    free(data.at);
    free(file.at);
}

/* Seeking anywhere in a long member inflates little more than the bytes between two milestones. */
static void any_offset_in_a_long_member_is_near(void **state)
{
    enum { BLOCK = 16 << 10, MOST = 33 * BLOCK /* milestones are set at ends of blocks */ };
    struct bytes data, file = {0};
    struct stream *s;

    (void)state;
    dice = 15;
    data = random_bytes(6 << 20);
    append_random_member(&file, data.at, data.size);
    s = open_without_thread(source_of_memory(file.at, file.size, false), BLOCK);
    assert_int_equal(input_skip(&s->in, UINT64_MAX), data.size);
    assert_in_range(s->memory.used, 0, 16 * 100000 + 16 * BLOCK);
    for (int i = 0; i < 100; i++) {
        size_t to = below((uint32_t)data.size - 9), from = (size_t)gunzip_rewind(s->in.gunzip, to);

        assert_true(from <= to && from + MOST > to);
        assert_true(input_seek(&s->in, 0) && input_seek(&s->in, to));
        assert_true(input_need(&s->in, 9) >= 9);
        assert_memory_equal(s->in.at, data.at + to, 9);
    }
    close_stream(s);
    free(data.at);
    free(file.at);
}

/* ---- After a fault ---------------------------------------------------------------------------------------------- */

/* In the middle one of three members. */
struct damage {
    size_t at;     /* the offset in the member of a byte that changes */
    uint8_t byte;  /* to this */
    uint64_t made; /* bytes that the member then gives */
    bool is_mended;
};

/* Reads to the end, resuming wherever a fault ended the stream. Each of the gaps must be `gap`, or of unknown size on a pipe. */
static uint64_t expect_gaps(struct stream *s, const struct gzip_resumption *gap, char *bytes)
{
    struct gzip_resumption found;
    uint64_t gaps = 0;

    input_allow_resume(&s->in);
    for (;; gaps++) {
        for (; input_need(&s->in, 1) > 0; input_advance(&s->in, 1))
            *bytes++ = (char)*s->in.at;
        if (!input_resume(&s->in, &found))
            break;
        assert_false(input_ended_by_fault(&s->in));
        assert_int_equal(found.damaged, gap->damaged);
        assert_int_equal(found.is_mended, gap->is_mended);
        assert_int_equal(found.made, gap->made);
        if (found.is_mended)
            continue;
        assert_true(found.size == gap->size || (!s->in.source.seekable && found.size == GZIP_SIZE_UNKNOWN));
    }
    return gaps;
}

static struct bytes three_members(const struct bytes *second)
{
    struct bytes file = one_member("one"), third = one_member("three");

    append(&file, second->at, second->size);
    append(&file, third.at, third.size);
    free(third.at);
    return file;
}

/* The data, and the checksum together with the size: whatever of a member is damaged, the next one is read. Of one whose header is
 * damaged all data is read. */
static void reading_resumes_in_the_next_member(void **state)
{
    static const struct member_options stored = {.level = 0};
    static const char text[] = "the second of three members";
    enum { HEADER = 10, STORED_HEADER = 5, LENGTH = sizeof text - 1 };
    static const struct damage all[] = {
        {0, 0, LENGTH, true},             /* the magic */
        {2, 7, LENGTH, true},             /* the method */
        {3, 0xe0, LENGTH, true},          /* the flags */
        {HEADER, 7, 0, false},            /* the type of the block */
        {HEADER + 2, 1, 0, false},        /* LEN and NLEN */
        {HEADER, 0, LENGTH, false},       /* no last block: the trailer is read as another one */
        {SIZE_MAX, 0, LENGTH / 2, false}, /* the second half is missing */
        {SIZE_MAX - 1, 0, LENGTH, false}, /* CRC32 and ISIZE */
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct bytes second = {0}, file;
        struct gzip_resumption gap = {.damaged = 2, .size = LENGTH, .made = all[i].made, .is_mended = all[i].is_mended};

        append_member(&second, (const uint8_t *)text, LENGTH, &stored);
        if (gap.is_mended)
            gap.made = 0; /* before the header was mended */
        if (all[i].at == SIZE_MAX) {
            static const uint8_t bad_block[] = {7};

            second.size = HEADER;
            append(&second, "\x00\x0d\x00\xf2\xff", STORED_HEADER);
            append(&second, text, LENGTH / 2);
            append(&second, bad_block, 1);
            append(&second, "abcd\x1b\0\0\0", 8);
        } else if (all[i].at == SIZE_MAX - 1) {
            second.at[second.size - 8] ^= 1;
            second.at[second.size - 4] += 2;
            gap.size += 2;
        } else {
            second.at[all[i].at] = all[i].byte;
        }
        file = three_members(&second);
        for (size_t block = 0; block < BLOCKS; block++) {
            for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
                struct stream *s = open_source(source_of_memory(file.at, file.size, as_pipe), blocks[block]);

                char bytes[100];

                assert_int_equal(expect_gaps(s, &gap, bytes), 1);
                assert_false(input_ended_by_fault(&s->in));
                assert_int_equal(s->in.offset, 3 + all[i].made + 5);
                assert_memory_equal(bytes, "one", 3);
                assert_memory_equal(bytes + 3 + all[i].made, "three", 5);
                close_stream(s);
            }
        }
        free(second.at);
        free(file.at);
    }
}

/* Nothing to resume: no fault, no later member, or only one that is a wrong checksum away. */
static void reading_resumes_only_where_a_fault_ended_it(void **state)
{
    struct two_members t = two_members();
    struct gzip_resumption gap;

    (void)state;
    for (int fault = 0; fault < 4; fault++) {
        struct bytes file = copy_of(&t.file);
        struct stream *s;

        if (fault == 1)
            file.at[t.second - 8] ^= 1;
        else if (fault == 2)
            file.size -= 3;
        else if (fault == 3)
            append(&file, "trailing bytes", 14);
        for (size_t block = 0; block < BLOCKS; block++) {
            s = open_source(source_of_memory(file.at, file.size, false), blocks[block]);
            input_allow_resume(&s->in);
            assert_int_equal(input_skip(&s->in, UINT64_MAX), 6);
            assert_false(input_resume(&s->in, &gap));
            assert_int_equal(input_ended_by_fault(&s->in), fault >= 2);
            assert_int_equal(s->findings.count, fault ? 1 : 0);
            close_stream(s);
        }
        free(file.at);
    }
    free(t.file.at);
}

/* Thousands of headers, each followed by a stored block of 100 bytes and then by the block of another header, up to an invalid one
 * at the end: the bytes between them are not read again and again. */
static void resuming_takes_linear_time(void **state)
{
    struct bytes file = one_member("one"), third = one_member("three");
    struct gzip_resumption gap;
    struct stream *s;
    uint64_t gaps = 0;

    (void)state;
    for (int i = 0; i < 20000; i++)
        append(&file, "\x1f\x8b\x08\0\0\0\0\0\0\xff\0\x64\0\x9b\xff", 15);
    append(&file, third.at, third.size);
    s = open_source(source_of_memory(file.at, file.size, false), 64 << 10);
    input_allow_resume(&s->in);
    do
        input_skip(&s->in, UINT64_MAX);
    while (input_resume(&s->in, &gap) && gaps++ < 100000);
    assert_in_range(gaps, 1, 20000);
    assert_in_range(s->in.offset, 1000, 100 * file.size);
    close_stream(s);
    free(third.at);
    free(file.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_members_have_no_fault),
        cmocka_unit_test(a_bad_header_ends_the_stream),
        cmocka_unit_test(bad_data_ends_the_stream_after_the_good_data),
        cmocka_unit_test(a_bad_trailer_does_not_end_the_stream),
        cmocka_unit_test(every_truncation_is_reported),
        cmocka_unit_test(zeros_that_end_the_file_are_not_inflated),
        cmocka_unit_test(a_wrong_trailer_before_zeros_is_wrong),
        cmocka_unit_test(data_may_end_in_a_zero),
        cmocka_unit_test(bytes_after_the_last_member_are_reported),
        cmocka_unit_test(gzip_within_gzip_is_reported_and_not_read),
        cmocka_unit_test(faults_do_not_depend_on_blocks),
        cmocka_unit_test(high_compression_takes_no_more_memory),
        cmocka_unit_test(seeking_works_with_very_many_members),
        cmocka_unit_test(a_kept_offset_is_near),
        cmocka_unit_test(any_offset_in_a_long_member_is_near),
        cmocka_unit_test(reading_resumes_in_the_next_member),
        cmocka_unit_test(reading_resumes_only_where_a_fault_ended_it),
        cmocka_unit_test(resuming_takes_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
