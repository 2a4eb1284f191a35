/* utf8.h: which bytes are UTF-8, standard or modified, compared with a decoder that computes code points; and that any bytes
 * are shown as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "dice.h"

/* ---- A simple decoder ------------------------------------------------------------------------------------------- */

/* The size and the code point of the character at p; 0 if it is not valid. C0 80 is NUL; surrogates are valid. */
static size_t decode(const uint8_t *p, size_t n, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = n == 0 ? 0 : p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 0;

    if (!size || size > n)
        return 0;
    *code = size == 1 ? p[0] : p[0] & (0x7fU >> size);
    for (size_t i = 1; i < size; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    if (size == 2 && *code == 0)
        return 2;
    return *code >= least[size] && *code <= 0x10ffff ? size : 0;
}

static void expect_as_decoded(const uint8_t *p, size_t n)
{
    size_t at = 0, size;
    uint32_t code;

    while ((size = decode(p + at, n - at, &code)) > 0)
        at += size;
    if (utf8_valid(p, n) != at)
        fail_msg("%02x %02x %02x %02x of %zu bytes", p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0, n);
}

static void every_sequence_of_up_to_three_bytes(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < 1 << 24; v++) {
        const uint8_t p[] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16)};

        if (v < 1 << 8)
            expect_as_decoded(p, 1);
        if (v < 1 << 16)
            expect_as_decoded(p, 2);
        if (p[0] >= 0x80 || p[1] >= 0x80) /* else seen with fewer bytes */
            expect_as_decoded(p, 3);
    }
}

/* Bytes at both sides of each boundary between ranges. */
static const uint8_t edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2,
                                0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
enum { EDGES = sizeof edges };

static void sequences_of_four_bytes(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < EDGES * EDGES * EDGES * EDGES; v++) {
        const uint8_t p[] = {edges[v % EDGES], edges[v / EDGES % EDGES], edges[v / EDGES / EDGES % EDGES],
                             edges[v / EDGES / EDGES / EDGES]};

        expect_as_decoded(p, 4);
    }
}

static void every_character_of_four_bytes(void **state)
{
    (void)state;
    for (uint32_t code = 0x10000; code < 0x120000; code++) {
        const uint8_t p[] = {(uint8_t)(0xf0 | code >> 18), (uint8_t)(0x80 | (code >> 12 & 0x3f)),
                             (uint8_t)(0x80 | (code >> 6 & 0x3f)), (uint8_t)(0x80 | (code & 0x3f))};

        assert_int_equal(utf8_valid(p, 4), code <= 0x10ffff ? 4 : 0);
    }
}

static size_t random_bytes(uint8_t *p, size_t most)
{
    size_t n = below((uint32_t)most + 1);

    for (size_t i = 0; i < n; i++)
        p[i] = below(3) ? 'a' : below(2) ? edges[below(EDGES)] : (uint8_t)below(256);
    return n;
}

static void long_texts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300000; i++) {
        uint8_t p[64];

        expect_as_decoded(p, random_bytes(p, sizeof p));
    }
}

static void known_cases(void **state)
{
    static const struct {
        const char *bytes;
        size_t n, valid;
    } cases[] = {
        {"", 0, 0},
        {"plain ASCII, longer than a word", 31, 31},
        {"a\0b", 3, 3},
        {"\xc0\x80", 2, 2},                 /* NUL, modified */
        {"\xc0\x81", 2, 0},                 /* overlong */
        {"\xc1\xbf", 2, 0},                 /* overlong */
        {"\xe0\x9f\xbf", 3, 0},             /* overlong */
        {"\xf0\x8f\xbf\xbf", 4, 0},         /* overlong */
        {"\xed\xa0\xbd\xed\xb8\x80", 6, 6}, /* a pair of surrogates, modified */
        {"\xed\xb8\x80", 3, 3},             /* one surrogate alone */
        {"\xf0\x9f\x98\x80", 4, 4},         /* the same character, standard */
        {"\xf4\x90\x80\x80", 4, 0},         /* above U+10FFFF */
        {"12345678\xc3\xa9", 10, 10},
        {"12345678\xc3", 9, 8},
        {"1234567\xe2\x82", 9, 7},
        {"x\xe2\x28\xa1", 4, 1},
        {"\x80", 1, 0},
        {"\xff", 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_valid((const uint8_t *)cases[i].bytes, cases[i].n), cases[i].valid);
}

/* ---- Showing ---------------------------------------------------------------------------------------------------- */

/* Strict UTF-8 of characters that JSON and XML allow, without controls. */
static void expect_text(const char *text, size_t length)
{
    const uint8_t *p = (const uint8_t *)text;
    uint32_t code;

    assert_int_equal(strlen(text), length);
    for (size_t size; length; p += size, length -= size) {
        size = decode(p, length, &code);
        assert_true(size > 0);
        assert_true(code >= 0x20 && !(code >= 0x7f && code < 0xa0));
        assert_false(code >= 0xd800 && code < 0xe000);
        assert_false(code == 0xfffe || code == 0xffff);
    }
}

static void what_is_shown_is_text(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300000; i++) {
        uint8_t p[64];
        size_t n = random_bytes(p, sizeof p), size = 8 + below(300), length;
        char *to = malloc(size);
        bool more = below(2);

        length = utf8_show(to, size, p, n, more);
        assert_true(length < size);
        expect_text(to, length);
        if (more || n >= size)
            assert_string_equal(to + length - 3, "...");
        free(to);
    }
}

static void every_character_is_shown_as_text(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x110000; code++) {
        const uint8_t p[] = {(uint8_t)(0xf0 | code >> 18), (uint8_t)(0x80 | (code >> 12 & 0x3f)),
                             (uint8_t)(0x80 | (code >> 6 & 0x3f)), (uint8_t)(0x80 | (code & 0x3f))};
        const uint8_t three[] = {(uint8_t)(0xe0 | (code >> 12 & 0xf)), p[2], p[3]};
        const uint8_t two[] = {(uint8_t)(0xc0 | (code >> 6 & 0x1f)), p[3]};
        const uint8_t one[] = {(uint8_t)code};
        char to[40];

        if (code < 0x100)
            expect_text(to, utf8_show(to, sizeof to, one, 1, false));
        if (code < 0x800)
            expect_text(to, utf8_show(to, sizeof to, two, 2, false));
        if (code < 0x10000)
            expect_text(to, utf8_show(to, sizeof to, three, 3, false));
        expect_text(to, utf8_show(to, sizeof to, p, 4, false));
    }
}

static void shows_what_can_be_shown(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *shown;
    } cases[] = {
        {"java.lang.String", 16, "java.lang.String"},
        {"caf\xc3\xa9", 5, "caf\xc3\xa9"},
        {"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"},
        {"a\nb", 3, "a\\x0ab"},
        {"\xc0\x80", 2, "\\xc0\\x80"},
        {"\xed\xa0\xbd", 3, "\\xed\\xa0\\xbd"},
        {"\xed\xa0\xbd\xed\xb8\x80", 6, "\xf0\x9f\x98\x80"}, /* a pair: modified UTF-8 */
        {"\xed\xa0\xbd\xed\xb8", 5, "\\xed\\xa0\\xbd\\xed\\xb8"},
        {"\xed\xb8\x80\xed\xa0\xbd", 6, "\\xed\\xb8\\x80\\xed\\xa0\\xbd"},
        {"\xff", 1, "\\xff"},
        {"\xe2\x80\xae", 3, "\\xe2\\x80\\xae"},
        {"\x1b[31m", 5, "\\x1b[31m"},
        {"", 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[64];

        assert_int_equal(utf8_show(to, sizeof to, (const uint8_t *)cases[i].bytes, cases[i].n, false), strlen(cases[i].shown));
        assert_string_equal(to, cases[i].shown);
    }
}

static void shows_as_much_as_fits(void **state)
{
    char to[20];

    (void)state;
    assert_int_equal(utf8_show(to, sizeof to, (const uint8_t *)"0123456789abcdefghij", 20, false), 19);
    assert_string_equal(to, "0123456789abcdef...");
    assert_int_equal(utf8_show(to, sizeof to, (const uint8_t *)"0123", 4, true), 7);
    assert_string_equal(to, "0123...");
    assert_int_equal(utf8_show(to, 7, (const uint8_t *)"0123", 4, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sequence_of_up_to_three_bytes),
        cmocka_unit_test(sequences_of_four_bytes),
        cmocka_unit_test(every_character_of_four_bytes),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(known_cases),
        cmocka_unit_test(what_is_shown_is_text),
        cmocka_unit_test(every_character_is_shown_as_text),
        cmocka_unit_test(shows_what_can_be_shown),
        cmocka_unit_test(shows_as_much_as_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
