/* See become.h. A file of a release has the version at the end of its name, and so have the tools beside it:
 * hprof-0.3.0-linux-x86_64 runs hprof-validate-0.3.0-linux-x86_64. */
#define _GNU_SOURCE
#include "become.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "messages.h"

/* The path of this program; where /proc is not mounted, as it was started. False if that has no folder. */
static bool find_self(char self[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);

    if (length > 0)
        self[length] = '\0';
    else
        snprintf(self, PATH_MAX, "%s", (const char *)getauxval(AT_EXECFN));
    return strchr(self, '/') != NULL;
}

int become(const char *tool, char **arguments)
{
    char self[PATH_MAX], path[2 * PATH_MAX];

    if (find_self(self)) {
        char *name = strrchr(self, '/') + 1;
        bool is_hprof = strncmp(name, program_name, strlen(program_name)) == 0;

        snprintf(path, sizeof path, "%.*s%s%s", (int)(name - self), self, tool, is_hprof ? name + strlen(program_name) : "");
        execv(path, arguments);
    }
    execvp(tool, arguments);
    say_failure(tool, strerror(errno));
    return BECOME_NOT_FOUND;
}
