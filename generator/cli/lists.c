/* See lists.h. */
#include "lists.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "damage/damage.h"
#include "options.h"
#include "streams.h"
#include "terminal.h"
#include "wrap.h"

int finish_listing(void)
{
    return flush_standard_output() || errno == EPIPE ? STATUS_DONE : STATUS_IO;
}

/* A line for each fault, because scripts read the list; on a terminal, a table that fits it. */
int list_faults(void)
{
    enum { ABOUT_COLUMN = 39, TABLE_WIDTH = 70 };
    size_t width = terminal_width(STDOUT_FILENO, WRAP_NEVER);
    const struct fault *row;

    for (size_t i = 0; (row = fault_at(i)); i++) {
        char line[512];
        int used =
            snprintf(line, sizeof line, width < TABLE_WIDTH ? "%s %s" : "%-9s %-28s ", fault_rule(row), fault_variant(row));
        const char *note = fault_is_alone(row) ? " [alone]" : fault_is_once(row) ? " [once]" : "";

        fputs(line, stdout);
        snprintf(line, sizeof line, "%s%s", fault_about(row), note);
        if (width < TABLE_WIDTH)
            wrap_hanging(stdout, line, 4, (size_t)used, width);
        else
            wrap(stdout, line, ABOUT_COLUMN, ABOUT_COLUMN, width);
    }
    return finish_listing();
}

int list_damage(void)
{
    enum { ABOUT_COLUMN = 17 };
    size_t width = terminal_width(STDOUT_FILENO, WRAP_NEVER);

    for (size_t i = 0; damage_name(i); i++) {
        char line[512];

        printf("%-16s ", damage_name(i));
        if (damage_number(i))
            snprintf(line, sizeof line, "%s (N: %s)", damage_about(i), damage_number(i));
        else
            snprintf(line, sizeof line, "%s", damage_about(i));
        wrap(stdout, line, ABOUT_COLUMN, ABOUT_COLUMN, width);
    }
    return finish_listing();
}
