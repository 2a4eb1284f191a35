/* Acts as the HPROF agent of JDK 8 on a socket (TEXT.md B.3): sends the parts of a dump when commands request them. */
#ifndef HPROF_SERVE_SERVE_H
#define HPROF_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

enum serve_end {
    SERVE_DONE,    /* the client requested the end, or closed the connection */
    SERVE_UNKNOWN, /* the client sent a command that the agent does not know */
    SERVE_FAILED   /* the dump cannot be read: errno */
};

/* A socket connected to `host`, a loopback address; -1 and a sentence if there is none. */
int serve_connect(const char *host, const char *port, const char **failure);

enum serve_cpu { SERVE_CPU_OFF, SERVE_CPU_SAMPLES, SERVE_CPU_TIMES, SERVE_CPU_OLD };

struct serve_options {
    int orders;         /* a file from which orders are read, a byte each: see hprof-serve.1.md; -1 for none */
    enum serve_cpu cpu; /* times and old in text only */
    bool has_monitors;  /* monitor=y, in text only */
    bool is_text;       /* format=a */
};

/* `dump` is a file like those of the agent, with all kinds of records. *command becomes the unknown command. */
enum serve_end serve_dump(int dump, int connection, const struct serve_options *options, uint8_t *command);

#endif
