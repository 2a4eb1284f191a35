/* A tool that becomes another one. */
#ifndef HPROF_CLI_BECOME_H
#define HPROF_CLI_BECOME_H

#define BECOME_NOT_FOUND 127

/* Runs the tool beside this program, or the one on the PATH, in place of this program. `arguments` end with NULL; the first one is
 * the tool. Returns BECOME_NOT_FOUND, after a message, if there is none. */
int become(const char *tool, char **arguments);

#endif
