#define _DEFAULT_SOURCE
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool parse_when(const char *text, enum when *when)
{
    static const char *const names[] = {[WHEN_AUTO] = "auto", [WHEN_ALWAYS] = "always", [WHEN_NEVER] = "never"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *when = (enum when)i;
            return true;
        }
    }
    return false;
}

size_t terminal_width(int fd, size_t otherwise)
{
    struct winsize size;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return otherwise;
}

bool terminal_wants_color(enum when when, int fd)
{
    if (when != WHEN_AUTO)
        return when == WHEN_ALWAYS;

    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    return isatty(fd) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}
