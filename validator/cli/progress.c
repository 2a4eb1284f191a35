#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "numbers.h"
#include "printable.h"

#define BAR_CELLS 20

double monotonic_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void progress_init(struct progress *progress, enum when when)
{
    *progress = (struct progress){
        .wanted = when == WHEN_ALWAYS || (when == WHEN_AUTO && isatty(STDERR_FILENO)),
        .at_once = when == WHEN_ALWAYS,
    };
}

void progress_begin(struct progress *progress, const char *name)
{
    progress->name = name;
    progress->began = progress->pass_began = monotonic_seconds();
    progress->drawn = progress->at_once ? 0 : progress->began + 0.9; /* draw nothing in the first second */
    progress->pass_from = progress->bytes = 0;
}

/* Writes as much of the name as fits; of a long path, "..." and its end. */
static void show_end_of_name(char *to, size_t size, const char *name)
{
    static const char left_out[] = "...";
    size_t fixed = sizeof left_out - 1;

    if (format_safely(to, size, name))
        return;
    if (size <= fixed + 1) {
        to[0] = '\0';
        return;
    }
    memcpy(to, left_out, fixed);
    do {
        name++;
    } while (((unsigned char)*name & 0xC0) == 0x80 || !format_safely(to + fixed, size - fixed, name));
}

static void draw(const struct progress *progress, uint64_t bytes, uint64_t total, double now)
{
    char size[NUMBER_SIZE], whole[NUMBER_SIZE], rate[NUMBER_SIZE], left[NUMBER_SIZE];
    char name[81], numbers[4 * NUMBER_SIZE + BAR_CELLS];
    double seconds = now - progress->pass_began;
    uint64_t read = bytes - progress->pass_from;

    format_size(size, bytes);
    format_rate(rate, read, seconds);
    if (total > 0 && bytes <= total) {
        char bar[BAR_CELLS + 1];
        size_t full = (size_t)((double)bytes / (double)total * BAR_CELLS);
        memset(bar, '.', BAR_CELLS);
        memset(bar, '#', full < BAR_CELLS ? full : BAR_CELLS);
        bar[BAR_CELLS] = '\0';
        double rest = read > 0 ? (double)(total - bytes) / (double)read * seconds : 0;
        snprintf(numbers, sizeof numbers, "[%s] %s of %s, %s, %s left", bar, size, format_size(whole, total), rate,
                 format_countdown(left, rest));
    } else {
        snprintf(numbers, sizeof numbers, "%s, %s", size, rate);
    }

    /* The name gets the columns that the numbers leave: a line that wraps could not be erased. */
    size_t columns = terminal_width(STDERR_FILENO, 100) - 1, need = strlen(numbers) + 2;
    size_t room = columns > need ? columns - need + 1 : 1;
    show_end_of_name(name, room < sizeof name ? room : sizeof name, progress->name);
    fprintf(stderr, "\r%s%s%.*s%s", name, name[0] != '\0' ? ": " : "", (int)(columns < 10000 ? columns : 10000), numbers,
            isatty(STDERR_FILENO) ? "\033[K" : "");
    fflush(stderr);
}

void progress_update(struct progress *progress, uint64_t bytes, uint64_t total)
{
    if (!progress->wanted)
        return;
    double now = monotonic_seconds();
    if (bytes < progress->bytes) { /* read again from the start */
        progress->pass_began = now;
        progress->pass_from = bytes;
    }
    progress->bytes = bytes;
    if (now - progress->drawn < 0.1)
        return;
    progress->drawn = now;
    if (!progress->on_screen) {
        interrupt_watch();
        interrupt_set_bar(isatty(STDERR_FILENO));
    }
    progress->on_screen = true;
    draw(progress, bytes, total, now);
}

void progress_end(struct progress *progress)
{
    if (progress->on_screen)
        fputs(isatty(STDERR_FILENO) ? "\r\033[K" : "\n", stderr);
    progress->on_screen = false;
    interrupt_set_bar(false);
}
