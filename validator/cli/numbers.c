#include "numbers.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};

/* Divides by 1000 until the value is below 1000. Returns how often. */
static unsigned scale(double *value)
{
    unsigned steps = 0;
    while (*value >= 999.5 && steps < 6) {
        *value /= 1000;
        steps++;
    }
    return steps;
}

const char *format_size(char out[NUMBER_SIZE], uint64_t bytes)
{
    if (bytes < 1000) {
        snprintf(out, NUMBER_SIZE, "%" PRIu64 " byte%s", bytes, plural(bytes));
        return out;
    }
    double value = (double)bytes;
    const char *unit = units[scale(&value)];
    snprintf(out, NUMBER_SIZE, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
    return out;
}

const char *format_exact(char out[NUMBER_SIZE], uint64_t count)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count), used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

const char *format_rate(char out[NUMBER_SIZE], uint64_t bytes, double seconds)
{
    double value = seconds > 0 ? (double)bytes / seconds : 0;
    const char *unit = units[scale(&value)];
    snprintf(out, NUMBER_SIZE, "%.*f %s/s", value < 9.95 ? 1 : 0, value, unit);
    return out;
}

const char *format_seconds(char out[NUMBER_SIZE], double seconds)
{
    if (seconds < 99.95)
        snprintf(out, NUMBER_SIZE, "%.*f s", seconds < 9.995 ? 2 : 1, seconds);
    else
        format_countdown(out, seconds);
    return out;
}

const char *format_countdown(char out[NUMBER_SIZE], double seconds)
{
    if (!(seconds < 360000)) /* no forecast is worth more than 99 hours */
        seconds = 359999;
    unsigned whole = (unsigned)(seconds + 0.5);
    if (whole < 3600)
        snprintf(out, NUMBER_SIZE, "%u:%02u", whole / 60, whole % 60);
    else
        snprintf(out, NUMBER_SIZE, "%u:%02u:%02u", whole / 3600, whole / 60 % 60, whole % 60);
    return out;
}

const char *format_offset(char out[NUMBER_SIZE], uint64_t offset, bool decimal)
{
    snprintf(out, NUMBER_SIZE, decimal ? "%" PRIu64 : "0x%" PRIx64, offset);
    return out;
}

const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

const char *format_counted(char out[NUMBER_SIZE], uint64_t count, const char *noun)
{
    char number[NUMBER_SIZE];

    snprintf(out, NUMBER_SIZE, "%.26s %.19s%s", format_exact(number, count), noun, plural(count));
    return out;
}
