#include "decimals.h"

#include <stddef.h>
#include <string.h>

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool times(uint64_t *value, uint64_t factor)
{
    if (factor && *value > UINT64_MAX / factor)
        return false;
    *value *= factor;
    return true;
}

/* Reads a decimal and returns what follows it; NULL if there is none. Underscores may separate digits. */
static const char *scan(const char *text, struct decimal *decimal)
{
    bool fraction = false, negative;
    int exponent = 0;

    *decimal = (struct decimal){0};
    if (!is_digit(*text))
        return NULL;
    for (;; text++) {
        if (*text == '.' && !fraction && is_digit(text[1])) {
            fraction = true;
        } else if (is_digit(*text)) {
            uint64_t digit = (uint64_t)(*text - '0');

            if (!times(&decimal->digits, 10) || decimal->digits > UINT64_MAX - digit)
                return NULL;
            decimal->digits += digit;
            decimal->exponent -= fraction;
        } else if (*text != '_' || !is_digit(text[-1]) || !is_digit(text[1])) {
            break;
        }
    }
    if (*text != 'e' && *text != 'E')
        return text;
    text++;
    negative = *text == '-';
    text += negative || *text == '+';
    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text); text++)
        if (exponent < 1000)
            exponent = 10 * exponent + (*text - '0');
    decimal->exponent += negative ? -exponent : exponent;
    return text;
}

/* decimal * unit, if that is a whole number. */
static bool whole(struct decimal decimal, uint64_t unit, uint64_t *value)
{
    while (decimal.exponent < 0 && decimal.digits % 10 == 0 && decimal.digits) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    *value = decimal.digits;
    if (!decimal.digits)
        return true;
    for (; decimal.exponent > 0; decimal.exponent--)
        if (!times(value, 10))
            return false;
    /* Powers of ten are divided out of both factors first, so that nothing overflows. */
    for (; decimal.exponent < 0; decimal.exponent++) {
        unsigned two = 2, five = 5;

        if (*value % 2 == 0)
            *value /= two, two = 1;
        if (*value % 5 == 0)
            *value /= five, five = 1;
        if (unit % (two * five))
            return false;
        unit /= two * five;
    }
    return times(value, unit);
}

bool count_is_too_large(const char *text)
{
    size_t whole = strspn(text, "0123456789_"), fraction = 0;
    uint64_t ignored, exponent = 0;
    const char *end = text + whole;

    if (*end == '.')
        fraction = strspn(++end, "0123456789_");
    end += fraction;
    if (*end == 'e' && !parse_count(end + 1 + (end[1] == '+'), &exponent))
        return false;
    if (*end != 'e' && *end != '\0')
        return false;
    return whole && exponent >= fraction && is_digit(*text) && !parse_count(text, &ignored);
}

bool parse_count(const char *text, uint64_t *value)
{
    struct decimal decimal;
    const char *end = scan(text, &decimal);

    return end && *end == '\0' && whole(decimal, 1, value);
}

/* decimal * unit, rounded down; only six decimals count. unit is at most 2^40. */
static bool rounded(struct decimal decimal, uint64_t unit, uint64_t *value)
{
    uint64_t power = 1, fraction = 0;
    int decimals = -decimal.exponent;

    for (; decimals > 6 && decimal.digits; decimals--)
        decimal.digits /= 10;
    for (int i = 0; i < decimals && decimal.digits; i++)
        power *= 10;
    fraction = decimal.digits % power * unit / power;
    *value = decimal.digits / power;
    if (!times(value, unit) || *value > UINT64_MAX - fraction)
        return false;
    *value += fraction;
    return true;
}

bool parse_size(const char *text, uint64_t *bytes)
{
    static const char suffixes[] = "KMGT";
    struct decimal decimal;
    const char *end = scan(text, &decimal);
    uint64_t unit = 1;

    if (!end)
        return false;
    if (*end != '\0') {
        const char *suffix = strchr(suffixes, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);

        if (!suffix || end[1] != '\0')
            return false;
        unit = UINT64_C(1) << 10 * (suffix - suffixes + 1);
    }
    return unit > 1 && decimal.exponent < 0 ? rounded(decimal, unit, bytes) : whole(decimal, unit, bytes);
}

bool parse_decimal(const char *text, unsigned decimals, uint64_t *value)
{
    struct decimal decimal;
    const char *end = scan(text, &decimal);

    decimal.exponent += (int)decimals;
    return end && *end == '\0' && whole(decimal, 1, value);
}
