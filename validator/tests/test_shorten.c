/* shorten.h: lines of a limited width are cut between words; words in their middle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "printable.h"
#include "shorten.h"

enum { LEAST_LIMIT = 60, MOST_LIMIT = 200, ROOM = 2000, LEAST = 24, WITH_DOTS = LEAST + 3 };

/* Words of up to `most` characters of one to three bytes, one space between them. Returns the bytes. */
static size_t draw_words(char *text, unsigned words, uint32_t most)
{
    static const char *const letters[] = {"a", "Z", "$", "\xc3\xa9", "\xe2\x82\xac"};
    size_t used = 0;

    for (unsigned i = 0; i < words; i++) {
        if (i > 0)
            text[used++] = ' ';
        for (uint32_t n = 1 + below(most); n > 0; n--) {
            const char *letter = letters[below(5)];
            memcpy(text + used, letter, strlen(letter));
            used += strlen(letter);
        }
    }
    text[used] = '\0';
    return used;
}

/* Bytes of the word at `at`. */
static size_t word_at(const char *at)
{
    return strcspn(at, " ");
}

/* Words of at most 27 columns are not shortened: the text is as many whole words as fit, then "...". */
static void test_the_end_is_cut_between_words(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        char whole[ROOM], text[ROOM];
        size_t limit = LEAST_LIMIT + below(MOST_LIMIT - LEAST_LIMIT), kept;

        draw_words(whole, 1 + below(20), WITH_DOTS);
        strcpy(text, whole);
        cut_to_columns(text, limit);
        assert_true(text_columns(text) <= limit);
        if (text_columns(whole) <= limit) {
            assert_string_equal(text, whole);
            continue;
        }
        kept = strlen(text) - 3;
        assert_string_equal(text + kept, "...");
        assert_memory_equal(text, whole, kept);
        assert_true(kept > 0 && text[kept - 1] == ' ');
        assert_true(text_columns_of(whole, kept + word_at(whole + kept)) + 4 > limit); /* the next word does not fit */
    }
}

/* Longer words give way first, and keep their ends. */
static void test_long_words_are_cut_in_the_middle(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        char whole[ROOM], text[ROOM];
        size_t limit = LEAST_LIMIT + below(MOST_LIMIT - LEAST_LIMIT);
        const char *at = whole, *now = text;

        draw_words(whole, 2, 300);
        strcpy(text, whole);
        cut_to_columns(text, limit);
        assert_true(text_columns(text) <= limit);
        assert_true(text_columns(whole) <= limit || text_columns(text) == limit);
        for (unsigned word = 0; word < 2; word++) {
            size_t length = word_at(at), left = word_at(now);
            if (left != length || memcmp(at, now, length) != 0) {
                assert_true(text_columns_of(now, left) >= WITH_DOTS &&
                            text_columns_of(now, left) < text_columns_of(at, length));
                const char *dots = strstr(now, "...");
                assert_non_null(dots);
                assert_memory_equal(at, now, (size_t)(dots - now));
                size_t back = left - (size_t)(dots - now) - 3;
                assert_memory_equal(at + length - back, now + left - back, back);
            }
            at += length + 1;
            now += left + 1;
        }
    }
}

static void test_words_alone(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        char whole[ROOM], text[ROOM];
        size_t limit = 10 + below(40);
        const char *at = whole, *now = text;
        unsigned words = 1 + below(10);

        draw_words(whole, words, 60);
        strcpy(text, whole);
        cut_words(text, limit);
        for (unsigned word = 0; word < words; word++) {
            size_t length = word_at(at), left = word_at(now), columns = text_columns_of(at, length);
            assert_int_equal(text_columns_of(now, left), columns < limit ? columns : limit);
            if (columns <= limit)
                assert_memory_equal(at, now, length);
            at += length + 1;
            now += left + 1;
        }
        assert_true(now[-1] == '\0');
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_is_cut_between_words),
        cmocka_unit_test(test_long_words_are_cut_in_the_middle),
        cmocka_unit_test(test_words_alone),
    };

    shake_dice();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
